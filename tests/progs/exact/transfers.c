// SPDX-License-Identifier: GPL-2.0-only
/*
 * transfers: compare the bytes that this program sends and receives through sockets, and its
 * timer signals, with its profile. Run with all groups enabled.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define DATAGRAMS 700
#define ROOM 300

static struct ktau_rec_profile *before;

static void begin(void)
{
	before = self_profile(0);
}

static struct ktau_rec_profile *added(void)
{
	return self_added(before, self_profile(0));
}

/* Test a counter's number of values and their sum. */
static void expect(const struct ktau_rec_profile *p, const char *name, const char *what,
		   uint64_t count, uint64_t sum)
{
	struct ktau_entry entry = self_entry(p, name);
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", what, name);
	self_expect(text, entry.count, count);
	snprintf(text, sizeof(text), "%s: bytes", what);
	self_expect(text, entry.sum, sum);
}

/* Test only the sum, because the number of calls depends on the kernel. */
static void expect_bytes(const struct ktau_rec_profile *p, const char *name, const char *what,
			 uint64_t sum)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: bytes of %s", what, name);
	self_expect(text, self_entry(p, name).sum, sum);
}

static void expect_calls(const struct ktau_rec_profile *p, const char *name, uint64_t count)
{
	self_expect(name, self_entry(p, name).count, count);
}

static void must(ssize_t got, size_t want, const char *what)
{
	if (got != (ssize_t)want)
		self_die(what, got < 0 ? -errno : -EIO);
}

/* A UDP socket that is connected to itself; -1 if the kernel lacks the family. */
static int udp_socket(int family)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *address = family == AF_INET ? (void *)&v4 : (void *)&v6;
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	int fd = socket(family, SOCK_DGRAM, 0);

	if (fd < 0 && errno == EAFNOSUPPORT)
		return -1;
	if (fd < 0 || bind(fd, address, len) || getsockname(fd, address, &len) ||
	    connect(fd, address, len))
		self_die("UDP", -errno);
	return fd;
}

/*
 * Datagrams of 0, 1, 2 ... bytes, into ROOM bytes: the rest of a longer one is lost, though
 * with MSG_TRUNC recv() returns its full length. Every tenth is peeked at first.
 */
static void datagrams(int fd, int peer, const char *what, const char *send_event,
		      const char *recv_event)
{
	static char buffer[DATAGRAMS];
	uint64_t sent = 0, received = 0, calls = 0;
	struct ktau_rec_profile *p;

	begin();
	for (size_t i = 0; i < DATAGRAMS; i++) {
		must(send(fd, buffer, i, 0), i, "send");
		sent += i;
		if (i % 10 == 0) {
			must(recv(peer, buffer, ROOM, MSG_PEEK | MSG_TRUNC), i, "peek");
			calls++;
		}
		must(recv(peer, buffer, ROOM, MSG_TRUNC), i, "recv");
		received += i < ROOM ? i : ROOM;
		calls++;
	}
	p = added();
	expect(p, "sock_send_bytes", what, DATAGRAMS, sent);
	expect(p, "sock_recv_bytes", what, DATAGRAMS, received);
	expect_calls(p, send_event, DATAGRAMS);
	expect_calls(p, recv_event, calls);
	ktau_record_free(p);
	close(fd);
	if (peer != fd)
		close(peer);
}

static void unix_datagrams(void)
{
	int end[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, end))
		self_die("socketpair", -errno);
	datagrams(end[0], end[1], "AF_UNIX datagrams", "unix_dgram_sendmsg",
		  "__unix_dgram_recvmsg");
}

/* The error queue returns a datagram that was sent to an unused port. */
static void error_queue(void)
{
	struct sockaddr_in none = { .sin_family = AF_INET,
				    .sin_port = htons(9),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
	struct ktau_rec_profile *p;
	char buffer[100] = "";

	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)))
		self_die("IP_RECVERR", -errno);
	begin();
	must(sendto(fd, buffer, 50, 0, (struct sockaddr *)&none, sizeof(none)), 50, "sendto");
	must(recv(fd, buffer, sizeof(buffer), MSG_ERRQUEUE), 50, "error queue");
	p = added();
	expect(p, "sock_send_bytes", "an unreachable port", 1, 50);
	expect(p, "sock_recv_bytes", "the error queue", 0, 0);
	ktau_record_free(p);
	close(fd);
}

