// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the segments of a path. */
#include <stdlib.h>

#include "lib/cli.h"
#include "rows.h"

/* Tasks, states and causes as one number. A run queue is that of a CPU. */
static uint64_t key_of(struct path_rows *rows, const struct path_segment *s)
{
	uint64_t pair = (uint64_t)s->wait << 16 | s->cause;
	uintptr_t cause = hash_get(&rows->causes, pair);

	if (!cause) {
		cause = rows->causes.nr + 1;
		hash_put(&rows->causes, pair, cause);
	}
	if (s->state == PATH_RUN_QUEUE)
		cause = s->cpu;
	else if (s->state == PATH_UNKNOWN)
		cause = s->unknown;
	return (uint64_t)s->task << 32 | (uint64_t)s->state << 28 | (cause & 0xfffffff);
}

static size_t find_row(struct path_rows *rows, const struct path_segment *s)
{
	uint64_t key = key_of(rows, s);
	uintptr_t index = hash_get(&rows->by_key, key);

	if (index)
		return index - 1;
	if (rows->nr == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 64;
		rows->rows = cli_alloc(rows->rows, rows->room, sizeof(*rows->rows));
	}
	rows->rows[rows->nr] = (struct path_row){ .like = *s };
	hash_put(&rows->by_key, key, ++rows->nr);
	return rows->nr - 1;
}

void path_rows_add(struct path_rows *rows, struct path *path)
{
	struct path_segment *s;

	for (s = path->segments; s < path->segments + path->nr; s++) {
		s->row = (uint32_t)find_row(rows, s);
		rows->rows[s->row].ns += s->to_ns - s->from_ns;
		rows->rows[s->row].nr++;
	}
}

void path_rows_deinit(struct path_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		free(rows->rows[i].uses);
		hash_deinit(&rows->rows[i].by_key);
	}
	free(rows->rows);
	hash_deinit(&rows->by_key);
	hash_deinit(&rows->causes);
	*rows = (struct path_rows){ 0 };
}

void path_row_use(struct path_row *row, uint32_t key, uint64_t ns)
{
	uintptr_t index = hash_get(&row->by_key, key);

	if (!index) {
		row->uses = cli_alloc(row->uses, row->nr_uses + 1, sizeof(*row->uses));
		row->uses[row->nr_uses] = (struct path_use){ .key = key };
		index = ++row->nr_uses;
		hash_put(&row->by_key, key, index);
	}
	row->uses[index - 1].ns += ns;
}

static int by_use(const void *a, const void *b)
{
	const struct path_use *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_ns(const void *a, const void *b)
{
	const struct path_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->like.from_ns < y->like.from_ns ? -1 : x->like.from_ns > y->like.from_ns;
}

void path_rows_sort(struct path_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (rows->rows[i].nr_uses)
			qsort(rows->rows[i].uses, rows->rows[i].nr_uses,
			      sizeof(*rows->rows[i].uses), by_use);
	if (rows->nr)
		qsort(rows->rows, rows->nr, sizeof(*rows->rows), by_ns);
	hash_clear(&rows->by_key);
}
