// SPDX-License-Identifier: GPL-2.0-only
/*
 * loads NAME: one kind of kernel work, always the same amount.
 *
 * These are loads of the account (coverage.c). Each takes a tenth of a second to a second of
 * a CPU with 10^9 instructions a second, and waits for all tasks that it starts. The program
 * is linked statically, so that starting it costs little.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loads.h"

#define MIB (1UL << 20)

_Noreturn void load_die(const char *what)
{
	fprintf(stderr, "loads: %s: %s\n", what, strerror(errno));
	exit(1);
}

void load_process(const void *data, size_t bytes)
{
	const unsigned char *p = data;
	unsigned int sum = 0;

	while (bytes--)
		sum = sum * 31 + *p++;
	__asm__ volatile("" : : "r"(sum));	/* use it */
}

static void check(int failed, const char *what)
{
	if (failed)
		load_die(what);
}

static pid_t start(void)
{
	pid_t pid = fork();

	check(pid < 0, "fork");
	return pid;
}

static void finish(void)
{
	check(wait(NULL) < 0, "wait");
}

int load_file(unsigned int mib)
{
	int fd = memfd_create("load", MFD_CLOEXEC);

	check(fd < 0, "memfd_create");
	check(fallocate(fd, 0, 0, (off_t)(mib * MIB)), "fallocate");
	return fd;
}

static char *map(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(p == MAP_FAILED, "mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void touch(char *p, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 4096)
		*(volatile char *)(p + at) = 1;
}

/* The last close of an unlinked file, which frees its pages. */
static void load_close(void)
{
	static char buffer[MIB];
	const char *path = "/dev/shm/load";
	char *p;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	check(fd < 0, path);
	for (int i = 0; i < 384; i++) {
		load_process(buffer, 4096);
		check(write(fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer), "write");
	}
	check(unlink(path), "unlink");
	check(close(fd), "close");
	/* Empty the CPU's page list here; otherwise the next task that frees a page does it. */
	touch(p = map(MIB), MIB);
	check(munmap(p, MIB), "munmap");
}

/* A killed process with 500 MiB, which frees its pages in its exit. */
static void load_kill(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	check(pipe(ready), "pipe");
	pid = start();
	if (!pid) {
		touch(map(500 * MIB), 500 * MIB);
		check(write(ready[1], "", 1) != 1, "write");
		for (;;)
			pause();
	}
	check(read(ready[0], &byte, 1) != 1, "read");
	check(kill(pid, SIGKILL), "kill");
	finish();
}

static void load_mmap(void)
{
	for (int i = 0; i < 2000; i++) {
		char *p = map(64 * 4096);

		touch(p, 64 * 4096);
		check(munmap(p, 64 * 4096), "munmap");
	}
}

static void load_forks(void)
{
	for (int i = 0; i < 500; i++) {
		if (!start()) {
			execl("/bin/true", "true", NULL);
			_exit(127);
		}
		finish();
	}
}

/* 100 bytes in each direction, 10,000 times, over a TCP connection. */
static void load_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), end, one = 1;
	char message[100] = "";
	const ssize_t bytes = sizeof(message);
	pid_t pid;

	check(bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
		      getsockname(listener, (struct sockaddr *)&address, &len),
	      "listen");
	pid = start();
	if (pid) {
		end = accept(listener, NULL, NULL);
	} else {
		end = socket(AF_INET, SOCK_STREAM, 0);
		check(connect(end, (struct sockaddr *)&address, len), "connect");
	}
	setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = 0; i < 10000; i++) {
		if (!pid)
			check(write(end, message, bytes) != bytes, "write");
		check(read(end, message, bytes) != bytes, "read");
		load_process(message, sizeof(message));
		if (pid)
			check(write(end, message, bytes) != bytes, "write");
	}
	if (!pid)
		_exit(0);
	finish();
}

/* Ten tasks each send 400 messages of 100 bytes to each of ten receivers. */
static void load_hackbench(void)
{
	enum { TASKS = 10,
	       MESSAGES = 400,
	       BYTES = 100 };
	int pair[TASKS][2];
	char message[BYTES] = "";

	for (int i = 0; i < TASKS; i++)
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]), "socketpair");
	for (int i = 0; i < 2 * TASKS; i++) {
		if (start())
			continue;
		for (int n = 0; n < MESSAGES * TASKS; n++) {
			int end = i < TASKS ? pair[i][0] : pair[n % TASKS][1];
			size_t todo = BYTES;

			while (i < TASKS && todo) {
				ssize_t got = read(end, message, todo);

				check(got <= 0, "read");
				todo -= (size_t)got;
			}
			load_process(message, BYTES);
			check(i >= TASKS && write(end, message, BYTES) != BYTES, "write");
		}
		_exit(0);
	}
	for (int i = 0; i < 2 * TASKS; i++)
		finish();
}

static void getppid_calls(int calls)
{
	for (int i = 0; i < calls; i++)
		syscall(SYS_getppid);
}

static void load_getppid(void)
{
	getppid_calls(500000);
}

/* Each call runs a filter of 300 instructions. */
static void load_seccomp(void)
{
	struct sock_filter filter[300];
	struct sock_fprog program = { .len = 300, .filter = filter };

	for (int i = 0; i < 299; i++)
		filter[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, args[0]));
	filter[299] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
	check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
	getppid_calls(300000);
}

static void ignore(int number)
{
	(void)number;
}

static void load_signals(void)
{
	struct sigaction action = { .sa_handler = ignore };

	check(sigaction(SIGUSR1, &action, NULL), "sigaction");
	for (int i = 0; i < 50000; i++)
		check(raise(SIGUSR1), "raise");
}

static void load_guest(void)
{
	load_vcpu(4000);
}

static const struct {
	const char *name;
	void (*run)(void);
} loads[] = {
	{ "close", load_close },
	{ "kill", load_kill },
	{ "mmap", load_mmap },
	{ "forks", load_forks },
	{ "tcp", load_tcp },
	{ "hackbench", load_hackbench },
	{ "seccomp", load_seccomp },
	{ "signals", load_signals },
	{ "getppid", load_getppid },
	{ "sqpoll", load_sqpoll },
	{ "workers", load_workers },
	{ "vcpu", load_guest },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(loads) / sizeof(*loads); i++) {
		if (strcmp(loads[i].name, argv[1]))
			continue;
		loads[i].run();
		return 0;
	}
	fputs("usage: loads NAME\n", stderr);
	return 2;
}