/* A peek, a read, a drop, and the end of the stream. */
static void stream(void)
{
	struct ktau_rec_profile *p;
	static char buffer[1000];
	int end[2];

	self_connection(end);
	begin();
	must(send(end[0], buffer, 1000, 0), 1000, "send");
	must(recv(end[1], buffer, 400, MSG_PEEK), 400, "peek");
	must(recv(end[1], buffer, 400, MSG_WAITALL), 400, "recv");
	must(recv(end[1], NULL, 500, MSG_TRUNC), 500, "drop");
	must(recv(end[1], buffer, 1000, 0), 100, "recv");
	shutdown(end[0], SHUT_WR);
	must(recv(end[1], buffer, 1000, 0), 0, "the end");
	p = added();
	expect(p, "sock_send_bytes", "TCP", 1, 1000);
	expect(p, "sock_recv_bytes", "TCP, 500 of 1,000 dropped", 2, 500);
	ktau_record_free(p);
	close(end[0]);
	close(end[1]);
}

static void unix_stream(void)
{
	struct ktau_rec_profile *p;
	static char buffer[1000];
	int end[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		self_die("socketpair", -errno);
	begin();
	for (int i = 0; i < 100; i++) {
		must(send(end[0], buffer, 1000, 0), 1000, "send");
		must(recv(end[1], buffer, 1000, 0), 1000, "recv");
	}
	p = added();
	expect(p, "sock_send_bytes", "AF_UNIX stream", 100, 100000);
	expect(p, "sock_recv_bytes", "AF_UNIX stream", 100, 100000);
	expect_calls(p, "unix_stream_sendmsg", 100);
	expect_calls(p, "unix_stream_read_generic", 100);
	ktau_record_free(p);
	close(end[0]);
	close(end[1]);
}

static int file_of(size_t bytes)
{
	char name[] = "/tmp/transfers.XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || unlink(name) || ftruncate(fd, (off_t)bytes))
		self_die(name, -errno);
	return fd;
}

/* sendfile() to one end, splice() from the other. */
static void files(int end[2], const char *what, size_t bytes)
{
	struct ktau_rec_profile *p;
	int file = file_of(bytes), pipe_end[2];
	static char buffer[65536];
	size_t got = 0;

	if (pipe(pipe_end))
		self_die("pipe", -errno);
	begin();
	must(sendfile(end[0], file, NULL, bytes), bytes, "sendfile");
	while (got < bytes) {
		ssize_t n = splice(end[1], NULL, pipe_end[1], NULL, bytes - got, 0);

		if (n <= 0)
			self_die("splice", -errno);
		must(read(pipe_end[0], buffer, (size_t)n), (size_t)n, "pipe");
		got += (size_t)n;
	}
	p = added();
	expect_bytes(p, "sock_send_bytes", what, bytes);
	expect_bytes(p, "sock_recv_bytes", what, bytes);
	ktau_record_free(p);
	close(file);
	close(pipe_end[0]);
	close(pipe_end[1]);
	close(end[0]);
	close(end[1]);
}

static void all_files(void)
{
	int end[2];

	self_connection(end);
	files(end, "sendfile to TCP", 40000);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		self_die("socketpair", -errno);
	files(end, "sendfile to AF_UNIX", 40000);
	/* With SOCK_SEQPACKET sendfile() sends messages instead of pages. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end))
		self_die("socketpair", -errno);
	files(end, "sendfile as a packet", 4000);
}

/* A timer of this thread's CPU fires while the thread runs on it. */
static void timers(void)
{
	const struct sched_param priority = { .sched_priority = 1 };
	const struct itimerspec soon = { .it_value.tv_nsec = 500000 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct ktau_rec_profile *p;
	sigset_t set, pending;
	timer_t timer;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	if (sched_setscheduler(0, SCHED_FIFO, &priority) ||
	    sigprocmask(SIG_BLOCK, &set, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer))
		self_die("timer", -errno);
	begin();
	for (int i = 0; i < 100; i++) {
		if (timer_settime(timer, 0, &soon, NULL))
			self_die("timer_settime", -errno);
		do
			sigpending(&pending);
		while (!sigismember(&pending, SIGRTMIN));
		must(sigwaitinfo(&set, NULL), (size_t)SIGRTMIN, "sigwaitinfo");
	}
	p = added();
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	self_expect("100 timer signals sent", self_entry(p, "send_sigqueue").count, 100);
	self_expect("100 timer signals dequeued", self_entry(p, "collect_signal").count, 100);
	ktau_record_free(p);
	timer_delete(timer);
}

int main(void)
{
	int fd;

	self_open();
	fd = udp_socket(AF_INET);
	datagrams(fd, fd, "UDP", "udp_sendmsg", "udp_recvmsg");
	fd = udp_socket(AF_INET6);
	if (fd < 0)
		puts("# no IPv6 in this kernel: UDP over IPv6 left out");
	else
		datagrams(fd, fd, "UDP over IPv6", "udpv6_sendmsg", "udpv6_recvmsg");
	unix_datagrams();
	error_queue();
	stream();
	unix_stream();
	all_files();
	timers();
	self_close();
	return tap_done();
}
