/* SPDX-License-Identifier: GPL-2.0-only */
/* Merged records as text and binary; misses and workingset read them, too. */
#ifndef KTAU_TOOLS_LINE_H
#define KTAU_TOOLS_LINE_H

#include "consumer.h"
#include "sink.h"

/* Begins both formats. */
#define LINE_TITLE	"# ktau pages: "
#define LINE_MAGIC	"KTAUPAGE"

enum {
	LINE_BYTES = 64,
	BINARY_BYTES = 16,
	BINARY_VERSION = 1,
	BINARY_FILE = 1,	/* flag of a record: the page belongs to a file */
};

/* Kinds of binary records, and letters of text. */
#define LINE_READ	'r'
#define LINE_WRITE	'w'
#define LINE_FILE_READ	'R'
#define LINE_FILE_WRITE	'W'
#define LINE_LOST	'L'

/**
 * struct line_format - the form of an output
 * @name: name of the output, for its first line
 * @binary: binary instead of text
 * @ticks: times are ticks
 * @named: text says whether a page is of a file
 */
struct line_format {
	const char *name;
	bool binary, ticks, named;
};

/* Write the beginning of a file, or a record. Return: 0, or -1. */
int line_begin(const struct line_format *format, struct sink *sink);
int line_write(const struct line_format *format, const struct page_record *record,
	       struct sink *sink);

#endif
