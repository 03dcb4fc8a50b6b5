// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <linux/ktau_references.h>

#include "dump_fields.h"
#include "text.h"

enum form { DECIMAL, SIGNED, HEX, TASK, STATE, CONTEXT };

struct field {
	const char *label;
	enum form form;
	size_t at, bytes;
};

/* clang-format off */

/* The shown fields of each structure; the last one has no label. */
#define KTAU_STRUCT(structure)	static const struct field structure##_fields[] = {
#define KTAU_SHOWN(structure, type, field, form, label) \
	{ label, form, offsetof(struct structure, field), sizeof(((struct structure *)0)->field) },
#define KTAU_END(structure)	{ NULL, DECIMAL, 0, 0 } };
#include <ktau_fields.h>

static const struct field *const structures[] = {
#define KTAU_STRUCT(structure)	structure##_fields,
#include <ktau_fields.h>
};

void dump_word(struct dump *d, const char *word, uint32_t number)
{
	if (word)
		fputs(word, d->out);
	else
		fprintf(d->out, "%" PRIu32, number);
}

void dump_bits(struct dump *d, uint32_t bits, const char *(*name)(uint32_t bit))
{
	const char *comma = "", *known;
	uint32_t bit;

	for (bit = 1; bit; bit <<= 1) {
		if (!(bits & bit))
			continue;
		known = name(bit);
		if (known)
			fprintf(d->out, "%s%s", comma, known);
		else
			fprintf(d->out, "%s%#" PRIx32, comma, bit);
		comma = ",";
	}
	if (!bits)
		fputs("none", d->out);
}

void dump_event_name(struct dump *d, uint32_t id)
{
	print_escaped(symbolize_event(d->names, id), d->out);
}

/* Room for each payload. */
union payload {
#define KTAU_SLOT(type, structure, word) struct structure type;
#include <ktau_fields.h>
};

static const struct {
	const char *word;
	enum dump_structure structure;
} payloads[] = {
#define KTAU_SLOT(type, structure, word) [KTAU_TRACE_##type] = { word, SHOWN_##structure },
#include <ktau_fields.h>
};

static const struct {
	uint16_t type;
	const char *word;
	enum dump_structure structure;
} records[] = {
#define KTAU_RECORD(type, structure, word) { KTAU_REC_##type, word, SHOWN_##structure },
#include <ktau_fields.h>
};

/* clang-format on */

void dump_task(struct dump *d, uint64_t serial)
{
	const struct ktau_rec_owner *o = ktau_reader_owner(d->reader, serial);

	fprintf(d->out, "%" PRIu64, serial);
	if (!o)
		return;
	fprintf(d->out, "(%" PRId32 " ", o->tid);
	print_escaped(o->comm, d->out);
	fputc(')', d->out);
}

static uint64_t load(const struct field *f, const void *from)
{
	uint64_t v64 = 0;
	uint32_t v32 = 0;
	uint16_t v16 = 0;
	const char *at = (const char *)from + f->at;

	switch (f->bytes) {
	case sizeof(v64):
		memcpy(&v64, at, sizeof(v64));
		return v64;
	case sizeof(v32):
		memcpy(&v32, at, sizeof(v32));
		return f->form == SIGNED ? (uint64_t)(int32_t)v32 : v32;
	case sizeof(v16):
		memcpy(&v16, at, sizeof(v16));
		return f->form == SIGNED ? (uint64_t)(int16_t)v16 : v16;
	}
	return *(const uint8_t *)at;
}

static void print_field(struct dump *d, enum form form, uint64_t value)
{
	switch (form) {
	case DECIMAL:
		fprintf(d->out, "%" PRIu64, value);
		return;
	case SIGNED:
		fprintf(d->out, "%" PRId64, (int64_t)value);
		return;
	case HEX:
		fprintf(d->out, "%#" PRIx64, value);
		return;
	case TASK:
		dump_task(d, value);
		return;
	case STATE:
		fprintf(d->out, "%#" PRIx64 "(%c)", value, ktau_state_letter((uint32_t)value));
		return;
	case CONTEXT:
		dump_word(d, ktau_ctx_name((uint8_t)value), (uint32_t)value);
		return;
	}
}

void dump_fields(struct dump *d, enum dump_structure structure, const void *from)
{
	const struct field *f;

	for (f = structures[structure]; f->label; f++) {
		fprintf(d->out, " %s=", f->label);
		print_field(d, f->form, load(f, from));
	}
}

/* The flags of a reference. */
static void print_flags(struct dump *d, unsigned int bits)
{
	static const char *const names[] = { "write", "first-store", "kernel", "remote", "fetch",
					     "zero",  "again" };
	const char *separator = " ";
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!(bits >> i & 1))
			continue;
		fprintf(d->out, "%s%s", separator, names[i]);
		separator = ",";
	}
}

bool dump_payload(struct dump *d, const struct ktau_slot *s)
{
	size_t bytes = ktau_slot_payload_words(s) * 8;
	union payload payload;

	if (s->type >= sizeof(payloads) / sizeof(*payloads) || !payloads[s->type].word)
		return false;
	memset(&payload, 0, sizeof(payload));
	memcpy(&payload, ktau_slot_payload(s), bytes < sizeof(payload) ? bytes : sizeof(payload));
	fputs(payloads[s->type].word, d->out);
	print_flags(d, s->flags);
	dump_fields(d, payloads[s->type].structure, &payload);
	return true;
}

void dump_known(struct dump *d, const struct ktau_rec *rec)
{
	size_t i;

	for (i = 0; i < sizeof(records) / sizeof(*records); i++) {
		if (records[i].type != rec->type)
			continue;
		fputs(records[i].word, d->out);
		dump_fields(d, records[i].structure, rec);
	}
}
