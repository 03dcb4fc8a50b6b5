// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots_tcp: send TCP segments over loopback, then decode their trace slots without the
 * library. Run as root, with all groups and trace=on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
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

/* Slots that the trace lacks because their ring was overwritten, and owners that it lacks. */
static unsigned long long missing(void)
{
	const struct ktau_rec_trace *rec;
	unsigned long long nr = 0;
	size_t at;

	for (at = 0; at < trace.len; at += rec->rec.size) {
		rec = (const void *)(trace.bytes + at);
		if (rec->rec.type == KTAU_REC_TRACE)
			nr += rec->lost;
		else if (rec->rec.type == KTAU_REC_END)
			nr += ((const struct ktau_rec_end *)rec)->torn;
	}
	return nr;
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

/* How often segments of a connection have been retransmitted, as the kernel counts it. */
static unsigned int retransmits_of(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("TCP_INFO");
	return info.tcpi_total_retrans;
}

/* Wait until @fd has retransmitted @nr segments, at most 30 s. */
static void wait_retransmits(int fd, unsigned int nr)
{
	static const struct timespec ten_ms = { .tv_nsec = 10 * 1000 * 1000 };
	unsigned int i;

	for (i = 0; i < 3000 && retransmits_of(fd) < nr; i++)
		nanosleep(&ten_ms, NULL);
}

/*
 * While the queue of a listening socket is full, a SYN is dropped and retransmitted after 1 s,
 * 2 s more and 4 s more. A kernel thread or an idle task may send it, whose small ring is soon
 * overwritten. So the trace is read at once, and if that was too late, after the next time.
 */
static void send_again(void)
{
	struct sockaddr_in address;
	uint64_t since = now();
	unsigned int times, after;
	struct segments s;
	int server = listening(&address, 0), fd[3], i;

	for (i = 0; i < 3; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd[i], (void *)&address, sizeof(address)) && errno != EINPROGRESS)
			die("connect without waiting");
	}
	for (times = 1; times <= 3; times++) {
		wait_retransmits(fd[2], times);
		s = segments_of(since, port_of(fd[2]));
		after = retransmits_of(fd[2]);
		if (s.syn_again)
			break;
	}
	tap_ok(s.syn == 1 && s.syn_again && s.syn_again <= after &&
	       s.sent == s.syn + s.syn_again,
	       "the SYN of an unaccepted connection is sent, and retransmitted %u times "
	       "(kernel: %u; %u SYN not retransmitted, %u segments; %llu slots lost)",
	       s.syn_again, after, s.syn, s.sent, missing());
	close(server);
}

int main(void)
{
	send_and_receive();
	send_again();
	return tap_done();
}
