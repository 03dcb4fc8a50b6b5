// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small loads with a known number of operations, for make bench.
 *
 *	micro getppid BATCHES NUMBER		the cheapest system call
 *	micro pipe BATCHES NUMBER		a byte to another task and back
 *	micro fork BATCHES NUMBER		fork, exit, wait
 *	micro request NUMBER			requests and answers over loopback TCP
 *	micro pace RATE SECONDS			RATE getppid a second
 *	micro run COMMAND [ARGUMENT...]		cost of a command, children included
 *
 * The first three print, for each batch, the ticks of the cycle counter for one operation;
 * if the emulator counts instructions, ticks are instructions. The first batch only warms up.
 * "run" prints the time for which the CPUs were not idle, in ns, and the user and system
 * time of the command by the kernel's accounting, in us.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "number.h"

static void do_getppid(unsigned long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static int ping[2], pong[2];

static void do_pipe(unsigned long n)
{
	char c = 0;

	while (n--)
		if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
			err(1, "pipe");
}

/* The other end of do_pipe() and of do_request(). */
static _Noreturn void echo(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1)
		if (write(out, &c, 1) != 1)
			break;
	_exit(0);
}

static void start_pipe(void)
{
	if (pipe(ping) || pipe(pong))
		err(1, "pipe");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		close(ping[1]);
		close(pong[0]);
		echo(ping[0], pong[1]);
	}
}

static void do_fork(unsigned long n)
{
	while (n--) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			err(1, "wait");
	}
}

static void batches(void (*work)(unsigned long), char **argv)
{
	unsigned long nr_batches = number(argv[0]), n = number(argv[1]);
	uint64_t *ticks = calloc(nr_batches + 1, sizeof(*ticks));
	unsigned long i;

	if (!ticks)
		err(1, NULL);
	for (i = 0; i <= nr_batches; i++) {
		uint64_t from = __rdtsc();

		work(n);
		ticks[i] = __rdtsc() - from;
	}
	for (i = 1; i <= nr_batches; i++)
		printf("%.3f\n", (double)ticks[i] / n);
	free(ticks);
}

static void do_request(unsigned long n)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char c = 0;
	int peer;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s < 0 || bind(s, (struct sockaddr *)&address, size) || listen(s, 1) ||
	    getsockname(s, (struct sockaddr *)&address, &size))
		err(1, "listen");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		peer = accept(s, NULL, NULL);
		setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		echo(peer, peer);
	}
	peer = socket(AF_INET, SOCK_STREAM, 0);
	if (peer < 0 || connect(peer, (struct sockaddr *)&address, size) ||
	    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "connect");
	while (n--)
		if (write(peer, &c, 1) != 1 || read(peer, &c, 1) != 1)
			err(1, "request");
	close(peer);
	wait(NULL);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Make calls at a constant rate; print their number, and the number a second. */
static void pace(unsigned long rate, unsigned long seconds)
{
	uint64_t start = now_ns(), end = start + seconds * 1000000000ULL, now;
	uint64_t done = 0;

	while ((now = now_ns()) < end) {
		if (done * 1000000000ULL > (now - start) * rate)
			continue;
		syscall(SYS_getppid);
		done++;
	}
	printf("calls %llu\nrate %.0f\n", (unsigned long long)done,
	       done * 1e9 / (now - start));
}

/* Time for which CPUs ran tasks, from the scheduler's own account. */
static uint64_t busy_ns(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	unsigned long long sum = 0, one;
	char line[512];
	FILE *f;

	nanosleep(&pause, NULL);	/* so that our run time is accounted */
	f = fopen("/proc/schedstat", "r");
	if (!f)
		err(1, "/proc/schedstat");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu%*d %*u %*u %*u %*u %*u %*u %llu", &one) == 1)
			sum += one;
	fclose(f);
	return sum;
}

static unsigned long long us(struct timeval t)
{
	return t.tv_sec * 1000000ULL + t.tv_usec;
}

static int run(char **argv)
{
	uint64_t from = busy_ns();
	struct rusage usage;
	int status;

	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	if (wait(&status) < 0 || getrusage(RUSAGE_CHILDREN, &usage))
		err(1, "wait");
	printf("%llu %llu %llu\n", (unsigned long long)(busy_ns() - from),
	       us(usage.ru_utime), us(usage.ru_stime));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static _Noreturn void usage(void)
{
	fprintf(stderr, "usage: micro getppid|pipe|fork BATCHES NUMBER | request NUMBER |\n"
			"       pace RATE SECONDS | run COMMAND [ARGUMENT...]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "run"))
		return run(argv + 2);
	if (!strcmp(what, "request"))
		do_request(number(argv[2]));
	else if (argc != 4)
		usage();
	else if (!strcmp(what, "getppid"))
		batches(do_getppid, argv + 2);
	else if (!strcmp(what, "fork"))
		batches(do_fork, argv + 2);
	else if (!strcmp(what, "pace"))
		pace(number(argv[2]), number(argv[3]));
	else if (strcmp(what, "pipe"))
		usage();
	else {
		start_pipe();
		batches(do_pipe, argv + 2);
	}
	return 0;
}
