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

static struct direction *find(const struct packets *packets, const struct ends *ends)
{
	size_t index = hash_get(&packets->by_key, hash_bytes(HASH_START, ends, sizeof(*ends)));

	while (index && memcmp(&packets->directions[index - 1].ends, ends, sizeof(*ends)))
		index = packets->directions[index - 1].next;
	return index ? &packets->directions[index - 1] : NULL;
}

static struct direction *add(struct packets *packets, const struct ends *ends)
{
	uint64_t key = hash_bytes(HASH_START, ends, sizeof(*ends));
	struct direction *d;

	if (packets->nr == packets->room) {
		packets->room = packets->room ? 2 * packets->room : 16;
		packets->directions = cli_alloc(packets->directions, packets->room,
						sizeof(*packets->directions));
	}
	d = &packets->directions[packets->nr++];
	*d = (struct direction){ .ends = *ends, .next = hash_get(&packets->by_key, key) };
	hash_put(&packets->by_key, key, packets->nr);
	return d;
}

void packets_send(struct packets *packets, const struct ktau_slot_net *net,
		  struct path_origin origin)
{
	const struct ends ends = ends_of(net, true);
	struct direction *d = find(packets, &ends);

	if (!d)
		d = add(packets, &ends);
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

struct path_origin packets_receive(const struct packets *packets, const struct ktau_slot_net *net)
{
	const struct ends ends = ends_of(net, false);
	const struct direction *d = find(packets, &ends);
	size_t i, nr;

	if (!d)
		return (struct path_origin){ .task = PATH_NONE };
	nr = d->nr < KEPT ? d->nr : KEPT;
	for (i = 1; i <= nr; i++)
		if (has_last_byte(&d->sent[(d->nr - i) % KEPT], net))
			return d->sent[(d->nr - i) % KEPT].origin;
	return (struct path_origin){ .task = PATH_NONE };
}
