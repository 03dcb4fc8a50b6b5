/* SPDX-License-Identifier: GPL-2.0-only */
/* When hosts took the CPU from tasks of guests, for the paths of these tasks. */
#ifndef KTAU_TOOLS_STEALS_H
#define KTAU_TOOLS_STEALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock_fit.h"

/* The boot id of a machine, as in struct ktau_rec_stream. */
struct steals_boot {
	uint8_t id[16];
};

/* Who had the CPU instead: a task of a machine; 0: not known. */
struct steals_cause {
	size_t machine;
	uint64_t serial;
};

/**
 * struct steal - a time in which a task of a guest had no CPU of the host
 * @serial: serial of the task
 * @from_ns, @to_ns: times of the guest, CLOCK_BOOTTIME
 * @cause: index of the cause
 */
struct steal {
	uint64_t serial, from_ns, to_ns;
	uint32_t cause;
};

/**
 * struct steals_machine - a machine
 * @boot: its boot id
 * @host: index of the machine that runs it; SIZE_MAX: it is no guest
 * @line: maps its CLOCK_BOOTTIME to that of @host
 * @band_ns: how far that may be off, if it was found by a search; 0: it is exact
 * @gave_up: the search for a host and a clock took too long
 * @slots: number of its slots that prove it
 * @all: by task and time
 * @nr: length of @all
 * @room: allocated length of @all
 */
struct steals_machine {
	struct steals_boot boot;
	size_t host;
	struct clock_line line;
	double band_ns;
	bool gave_up;
	uint64_t slots;
	struct steal *all;
	size_t nr, room;
};

/**
 * struct steals - all machines; all zero: none
 * @machines: the machines
 * @nr: length of @machines
 * @causes: the causes
 * @nr_causes: length of @causes
 */
struct steals {
	struct steals_machine *machines;
	size_t nr;
	struct steals_cause *causes;
	size_t nr_causes;
};

/* The machine with this boot id; NULL if there is none. */
const struct steals_machine *steals_find(const struct steals *s, const uint8_t *boot_id);

void steals_deinit(struct steals *s);

#endif
