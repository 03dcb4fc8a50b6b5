// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits: the routines in which a process slept.
 *
 * A profile does not record which routine called which. But if the times asleep of two routines
 * add up to more than the process slept in total, the excess must have been spent in both at
 * once. This often shows which wait was inside which call.
 */
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "lib/cli.h"
#include "tally.h"
#include "waits.h"

enum { W_PID, W_PROCESS, W_CALLS, W_INCL, W_ASLEEP, W_RUNQ, W_IRQ, W_LONGEST, W_GROUP, W_ROUTINE,
       W_IN, W_WOKEN_BY, W_WAKES, W_NR };

static const struct column columns[W_NR] = {
	[W_PID] = { "pid", NULL, COLUMN_SIGNED },
	[W_PROCESS] = { "process", NULL, COLUMN_TEXT },
	[W_CALLS] = { "calls", "calls", COLUMN_NUMBER },
	[W_INCL] = { "incl_ns", "incl ms", COLUMN_NS },
	[W_ASLEEP] = { "asleep_ns", "asleep ms", COLUMN_NS },
	[W_RUNQ] = { "runq_ns", "runq ms", COLUMN_NS },
	[W_IRQ] = { "irq_ns", "irq ms", COLUMN_NS },
	[W_LONGEST] = { "longest_ns", "longest ms", COLUMN_NS },
	[W_GROUP] = { "group", NULL, COLUMN_TEXT },
	[W_ROUTINE] = { "routine", "routine", COLUMN_TEXT },
	[W_IN] = { "asleep_in", "asleep in", COLUMN_TEXT },
	[W_WOKEN_BY] = { "woken_by", "woken by", COLUMN_TEXT },
	[W_WAKES] = { "wakes", NULL, COLUMN_NUMBER },
};

/* Number of routines per process without --top. */
enum { SHOWN = 10 };

struct waited {
	const struct routine *routine;
	const char *name;
	uint32_t group;
	ktau_sum_t asleep, runq;
};

void waits_columns(struct table *table)
{
	table_init(table, "waits", columns, W_NR);
	table->hidden = 1ULL << W_WOKEN_BY;
	table->spare = 1ULL << W_IRQ | 1ULL << W_CALLS;
}

static ktau_sum_t runq_in(const struct view *v, const struct waited *w)
{
	enum event_wait wait = event_wait(registry_events(v->registry), w->routine->id);

	if (w->group == KTAU_GROUP_SCHED)
		return wait == WAIT_RUNQ ? w->routine->excl : 0;
	return w->routine->flags & KTAU_ENTRY_RUNQ ? w->routine->runq : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct waited *x = a, *y = b;
	ktau_sum_t p = x->asleep + x->runq, q = y->asleep + y->runq;

	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Return: the routines in which @p waited, longest first; the caller frees them. */
static struct waited *find_waits(const struct view *v, const struct process *p, size_t *nr)
{
	struct waited *waits = cli_alloc(NULL, p->tally.nr, sizeof(*waits)), *w;
	const struct routine *r;

	*nr = 0;
	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		w = &waits[*nr];
		w->routine = r;
		w->name = symbolize_event(v->r->names, r->id);
		w->group = symbolize_group_bit(v->r->names, r->id);
		w->asleep = account_asleep_in(v, r, w->group);
		w->runq = runq_in(v, w);
		*nr += w->asleep || w->runq;
	}
	qsort(waits, *nr, sizeof(*waits), by_time);
	return waits;
}

static ktau_sum_t all_asleep(const struct view *v, const struct process *p,
			     const struct waited *waits, size_t nr)
{
	ktau_sum_t sum = 0;
	size_t i;

	if (account_has(v->stream, p, ACCOUNT_ASLEEP))
		return p->account.parts[ACCOUNT_ASLEEP];
	for (i = 0; i < nr; i++)
		if (waits[i].group == KTAU_GROUP_SCHED)
			sum += waits[i].asleep;
	return sum;
}

/* The wait that accounts for most of @w's time asleep; "-" if that is unknown. */
static const char *asleep_inside(const struct waited *w, const struct waited *waits, size_t nr,
				 ktau_sum_t all)
{
	uint32_t inner = w->group == KTAU_GROUP_WAIT ? KTAU_GROUP_SCHED : KTAU_GROUP_WAIT;
	ktau_sum_t best = w->asleep / 2, common;
	const char *name = "-";
	size_t i;

	for (i = 0; i < nr && w->group != KTAU_GROUP_SCHED; i++) {
		common = sum_less(w->asleep + waits[i].asleep, sum_more(all, w->asleep));
		if (waits[i].group != inner || common <= best)
			continue;
		best = common;
		name = waits[i].name;
	}
	return name;
}

/* CELL_NONE unless @flag, one of KTAU_ENTRY_*, is set: the figure was measured. */
static ktau_sum_t measured(const struct view *v, const struct routine *r, uint16_t flag,
			 ktau_sum_t ticks)
{
	return r->flags & flag ? ktau_clock_sum_ns(&v->clock, ticks) : CELL_NONE;
}

/* If there is a trace, show the task that ended most of the waits. */
static void put_waker(struct table *table, union cell *row, const struct process *p,
		      uint32_t id)
{
	const struct waker *waker = wakers_find(&p->wakers, id);

	row[W_WOKEN_BY].text = waker ? waker->name : "-";
	row[W_WAKES].number = waker ? waker->nr : 0;
	if (waker)
		table->hidden = 0;
}

void waits_rows(const struct view *v, struct table *table, const struct process *p)
{
	size_t nr, shown, i;
	struct waited *waits = find_waits(v, p, &nr), *w;
	const struct routine *r;
	ktau_sum_t all = all_asleep(v, p, waits, nr);
	union cell *row;

	shown = v->r->top ? v->r->top : SHOWN;
	for (i = 0; i < nr && i < shown; i++) {
		w = &waits[i];
		r = w->routine;
		row = table_row(table);
		row[W_PID].sign = p->owner.tgid;
		row[W_PROCESS].text = p->label;
		row[W_CALLS].number = r->count;
		row[W_INCL].number = ktau_clock_sum_ns(&v->clock, r->incl);
		row[W_ASLEEP].number = ktau_clock_sum_ns(&v->clock, w->asleep);
		row[W_RUNQ].number = ktau_clock_sum_ns(&v->clock, w->runq);
		row[W_IRQ].number = measured(v, r, KTAU_ENTRY_IRQ, r->irq);
		row[W_LONGEST].number = measured(v, r, KTAU_ENTRY_LONGEST, r->longest);
		row[W_GROUP].text = symbolize_group(v->r->names, r->id);
		row[W_ROUTINE].text = w->name;
		put_waker(table, row, p, r->id);
		row[W_IN].text = asleep_inside(w, waits, nr, all);
	}
	free(waits);
}
