/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of records and slots as text, by the list of <ktau_fields.h>. */
#ifndef KTAU_TOOLS_DUMP_FIELDS_H
#define KTAU_TOOLS_DUMP_FIELDS_H

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

/* The structures of the list: SHOWN_ktau_rec_stream and so on. */
enum dump_structure {
#define KTAU_STRUCT(structure) SHOWN_##structure,
#include <ktau_fields.h>
};

/* Print the fields of the structure at @from that the list shows, as label=value. */
void dump_fields(struct dump *d, enum dump_structure structure, const void *from);

/* Print a task by its serial; 0 means no task, or a hidden one. */
void dump_task(struct dump *d, uint64_t serial);

/* Print the payload of @s. Return: false if it is no structure of the list. */
bool dump_payload(struct dump *d, const struct ktau_slot *s);

/* Print the type of a record of the list, and the fields that the list shows. */
void dump_known(struct dump *d, const struct ktau_rec *rec);

#endif
