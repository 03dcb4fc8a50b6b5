/* SPDX-License-Identifier: GPL-2.0-only */
/* Escaped texts as strings, and cut to fit into a line. */
#ifndef KTAU_TOOLS_TEXT_CUT_H
#define KTAU_TOOLS_TEXT_CUT_H

#include <stddef.h>

/* A text as print_escaped() prints it; the caller frees it. */
char *text_escaped(const char *text);

/* Columns of the ".." in a text that was cut, and the least width at which a text has it. */
enum { GAP_COLUMNS = 2, MIN_CUT = 10 };

/*
 * Cut an escaped text to @columns in the middle, because long names begin alike. *cut is
 * the text that is shown, which the caller frees. Return: its width, which may be one less.
 */
int text_cut(const char *text, int columns, char **cut);

/* The least width from @columns on at which text_cut() keeps different texts different. */
int text_distinct(const char *const *texts, size_t nr, int columns);

#endif
