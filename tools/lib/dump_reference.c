// SPDX-License-Identifier: GPL-2.0-only
/* Slots about references to pages as text. */
#include <inttypes.h>
#include <string.h>

#include <linux/ktau_references.h>

#include "dump_reference.h"

/* 64 bits in hexadecimal and decimal, and 32 bits. */
enum field_type { PAGE, LONG, INT, SIGNED };

/* A field of a payload. */
struct field {
	const char *name;
	enum field_type type;
};

/* Each ends with a field without a name. */
static const struct field reference[] = {
	{ "page", PAGE }, { "space", INT }, { "thread", INT }, { NULL, PAGE }
};
static const struct field unmap[] = {
	{ "page", PAGE }, { "pages", LONG }, { "space", INT }, { "thread", INT }, { NULL, PAGE }
};
static const struct field move[] = {
	{ "page", PAGE }, { "to", PAGE }, { "pages", LONG }, { "space", INT },
	{ "thread", INT }, { NULL, PAGE }
};
static const struct field map[] = {
	{ "page", PAGE }, { "pages", LONG }, { "pgoff", LONG }, { "inode", LONG }, { "dev", INT },
	{ "generation", INT }, { "space", INT }, { "vm_flags", INT }, { NULL, PAGE }
};
static const struct field space[] = {
	{ "space", INT }, { "parent", INT }, { "reason", INT }, { "thread", INT }, { NULL, PAGE }
};
static const struct field thread[] = {
	{ "thread", INT }, { "space", INT }, { "serial", LONG }, { "tid", SIGNED },
	{ "tgid", SIGNED }, { NULL, PAGE }
};
static const struct field file[] = {
	{ "inode", LONG }, { "pos", LONG }, { "bytes", LONG }, { "size", LONG }, { "dev", INT },
	{ "generation", INT }, { "thread", INT }, { "op", INT }, { NULL, PAGE }
};
static const struct field truncated[] = {
	{ "inode", LONG }, { "size", LONG }, { "dev", INT }, { "generation", INT }, { NULL, PAGE }
};
static const struct field phase[] = {
	{ "armed", INT }, { "spaces", INT }, { "page_bytes", INT }, { "window", INT },
	{ NULL, PAGE }
};

static const struct field counted[] = {
	{ "pages", LONG }, { "stores", LONG }, { "space", INT }, { "thread", INT }, { NULL, PAGE }
};

static const struct {
	const char *name;
	const struct field *fields;
} types[] = {
	[KTAU_TRACE_REFERENCE] = { "reference", reference },
	[KTAU_TRACE_COW] = { "cow", reference },
	[KTAU_TRACE_UNMAP] = { "unmap", unmap },
	[KTAU_TRACE_MOVE] = { "move", move },
	[KTAU_TRACE_MAP] = { "map", map },
	[KTAU_TRACE_SPACE] = { "space", space },
	[KTAU_TRACE_THREAD] = { "thread", thread },
	[KTAU_TRACE_FILE] = { "file", file },
	[KTAU_TRACE_TRUNCATE] = { "truncate", truncated },
	[KTAU_TRACE_SKIPPED] = { "skipped", map },
	[KTAU_TRACE_PHASE] = { "phase", phase },
	[KTAU_TRACE_EVICT] = { "evict", reference },
	[KTAU_TRACE_COUNTED] = { "counted", counted },
};

static const char *const flags[] = { "write", "first-store", "kernel", "remote", "fetch", "zero",
				     "again" };

static void print_flags(unsigned int bits, FILE *out)
{
	const char *separator = " ";
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!(bits >> i & 1))
			continue;
		fprintf(out, "%s%s", separator, flags[i]);
		separator = ",";
	}
}

/* Print a field at @from. Return: its size. */
static size_t print_field(const struct field *f, const char *from, FILE *out)
{
	uint64_t wide;
	uint32_t narrow;

	fprintf(out, " %s=", f->name);
	if (f->type == PAGE || f->type == LONG) {
		memcpy(&wide, from, sizeof(wide));
		fprintf(out, f->type == PAGE ? "%#" PRIx64 : "%" PRIu64, wide);
		return sizeof(wide);
	}
	memcpy(&narrow, from, sizeof(narrow));
	if (f->type == SIGNED)
		fprintf(out, "%" PRId32, (int32_t)narrow);
	else
		fprintf(out, "%" PRIu32, narrow);
	return sizeof(narrow);
}

bool dump_reference(const struct ktau_slot *s, FILE *out)
{
	const char *at = (const char *)ktau_slot_payload(s);
	const char *end = at + ktau_slot_payload_words(s) * 8;
	const struct field *f;

	if (s->type >= sizeof(types) / sizeof(*types) || !types[s->type].name)
		return false;
	fputs(types[s->type].name, out);
	print_flags(s->flags, out);
	for (f = types[s->type].fields; f->name && at < end; f++)
		at += print_field(f, at, out);
	return true;
}
