/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of ktau cycles. */
#ifndef KTAU_CYCLES_PRINT_H
#define KTAU_CYCLES_PRINT_H

#include <ktau.h>

#include "recording.h"

enum cycles_format { CYCLES_TEXT, CYCLES_CSV, CYCLES_JSON, CYCLES_FOLDED };

/**
 * struct cycles_print - what to print
 * @r: recording, decoded
 * @symtab: names of functions; NULL: there are none
 * @format: how
 * @flame: file of a flame graph; NULL: none
 * @stream: only this stream; -1: all
 * @annotate: print the instructions of this function, or of the row that begins at this address;
 *	NULL: print functions
 */
struct cycles_print {
	const struct recording *r;
	const struct ktau_symtab *symtab;
	enum cycles_format format;
	const char *flame;
	int stream;
	const char *annotate;
};

/* Print to standard output, or draw @flame. Return: 0, or -1 with a message. */
int cycles_print(const struct cycles_print *p);

/* Whether the cycles of a stream are the sum of their parts. */
bool cycles_add_up(const struct cycles *c);

/* The number of a stream on the command line and in tables. */
int cycles_stream(const struct trace_source *source);

#endif
