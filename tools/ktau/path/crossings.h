/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segments that crossed from one machine to another: what was received on one is found among what
 * the others have sent.
 */
#ifndef KTAU_TOOLS_PATH_CROSSINGS_H
#define KTAU_TOOLS_PATH_CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/clock_fit.h"
#include "packets.h"

/**
 * struct crossing - a segment that was sent
 * @packet: the segment, with the times and tasks of its machine
 * @machine: index of the machine
 * @direction: number of its direction among those of all machines
 */
struct crossing {
	const struct packet *packet;
	uint32_t machine, direction;
};

/**
 * struct crossings - segments of all machines
 * @packets: those of each machine
 * @nr_machines: length of @packets
 * @directions: the directions of all machines
 * @numbers: for each machine, the numbers in @directions of its own directions
 * @sent: sent ones, by direction and sequence number; those without payload first, by what they
 *	acknowledge
 * @nr: length of @sent
 * @longest: bytes of the longest segment
 */
struct crossings {
	struct packets **packets;
	size_t nr_machines;
	struct packets directions;
	uint32_t **numbers;
	struct crossing *sent;
	size_t nr;
	uint32_t longest;
};

/* Collect the segments of @nr machines; @packets must outlive @c. */
void crossings_make(struct crossings *c, struct packets **packets, size_t nr);
void crossings_deinit(struct crossings *c);

/**
 * struct crossing_pair - two machines that have exchanged segments
 * @low: index of one
 * @high: index of the other, which is larger
 * @fit: the clock of @low over that of @high
 * @nr: number of segments
 * @is_guest: one is a guest of the other: @nr is the number of its slots in guest mode
 */
struct crossing_pair {
	uint32_t low, high;
	struct clock_fit fit;
	size_t nr;
	bool is_guest;
};

/*
 * Fit the clocks of all pairs of machines, by segments of which there is one only. Return: the
 * number of pairs; @pairs is to be freed.
 */
size_t crossings_fit(const struct crossings *c, struct crossing_pair **pairs);

/*
 * The latest segment with the last byte of segment @received (from 1 on) of @machine that was sent
 * before it, by the clocks in @lines; NULL if there is none.
 */
const struct crossing *crossings_find(const struct crossings *c, const struct clock_line *lines,
				      size_t machine, uint32_t received);

#endif
