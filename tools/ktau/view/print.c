// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "labels.h"
#include "print.h"
#include "stats.h"

enum { S_ROW,
       S_STATE,
       S_NS,
       S_SHARE,
       S_COUNT,
       S_COLOUR,
       S_NR };

/* Columns of a view of its own: the rates, and then the stats. */
enum { MOST_OWN = 40 };

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

void view_print_title(const struct engine *g, const char *file, FILE *out)
{
	size_t rows = 0, i;

	for (i = 0; i < g->times.nr_rows; i++)
		rows += g->times.rows[i].known;
	print_escaped(file, out);
	fputs(": ", out);
	print_escaped(g->view->title, out);
	fprintf(out, ", %.6f s, %zu row%s\n",
		(double)(g->times.to_ns - g->times.from_ns) / 1e9, rows, rows == 1 ? "" : "s");
}

/* Index of the first row statement with a rate of this name. */
static size_t first_rate(const struct view_rules *v, size_t row)
{
	size_t i;

	for (i = 0; !v->rows[i].rate || strcmp(v->rows[i].rate, v->rows[row].rate);)
		i++;
	return i;
}

/**
 * struct own - the columns of a view of its own
 * @columns: all columns of the table
 * @nr: length of @columns
 * @rates: for each row statement, its column; 0: none
 * @values: for each stat, the value of each row
 */
struct own {
	struct column columns[S_NR + MOST_OWN];
	size_t nr;
	size_t *rates;
	double **values;
};

static const char *own_name(struct engine *g, const char *word, const char *format)
{
	char name[80];

	snprintf(name, sizeof(name), format, word);
	return view_text(g->view, name, strlen(name));
}

static void init_own(struct engine *g, struct own *own)
{
	const struct view_rules *v = g->view;
	size_t i, first;

	memset(own, 0, sizeof(*own));
	memcpy(own->columns, sum_columns, sizeof(sum_columns));
	own->nr = S_NR;
	own->rates = cli_alloc(NULL, v->nr_rows + 1, sizeof(*own->rates));
	own->values = cli_alloc(NULL, v->nr_stats + 1, sizeof(*own->values));
	for (i = 0; i < v->nr_rows; i++) {
		own->rates[i] = 0;
		if (!v->rows[i].rate)
			continue;
		first = first_rate(v, i);
		own->rates[i] = first < i ? own->rates[first] : own->nr;
		if (first < i || own->nr == S_NR + MOST_OWN - v->nr_stats)
			continue;
		own->columns[own->nr++] = (struct column){
			own_name(g, v->rows[i].rate, "%.60s_per_s"),
			own_name(g, v->rows[i].rate, "%.60s/s"),
			COLUMN_RATE,
		};
	}
	for (i = 0; i < v->nr_stats; i++) {
		own->values[i] = stats_values(g, &v->stats[i]);
		own->columns[own->nr++] = (struct column){
			v->stats[i].whole ? v->stats[i].name :
					    own_name(g, v->stats[i].name, "%.60s_ns"),
			v->stats[i].name,
			v->stats[i].whole ? COLUMN_SHARE : COLUMN_NS,
		};
	}
}

static void deinit_own(const struct view_rules *v, struct own *own)
{
	size_t i;

	for (i = 0; i < v->nr_stats; i++)
		free(own->values[i]);
	free(own->values);
	free(own->rates);
}

static void fill_own(const struct engine *g, const struct own *own, const struct times_sum *sum,
		     union cell *row)
{
	const struct view_rules *v = g->view;
	const size_t rate = own->rates[g->times.rows[sum->row].pattern];
	union cell *stats = row + own->nr - v->nr_stats;
	size_t i;

	if (rate && rate < own->nr - v->nr_stats)
		row[rate].share = (double)sum->counted / ((double)sum->ns / 1e9);
	for (i = 0; i < v->nr_stats; i++)
		if (v->stats[i].whole)
			stats[i].share = own->values[i][sum->row];
		else
			stats[i].number = (uint64_t)own->values[i][sum->row];
}

void view_print_sums(struct engine *g, enum table_format format)
{
	struct line *lines = cli_alloc(NULL, g->times.nr_sums + 1, sizeof(*lines));
	struct view_label *labels = view_labels(g);
	const size_t nr = make_lines(g, labels, lines);
	const double whole = (double)(g->times.to_ns - g->times.from_ns);
	const struct view_state *state;
	const struct times_sum *sum;
	union cell *row;
	struct table t;
	struct own own;
	size_t i;

	init_own(g, &own);
	table_init(&t, "view", own.columns, own.nr);
	for (i = 0; i < nr; i++) {
		sum = lines[i].sum;
		row = table_row(&t);
		row[S_ROW].text = labels[sum->row].text;
		row[S_STATE].text = lines[i].text;
		row[S_NS].number = sum->ns;
		row[S_SHARE].share = (double)sum->ns / whole;
		row[S_COUNT].number = sum->count;
		state = view_value_state(g, sum->value);
		row[S_COLOUR].text = state ? state->colour : "";
		fill_own(g, &own, sum, row);
	}
	t.width = table_width(stdout);
	table_print(&t, format, stdout);
	table_deinit(&t);
	deinit_own(g->view, &own);
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
