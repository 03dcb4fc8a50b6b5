// SPDX-License-Identifier: GPL-2.0-only
/* Call paths of a trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/report/tally.h"
#include "stacks.h"

/* Limit on call paths (24 MB), more than any picture can show. */
enum { MAX_NODES = 500000 };

void stacks_init(struct stacks *s, const struct ktau_events *events)
{
	*s = (struct stacks){ .events = events, .to_ns = UINT64_MAX };
}

void stacks_deinit(struct stacks *s)
{
	free(s->nodes);
	hash_deinit(&s->by_key);
	*s = (struct stacks){ 0 };
}

/* Return: the index plus 1, or 0 if there are too many paths. */
static uint32_t new_node(struct stacks *s, const struct stack_node *node, uint64_t key)
{
	if (s->nr == MAX_NODES)
		return 0;
	if (s->nr == s->room) {
		s->room = s->room ? s->room * 2 : 256;
		s->nodes = cli_alloc(s->nodes, s->room, sizeof(*s->nodes));
	}
	s->nodes[s->nr++] = *node;
	hash_put(&s->by_key, key, s->nr);
	return s->nr;
}

/* Find the root for tasks called @name. Keys of roots have the highest bit set. */
static uint32_t find_root(struct stacks *s, const char *name)
{
	struct stack_node node = { .parent = STACKS_NONE };
	uint32_t index;
	uint64_t key;

	snprintf(node.name, sizeof(node.name), "%s", name);
	for (key = hash_bytes(HASH_START, node.name, sizeof(node.name));; key++) {
		index = (uint32_t)hash_get(&s->by_key, key | 1ULL << 63);
		if (!index)
			return new_node(s, &node, key | 1ULL << 63);
		if (!strcmp(s->nodes[index - 1].name, node.name))
			return index;
	}
}

static uint32_t find_child(struct stacks *s, uint32_t parent, uint32_t id)
{
	uint64_t key = (uint64_t)parent << 32 | id;
	uint32_t index = (uint32_t)hash_get(&s->by_key, key);
	struct stack_node node = { .parent = parent - 1, .id = id };

	if (index)
		return index;
	node.off = event_wait(s->events, id) != WAIT_NONE;
	return new_node(s, &node, key);
}

/* The time since the previous event was spent in the innermost routine. */
static void add_time(struct stacks *s, struct stack_walk *walk, uint64_t ns)
{
	uint64_t from_ns = more(walk->ns, s->from_ns);
	uint64_t to_ns = ns < s->to_ns ? ns : s->to_ns;

	if (walk->node)
		s->nodes[walk->node - 1].self_ns += less(to_ns, from_ns);
	walk->ns = ns;
}

static void enter(struct stacks *s, struct stack_walk *walk, const struct timeline_event *e)
{
	uint32_t parent = walk->node, child = 0;

	if (!walk->depth++)
		parent = find_root(s, e->track->owner.comm);
	if (parent && !walk->skipped)
		child = find_child(s, parent, e->id);
	if (!child) {
		walk->skipped++;
		s->refused++;
		return;
	}
	s->nodes[child - 1].count += e->ns >= s->from_ns && e->ns <= s->to_ns;
	walk->node = child;
}

static void leave(struct stacks *s, struct stack_walk *walk)
{
	walk->depth--;
	if (walk->skipped)
		walk->skipped--;
	else
		walk->node = s->nodes[walk->node - 1].parent + 1;
	/* With no open frame the track is outside the kernel, and not in the root node. */
	if (!walk->depth)
		walk->node = 0;
}

void stacks_event(struct stacks *s, struct stack_walk *walk, const struct timeline_event *e)
{
	add_time(s, walk, e->ns);
	if (e->type == KTAU_TRACE_ENTER)
		enter(s, walk, e);
	else if (e->type == KTAU_TRACE_EXIT)
		leave(s, walk);
	else if (e->type == TIMELINE_LOST)
		walk->ns = e->to_ns;
}
