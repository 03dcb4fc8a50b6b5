// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits: this thread sleeps in different ways, a known number of times and for a known time.
 * Its profile must name the function in which it slept, with that count and time. Run with
 * all groups enabled.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define TIMES 10
#define PAUSE_MS 10

static const struct timespec pause_time = { .tv_nsec = PAUSE_MS * 1000000L };
static int end[2];

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void *feed(void *arg)
{
	for (int i = 0; i < TIMES; i++) {
		nanosleep(&pause_time, NULL);
		if (write(end[1], "x", 1) != 1)
			self_die("write", -errno);
	}
	return arg;
}

/* Receive the other end's datagrams slowly. */
static void *drain(void *arg)
{
	char byte;

	for (int i = 0; i < *(int *)arg; i++) {
		nanosleep(&pause_time, NULL);
		if (recv(end[0], &byte, 1, 0) != 1)
			self_die("recv", -errno);
	}
	return arg;
}

static void read_what_is_fed(void)
{
	pthread_t thread;
	char byte;

	if (pthread_create(&thread, NULL, feed, NULL))
		self_die("thread", -EAGAIN);
	for (int i = 0; i < TIMES; i++)
		if (read(end[0], &byte, 1) != 1)
			self_die("read", -errno);
	pthread_join(thread, NULL);
	close(end[0]);
	close(end[1]);
}

static void by_pipe(void)
{
	if (pipe(end))
		self_die("pipe", -errno);
	read_what_is_fed();
}

static void by_unix_socket(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		self_die("socketpair", -errno);
	read_what_is_fed();
}

/*
 * The peer's queue is full until the peer receives a datagram, TIMES times. The peer is not
 * connected, because the limit does not apply to sockets that are connected to each other.
 */
static void by_full_peer(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(address);
	pthread_t thread;
	int nr = TIMES;

	end[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
	end[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (bind(end[0], (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(end[0], (struct sockaddr *)&address, &len) ||
	    connect(end[1], (struct sockaddr *)&address, len))
		self_die("AF_UNIX", -errno);
	while (send(end[1], "x", 1, MSG_DONTWAIT) == 1)
		;
	if (pthread_create(&thread, NULL, drain, &nr))
		self_die("thread", -EAGAIN);
	for (int i = 0; i < TIMES; i++)
		if (send(end[1], "x", 1, 0) != 1)
			self_die("send", -errno);
	pthread_join(thread, NULL);
	close(end[0]);
	close(end[1]);
}

static void by_futex(void)
{
	uint32_t word = 0;

	for (int i = 0; i < TIMES; i++)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &pause_time, NULL, 0);
}

static void by_poll(void)
{
	for (int i = 0; i < TIMES; i++)
		poll(NULL, 0, PAUSE_MS);
}

static void by_select(void)
{
	for (int i = 0; i < TIMES; i++)
		pselect(0, NULL, NULL, NULL, &pause_time, NULL);
}

static void by_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	for (int i = 0; i < TIMES; i++)
		epoll_wait(fd, &event, 1, PAUSE_MS);
	close(fd);
}

static void by_nanosleep(void)
{
	for (int i = 0; i < TIMES; i++)
		nanosleep(&pause_time, NULL);
}

static void by_wait(void)
{
	for (int i = 0; i < TIMES; i++) {
		pid_t child = fork();

		if (!child) {
			nanosleep(&pause_time, NULL);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			self_die("fork", -errno);
	}
}

/* The child uses the memory of its parent, which waits for a completion. */
static void by_vfork(void)
{
	for (int i = 0; i < TIMES; i++) {
		pid_t child = vfork();

		if (!child) {
			nanosleep(&pause_time, NULL);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			self_die("vfork", -errno);
	}
}

/* A file without a directory, because overlayfs would call the function twice. */
static void by_fsync(void)
{
	int fd = memfd_create("waits", 0);

	for (int i = 0; i < TIMES; i++)
		fsync(fd);
	close(fd);
}

/**
 * struct kind - a way to sleep
 * @event: the function that must be named
 * @sleep: sleeps in this way
 * @count: number of its calls; 0 if unknown
 * @least_ms: its minimum time
 */
static const struct kind {
	const char *event;
	void (*sleep)(void);
	uint64_t count;
	unsigned int least_ms;
} kinds[] = {
	{ "pipe_read", by_pipe, TIMES, TIMES *PAUSE_MS },
	{ "unix_stream_read_generic", by_unix_socket, TIMES, TIMES *PAUSE_MS },
	{ "unix_dgram_sendmsg", by_full_peer, 0, TIMES *PAUSE_MS / 2 },
	{ "futex_wait_queue", by_futex, TIMES, TIMES *PAUSE_MS },
	{ "poll_schedule_timeout", by_poll, TIMES, TIMES *PAUSE_MS },
	{ "poll_schedule_timeout", by_select, TIMES, TIMES *PAUSE_MS },
	{ "ep_poll", by_epoll, TIMES, TIMES *PAUSE_MS },
	{ "do_nanosleep", by_nanosleep, TIMES, TIMES *PAUSE_MS },
	{ "do_wait", by_wait, TIMES, TIMES *PAUSE_MS / 2 },
	{ "__wait_for_common", by_vfork, 0, TIMES *PAUSE_MS },
	{ "vfs_fsync_range", by_fsync, TIMES, 0 },
};

/*
 * Between the known minimum and the time by the clock. The minimum counts from the system call;
 * only with exact time is the function that waits entered at once.
 */
static void expect_time(const struct kind *kind, double got, double took)
{
	int good = (!tap_exact_time() || got * 1000 >= kind->least_ms) && got <= took;

	tap_ok(good, "%s: %.1f ms of %.1f, at least %u", kind->event,
	       got * 1000, took * 1000, kind->least_ms);
}

int main(void)
{
	self_open();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct kind *kind = &kinds[i];
		struct ktau_rec_profile *p = self_profile(0);
		double took = now_seconds();
		struct ktau_entry entry;

		kind->sleep();
		took = now_seconds() - took;
		p = self_added(p, self_profile(0));
		entry = self_entry(p, kind->event);
		if (kind->count)
			self_expect(kind->event, entry.count, kind->count);
		expect_time(kind, self_seconds(entry.incl), took);
		ktau_record_free(p);
	}
	self_close();
	return tap_done();
}
