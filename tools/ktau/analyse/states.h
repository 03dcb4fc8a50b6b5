/* SPDX-License-Identifier: GPL-2.0-only */
/* When the rows of a view, or a path, were in which of its states. */
#ifndef KTAU_TOOLS_STATES_H
#define KTAU_TOOLS_STATES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct states_name - a state
 * @text: what an interval in that state is called
 * @colour: "#rrggbb", or "" if the view has none
 * @kind: what a legend calls all states of that colour; NULL: @text
 */
struct states_name {
	const char *text, *colour, *kind;
};

/*
 * Times are those of CLOCK_BOOTTIME. @serial is that of the task whose segment of a path this is, 0
 * in a view.
 */
struct states_interval {
	uint64_t from_ns, to_ns;
	uint32_t row, name;
	uint64_t serial;
};

/**
 * struct states - the rows of a view
 * @title: its title
 * @names: the states
 * @nr_names: length of @names
 * @rows: the labels of the rows, in their order
 * @nr_rows: length of @rows
 * @intervals: times in which a row had a state, by row and then by time
 * @nr_intervals: length of @intervals
 * @texts: texts that belong to it; others are those of the view
 * @nr_texts: length of @texts
 */
struct states {
	const char *title;
	struct states_name *names;
	size_t nr_names;
	const char **rows;
	size_t nr_rows;
	struct states_interval *intervals;
	size_t nr_intervals;
	char **texts;
	size_t nr_texts;
};

/* Let @s own @text, which is allocated, or NULL if there was no memory: then the program ends. */
const char *states_own(struct states *s, char *text);

void states_deinit(struct states *s);

#endif
