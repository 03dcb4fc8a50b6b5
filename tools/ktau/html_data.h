/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of an HTML report: numbers of 7 bits a byte (LEB128) in sections, each in
 * base64 in an element of its own. No byte of a name reaches the HTML as it is.
 */
#ifndef KTAU_TOOLS_HTML_DATA_H
#define KTAU_TOOLS_HTML_DATA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hash.h"

/**
 * struct section_out - the section that is being written
 * @out: the page
 * @rest: bytes that do not fill a group of three yet
 * @nr_rest: number of them
 */
struct section_out {
	FILE *out;
	unsigned char rest[3];
	unsigned int nr_rest;
};

/* An element with this id, until section_end(). */
void section_begin(struct section_out *s, FILE *out, const char *id);
void section_end(struct section_out *s);

void section_bytes(struct section_out *s, const void *bytes, size_t nr);
void section_number(struct section_out *s, uint64_t value);

/* Small numbers of either sign take few bytes. */
void section_signed(struct section_out *s, int64_t value);

/* All zero is an empty one; the same numbers in memory. */
struct packed {
	unsigned char *bytes;
	size_t nr, room;
};

void packed_number(struct packed *p, uint64_t value);
void packed_signed(struct packed *p, int64_t value);
void packed_deinit(struct packed *p);

/* Texts, each once; all zero is an empty table. */
struct texts {
	struct hash by_hash;
	char **texts;
	size_t nr, room;
};

/* The number of @text: 0, 1, 2... */
uint64_t texts_number(struct texts *t, const char *text);
void texts_write(const struct texts *t, struct section_out *s);
void texts_deinit(struct texts *t);

#endif
