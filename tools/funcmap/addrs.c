// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces addresses in a byte stream by names.
 *
 * For speed, only every eighth byte is examined: if it is not a hexadecimal digit, no number of
 * eight digits contains it, and none can start before it. Recently seen numbers are cached in a
 * small table; all others take a binary search of the map.
 *
 * The input buffer contains CONTEXT bytes that have already been written, the bytes that were held
 * back last time because they may be the start of a number, and new bytes.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "addrs.h"

enum {
	MIN_DIGITS = 8,
	MAX_DIGITS = 16,
	CONTEXT = 3,		/* "0x" and the byte before it */
	IN_BYTES = 1 << 20,
	OUT_BYTES = 1 << 20,
	OUT_SLACK = 2048,	/* longest name + offset + module */
	CACHE_SLOTS = 1 << 12,
};

struct cached {
	uint64_t address;
	uint64_t offset;
	const char *name;	/* NULL: not in a function */
	const char *module;
	uint32_t name_bytes;
	bool used;
};

struct addrs {
	const struct ktau_symtab *symtab;
	addrs_write_fn write;
	void *arg;
	struct addrs_counts counts;
	bool narrow;		/* the map has addresses with 8 digits */
	bool wide;		/* the map has addresses with 16 digits */
	int8_t digit[256];	/* value of a digit; -1 for anything else */
	bool word[256];
	size_t in_bytes;	/* bytes held back, after the context */
	size_t out_bytes;
	struct cached cache[CACHE_SLOTS];
	char in[CONTEXT + IN_BYTES];
	char out[OUT_BYTES];
};

