/* SPDX-License-Identifier: GPL-2.0-only */
/* Call paths as a picture, and as folded stacks for other programs. */
#ifndef KTAU_TOOLS_FLAME_H
#define KTAU_TOOLS_FLAME_H

#include <stdint.h>
#include <stdio.h>

#include "stacks.h"
#include "symbolize.h"

/* Which time to show. */
#define FLAME_ON_CPU	(1U << 0)
#define FLAME_OFF_CPU	(1U << 1)

/**
 * struct flame - what to draw
 * @stacks: the call paths
 * @names: names of their events
 * @time: FLAME_* bits
 * @title: title of the picture
 */
struct flame {
	const struct stacks *stacks;
	struct symbolizer *names;
	unsigned int time;
	const char *title;
};

/* Total of all paths in nanoseconds. */
uint64_t flame_total(const struct flame *f);

/* Print "task;routine;routine NANOSECONDS", a line for each path with exclusive time. */
void flame_folded(const struct flame *f, FILE *out);

/* Draw a flame graph: width is time, and callers are below their callees. */
void flame_svg(const struct flame *f, FILE *out);

#endif
