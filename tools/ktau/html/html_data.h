/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of an HTML report. Each section is an element that contains base64-encoded numbers
 * with 7 bits per byte (LEB128), so no byte of a name reaches the HTML unencoded.
 */
#ifndef KTAU_TOOLS_HTML_DATA_H
#define KTAU_TOOLS_HTML_DATA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

#include "lib/hash.h"

/**
 * struct section_out - the section being written
 * @out: the page
 * @rest: bytes that do not yet fill a group of three
 * @nr_rest: length of @rest
 */
struct section_out {
	FILE *out;
	unsigned char rest[3];
	unsigned int nr_rest;
};

/* Start an element with this id; section_end() ends it. */
void section_begin(struct section_out *s, FILE *out, const char *id);
void section_end(struct section_out *s);

void section_bytes(struct section_out *s, const void *bytes, size_t nr);
void section_number(struct section_out *s, ktau_sum_t value);

/* Zigzag encoding: numbers near 0 of either sign take few bytes. */
void section_signed(struct section_out *s, int64_t value);

/* Encoded numbers in memory; an all-zero structure is empty. */
struct packed {
	unsigned char *bytes;
	size_t nr, room;
};

void packed_number(struct packed *p, ktau_sum_t value);
void packed_signed(struct packed *p, int64_t value);
void packed_deinit(struct packed *p);

/* A table of distinct texts; an all-zero structure is empty. */
struct texts {
	struct hash by_hash;
	char **texts;
	size_t nr, room;
};

/* Return: the index of @text, counting from 0. */
uint64_t texts_number(struct texts *t, const char *text);
void texts_write(const struct texts *t, struct section_out *s);
void texts_deinit(struct texts *t);

#endif
