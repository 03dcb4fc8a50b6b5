// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "labels.h"

static int by_label(const void *a, const void *b)
{
	const struct view_label *x = a, *y = b;
	const int order = strverscmp(x->text, y->text);

	if (order)
		return order;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_row(const void *a, const void *b)
{
	const struct view_label *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

struct view_label *view_labels(struct engine *g)
{
	const size_t nr = g->times.nr_rows;
	struct view_label *labels = cli_alloc(NULL, nr + 1, sizeof(*labels));
	uint32_t label;
	size_t i;

	for (i = 0; i < nr; i++) {
		/* A new label may move the list of strings. */
		label = engine_label(g, &g->times.rows[i]);
		labels[i].row = (uint32_t)i;
		labels[i].text = g->view->texts.texts[label];
	}
	qsort(labels, nr, sizeof(*labels), by_label);
	for (i = 0; i < nr; i++)
		labels[i].place = (uint32_t)i;
	qsort(labels, nr, sizeof(*labels), by_row);
	return labels;
}

const struct view_state *view_value_state(const struct engine *g, struct view_value value)
{
	size_t i;

	if (value.kind == VALUE_STATE)
		return &g->view->states[value.number];
	/* Of several states with one number, it is the last one. */
	for (i = g->view->nr_states; value.kind == VALUE_NUMBER && i--;)
		if (g->view->states[i].is_number && g->view->states[i].number == value.number)
			return &g->view->states[i];
	return NULL;
}

const char *view_value_text(struct engine *g, struct view_value value)
{
	char number[32];
	uint32_t text;

	if (view_value_state(g, value))
		return view_value_state(g, value)->name;
	switch (value.kind) {
	case VALUE_TEXT:
		return g->view->texts.texts[value.number];
	case VALUE_NUMBER:
	case VALUE_REAL:
		view_print_number(value, number);
		text = strings_add(&g->view->texts, number);
		return g->view->texts.texts[text];
	case VALUE_LOST:
		return "?";
	default:
		return "-";
	}
}
