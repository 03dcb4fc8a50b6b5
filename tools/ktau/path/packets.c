// SPDX-License-Identifier: GPL-2.0-only
/* Matches received segments with sent ones. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "cause.h"
#include "packets.h"

/* Segments kept of a direction: more are rarely on their way, and few are the rule. */
enum { KEPT = 32, KEPT_FIRST = 2 };

/* One end of a connection and the other, in the order of the sender. */
struct ends {
	uint8_t from[16], to[16];
	uint16_t from_port, to_port;
};

struct sent {
	uint32_t seq, bytes;
	uint8_t flags;
	struct path_origin origin;
};

/**
 * struct direction - a direction of a connection
 * @ends: its ends
 * @next: the next direction with the same hash, from 1; 0: none
 * @nr: segments sent
 * @sent: the last ones
 * @room: allocated length of @sent, which grows to KEPT
 */
struct direction {
	struct ends ends;
	size_t next;
	size_t nr;
	struct sent *sent;
	size_t room;
};

void packets_deinit(struct packets *packets)
{
	size_t i;

	for (i = 0; i < packets->nr; i++)
		free(packets->directions[i].sent);
	hash_deinit(&packets->by_key);
	free(packets->directions);
	free(packets->sent.packets);
	free(packets->received.packets);
	*packets = (struct packets){ 0 };
}

/* Network namespaces are not compared: the two ends may be in containers that are connected. */
static struct ends ends_of(const struct ktau_slot_net *net, bool sent)
{
	struct ends e;

	memcpy(e.from, sent ? net->local : net->remote, sizeof(e.from));
	memcpy(e.to, sent ? net->remote : net->local, sizeof(e.to));
	e.from_port = sent ? net->local_port : net->remote_port;
	e.to_port = sent ? net->remote_port : net->local_port;
	return e;
}

/* The number of a direction, which may be new. */
static uint32_t find(struct packets *packets, const struct ends *ends)
{
	uint64_t key = hash_bytes(HASH_START, ends, sizeof(*ends));
	size_t first = hash_get(&packets->by_key, key), index = first;

	while (index && memcmp(&packets->directions[index - 1].ends, ends, sizeof(*ends)))
		index = packets->directions[index - 1].next;
	if (index)
		return (uint32_t)(index - 1);
	if (packets->nr == packets->room) {
		packets->room = packets->room ? 2 * packets->room : 16;
		packets->directions = cli_alloc(packets->directions, packets->room,
						sizeof(*packets->directions));
	}
	packets->directions[packets->nr] = (struct direction){ .ends = *ends, .next = first };
	hash_put(&packets->by_key, key, ++packets->nr);
	return (uint32_t)(packets->nr - 1);
}

uint32_t packets_translate(struct packets *to, const struct packets *from, uint32_t direction)
{
	return find(to, &from->directions[direction].ends);
}

/* Grow by a quarter, as the edges that segments lead to. */
static struct packet *add(struct packet_list *list, const struct ktau_slot_net *net, uint64_t ns,
			  uint32_t direction)
{
	struct packet *p;

	if (list->nr == list->room) {
		list->room += list->room / 4 + 64;
		list->packets = cli_alloc(list->packets, list->room, sizeof(*list->packets));
	}
	p = &list->packets[list->nr++];
	*p = (struct packet){
		.ns = ns,
		.direction = direction,
		.seq = net->seq,
		.bytes = net->bytes,
		.ack = net->ack,
		.flags = net->tcp_flags,
		.again = net->net_flags & KTAU_NET_RETRANSMIT,
		.origin = PATH_NO_ORIGIN,
	};
	return p;
}

void packets_send(struct packets *packets, const struct ktau_slot_net *net, uint64_t ns,
		  struct path_origin origin)
{
	const struct ends ends = ends_of(net, true);
	uint32_t index = find(packets, &ends);
	struct direction *d = &packets->directions[index];

	add(&packets->sent, net, ns, index)->origin = origin;
	if (d->nr == d->room && d->room < KEPT) {
		d->room = d->room ? 2 * d->room : KEPT_FIRST;
		d->sent = cli_alloc(d->sent, d->room, sizeof(*d->sent));
	}
	d->sent[d->nr++ % KEPT] = (struct sent){ net->seq, net->bytes, net->tcp_flags, origin };
}

/* Sequence numbers wrap around. Without payload, nothing but the flags tells segments apart. */
static bool has_last_byte(const struct sent *sent, const struct ktau_slot_net *net)
{
	if (!net->bytes)
		return !sent->bytes && sent->seq == net->seq && sent->flags == net->tcp_flags;
	return (uint32_t)(net->seq + net->bytes - 1 - sent->seq) < sent->bytes;
}

struct path_origin packets_receive(struct packets *packets, const struct ktau_slot_net *net,
				   uint64_t ns)
{
	const struct ends ends = ends_of(net, false);
	uint32_t index = find(packets, &ends);
	const struct direction *d = &packets->directions[index];
	struct path_origin elsewhere = PATH_NO_ORIGIN;
	size_t i, nr = d->nr < KEPT ? d->nr : KEPT;

	for (i = 1; i <= nr; i++)
		if (has_last_byte(&d->sent[(d->nr - i) % KEPT], net))
			return d->sent[(d->nr - i) % KEPT].origin;
	add(&packets->received, net, ns, index);
	elsewhere.received = (uint32_t)packets->received.nr;
	return elsewhere;
}
