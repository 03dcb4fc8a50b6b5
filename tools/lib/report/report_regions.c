// SPDX-License-Identifier: GPL-2.0-only
/* The table of regions. */
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "report_regions.h"
#include "tally.h"

enum { R_PID, R_PROCESS, R_COUNT, R_INCL, R_EXCL, R_GROUP, R_REGION, R_ROUTINE, R_PATH, R_NR };

static const struct column columns[R_NR] = {
	[R_PID] = { "pid", NULL, COLUMN_SIGNED },
	[R_PROCESS] = { "process", NULL, COLUMN_TEXT },
	[R_COUNT] = { "count", "count", COLUMN_NUMBER },
	[R_INCL] = { "incl_ns", "incl ms", COLUMN_NS },
	[R_EXCL] = { "excl_ns", "excl ms", COLUMN_NS },
	[R_GROUP] = { "group", NULL, COLUMN_TEXT },
	[R_REGION] = { "region", NULL, COLUMN_TEXT },
	[R_ROUTINE] = { "routine", NULL, COLUMN_TEXT },
	[R_PATH] = { NULL, "region => routine", COLUMN_TEXT },
};

void report_regions_init(struct report_regions *t, const struct view *v,
			 const struct regions *regions)
{
	const struct region_sum *s;
	size_t i;

	*t = (struct report_regions){ 0 };
	table_init(&t->table, "regions", columns, R_NR);
	if (regions)
		regions_sum(regions, v->stream, &t->sums);
	t->paths = cli_alloc(NULL, t->sums.nr, sizeof(*t->paths));
	for (i = 0; i < t->sums.nr; i++) {
		s = &t->sums.sum[i];
		if (asprintf(&t->paths[i], "%s => %s", s->path,
			     symbolize_event(v->r->names, s->id)) < 0)
			cli_alloc(NULL, SIZE_MAX, 1);
	}
}

void report_regions_deinit(struct report_regions *t)
{
	size_t i;

	table_deinit(&t->table);
	for (i = 0; i < t->sums.nr; i++)
		free(t->paths[i]);
	free(t->paths);
	region_sums_deinit(&t->sums);
}

static bool is_before(const void *sums, size_t i, const void *number)
{
	return ((const struct region_sum *)sums)[i].key < *(const uint64_t *)number;
}

const struct region_sum *report_regions_find(const struct region_sums *sums, uint64_t number,
					     size_t *nr)
{
	size_t first = bisect(sums->sum, sums->nr, &number, is_before);

	for (*nr = 0; first + *nr < sums->nr && sums->sum[first + *nr].key == number;)
		++*nr;
	return sums->sum + first;
}

static void put_row(struct report_regions *t, const struct view *v, const struct process *p,
		    const struct region_sum *s)
{
	union cell *row = table_row(&t->table);
	uint64_t own = 0;

	if (v->r->subtract && s->timer)
		own = symbolize_hook_ticks(v->r->names, v->stream, s->id, s->count);
	row[R_PID].sign = p->owner.tgid;
	row[R_PROCESS].text = p->label;
	row[R_COUNT].number = s->count;
	row[R_INCL].number = row[R_EXCL].number = CELL_NONE;
	if (s->timer) {
		row[R_INCL].number = ktau_clock_sum_ns(&v->clock, sum_less(s->incl, own));
		row[R_EXCL].number = ktau_clock_sum_ns(&v->clock, sum_less(s->excl, own));
	}
	row[R_GROUP].text = symbolize_group(v->r->names, s->id);
	row[R_REGION].text = s->path;
	row[R_ROUTINE].text = symbolize_event(v->r->names, s->id);
	row[R_PATH].text = t->paths[s - t->sums.sum];
}

void report_regions_rows(struct report_regions *t, const struct view *v, const struct process *p)
{
	const struct region_sum *s, *end;
	const char *path = NULL;
	uint64_t shown = 0;
	size_t nr;

	s = report_regions_find(&t->sums, p->number, &nr);
	for (end = s + nr; s < end; s++) {
		if (v->r->groups != KTAU_GROUP_ALL &&
		    !(symbolize_group_bit(v->r->names, s->id) & v->r->groups))
			continue;
		if (!path || strcmp(path, s->path))
			shown = 0;
		path = s->path;
		if (!v->r->top || shown++ < v->r->top)
			put_row(t, v, p, s);
	}
}
