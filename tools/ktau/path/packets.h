/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which task sent what an interrupt receives: segments of TCP are matched by the addresses, ports
 * and sequence numbers of both ends. The last segments of each direction of a connection are kept.
 */
#ifndef KTAU_TOOLS_PATH_PACKETS_H
#define KTAU_TOOLS_PATH_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/hash.h"

/**
 * struct path_origin - where a segment comes from
 * @task: index of the task that sent it; PATH_NONE: not known, or no task did
 * @ns: when
 */
struct path_origin {
	uint32_t task;
	uint64_t ns;
};

/* The directions of connections; all zero: empty. */
struct packets {
	struct hash by_key;
	struct direction *directions;
	size_t nr, room;
};

void packets_deinit(struct packets *packets);

/* A segment of @origin was sent. */
void packets_send(struct packets *packets, const struct ktau_slot_net *net,
		  struct path_origin origin);

/* The origin of the latest segment with the last byte of the one that was received. */
struct path_origin packets_receive(const struct packets *packets, const struct ktau_slot_net *net);

#endif
