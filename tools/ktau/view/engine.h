/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Applies the rules of a view to the events of a timeline.
 *
 * Each event costs its matching handlers. The attributes, the rows and their sums are limited, so
 * that the memory does not depend on the length of the trace; only intervals do, if they are kept.
 */
#ifndef KTAU_TOOLS_VIEW_ENGINE_H
#define KTAU_TOOLS_VIEW_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"
#include "times.h"
#include "tree.h"

/* Handlers by their index. */
struct engine_list {
	uint32_t *handlers;
	size_t nr;
};

/**
 * struct engine - a view of a trace
 * @view: the view
 * @fields: for fields of events
 * @tree: the attributes
 * @times: the rows
 * @lists: handlers of a kind of event, except of those with a name
 * @named: of those with a name, by what matches one event
 * @nr_named: length of @named
 * @by_id: index in @named plus 1, by kind and id; 0: not looked up yet
 * @event: the current event
 * @row: the row whose label is made
 * @applied: actions that have changed an attribute
 * @events: events of the timeline
 * @end_ns: time of the last event
 */
struct engine {
	struct view_rules *view;
	struct fields fields;
	struct tree tree;
	struct times times;
	struct engine_list lists[VIEW_EVENTS];
	struct engine_list *named;
	size_t nr_named;
	uint32_t by_id[VIEW_NAMED][65536];
	const struct timeline_event *event;
	const struct times_row *row;
	uint64_t applied, events, end_ns;
};

/* @view and @names must outlive the engine. Never returns NULL. */
struct engine *engine_create(struct view_rules *view, struct symbolizer *names);
void engine_destroy(struct engine *g);

/* The event function of a timeline sink; @engine is a struct engine. Return: 0 or -ENOSPC. */
int engine_event(void *engine, const struct timeline_event *e);

/* Compare two values: @op is one of OP_EQ to OP_GE. */
bool engine_compare(const struct engine *g, enum view_operator op, struct view_value a,
		    struct view_value b);

/*
 * The label of a row. Valid as long as the view. Return: the number of a string.
 */
uint32_t engine_label(struct engine *g, const struct times_row *row);

#endif
