/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots of a trace as text, for dump.c. */
#ifndef KTAU_TOOLS_DUMP_SLOT_H
#define KTAU_TOOLS_DUMP_SLOT_H

#include <stdio.h>

#include <ktau.h>

#include "symbolize.h"

/**
 * struct dump - state of a dump
 * @out: output
 * @names: names of the events
 * @reader: resolves owners
 * @clock: clock of the current stream
 * @streams: number of streams so far
 */
struct dump {
	FILE *out;
	struct symbolizer *names;
	const struct ktau_reader *reader;
	struct ktau_clock clock;
	uint64_t streams;
};

/* Print the name of @number, or the number itself if this library does not know it. */
void dump_word(struct dump *d, const char *word, uint32_t number);

/* Print the names of @bits, separated by commas. */
void dump_bits(struct dump *d, uint32_t bits, const char *(*name)(uint32_t bit));

void dump_event_name(struct dump *d, uint32_t id);

/* Print the contents of a slot, without its time and CPU. */
void dump_slot(struct dump *d, const struct ktau_slot *s);

#endif
