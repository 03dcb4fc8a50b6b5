/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which task sent what an interrupt receives: segments of TCP are matched by the addresses, ports
 * and sequence numbers of both ends. The last segments of each direction of a connection are kept
 * for those that arrive on the same machine, and all of them for other machines.
 */
#ifndef KTAU_TOOLS_PATH_PACKETS_H
#define KTAU_TOOLS_PATH_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/hash.h"
#include "cause.h"

/**
 * struct path_origin - where a segment comes from
 * @task: index of the task that sent it; PATH_NONE: not known, or no task did
 * @received: number of a received segment from 1 on: it was sent elsewhere, or because of a segment
 *	that was; 0: neither
 * @ns: when
 */
struct path_origin {
	uint32_t task, received;
	uint64_t ns;
};

/* Nobody. */
#define PATH_NO_ORIGIN ((struct path_origin){ .task = PATH_NONE })

/**
 * struct packet - a segment
 * @ns: when it was sent or received
 * @direction: number of its direction
 * @seq: sequence number
 * @bytes: bytes of payload
 * @ack: acknowledged sequence number; 0: not recorded
 * @flags: flags of its header
 * @again: it was sent before
 * @origin: of a sent one
 */
struct packet {
	uint64_t ns;
	uint32_t direction, seq, bytes, ack;
	uint8_t flags;
	bool again;
	struct path_origin origin;
};

/* Segments in time order. */
struct packet_list {
	struct packet *packets;
	size_t nr, room;
};

/**
 * struct packets - the directions of connections, and their segments; all zero: empty
 * @by_key: first direction of each hash
 * @directions: directions
 * @nr: length of @directions
 * @room: allocated length of @directions
 * @sent: all that were sent
 * @received: all that were received, but not sent here
 */
struct packets {
	struct hash by_key;
	struct direction *directions;
	size_t nr, room;
	struct packet_list sent, received;
};

void packets_deinit(struct packets *packets);

/* A segment of @origin was sent at @ns. */
void packets_send(struct packets *packets, const struct ktau_slot_net *net, uint64_t ns,
		  struct path_origin origin);

/*
 * A segment was received at @ns. Return: the origin of the latest segment with its last byte, or
 * the number of the received one.
 */
struct path_origin packets_receive(struct packets *packets, const struct ktau_slot_net *net,
				   uint64_t ns);

/* The number of the direction in @to that is direction @direction of @from; it may be new. */
uint32_t packets_translate(struct packets *to, const struct packets *from, uint32_t direction);

#endif
