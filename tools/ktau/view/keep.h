/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of a view for the formats of other programs. */
#ifndef KTAU_TOOLS_VIEW_KEEP_H
#define KTAU_TOOLS_VIEW_KEEP_H

#include "analyse/states.h"
#include "engine.h"

/* Copy the intervals of all rows that had a state to @arg, which is a struct states. */
void view_keep(struct engine *g, void *arg);

#endif
