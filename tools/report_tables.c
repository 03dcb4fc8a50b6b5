// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of a report.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "report_tables.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Cells of a row, in the order of the columns below. */
enum { P_PID, P_TID, P_PROCESS, P_TASKS, P_LIVE, P_SHARE, P_COUNT, P_INCL, P_EXCL, P_OPEN,
       P_OPEN_TIME, P_GROUP, P_ROUTINE, P_OWN, P_UID, P_CGROUP, P_NR };
enum { C_PID, C_PROCESS, C_COUNT, C_SUM, C_MIN, C_MAX, C_GROUP, C_COUNTER, C_NR };
enum { U_CPU, U_SHARE, U_COUNT, U_INCL, U_EXCL, U_GROUP, U_ROUTINE, U_NR };
enum { L_VALUE, L_NAME, L_NR };

static const struct column routine_columns[P_NR] = {
	[P_PID] = { "pid", NULL, COLUMN_SIGNED },
	[P_TID] = { "tid", NULL, COLUMN_SIGNED },
	[P_PROCESS] = { "process", NULL, COLUMN_TEXT },
	[P_TASKS] = { "tasks", NULL, COLUMN_NUMBER },
	[P_LIVE] = { "live", NULL, COLUMN_NUMBER },
	[P_SHARE] = { "share", "share", COLUMN_SHARE },
	[P_COUNT] = { "count", "count", COLUMN_NUMBER },
	[P_INCL] = { "incl_ns", "incl ms", COLUMN_NS },
	[P_EXCL] = { "excl_ns", "excl ms", COLUMN_NS },
	[P_OPEN] = { "in_flight", "in flight", COLUMN_NUMBER },
	[P_OPEN_TIME] = { "in_flight_ns", "so far ms", COLUMN_NS },
	[P_GROUP] = { "group", "group", COLUMN_TEXT },
	[P_ROUTINE] = { "routine", "routine", COLUMN_TEXT },
	[P_OWN] = { "ktau_ns", NULL, COLUMN_NUMBER },
	[P_UID] = { "uid", NULL, COLUMN_NUMBER },
	[P_CGROUP] = { "cgroup", NULL, COLUMN_TEXT },
};

static const struct column counter_columns[C_NR] = {
	[C_PID] = { "pid", NULL, COLUMN_SIGNED },
	[C_PROCESS] = { "process", NULL, COLUMN_TEXT },
	[C_COUNT] = { "values", "values", COLUMN_NUMBER },
	[C_SUM] = { "sum", "sum", COLUMN_NUMBER },
	[C_MIN] = { "min", "min", COLUMN_NUMBER },
	[C_MAX] = { "max", "max", COLUMN_NUMBER },
	[C_GROUP] = { "group", "group", COLUMN_TEXT },
	[C_COUNTER] = { "counter", "counter", COLUMN_TEXT },
};

static const struct column cpu_columns[U_NR] = {
	[U_CPU] = { "cpu", NULL, COLUMN_NUMBER },
	[U_SHARE] = { "share", "share", COLUMN_SHARE },
	[U_COUNT] = { "count", "count", COLUMN_NUMBER },
	[U_INCL] = { "incl_ns", "incl ms", COLUMN_NS },
	[U_EXCL] = { "excl_ns", "excl ms", COLUMN_NS },
	[U_GROUP] = { "group", "group", COLUMN_TEXT },
	[U_ROUTINE] = { "routine", "line or vector", COLUMN_TEXT },
};

static const struct column loss_columns[L_NR] = {
	[L_VALUE] = { "value", "value", COLUMN_NUMBER },
	[L_NAME] = { "name", "loss", COLUMN_TEXT },
};

/* What the filling needs everywhere. */
struct filling {
	struct report_tables *t;
	const struct report *r;
	const struct ktau_clock *clock;
	const struct ktau_rec_stream *stream;
};

/* A routine with what it is sorted by. */
struct keyed {
	const struct routine *routine;
	const char *name;
	uint64_t key;
};

