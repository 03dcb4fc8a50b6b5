/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of the events of programs, in the slots KTAU_TRACE_FIELDS. The name of such an event
 * lists them: "mpi:work(rank:s64,host:text)".
 */
#ifndef KTAU_TOOLS_PROGRAM_EVENT_H
#define KTAU_TOOLS_PROGRAM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

/* Words of a slot's payload, and bytes of a text in it, at most. */
enum { PROGRAM_WORDS = 253,
       PROGRAM_TEXT = 8 * (PROGRAM_WORDS - 1) };

/* Room for the name of a field. */
enum { PROGRAM_NAME = 528 };

enum program_type { PROGRAM_U64,
		    PROGRAM_S64,
		    PROGRAM_REAL,
		    PROGRAM_TEXT_TYPE };

/**
 * struct program_field - a field of an event and its value
 * @name: its name, which is not terminated
 * @name_bytes: length of @name
 * @type: decides which of the following has the value
 * @number: of an integer; for PROGRAM_S64, its bits
 * @real: a floating-point number
 * @text: a text, which may contain any byte except 0
 */
struct program_field {
	const char *name;
	size_t name_bytes;
	enum program_type type;
	uint64_t number;
	double real;
	char text[PROGRAM_TEXT + 1];
};

/* Where program_next() is. */
struct program_walk {
	const char *at;
	const __u64 *payload;
	unsigned int words;
};

/* "u64", "s64", "real" or "text". */
const char *program_type_name(enum program_type type);

/* Length of the name of an event without its fields. */
size_t program_name_bytes(const char *name);

/* Is the first field of the event with this name an integer? */
bool program_has_number(const char *name);

/* Walk through the fields that both @name and the payload of @slot have. */
void program_begin(struct program_walk *walk, const char *name, const struct ktau_slot *slot);
bool program_next(struct program_walk *walk, struct program_field *field);

/* The value of a field as a text, which is valid as long as the field, or until the next call. */
const char *program_text(const struct program_field *field);

/* The field named @wanted. Return: false if the event does not have it. */
bool program_find(const char *name, const struct ktau_slot *slot, const char *wanted,
		  struct program_field *field);

#endif
