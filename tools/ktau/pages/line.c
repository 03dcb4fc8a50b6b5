// SPDX-License-Identifier: GPL-2.0-only
/* Merged records. Text: "TIME LETTER PAGE [a|f]". Binary: little-endian, 16 bytes a record. */
#include <stdio.h>
#include <string.h>

#include "line.h"

static char letter_of(const struct page_record *r)
{
	bool is_write = r->flags & KTAU_REFERENCE_WRITE;

	if (r->kind == PAGE_LOST)
		return LINE_LOST;
	if (r->kind == PAGE_FILE)
		return is_write ? LINE_FILE_WRITE : LINE_FILE_READ;
	return is_write ? LINE_WRITE : LINE_READ;
}

static char *put_number(char *to, uint64_t number)
{
	char digits[20];
	int nr = 0;

	do {
		digits[nr++] = '0' + number % 10;
		number /= 10;
	} while (number);
	while (nr)
		*to++ = digits[--nr];
	return to;
}

static void put_little(uint8_t *to, uint64_t number, int bytes)
{
	for (; bytes; bytes--, number >>= 8)
		*to++ = (uint8_t)number;
}

int line_begin(const struct line_format *f, struct sink *sink)
{
	uint8_t head[BINARY_BYTES] = LINE_MAGIC;
	char text[LINE_BYTES];

	if (f->binary) {
		head[8] = BINARY_VERSION;
		head[9] = f->ticks;
		return sink_write(sink, head, sizeof(head));
	}
	snprintf(text, sizeof(text), LINE_TITLE "%s, time in %s\n", f->name,
		 f->ticks ? "ticks" : "ns");
	return sink_write(sink, text, strlen(text));
}

static int write_binary(const struct page_record *r, struct sink *sink)
{
	uint8_t out[BINARY_BYTES];

	put_little(out, r->time, 8);
	put_little(out + 8, r->number, 6);
	out[14] = (uint8_t)letter_of(r);
	out[15] = r->of_file ? BINARY_FILE : 0;
	return sink_write(sink, out, sizeof(out));
}

int line_write(const struct line_format *f, const struct page_record *r, struct sink *sink)
{
	char text[LINE_BYTES], *to = text;

	if (f->binary)
		return write_binary(r, sink);
	to = put_number(to, r->time);
	*to++ = ' ';
	*to++ = letter_of(r);
	*to++ = ' ';
	to = put_number(to, r->number);
	if (f->named && r->kind != PAGE_LOST) {
		*to++ = ' ';
		*to++ = r->of_file ? 'f' : 'a';
	}
	*to++ = '\n';
	return sink_write(sink, text, (size_t)(to - text));
}