static void init_tables(struct addrs *a)
{
	int c;

	for (c = 0; c < 256; c++) {
		a->digit[c] = -1;
		if (c >= '0' && c <= '9')
			a->digit[c] = (int8_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			a->digit[c] = (int8_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			a->digit[c] = (int8_t)(c - 'A' + 10);
		a->word[c] = a->digit[c] >= 0 || (c >= 'g' && c <= 'z') ||
			     (c >= 'G' && c <= 'Z') || c == '_';
	}
}

struct addrs *addrs_create(const struct ktau_symtab *symtab,
			   addrs_write_fn write, void *arg)
{
	struct addrs *a = calloc(1, sizeof(*a));
	struct ktau_symbol text;

	if (!a)
		return NULL;
	a->symtab = symtab;
	a->write = write;
	a->arg = arg;
	a->narrow = a->wide = true;
	if (ktau_symtab_find(symtab, "_stext", &text) > 0) {
		a->narrow = text.address <= UINT32_MAX;
		a->wide = !a->narrow;
	}
	init_tables(a);
	memset(a->in, '\n', CONTEXT);
	return a;
}

void addrs_destroy(struct addrs *a)
{
	free(a);
}

const struct addrs_counts *addrs_counts(const struct addrs *a)
{
	return &a->counts;
}

char *addrs_space(struct addrs *a, size_t *size)
{
	*size = IN_BYTES - a->in_bytes;
	return a->in + CONTEXT + a->in_bytes;
}

static int flush(struct addrs *a)
{
	size_t size = a->out_bytes;

	a->out_bytes = 0;
	return size ? a->write(a->arg, a->out, size) : 0;
}

static int emit(struct addrs *a, const char *data, size_t size)
{
	int err;

	if (size > OUT_BYTES - a->out_bytes) {
		err = flush(a);
		if (err)
			return err;
		if (size > OUT_BYTES / 2)
			return a->write(a->arg, data, size);
	}
	memcpy(a->out + a->out_bytes, data, size);
	a->out_bytes += size;
	return 0;
}

static const struct cached *lookup(struct addrs *a, uint64_t address)
{
	struct cached *c;
	struct ktau_symbol sym;

	c = &a->cache[(address * 0x9e3779b97f4a7c15ULL) >> 52];
	if (c->used && c->address == address)
		return c;
	memset(c, 0, sizeof(*c));
	c->used = true;
	c->address = address;
	if (ktau_symtab_lookup(a->symtab, address, &sym) > 0) {
		c->name = sym.name;
		c->name_bytes = (uint32_t)strlen(sym.name);
		c->module = sym.module;
		c->offset = sym.offset;
	}
	return c;
}

static int emit_hex(struct addrs *a, uint64_t value)
{
	char text[3 + MAX_DIGITS];
	size_t at = sizeof(text);

	do {
		text[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	text[--at] = 'x';
	text[--at] = '0';
	text[--at] = '+';
	return emit(a, text + at, sizeof(text) - at);
}

static int emit_name(struct addrs *a, const struct cached *c)
{
	int err = 0;

	/* Check for room once here instead of in each of five copies. */
	if (OUT_BYTES - a->out_bytes < OUT_SLACK)
		err = flush(a);
	if (!err)
		err = emit(a, c->name, c->name_bytes);
	if (!err && c->offset)
		err = emit_hex(a, c->offset);
	if (!err && c->module) {
		err = emit(a, "[", 1);
		if (!err)
			err = emit(a, c->module, strlen(c->module));
		if (!err)
			err = emit(a, "]", 1);
	}
	return err;
}

static bool looks_like_kernel(const struct addrs *a, uint64_t value, size_t digits)
{
	return (a->wide && digits == 16 && value >> 63) ||
	       (a->narrow && digits == 8 && value >> 31);
}

/* Start of the number at @digits, including its 0x; NULL if it is part of a word. */
static const char *number_start(const struct addrs *a, const char *digits)
{
	const unsigned char *d = (const unsigned char *)digits;

	if (!a->word[d[-1]])
		return digits;
	if ((d[-1] == 'x' || d[-1] == 'X') && d[-2] == '0' && !a->word[d[-3]])
		return digits - 2;
	return NULL;
}

static uint64_t number_value(const struct addrs *a, const char *s, const char *e)
{
	uint64_t value = 0;

	for (; s < e; s++)
		value = value << 4 | (uint64_t)a->digit[(unsigned char)*s];
	return value;
}

/* If the digits [@s, @e) are an address, write its name. @done is advanced past them. */
static int number(struct addrs *a, const char *s, const char *e, const char **done)
{
	size_t digits = (size_t)(e - s);
	const char *start = number_start(a, s);
	const struct cached *c;
	uint64_t value;
	int err;

	if (digits > MAX_DIGITS || !start)
		return 0;
	value = number_value(a, s, e);
	c = lookup(a, value);
	if (!c->name) {
		a->counts.unresolved += looks_like_kernel(a, value, digits);
		return 0;
	}
	a->counts.resolved++;
	err = emit(a, *done, (size_t)(start - *done));
	if (!err)
		err = emit_name(a, c);
	*done = e;
	return err;
}

/* Start of the trailing bytes that may be the beginning of a number. */
static const char *unfinished(const struct addrs *a, const char *from, const char *end)
{
	const char *s = end, *start;

	while (s > from && end - s <= MAX_DIGITS && a->digit[(unsigned char)s[-1]] >= 0)
		s--;
	if (end - s > MAX_DIGITS)
		return end;
	start = number_start(a, s);
	if (start && start >= from)
		return start;
	return end;
}

static int scan(struct addrs *a, const char *from, const char *end, bool last,
		const char **done)
{
	const char *p = from, *s, *e;
	int err;

	while (end - p >= MIN_DIGITS) {
		s = p + MIN_DIGITS - 1;
		if (a->digit[(unsigned char)*s] < 0) {
			p = s + 1;
			continue;
		}
		for (e = s + 1; e < end && a->digit[(unsigned char)*e] >= 0; e++)
			;
		while (s > p && a->digit[(unsigned char)s[-1]] >= 0)
			s--;
		if (e == end && !last && e - s <= MAX_DIGITS)
			break;
		if (e - s >= MIN_DIGITS && (e == end || !a->word[(unsigned char)*e])) {
			err = number(a, s, e, done);
			if (err)
				return err;
		}
		p = e;
	}
	return 0;
}

int addrs_feed(struct addrs *a, size_t size)
{
	const char *from = a->in + CONTEXT, *done = from;
	const char *end = from + a->in_bytes + size, *stop;
	int err = scan(a, from, end, !size, &done);

	if (err)
		return err;
	stop = size ? unfinished(a, done, end) : end;
	err = emit(a, done, (size_t)(stop - done));
	if (!err)
		err = flush(a);
	a->in_bytes = (size_t)(end - stop);
	memmove(a->in, stop - CONTEXT, CONTEXT + a->in_bytes);
	return err;
}
