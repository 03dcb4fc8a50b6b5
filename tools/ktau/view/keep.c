// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "lib/cli.h"
#include "keep.h"
#include "labels.h"

/**
 * struct keeping - the copy
 * @engine: the rows
 * @states: receives them
 * @name_of: index in @states->names plus 1, by the number of the text
 */
struct keeping {
	struct engine *engine;
	struct states *states;
	struct hash name_of;
};

static uint32_t find_name(struct keeping *k, struct view_value value)
{
	const struct view_state *state = view_value_state(k->engine, value);
	struct strings *texts = &k->engine->view->texts;
	const uint32_t text = strings_add(texts, view_value_text(k->engine, value));
	const uint32_t name = (uint32_t)hash_get(&k->name_of, text);
	struct states *s = k->states;

	if (name)
		return name - 1;
	/* Twice the room whenever the number is a power of two */
	if (!(s->nr_names & (s->nr_names - 1)))
		s->names = cli_alloc(s->names, 2 * s->nr_names + 1, sizeof(*s->names));
	s->names[s->nr_names++] = (struct states_name){
		.text = texts->texts[text], .colour = state ? state->colour : "",
	};
	hash_put(&k->name_of, text, s->nr_names);
	return (uint32_t)s->nr_names - 1;
}

static int by_row(const void *a, const void *b)
{
	const struct states_interval *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* The rows that had a state, in the order of their labels. Return: for each row, its place. */
static uint32_t *keep_rows(struct engine *g, struct states *s)
{
	struct view_label *labels = view_labels(g);
	const size_t nr = g->times.nr_rows;
	uint32_t *places = cli_alloc(NULL, nr + 1, sizeof(*places));
	uint32_t *rows = cli_alloc(NULL, nr + 1, sizeof(*rows));
	size_t i;

	for (i = 0; i < nr; i++)
		rows[labels[i].place] = (uint32_t)i;
	s->rows = cli_alloc(NULL, nr + 1, sizeof(*s->rows));
	for (i = 0; i < nr; i++) {
		places[rows[i]] = (uint32_t)s->nr_rows;
		if (g->times.rows[rows[i]].known)
			s->rows[s->nr_rows++] = labels[rows[i]].text;
	}
	free(rows);
	free(labels);
	return places;
}

void view_keep(struct engine *g, void *arg)
{
	struct states *states = arg;
	struct keeping k = { .engine = g, .states = states };
	uint32_t *places = keep_rows(g, states);
	const struct times_interval *from;
	char *title;
	size_t i;

	if (asprintf(&title, "view: %s", g->view->title) < 0)
		title = NULL;
	states->title = states_own(states, title);
	states->intervals = cli_alloc(NULL, g->times.nr_intervals + 1, sizeof(*states->intervals));
	for (i = 0; i < g->times.nr_intervals; i++) {
		from = &g->times.intervals[i];
		if (from->value.kind == VALUE_NONE)
			continue;
		states->intervals[states->nr_intervals++] = (struct states_interval){
			from->from_ns,
			from->to_ns,
			places[from->row],
			find_name(&k, from->value),
			0,
		};
	}
	qsort(states->intervals, states->nr_intervals, sizeof(*states->intervals), by_row);
	hash_deinit(&k.name_of);
	free(places);
}
