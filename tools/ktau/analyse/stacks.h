/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call paths of a trace: which routine called which, and how long each path took on and off the
 * CPU. Input is the sequence of events of timeline.h.
 */
#ifndef KTAU_TOOLS_STACKS_H
#define KTAU_TOOLS_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hash.h"
#include "timeline.h"

/* @parent of a root. */
#define STACKS_NONE	UINT32_MAX

/**
 * struct stack_node - a call path
 * @parent: the path without its last routine; STACKS_NONE: a root, all tasks of a name
 * @id: event id of the last routine; unused in a root
 * @off: the routine is a wait of the scheduler, so its time is off the CPU
 * @self_ns: exclusive time of the last routine
 * @count: number of activations by this path
 * @name: name of a root
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
 * struct stacks - all call paths; a path comes after its parent
 * @events: meaning of ids
 * @nodes: the paths
 * @nr: length of @nodes
 * @room: allocated length of @nodes
 * @by_key: index of a path plus 1
 * @from_ns: time and activations before this are not counted
 * @to_ns: time and activations after this are not counted
 * @refused: activations without a path because of the limit; their time counts for the parent
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
 * struct stack_walk - current position of a track; all zero initially
 * @node: index of the current path plus 1; 0: in no routine
 * @depth: number of open frames
 * @skipped: number of innermost open frames that have no path
 * @ns: time up to which the track has been accounted
 */
struct stack_walk {
	uint32_t node;
	uint32_t depth, skipped;
	uint64_t ns;
};

void stacks_init(struct stacks *s, const struct ktau_events *events);
void stacks_deinit(struct stacks *s);

/* Process the next event of the track of @walk. */
void stacks_event(struct stacks *s, struct stack_walk *walk, const struct timeline_event *e);

#endif
