// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts by line, handler and CPU, from the tables of the CPUs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "interrupts.h"

enum { I_LINE, I_CPU, I_COUNT, I_PER_S, I_INCL, I_EXCL, I_LONGEST, I_SHARE, I_GROUP, I_NR };

static const struct column columns[I_NR] = {
	[I_LINE] = { "line", "LINE", COLUMN_TEXT },
	[I_CPU] = { "cpu", "CPU", COLUMN_SMALL },
	[I_COUNT] = { "count", "COUNT", COLUMN_NUMBER },
	[I_PER_S] = { "per_second", "PER s", COLUMN_NUMBER },
	[I_INCL] = { "incl_ns", NULL, COLUMN_NS },
	[I_EXCL] = { "excl_ns", "ms", COLUMN_NS },
	[I_LONGEST] = { "longest_ns", "LONGEST ms", COLUMN_NS },
	[I_SHARE] = { "share", "OF CPU", COLUMN_SHARE },
	[I_GROUP] = { "group", "GROUP", COLUMN_TEXT },
};

/* One line on one CPU; @line_ticks is the sum over all CPUs. */
struct taken {
	const char *name;
	const struct process *cpu;
	const struct routine *routine;
	ktau_sum_t line_ticks;
};

void interrupts_columns(struct table *t)
{
	table_init(t, "interrupts", columns, I_NR);
}

static int by_name(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;
	int order;

	if (x->line_ticks != y->line_ticks)
		return x->line_ticks < y->line_ticks ? 1 : -1;
	order = strcmp(x->name, y->name);
	if (order)
		return order;
	return x->cpu->owner.cpu < y->cpu->owner.cpu ? -1 : 1;
}

static struct taken *find_taken(const struct view *v, const struct aggregate *rows, size_t *nr)
{
	const uint32_t groups = KTAU_GROUP_IRQ | KTAU_GROUP_BH;
	const struct process *cpu;
	const struct routine *r;
	struct taken *taken;
	size_t room = 0;

	for (cpu = rows->cpus; cpu < rows->cpus + rows->nr_cpus; cpu++)
		room += cpu->tally.nr;
	taken = cli_alloc(NULL, room, sizeof(*taken));
	*nr = 0;
	for (cpu = rows->cpus; cpu < rows->cpus + rows->nr_cpus; cpu++) {
		for (r = cpu->tally.routines; r < cpu->tally.routines + cpu->tally.nr; r++) {
			if (r->kind != KTAU_KIND_TIMER || !r->count ||
			    !(symbolize_group_bit(v->r->names, r->id) & groups))
				continue;
			taken[(*nr)++] = (struct taken){
				.name = symbolize_event(v->r->names, r->id),
				.cpu = cpu,
				.routine = r,
			};
		}
	}
	return taken;
}

/* Set @line_ticks to the sum over the CPUs. Lines with the same name count as one. */
static void add_up(struct taken *taken, size_t nr)
{
	size_t first, next, i;
	ktau_sum_t ticks;

	qsort(taken, nr, sizeof(*taken), by_name);
	for (first = 0; first < nr; first = next) {
		ticks = 0;
		for (next = first; next < nr && !strcmp(taken[next].name, taken[first].name);
		     next++)
			ticks += taken[next].routine->excl;
		for (i = first; i < next; i++)
			taken[i].line_ticks = ticks;
	}
	qsort(taken, nr, sizeof(*taken), by_time);
}

static void put(const struct view *v, struct table *t, const struct taken *taken)
{
	const struct routine *r = taken->routine;
	ktau_sum_t life_ns = ktau_clock_sum_ns(&v->clock, taken->cpu->account.life);
	union cell *row = table_row(t);

	row[I_LINE].text = taken->name;
	row[I_CPU].number = taken->cpu->owner.cpu;
	row[I_COUNT].number = r->count;
	if (life_ns)
		row[I_PER_S].number = (uint64_t)llround((double)r->count * 1e9 / (double)life_ns);
	row[I_INCL].number = ktau_clock_sum_ns(&v->clock, r->incl);
	row[I_EXCL].number = ktau_clock_sum_ns(&v->clock, r->excl);
	row[I_LONGEST].number = CELL_NONE;
	if (r->flags & KTAU_ENTRY_LONGEST)
		row[I_LONGEST].number = ktau_clock_sum_ns(&v->clock, r->longest);
	row[I_SHARE].share = (double)NAN;
	if (taken->cpu->account.life)
		row[I_SHARE].share = share_of(r->excl, taken->cpu->account.life);
	row[I_GROUP].text = symbolize_group(v->r->names, r->id);
}

void interrupts_rows(const struct view *v, struct table *t, const struct aggregate *rows)
{
	size_t nr, i;
	struct taken *taken = find_taken(v, rows, &nr);

	add_up(taken, nr);
	for (i = 0; i < nr; i++)
		put(v, t, &taken[i]);
	free(taken);
}
