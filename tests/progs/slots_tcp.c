// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots_tcp: send TCP segments over loopback, then decode their trace slots without the
 * library. Run as root, with all groups and trace=on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include "slots.h"

static uint32_t self_net_ns(void)
{
	char text[64] = "";

	if (readlink("/proc/self/ns/net", text, sizeof(text) - 1) < 0)
		die("/proc/self/ns/net");
	return strtoul(strchr(text, '[') + 1, NULL, 10);
}

static int listening(struct sockaddr_in *address, int backlog)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (void *)address, sizeof(*address)) || listen(fd, backlog) ||
	    getsockname(fd, (void *)address, &len))
		die("socket");
	return fd;
}

/*
 * Segments in the trace from @since on whose local port is @port. @syn, @fin and @bytes
 * exclude retransmitted segments, because on a slow machine TCP may retransmit any segment.
 */
struct segments {
	unsigned int sent, syn, fin, retransmits, syn_again, wire_segments, foreign;
	uint64_t bytes;
};

static struct segments segments_of(uint64_t since, unsigned int port)
{
	const struct ktau_slot *slot = NULL;
	struct segments s = { 0 };
	uint32_t ns = self_net_ns();

	/* A softirq may send in any task. */
	load(0, since);
	while ((slot = next_slot(slot, KTAU_TRACE_NET_SEND))) {
		const struct ktau_slot_net *net = (const void *)(slot + 1);

		if (net->local_port != port)
			continue;
		s.sent++;
		s.wire_segments += net->nr_segments;
		s.foreign += net->net_ns != ns;
		if (net->net_flags & KTAU_NET_RETRANSMIT) {
			s.retransmits++;
			s.syn_again += net->tcp_flags & 2 ? 1 : 0;
			continue;
		}
		s.syn += net->tcp_flags & 2 ? 1 : 0;
		s.fin += net->tcp_flags & 1;
		s.bytes += net->bytes;
	}
	return s;
}

static unsigned int port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	if (getsockname(fd, (void *)&address, &len))
		die("getsockname");
	return ntohs(address.sin_port);
}

static void send_and_receive(void)
{
	static char data[100000];
	struct sockaddr_in address;
	int server = listening(&address, 1), fd = socket(AF_INET, SOCK_STREAM, 0), peer;
	int mss = 1000;
	uint64_t since = now();
	struct segments s;
	size_t got = 0;
	ssize_t n;

	if (setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)) ||
	    connect(fd, (void *)&address, sizeof(address)))
		die("connect");
	peer = accept(server, NULL, NULL);
	if (write(fd, data, sizeof(data)) != sizeof(data))
		die("write");
	shutdown(fd, SHUT_WR);
	while ((n = read(peer, data, sizeof(data))) > 0)
		got += n;
	s = segments_of(since, port_of(fd));
	tap_ok(got == sizeof(data) && s.bytes == got && s.syn == 1 && s.fin == 1,
	       "%llu bytes sent, %u SYN, %u FIN, %u retransmitted", (unsigned long long)s.bytes,
	       s.syn, s.fin, s.retransmits);
	tap_ok(s.sent && !s.foreign, "%u of %u segments of another network namespace", s.foreign,
	       s.sent);
	/* Like a network card with segmentation offload, loopback takes large segments. */
	tap_ok(s.wire_segments > s.sent && s.wire_segments >= sizeof(data) / mss,
	       "%u segments on the wire in %u", s.wire_segments, s.sent);
	close(fd);
	close(peer);
	close(server);
}

/* While the queue of a listening socket is full, a SYN is dropped and retransmitted. */
static void send_again(void)
{
	struct sockaddr_in address;
	struct timespec begin, at;
	uint64_t since = now();
	struct segments s;
	int server = listening(&address, 0), fd[3], i;
	volatile unsigned int spin;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	for (i = 0; i < 3; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd[i], (void *)&address, sizeof(address)) && errno != EINPROGRESS)
			die("connect without waiting");
	}
	/* The retransmission timer must interrupt this task, so it makes few calls. */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (spin = 0; spin < 1000000; spin++)
			;
		clock_gettime(CLOCK_MONOTONIC, &at);
	} while (at.tv_sec - begin.tv_sec < 3);
	s = segments_of(since, port_of(fd[2]));
	tap_ok(s.sent > 1 && s.syn == 1 && s.syn_again == s.sent - 1,
	       "the SYN of an unaccepted connection is sent, and retransmitted %u times "
	       "(%u SYN not retransmitted, %u segments)",
	       s.syn_again, s.syn, s.sent);
	close(server);
}

int main(void)
{
	send_and_receive();
	send_again();
	return tap_done();
}
