/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots of a trace as text, for dump.c. */
#ifndef KTAU_TOOLS_DUMP_SLOT_H
#define KTAU_TOOLS_DUMP_SLOT_H

#include <stdio.h>

#include <ktau.h>

#include "symbolize.h"

/**
 * struct dump - where text goes and what is known
 * @out: where to
 * @names: of the events
 * @reader: has the owners
 * @clock: of the present stream
 * @streams: number of streams so far
 */
struct dump {
	FILE *out;
	struct symbolizer *names;
	const struct ktau_reader *reader;
	struct ktau_clock clock;
	uint64_t streams;
};

/* A number that has a name: as a number, if this library does not know it. */
void dump_word(struct dump *d, const char *word, uint32_t number);

void dump_event_name(struct dump *d, uint32_t id);

/* What a slot says; not when and where. */
void dump_slot(struct dump *d, const struct ktau_slot *s);

#endif
