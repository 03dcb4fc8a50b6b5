// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client and servers in tiers, whose answers take known times.
 *
 *	tiers serve PORT NAME [HOST PORT]	answer one client after the other; the next
 *						tier is at HOST PORT
 *	tiers ask HOST PORT NAME WHAT MS	ask once; compute for 10 ms before and after
 *
 * NAME becomes the name of the task. WHAT is one of:
 *	burn	the server computes for MS
 *	sleep	it sleeps for MS
 *	meanwhile	it computes for MS, the client for 30 ms
 *	behind	it computes for 5 ms, asks the next tier to compute for MS, and computes again
 *
 * All computing is measured in the thread's own CPU time.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 300 };

struct request {
	char what[16];
	uint32_t ms;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint32_t ms)
{
	uint64_t end = cpu_ns() + ms * 1000000ULL;
	volatile int i;

	while (cpu_ns() < end)
		for (i = 0; i < 20000; i++)
			;
}

/* Read or write all of a request. */
static bool pass(int fd, struct request *r, bool out)
{
	char *at = (char *)r;
	size_t left = sizeof(*r);
	ssize_t n;

	while (left) {
		n = out ? write(fd, at, left) : read(fd, at, left);
		if (n <= 0)
			return false;
		at += n;
		left -= (size_t)n;
	}
	return true;
}

static bool ask(int fd, const char *what, uint32_t ms)
{
	struct request r = { .ms = ms };

	snprintf(r.what, sizeof(r.what), "%s", what);
	return pass(fd, &r, true);
}

static bool answered(int fd)
{
	struct request r;

	return pass(fd, &r, false);
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

/* Without the delay of small segments, which is not what is asked for. */
static int at_once(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int dial(const char *host, const char *port)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	struct sockaddr_in a = address(host, port);
	int tries, fd;

	for (tries = 0; tries < TRIES; tries++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd, (const struct sockaddr *)&a, sizeof(a)))
			return at_once(fd);
		close(fd);
		nanosleep(&pause, NULL);
	}
	perror("connect");
	exit(1);
}

static void work(const struct request *r, int behind)
{
	struct timespec pause = { r->ms / 1000, r->ms % 1000 * 1000000L };

	if (!strcmp(r->what, "burn") || !strcmp(r->what, "meanwhile"))
		burn(r->ms);
	if (!strcmp(r->what, "sleep"))
		nanosleep(&pause, NULL);
	if (strcmp(r->what, "behind"))
		return;
	burn(5);
	if (!ask(behind, "burn", r->ms) || !answered(behind))
		exit(1);
	burn(5);
}

static int serve(char **argv, int argc)
{
	struct sockaddr_in a = address("0.0.0.0", argv[0]);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;
	int behind = argc > 3 ? dial(argv[2], argv[3]) : -1;
	struct request r;

	prctl(PR_SET_NAME, argv[1]);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (const struct sockaddr *)&a, sizeof(a)) || listen(listener, 5)) {
		perror("listen");
		return 1;
	}
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		at_once(fd);
		while (pass(fd, &r, false)) {
			work(&r, behind);
			if (!pass(fd, &r, true))
				break;
		}
		close(fd);
	}
	return 1;
}

static int client(char **argv)
{
	int fd = dial(argv[0], argv[1]);

	prctl(PR_SET_NAME, argv[2]);
	burn(10);
	if (!ask(fd, argv[3], (uint32_t)atoi(argv[4])))
		return 1;
	if (!strcmp(argv[3], "meanwhile"))
		burn(30);
	if (!answered(fd))
		return 1;
	burn(10);
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc > 3 && !strcmp(argv[1], "serve"))
		return serve(argv + 2, argc - 2);
	if (argc == 7 && !strcmp(argv[1], "ask"))
		return client(argv + 2);
	fprintf(stderr, "usage: tiers serve PORT NAME [HOST PORT] | ask HOST PORT NAME WHAT MS\n");
	return 2;
}
