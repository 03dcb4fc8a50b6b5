/* SPDX-License-Identifier: GPL-2.0-only */
/* Call paths as a picture, and as folded stacks for other programs. */
#ifndef KTAU_TOOLS_FLAME_H
#define KTAU_TOOLS_FLAME_H

#include <stdint.h>
#include <stdio.h>

#include "analyse/stacks.h"

/* Which time to show. */
#define FLAME_ON_CPU	(1U << 0)
#define FLAME_OFF_CPU	(1U << 1)

/**
 * struct flame - what to draw
 * @stacks: the call paths
 * @name: the name of the last routine of a path, or of a root
 * @arg: passed to @name
 * @unit: what @self_ns of the paths is; NULL: nanoseconds
 * @time: FLAME_* bits
 * @title: title of the picture
 */
struct flame {
	const struct stacks *stacks;
	const char *(*name)(void *arg, const struct stack_node *node);
	void *arg;
	const char *unit;
	unsigned int time;
	const char *title;
};

/* Total of all paths in nanoseconds or @unit. */
uint64_t flame_total(const struct flame *f);

/* Print "task;routine;routine NANOSECONDS", a line for each path with exclusive time. */
void flame_folded(const struct flame *f, FILE *out);

/* Draw a flame graph: width is time, and callers are below their callees. */
void flame_svg(const struct flame *f, FILE *out);

#endif
