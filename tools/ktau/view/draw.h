/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of a view as lines of letters. */
#ifndef KTAU_TOOLS_VIEW_DRAW_H
#define KTAU_TOOLS_VIEW_DRAW_H

#include <stdio.h>

#include "engine.h"

/*
 * Print a line of at most @width columns for each row that had a state, and what the letters mean.
 * A column has the letter of the state that lasted longest in it, in lower case if that was less
 * than half of the column. The intervals must have been kept.
 */
void view_draw(struct engine *g, int width, FILE *out);

#endif
