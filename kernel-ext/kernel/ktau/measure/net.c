// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: TCP segments in the trace.
 *
 * Addresses, ports, sequence number and length of a segment are the same at both ends, so
 * the traces of two machines can be matched.
 */
#include <linux/export.h>
#include <linux/ipv6.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "base/compat.h"
#include "ring.h"
#include "trace.h"

static void end_point(struct ktau_slot_more *more, __be32 v4,
		      const struct in6_addr *v6, u16 port)
{
	struct in6_addr address;

	if (v6)
		address = *v6;
	else
		ipv6_addr_set_v4mapped(v4, &address);
	memcpy(more->data, &address, sizeof(more->data));
	more->small = port;
}

/* Only a retransmission uses sequence numbers that were sent before. */
static bool is_retransmit(const struct sock *sk, const struct tcp_skb_cb *cb)
{
	return cb->end_seq != cb->seq && before(cb->seq, tcp_sk(sk)->snd_nxt);
}

/* Number of segments on the wire. On receive, gso_segs is 0 for a single segment. */
static unsigned int nr_segments(const struct sk_buff *skb, bool send)
{
	unsigned int nr = send ? tcp_skb_pcount(skb) : skb_shinfo(skb)->gso_segs;

	return clamp(nr, 1U, (unsigned int)U16_MAX);
}

/* What the segment acknowledges; a segment that is sent has no header yet. */
static u32 acknowledged(const struct sock *sk, const struct tcp_skb_cb *cb, bool send)
{
	if (!(cb->tcp_flags & TCPHDR_ACK))
		return 0;
	return send ? tcp_sk(sk)->rcv_nxt : cb->ack_seq;
}

/**
 * __ktau_net() - trace a segment that is sent or received
 * @skb: the segment, its TCP control block filled in
 * @send: true if it is sent, false if it was received
 *
 * Context: Task or softirq. The current task has TCP and tracing enabled.
 */
void __ktau_net(const struct sock *sk, const struct sk_buff *skb, bool send)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	const struct inet_sock *inet = inet_sk(sk);
	struct ktau_slot_more more[2] = { };
	const struct in6_addr *remote = NULL;
	u32 type = send ? KTAU_TRACE_NET_SEND : KTAU_TRACE_NET_RECV;
	u32 flags = cb->tcp_flags;
	u32 len = cb->end_seq - cb->seq;

	/* SYN and FIN take a sequence number each, but no payload. */
	len -= !!(flags & TCPHDR_SYN) + !!(flags & TCPHDR_FIN);
	if (sk->sk_family == AF_INET6)
		remote = KTAU_V6_DADDR(sk);
	end_point(&more[0], inet->inet_saddr, inet6_rcv_saddr(sk),
		  ntohs(inet->inet_sport));
	end_point(&more[1], inet->inet_daddr, remote, ntohs(inet->inet_dport));
	more[0].small2 = (u8)flags;
	if (send && is_retransmit(sk, cb))
		more[0].small2 |= KTAU_NET_RETRANSMIT << 8;
	more[1].small2 = sock_net(sk)->ns.inum;
	more[1].small3 = acknowledged(sk, cb, send);
	ktau_trace_more(current->ktau.state,
			KTAU_WHAT(nr_segments(skb, send), type, 0),
			cb->seq | (u64)len << 32, more, ARRAY_SIZE(more));
}
EXPORT_SYMBOL_GPL(__ktau_net);
