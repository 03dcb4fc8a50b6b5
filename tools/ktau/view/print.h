/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of ktau view. */
#ifndef KTAU_TOOLS_VIEW_PRINT_H
#define KTAU_TOOLS_VIEW_PRINT_H

#include "engine.h"
#include "lib/table.h"

/* "FILE: TITLE, 0.812000 s, 4 rows". */
void view_print_title(const struct engine *g, const char *file, FILE *out);

/* A line for each row and state. */
void view_print_sums(struct engine *g, enum table_format format);

/* The intervals in order of their begin. */
void view_print_intervals(struct engine *g, enum table_format format);

#endif