void process_times(const struct process *p, const struct names *names,
		   uint64_t *running_ticks, uint64_t *waiting_ticks)
{
	const struct routine *r;

	*running_ticks = *waiting_ticks = 0;
	for (r = p->routines; r < p->routines + p->nr_routines; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		if (names_group_bit(names, r->id) == KTAU_GROUP_SCHED)
			*waiting_ticks += r->excl + r->open_excl;
		else
			*running_ticks += r->excl + r->open_excl;
	}
}

static uint64_t routine_key(const struct routine *r, enum report_sort sort)
{
	switch (sort) {
	case SORT_EXCL:
		return r->kind == KTAU_KIND_TIMER ? r->excl + r->open_excl : r->incl;
	case SORT_INCL:
		return r->incl + r->open_incl;
	case SORT_COUNT:
		return r->count;
	case SORT_NAME:
		break;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The routines of @p to show, sorted; the caller frees them. */
static struct keyed *pick(const struct filling *f, const struct process *p, uint32_t kind,
			  size_t *nr)
{
	struct keyed *keyed = cmd_alloc(NULL, p->nr_routines, sizeof(*keyed));
	const struct routine *r;

	*nr = 0;
	for (r = p->routines; r < p->routines + p->nr_routines; r++) {
		uint32_t group = names_group_bit(f->r->names, r->id);

		if (r->kind != kind || (f->r->groups != KTAU_GROUP_ALL && !(group & f->r->groups)))
			continue;
		keyed[*nr].routine = r;
		keyed[*nr].name = names_event(f->r->names, r->id);
		keyed[(*nr)++].key = routine_key(r, f->r->sort);
	}
	qsort(keyed, *nr, sizeof(*keyed), by_key);
	if (f->r->top && *nr > f->r->top)
		*nr = f->r->top;
	return keyed;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void add_routines(const struct filling *f, struct table *t, const struct process *p)
{
	uint64_t running, waiting;
	struct keyed *keyed;
	size_t nr, i;

	process_times(p, f->r->names, &running, &waiting);
	keyed = pick(f, p, KTAU_KIND_TIMER, &nr);
	for (i = 0; i < nr; i++) {
		const struct routine *r = keyed[i].routine;
		union cell *row = table_row(t);
		bool waits = names_group_bit(f->r->names, r->id) == KTAU_GROUP_SCHED;

		row[P_PID].sign = p->owner.tgid;
		row[P_TID].sign = p->owner.tid;
		row[P_PROCESS].text = p->label;
		row[P_UID].number = p->owner.uid;
		row[P_CGROUP].text = p->cgroup;
		row[P_TASKS].number = p->tasks;
		row[P_LIVE].number = p->live;
		row[P_SHARE].share = share(r->excl + r->open_excl,
						waits ? waiting : running);
		row[P_COUNT].number = r->count;
		row[P_INCL].number = ktau_clock_ns(f->clock, r->incl);
		row[P_EXCL].number = ktau_clock_ns(f->clock, r->excl);
		row[P_OPEN].number = r->open;
		row[P_OPEN_TIME].number = ktau_clock_ns(f->clock, r->open_incl);
		row[P_GROUP].text = names_group(f->r->names, r->id);
		row[P_ROUTINE].text = keyed[i].name;
		row[P_OWN].number =
			ktau_clock_ns(f->clock, names_hook_ticks(f->r->names, f->stream,
								  r->id, r->count));
	}
	free(keyed);
}

static void add_counters(const struct filling *f, struct table *t, const struct process *p)
{
	struct keyed *keyed;
	size_t nr, i;

	keyed = pick(f, p, KTAU_KIND_COUNTER, &nr);
	for (i = 0; i < nr; i++) {
		const struct routine *r = keyed[i].routine;
		union cell *row = table_row(t);

		row[C_PID].sign = p->owner.tgid;
		row[C_PROCESS].text = p->label;
		row[C_COUNT].number = r->count;
		row[C_SUM].number = r->incl;
		row[C_MIN].number = r->min;
		row[C_MAX].number = r->max;
		row[C_GROUP].text = names_group(f->r->names, r->id);
		row[C_COUNTER].text = keyed[i].name;
	}
	free(keyed);
}

static void add_cpu(const struct filling *f, const struct process *p)
{
	struct report_tables *t = f->t;
	struct section *section = &t->cpu_sections[t->nr_cpu_sections++];
	uint64_t running, waiting;
	struct keyed *keyed;
	size_t nr, i;

	memset(section, 0, sizeof(*section));
	section->process = p;
	section->first = t->cpus.nr_rows;
	process_times(p, f->r->names, &running, &waiting);
	keyed = pick(f, p, KTAU_KIND_TIMER, &nr);
	for (i = 0; i < nr; i++) {
		const struct routine *r = keyed[i].routine;
		union cell *row = table_row(&t->cpus);

		row[U_CPU].number = p->owner.cpu;
		row[U_SHARE].share = share(r->excl, running);
		row[U_COUNT].number = r->count;
		row[U_INCL].number = ktau_clock_ns(f->clock, r->incl);
		row[U_EXCL].number = ktau_clock_ns(f->clock, r->excl);
		row[U_GROUP].text = names_group(f->r->names, r->id);
		row[U_ROUTINE].text = keyed[i].name;
	}
	free(keyed);
	section->nr = t->cpus.nr_rows - section->first;
}

static bool has_pid(const struct report *r, const struct process *p)
{
	size_t i, k;

	for (i = 0; i < r->nr_pids; i++)
		for (k = 0; k < p->nr_ids; k++)
			if (r->pids[i] == p->ids[k].tgid || r->pids[i] == p->ids[k].tid)
				return true;
	return !r->nr_pids;
}

static bool did_nothing(const struct process *p)
{
	size_t i;

	for (i = 0; i < p->nr_routines; i++)
		if (p->routines[i].count)
			return false;
	return true;
}

static bool wanted(const struct filling *f, const struct process *p)
{
	if (!p->nr_routines || !has_pid(f->r, p))
		return false;
	if (f->r->pattern && !ktau_glob(f->r->pattern, p->label))
		return false;
	if (f->r->idle || f->r->nr_pids || f->r->pattern ||
	    !(p->owner.flags & KTAU_OWNER_KTHREAD) || !did_nothing(p))
		return true;
	f->t->hidden++;
	return false;
}

/* A process with what it is sorted by. */
struct keyed_process {
	const struct process *process;
	uint64_t key;
};

static uint64_t process_key(const struct filling *f, const struct process *p)
{
	uint64_t running, waiting, count = 0;
	size_t i;

	if (f->r->sort == SORT_NAME)
		return 0;
	process_times(p, f->r->names, &running, &waiting);
	if (f->r->sort != SORT_COUNT)
		return running;
	for (i = 0; i < p->nr_routines; i++)
		count += p->routines[i].count;
	return count;
}

static int by_process(const void *a, const void *b)
{
	const struct keyed_process *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	order = strcmp(x->process->label, y->process->label);
	/* They were in the order of their ids, which qsort() does not keep. */
	return order ? order : x->process < y->process ? -1 : 1;
}

static void add_section(const struct filling *f, const struct process *p)
{
	struct report_tables *t = f->t;
	struct section s = {
		.process = p,
		.first = t->routines.nr_rows,
		.first_counter = t->counters.nr_rows,
	};

	add_routines(f, &t->routines, p);
	add_counters(f, &t->counters, p);
	s.nr = t->routines.nr_rows - s.first;
	s.nr_counters = t->counters.nr_rows - s.first_counter;
	if (s.nr || s.nr_counters)
		t->sections[t->nr_sections++] = s;
}

static void add_processes(const struct filling *f, const struct rows *rows)
{
	struct keyed_process *keyed = cmd_alloc(NULL, rows->nr, sizeof(*keyed));
	size_t nr = 0, i;

	for (i = 0; i < rows->nr; i++) {
		if (!wanted(f, &rows->processes[i]))
			continue;
		keyed[nr].process = &rows->processes[i];
		keyed[nr++].key = process_key(f, &rows->processes[i]);
	}
	qsort(keyed, nr, sizeof(*keyed), by_process);
	f->t->sections = cmd_alloc(NULL, nr + 1, sizeof(*f->t->sections));
	if (f->r->processes && nr > f->r->processes) {
		f->t->cut = nr - f->r->processes;
		nr = f->r->processes;
	}
	for (i = 0; i < nr; i++)
		add_section(f, keyed[i].process);
	if (wanted(f, &rows->evicted))
		add_section(f, &rows->evicted);
	free(keyed);
}

static void add_loss(struct report_tables *t, const char *name, uint64_t value)
{
	union cell *row = table_row(&t->losses);

	row[L_NAME].text = name;
	row[L_VALUE].number = value;
	if (!value)
		return;
	row = table_row(&t->some_losses);
	row[L_NAME].text = name;
	row[L_VALUE].number = value;
}

/* What END counts since boot: the difference over the period. */
static void add_counted(struct report_tables *t, const struct period *period)
{
	const struct ktau_rec_end *begin = ktau_snapshot_end(period->before);
	const struct ktau_rec_end *end = ktau_snapshot_end(period->after);
	uint64_t before, after;
	unsigned int i;

	for (i = 0; i < KTAU_NR_LOSSES; i++) {
		before = begin ? ktau_loss_value(begin, i) : 0;
		after = end ? ktau_loss_value(end, i) : 0;
		add_loss(t, ktau_loss_name(i), after > before ? after - before : 0);
	}
}

static void add_losses(const struct filling *f, const struct rows *rows,
		       const struct period *period)
{
	const struct ktau_rec_end *end = ktau_snapshot_end(period->after);
	struct report_tables *t = f->t;

	add_loss(t, "refused", rows->refused);
	add_loss(t, "refused_ns", ktau_clock_ns(f->clock, rows->refused_ticks));
	add_counted(t, period);
	add_loss(t, "lost_overwritten", period->overwritten);
	add_loss(t, "denied", end ? end->denied : 0);
	add_loss(t, "busy", end ? end->busy : 0);
	add_loss(t, "torn", end ? end->torn : 0);
	add_loss(t, "stateless", end ? end->stateless : 0);
	add_loss(t, "vanished", end ? end->vanished : 0);
	add_loss(t, "unlisted_frames", rows->unlisted);
	add_loss(t, "backward_owners", rows->backward);
	add_loss(t, "evicted_activations", rows->evicted.pairs);
	add_loss(t, "unknown", rows->unknown);
}

void report_tables_init(struct report_tables *t, const struct report *r,
			const struct rows *rows, const struct period *period,
			const struct ktau_clock *clock)
{
	struct filling f = {
		.t = t,
		.r = r,
		.clock = clock,
		.stream = ktau_snapshot_stream(period->after),
	};
	size_t i;

	memset(t, 0, sizeof(*t));
	table_init(&t->routines, "processes", routine_columns, NR(routine_columns));
	table_init(&t->counters, "counters", counter_columns, NR(counter_columns));
	table_init(&t->total, "total", routine_columns, NR(routine_columns));
	table_init(&t->total_counters, "total_counters", counter_columns, NR(counter_columns));
	table_init(&t->cpus, "cpus", cpu_columns, NR(cpu_columns));
	table_init(&t->losses, "losses", loss_columns, NR(loss_columns));
	table_init(&t->some_losses, "losses", loss_columns, NR(loss_columns));
	add_processes(&f, rows);
	add_routines(&f, &t->total, &rows->total);
	add_counters(&f, &t->total_counters, &rows->total);
	t->cpu_sections = cmd_alloc(NULL, rows->nr_cpus, sizeof(*t->cpu_sections));
	for (i = 0; i < rows->nr_cpus; i++)
		add_cpu(&f, &rows->cpus[i]);
	add_losses(&f, rows, period);
}

void report_tables_deinit(struct report_tables *t)
{
	table_deinit(&t->routines);
	table_deinit(&t->counters);
	table_deinit(&t->total);
	table_deinit(&t->total_counters);
	table_deinit(&t->cpus);
	table_deinit(&t->losses);
	table_deinit(&t->some_losses);
	free(t->sections);
	free(t->cpu_sections);
}
