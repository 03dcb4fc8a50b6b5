/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call paths of a trace: which routine was called by which, and how long each path took
 * on a CPU and off it. Fed with the events of timeline.h.
 */
#ifndef KTAU_TOOLS_STACKS_H
#define KTAU_TOOLS_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hash.h"
#include "timeline.h"

/* @parent of a root. */
#define STACKS_NONE	UINT32_MAX

/**
 * struct stack_node - a call path
 * @parent: the path without its last routine; STACKS_NONE: a root, the tasks of one name
 * @id: event id of the last routine; of a root, nothing
 * @off: the routine is a wait of the scheduler: its time is off the CPU
 * @self_ns: time in the last routine itself
 * @count: how often it was entered this way
 * @name: of a root
 */
struct stack_node {
	uint32_t parent;
	uint32_t id;
	bool off;
	uint64_t self_ns;
	uint64_t count;
	char name[16];
};

/**
 * struct stacks - all paths; a path comes after its parent
 * @events: what ids stand for
 * @nodes: they
 * @nr: number of them
 * @room: for how many there is memory
 * @by_key: index of a path plus 1
 * @from_ns: time before it does not count, nor do activations
 * @to_ns: time after it, likewise
 * @refused: activations whose path was one too many; their time is their parent's
 */
struct stacks {
	const struct ktau_events *events;
	struct stack_node *nodes;
	uint32_t nr, room;
	struct hash by_key;
	uint64_t from_ns, to_ns;
	uint64_t refused;
};

/**
 * struct stack_walk - where a track is; all zero at its beginning
 * @node: index of its path plus 1; 0: in no routine
 * @depth: open frames
 * @skipped: the innermost of them that have no path
 * @ns: up to when its time has been added
 */
struct stack_walk {
	uint32_t node;
	uint32_t depth, skipped;
	uint64_t ns;
};

void stacks_init(struct stacks *s, const struct ktau_events *events);
void stacks_deinit(struct stacks *s);

/* The next event of the track of @walk. */
void stacks_event(struct stacks *s, struct stack_walk *walk, const struct timeline_event *e);

#endif
