// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "labels.h"
#include "print.h"

enum { S_ROW,
       S_STATE,
       S_NS,
       S_SHARE,
       S_COUNT,
       S_COLOUR,
       S_NR };

static const struct column sum_columns[S_NR] = {
	[S_ROW] = { "row", "ROW", COLUMN_TEXT },
	[S_STATE] = { "state", "STATE", COLUMN_TEXT },
	[S_NS] = { "time_ns", "MS", COLUMN_NS },
	[S_SHARE] = { "share", "SHARE", COLUMN_SHARE },
	[S_COUNT] = { "count", "COUNT", COLUMN_NUMBER },
	[S_COLOUR] = { "colour", NULL, COLUMN_TEXT },
};

enum { I_FROM,
       I_TO,
       I_ROW,
       I_STATE,
       I_NR };

static const struct column interval_columns[I_NR] = {
	[I_FROM] = { "from_ns", "FROM MS", COLUMN_NS },
	[I_TO] = { "to_ns", "TO MS", COLUMN_NS },
	[I_ROW] = { "row", "ROW", COLUMN_TEXT },
	[I_STATE] = { "state", "STATE", COLUMN_TEXT },
};

/* A sum, its place in the order of rows, and its text. */
struct line {
	const struct times_sum *sum;
	uint32_t place;
	const char *text;
};

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->sum->ns != y->sum->ns)
		return x->sum->ns > y->sum->ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* The lines of the rows that had a state. Return: their number. */
static size_t make_lines(struct engine *g, const struct view_label *labels, struct line *lines)
{
	const struct times_sum *sum;
	size_t i, nr = 0;

	for (i = 0; i < g->times.nr_sums; i++) {
		sum = &g->times.sums[i];
		if (g->times.rows[sum->row].known)
			lines[nr++] = (struct line){ sum, labels[sum->row].place,
						     view_value_text(g, sum->value) };
	}
	if (nr)
		qsort(lines, nr, sizeof(*lines), by_time);
	return nr;
}

void view_print_title(const struct engine *g, const char *file)
{
	size_t rows = 0, i;

	for (i = 0; i < g->times.nr_rows; i++)
		rows += g->times.rows[i].known;
	print_escaped(file, stdout);
	fputs(": ", stdout);
	print_escaped(g->view->title, stdout);
	printf(", %.6f s, %zu row%s\n", (double)(g->times.to_ns - g->times.from_ns) / 1e9, rows,
	       rows == 1 ? "" : "s");
}

void view_print_sums(struct engine *g, enum table_format format)
{
	struct line *lines = cli_alloc(NULL, g->times.nr_sums + 1, sizeof(*lines));
	struct view_label *labels = view_labels(g);
	const size_t nr = make_lines(g, labels, lines);
	const double whole = (double)(g->times.to_ns - g->times.from_ns);
	const struct times_sum *sum;
	union cell *row;
	struct table t;
	size_t i;

	table_init(&t, "view", sum_columns, S_NR);
	for (i = 0; i < nr; i++) {
		sum = lines[i].sum;
		row = table_row(&t);
		row[S_ROW].text = labels[sum->row].text;
		row[S_STATE].text = lines[i].text;
		row[S_NS].number = sum->ns;
		row[S_SHARE].share = (double)sum->ns / whole;
		row[S_COUNT].number = sum->count;
		row[S_COLOUR].text = sum->value.kind == VALUE_STATE ?
					     g->view->states[sum->value.number].colour :
					     "";
	}
	t.width = table_width(stdout);
	table_print(&t, format, stdout);
	table_deinit(&t);
	free(labels);
	free(lines);
}

static int by_begin(const void *a, const void *b)
{
	const struct times_interval *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void view_print_intervals(struct engine *g, enum table_format format)
{
	struct times *times = &g->times;
	struct view_label *labels = view_labels(g);
	const struct times_interval *interval;
	union cell *row;
	struct table t;
	size_t i;

	if (times->nr_intervals)
		qsort(times->intervals, times->nr_intervals, sizeof(*times->intervals), by_begin);
	table_init(&t, "intervals", interval_columns, I_NR);
	for (i = 0; i < times->nr_intervals; i++) {
		interval = &times->intervals[i];
		if (!times->rows[interval->row].known)
			continue;
		row = table_row(&t);
		row[I_FROM].number = interval->from_ns - times->from_ns;
		row[I_TO].number = interval->to_ns - times->from_ns;
		row[I_ROW].text = labels[interval->row].text;
		row[I_STATE].text = view_value_text(g, interval->value);
	}
	t.width = table_width(stdout);
	table_print(&t, format, stdout);
	table_deinit(&t);
	free(labels);
}
