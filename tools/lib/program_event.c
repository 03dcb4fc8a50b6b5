// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "program_event.h"

static const char *const types[] = {
	[PROGRAM_U64] = "u64",
	[PROGRAM_S64] = "s64",
	[PROGRAM_REAL] = "real",
	[PROGRAM_TEXT_TYPE] = "text",
};

#define NR_TYPES (sizeof(types) / sizeof(*types))

const char *program_type_name(enum program_type type)
{
	return types[type];
}

size_t program_name_bytes(const char *name)
{
	return strcspn(name, "(");
}

/*
 * Read "name:type" at @at. Return: what follows it and the comma; NULL if there is no field, or
 * one of a type that is not known, whose length is not known either.
 */
static const char *read_field(const char *at, struct program_field *field)
{
	const size_t name_bytes = strcspn(at, ":,)");
	const char *type = at + name_bytes + 1;
	size_t type_bytes, i;

	if (!name_bytes || at[name_bytes] != ':')
		return NULL;
	type_bytes = strcspn(type, ",)");
	for (i = 0; i < NR_TYPES; i++)
		if (strlen(types[i]) == type_bytes && !memcmp(types[i], type, type_bytes))
			break;
	if (i == NR_TYPES || !type[type_bytes])
		return NULL;
	field->name = at;
	field->name_bytes = name_bytes;
	field->type = (enum program_type)i;
	return type + type_bytes + (type[type_bytes] == ',');
}

static const char *fields_of(const char *name)
{
	const char *at = name + program_name_bytes(name);

	return *at ? at + 1 : at;
}

bool program_has_number(const char *name)
{
	struct program_field field;

	return read_field(fields_of(name), &field) && field.type <= PROGRAM_S64;
}

void program_begin(struct program_walk *walk, const char *name, const struct ktau_slot *slot)
{
	*walk = (struct program_walk){
		.at = fields_of(name),
		.payload = ktau_slot_payload(slot),
		.words = ktau_slot_payload_words(slot),
	};
}

/* The first byte of a text is the lowest one of its word, on any machine. */
static bool read_text(struct program_walk *walk, struct program_field *field)
{
	const __u64 bytes = *walk->payload;
	size_t i;

	if (bytes > 8U * (walk->words - 1) || bytes > PROGRAM_TEXT)
		return false;
	for (i = 0; i < bytes; i++)
		field->text[i] = (char)(walk->payload[1 + i / 8] >> 8 * (i % 8));
	field->text[bytes] = 0;
	walk->payload += 1 + (bytes + 7) / 8;
	walk->words -= (unsigned int)(1 + (bytes + 7) / 8);
	return true;
}

bool program_next(struct program_walk *walk, struct program_field *field)
{
	const char *next = walk->words ? read_field(walk->at, field) : NULL;

	if (!next)
		return false;
	walk->at = next;
	if (field->type == PROGRAM_TEXT_TYPE)
		return read_text(walk, field);
	field->number = *walk->payload;
	memcpy(&field->real, walk->payload, sizeof(field->real));
	walk->payload++;
	walk->words--;
	return true;
}

const char *program_text(const struct program_field *field)
{
	static char number[40];

	switch (field->type) {
	case PROGRAM_U64:
		snprintf(number, sizeof(number), "%" PRIu64, field->number);
		return number;
	case PROGRAM_S64:
		snprintf(number, sizeof(number), "%" PRId64, (int64_t)field->number);
		return number;
	case PROGRAM_REAL:
		snprintf(number, sizeof(number), "%g", field->real);
		return number;
	default:
		return field->text;
	}
}

bool program_find(const char *name, const struct ktau_slot *slot, const char *wanted,
		  struct program_field *field)
{
	const size_t bytes = strlen(wanted);
	struct program_walk walk;

	program_begin(&walk, name, slot);
	while (program_next(&walk, field))
		if (field->name_bytes == bytes && !memcmp(field->name, wanted, bytes))
			return true;
	return false;
}
