/* SPDX-License-Identifier: GPL-2.0-only */
/* Call paths as a picture, and as lines that other programs make pictures of. */
#ifndef KTAU_TOOLS_FLAME_H
#define KTAU_TOOLS_FLAME_H

#include <stdint.h>
#include <stdio.h>

#include "stacks.h"
#include "symbolize.h"

/* Which time is shown. */
#define FLAME_ON_CPU	(1U << 0)
#define FLAME_OFF_CPU	(1U << 1)

/**
 * struct flame - what to draw
 * @stacks: the call paths
 * @names: of their events
 * @time: FLAME_* bits
 * @title: of the picture
 */
struct flame {
	const struct stacks *stacks;
	struct symbolizer *names;
	unsigned int time;
	const char *title;
};

/* Nanoseconds of all paths. */
uint64_t flame_total(const struct flame *f);

/* "task;routine;routine NANOSECONDS", a line for each path that has time of its own. */
void flame_folded(const struct flame *f, FILE *out);

/* A flame graph: the wider a frame, the more time; what called it is below it. */
void flame_svg(const struct flame *f, FILE *out);

#endif
