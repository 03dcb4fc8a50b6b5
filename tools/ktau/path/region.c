// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the paths of the passes through a region. */
#include <stdlib.h>

#include "lib/cli.h"
#include "likes.h"
#include "region.h"

void region_deinit(struct region_paths *paths)
{
	hash_deinit(&paths->by_key);
	free(paths->rows);
	*paths = (struct region_paths){ 0 };
}

/* Tasks of one name share a row. */
static size_t find_row(const struct likes *likes, struct region_paths *paths,
		       const struct path_segment *s)
{
	uint64_t key = (uint64_t)likes->names[s->task] << 8 | s->state;
	size_t i = hash_get(&paths->by_key, key);

	if (i)
		return i - 1;
	if (paths->nr == paths->room) {
		paths->room = paths->room ? 2 * paths->room : 64;
		paths->rows = cli_alloc(paths->rows, paths->room, sizeof(*paths->rows));
	}
	paths->rows[paths->nr++] = (struct region_row){ s->task, s->state, 0, 0 };
	hash_put(&paths->by_key, key, paths->nr);
	return paths->nr - 1;
}

static bool add_pass(const struct likes *likes, enum path_mode mode, const struct path_pass *pass,
		     struct region_paths *paths)
{
	struct path path = { .from_ns = pass->from_ns, .to_ns = pass->to_ns };
	bool slow = paths->passes < paths->slow, exact;
	const struct path_segment *s;
	struct region_row *row;
	size_t index;

	path_walk(likes->g, mode, pass->task, &path);
	exact = path_is_exact(&path);
	for (s = path.segments; s < path.segments + path.nr; s++) {
		index = find_row(likes, paths, s);
		row = &paths->rows[index];
		row->ns += s->to_ns - s->from_ns;
		row->slow_ns += slow ? s->to_ns - s->from_ns : 0;
	}
	path_deinit(&path);
	paths->ns += pass->to_ns - pass->from_ns;
	paths->slow_ns += slow ? pass->to_ns - pass->from_ns : 0;
	paths->passes++;
	return exact;
}

static int by_length(const void *a, const void *b)
{
	const struct path_pass *x = a, *y = b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static int by_sum(const void *a, const void *b)
{
	const struct region_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* Move the passes of @task to the front. Return: their number. */
static size_t choose(struct path_graph *g, uint32_t task)
{
	size_t i, nr = 0;

	for (i = 0; i < g->nr_passes; i++)
		if (task == PATH_NONE || g->passes[i].task == task)
			g->passes[nr++] = g->passes[i];
	return nr;
}

bool region_make(struct path_graph *g, enum path_mode mode, uint32_t task,
		 struct region_paths *paths)
{
	size_t nr = choose(g, task), i;
	const struct path_pass *middle;
	struct likes likes;
	bool exact = true;

	if (!nr)
		return true;
	likes_init(&likes, g);
	qsort(g->passes, nr, sizeof(*g->passes), by_length);
	paths->slow = (nr + 99) / 100;
	for (i = 0; i < nr; i++)
		exact &= add_pass(&likes, mode, &g->passes[i], paths);
	likes_deinit(&likes);
	middle = &g->passes[nr / 2];
	paths->median_ns = middle->to_ns - middle->from_ns;
	middle = &g->passes[paths->slow - 1];
	paths->high_ns = middle->to_ns - middle->from_ns;
	qsort(paths->rows, paths->nr, sizeof(*paths->rows), by_sum);
	return exact;
}

enum { R_SHARE, R_SLOW, R_NS, R_SLOW_NS, R_STATE, R_TASK, R_NR };

static const struct column columns[R_NR] = {
	[R_SHARE] = { "share", "ALL", COLUMN_SHARE },
	[R_SLOW] = { "slowest_share", "SLOWEST", COLUMN_SHARE },
	[R_NS] = { "time_ns", "MS", COLUMN_NS },
	[R_SLOW_NS] = { "slowest_ns", NULL, COLUMN_NS },
	[R_STATE] = { "state", "STATE", COLUMN_TEXT },
	[R_TASK] = { "task", "TASK", COLUMN_TEXT },
};

void region_print(const struct path_print *p, const char *name, const struct region_paths *paths)
{
	size_t nr = p->top && p->top < paths->nr ? p->top : paths->nr, i;
	const struct region_row *r;
	union cell *row;
	struct table t;

	if (p->format == FORMAT_TEXT)
		printf("%s: %zu passes, median %.3f ms, 99%% %.3f ms; slowest: %zu\n", name,
		       paths->passes, (double)paths->median_ns / 1e6, (double)paths->high_ns / 1e6,
		       paths->slow);
	table_init(&t, "region", columns, R_NR);
	for (i = 0; i < nr; i++) {
		r = &paths->rows[i];
		row = table_row(&t);
		row[R_SHARE].share = (double)r->ns / (double)paths->ns;
		row[R_SLOW].share = (double)r->slow_ns / (double)paths->slow_ns;
		row[R_NS].number = r->ns;
		row[R_SLOW_NS].number = r->slow_ns;
		row[R_STATE].text = cause_name(r->state);
		row[R_TASK].text = graph_task_name(p->g, r->task);
	}
	table_print(&t, p->format, stdout);
	table_deinit(&t);
}
