// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm PROCESSES WIDTH: start PROCESSES processes, WIDTH at a time, and wait for each.
 * A process makes three calls of a kind that no other task makes, and exits. Prints
 * "storm PID PROCESSES".
 *
 * Linked statically and without exec: a process lives about a millisecond.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(void)
{
	pid_t child = fork();

	if (child < 0) {
		perror("storm: fork");
		exit(1);
	}
	if (child)
		return;
	for (int i = 0; i < 3; i++)
		syscall(SYS_ioprio_get, 1, 0);
	_exit(0);
}

static void finish(void)
{
	if (wait(NULL) < 0) {
		perror("storm: wait");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long processes = argc == 3 ? atol(argv[1]) : 0;
	long width = argc == 3 ? atol(argv[2]) : 0;

	if (processes < 1 || width < 1) {
		fputs("usage: storm PROCESSES WIDTH\n", stderr);
		return 2;
	}
	for (long i = 0; i < processes; i++) {
		if (i >= width)
			finish();
		start();
	}
	for (long i = processes < width ? processes : width; i; i--)
		finish();
	printf("storm %d %ld\n", getpid(), processes);
	return 0;
}
