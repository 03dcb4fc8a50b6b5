// SPDX-License-Identifier: GPL-2.0-only
/* The tables of a report. */
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "lib/cli.h"
#include "interrupts.h"
#include "report_tables.h"
#include "tally.h"
#include "waits.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Cells of a row, in the order of the columns below. */
enum { P_PID, P_TID, P_PROCESS, P_TASKS, P_LIVE, P_SHARE, P_COUNT, P_INCL, P_EXCL, P_LONGEST,
       P_OPEN, P_OPEN_TIME, P_GROUP, P_ROUTINE, P_OWN, P_UID, P_CGROUP, P_LONGEST_NS, P_NR };
enum { C_PID, C_PROCESS, C_COUNT, C_SUM, C_MIN, C_MAX, C_GROUP, C_COUNTER, C_NR };
enum { U_CPU, U_SHARE, U_COUNT, U_INCL, U_EXCL, U_LONGEST, U_GROUP, U_ROUTINE, U_LONGEST_NS,
       U_NR };
enum { L_VALUE, L_NAME, L_MEANING, L_NR };

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
	[P_LONGEST] = { NULL, "longest ms", COLUMN_NS },
	[P_OPEN] = { "in_flight", "in flight", COLUMN_NUMBER },
	[P_OPEN_TIME] = { "in_flight_ns", NULL, COLUMN_NS },
	[P_GROUP] = { "group", "group", COLUMN_TEXT },
	[P_ROUTINE] = { "routine", "routine", COLUMN_TEXT },
	[P_OWN] = { "ktau_ns", NULL, COLUMN_NS },
	[P_UID] = { "uid", NULL, COLUMN_SMALL },
	[P_CGROUP] = { "cgroup", NULL, COLUMN_TEXT },
	[P_LONGEST_NS] = { "longest_ns", NULL, COLUMN_NS },
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
	[U_CPU] = { "cpu", NULL, COLUMN_SMALL },
	[U_SHARE] = { "share", "share", COLUMN_SHARE },
	[U_COUNT] = { "count", "count", COLUMN_NUMBER },
	[U_INCL] = { "incl_ns", "incl ms", COLUMN_NS },
	[U_EXCL] = { "excl_ns", "excl ms", COLUMN_NS },
	[U_LONGEST] = { NULL, "longest ms", COLUMN_NS },
	[U_GROUP] = { "group", "group", COLUMN_TEXT },
	[U_ROUTINE] = { "routine", "line or vector", COLUMN_TEXT },
	[U_LONGEST_NS] = { "longest_ns", NULL, COLUMN_NS },
};

static const struct column loss_columns[L_NR] = {
	[L_VALUE] = { "value", "value", COLUMN_NUMBER },
	[L_NAME] = { "name", "loss", COLUMN_TEXT },
	[L_MEANING] = { NULL, "meaning", COLUMN_TEXT },
};

/* The tables, and the data to fill them from. */
struct filling {
	struct report_tables *t;
	struct view v;
};

/* A routine with its sort key. */
struct keyed {
	const struct routine *routine;
	const char *name;
	ktau_sum_t key;
};

static bool is_wait(const struct filling *f, const struct routine *r)
{
	return symbolize_group_bit(f->v.r->names, r->id) == KTAU_GROUP_SCHED;
}

static ktau_sum_t routine_key(const struct routine *r, enum report_sort sort)
{
	switch (sort) {
	case SORT_EXCL:
		return r->kind == KTAU_KIND_TIMER ? r->excl : r->incl;
	case SORT_INCL:
		return r->incl;
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

/* Which routines to pick: timers that run, timers that wait, all timers, or counters. */
enum picked { PICK_RUNNING, PICK_WAITING, PICK_TIMERS, PICK_COUNTERS };

static bool is_picked(const struct filling *f, const struct routine *r, enum picked what)
{
	if (f->v.r->groups != KTAU_GROUP_ALL &&
	    !(symbolize_group_bit(f->v.r->names, r->id) & f->v.r->groups))
		return false;
	if (what == PICK_COUNTERS || r->kind == KTAU_KIND_COUNTER)
		return what == PICK_COUNTERS && r->kind == KTAU_KIND_COUNTER;
	return what == PICK_TIMERS || is_wait(f, r) == (what == PICK_WAITING);
}

/* Return: the sorted routines of @p to show; the caller frees them. */
static struct keyed *pick(const struct filling *f, const struct process *p, enum picked what,
			  size_t *nr)
{
	struct keyed *keyed = cli_alloc(NULL, p->tally.nr, sizeof(*keyed));
	const struct routine *r;

	*nr = 0;
	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		if (!is_picked(f, r, what))
			continue;
		keyed[*nr].routine = r;
		keyed[*nr].name = symbolize_event(f->v.r->names, r->id);
		keyed[(*nr)++].key = routine_key(r, f->v.r->sort);
	}
	qsort(keyed, *nr, sizeof(*keyed), by_key);
	if (f->v.r->top && *nr > f->v.r->top)
		*nr = f->v.r->top;
	return keyed;
}

/* Longest activation, if that was measured. */
static uint64_t longest_ns(const struct filling *f, const struct routine *r)
{
	return r->flags & KTAU_ENTRY_LONGEST ? ktau_clock_ns(&f->v.clock, r->longest) : CELL_NONE;
}

/* KTAU's own cost in the activations of a routine, if it is known. */
static uint64_t cost_ns(const struct filling *f, const struct routine *r)
{
	if (f->v.stream->origin == KTAU_ORIGIN_BPF)
		return CELL_NONE;
	return ktau_clock_ns(&f->v.clock, symbolize_hook_ticks(f->v.r->names, f->v.stream, r->id,
							       r->count));
}

static void put_routine(const struct filling *f, union cell *row, const struct routine *r)
{
	row[P_COUNT].number = r->count;
	row[P_INCL].number = ktau_clock_sum_ns(&f->v.clock, r->incl);
	row[P_EXCL].number = ktau_clock_sum_ns(&f->v.clock, r->excl);
	row[P_LONGEST].number = row[P_LONGEST_NS].number = longest_ns(f, r);
	row[P_OPEN].number = r->open;
	row[P_OPEN_TIME].number = ktau_clock_sum_ns(&f->v.clock, r->open_incl);
	row[P_GROUP].text = symbolize_group(f->v.r->names, r->id);
	row[P_ROUTINE].text = symbolize_event(f->v.r->names, r->id);
	row[P_OWN].number = cost_ns(f, r);
}

/* Return: the number of rows. */
static size_t add_routines(const struct filling *f, struct table *t, const struct process *p,
			   enum picked what)
{
	ktau_sum_t running, waiting;
	struct keyed *keyed;
	size_t nr, i;

	account_times(p, f->v.r->names, &running, &waiting);
	keyed = pick(f, p, what, &nr);
	for (i = 0; i < nr; i++) {
		const struct routine *r = keyed[i].routine;
		union cell *row = table_row(t);

		row[P_PID].sign = p->owner.tgid;
		row[P_TID].sign = p->owner.tid;
		row[P_PROCESS].text = p->label;
		row[P_UID].number = p->owner.uid;
		row[P_CGROUP].text = p->cgroup;
		row[P_TASKS].number = p->tasks;
		row[P_LIVE].number = p->live;
		row[P_SHARE].share = share_of(r->excl, what == PICK_WAITING ? waiting : running);
		put_routine(f, row, r);
	}
	free(keyed);
	return nr;
}

static void add_counters(const struct filling *f, struct table *t, const struct process *p)
{
	struct keyed *keyed;
	size_t nr, i;

	keyed = pick(f, p, PICK_COUNTERS, &nr);
	for (i = 0; i < nr; i++) {
		const struct routine *r = keyed[i].routine;
		union cell *row = table_row(t);

		row[C_PID].sign = p->owner.tgid;
		row[C_PROCESS].text = p->label;
		row[C_COUNT].number = r->count;
		row[C_SUM].number = r->incl;
		row[C_MIN].number = r->min;
		row[C_MAX].number = r->max;
		row[C_GROUP].text = symbolize_group(f->v.r->names, r->id);
		row[C_COUNTER].text = keyed[i].name;
	}
	free(keyed);
}

static void add_cpu(const struct filling *f, const struct process *p)
{
	struct report_tables *t = f->t;
	struct section *section = &t->cpu_sections[t->nr_cpu_sections++];
	ktau_sum_t running, waiting;
	struct keyed *keyed;
	size_t nr, i;

	*section = (struct section){ .process = p, .first = t->cpus.nr_rows };
	account_times(p, f->v.r->names, &running, &waiting);
	keyed = pick(f, p, PICK_TIMERS, &nr);
	for (i = 0; i < nr; i++) {
		const struct routine *r = keyed[i].routine;
		union cell *row = table_row(&t->cpus);

		row[U_CPU].number = p->owner.cpu;
		row[U_SHARE].share = share_of(r->excl, running);
		row[U_COUNT].number = r->count;
		row[U_INCL].number = ktau_clock_sum_ns(&f->v.clock, r->incl);
		row[U_EXCL].number = ktau_clock_sum_ns(&f->v.clock, r->excl);
		row[U_LONGEST].number = row[U_LONGEST_NS].number = longest_ns(f, r);
		row[U_GROUP].text = symbolize_group(f->v.r->names, r->id);
		row[U_ROUTINE].text = keyed[i].name;
	}
	free(keyed);
	section->running = t->cpus.nr_rows - section->first;
	account_cpu_row(&f->v, &f->t->cpu_account, p);
}

static bool has_pid(const struct report *r, const struct process *p)
{
	size_t i, k;

	for (i = 0; i < r->nr_pids; i++)
		for (k = 0; k < p->nr_ids; k++)
			if (r->pids[i] == process_ids(p, k).tgid ||
			    r->pids[i] == process_ids(p, k).tid)
				return true;
	return !r->nr_pids;
}

static bool did_nothing(const struct process *p)
{
	size_t i;

	for (i = 0; i < p->tally.nr; i++)
		if (p->tally.routines[i].count)
			return false;
	return !p->account.parts[ACCOUNT_KERNEL];
}

static bool was_asked_for(const struct filling *f, const struct process *p)
{
	return has_pid(f->v.r, p) && report_matches(f->v.r->by, f->v.r->pattern, p->label);
}

static bool wanted(const struct filling *f, const struct process *p)
{
	if ((!p->tally.nr && !p->account.life) || !was_asked_for(f, p))
		return false;
	f->t->nr_wanted++;
	if (f->v.r->idle || report_selects(f->v.r) ||
	    !(p->owner.flags & KTAU_OWNER_KTHREAD) || !did_nothing(p))
		return true;
	f->t->hidden++;
	return false;
}

/* A process with its sort key. */
struct keyed_process {
	const struct process *process;
	ktau_sum_t key;
	bool unknown;
};

static ktau_sum_t process_key(const struct filling *f, const struct process *p)
{
	uint64_t count = 0;
	size_t i;

	if (f->v.r->sort == SORT_NAME)
		return 0;
	if (f->v.r->sort != SORT_COUNT)
		return account_kernel(&f->v, p);
	for (i = 0; i < p->tally.nr; i++)
		count += p->tally.routines[i].count;
	return count;
}

static int by_process(const void *a, const void *b)
{
	const struct keyed_process *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	if (x->unknown != y->unknown)
		return x->unknown ? 1 : -1;
	order = strcmp(x->process->label, y->process->label);
	/* Keep the order of ids for equal keys, because qsort() is not stable. */
	return order ? order : x->process < y->process ? -1 : 1;
}

/* Idle tasks have no account: the table of CPUs has their time. */
static bool has_account(const struct filling *f, const struct process *p)
{
	return f->v.r->idle || !(p->owner.flags & KTAU_OWNER_IDLE);
}

/* Count the accounts that contradict themselves, and keep the worst. */
static void note_excess(const struct filling *f, const struct process *p)
{
	double share = share_of(account_excess(&f->v, p), p->account.life);
	struct report_tables *t = f->t;

	if (!(share > 0))
		return;
	t->nr_inconsistent++;
	if (t->inconsistent && share <= t->excess)
		return;
	t->inconsistent = p;
	t->excess = share;
}

/*
 * Only tables that are printed are filled: with many processes, each takes much memory. @p is @row
 * with routines that are not packed.
 */
static void add_section(const struct filling *f, const struct process *row,
			const struct process *p)
{
	const unsigned int tables = f->v.r->tables;
	struct report_tables *t = f->t;
	struct section s = {
		.process = row,
		.first = t->routines.nr_rows,
		.first_counter = t->counters.nr_rows,
		.first_wait = t->waits.nr_rows,
		.first_region = t->regions.table.nr_rows,
	};

	if (tables & REPORT_PROCESSES) {
		s.running = add_routines(f, &t->routines, p, PICK_RUNNING);
		s.waiting = add_routines(f, &t->routines, p, PICK_WAITING);
	}
	if (tables & REPORT_COUNTERS)
		add_counters(f, &t->counters, p);
	s.nr_counters = t->counters.nr_rows - s.first_counter;
	if (tables & REPORT_WAITS && has_account(f, p))
		waits_rows(&f->v, &t->waits, p);
	s.nr_waits = t->waits.nr_rows - s.first_wait;
	report_regions_rows(&t->regions, &f->v, p);
	s.nr_regions = t->regions.table.nr_rows - s.first_region;
	/* A process that was asked for is shown even if nothing is known of it. */
	if (s.running || s.waiting || s.nr_counters || s.nr_waits || s.nr_regions ||
	    ((p->account.life || p->tally.nr) && report_selects(f->v.r)))
		t->sections[t->nr_sections++] = s;
	if (!has_account(f, p) || p->owner.kind == KTAU_OWNER_EVICTED ||
	    !(tables & REPORT_ACCOUNT))
		return;
	account_row(&f->v, &t->account, p);
	t->unknown += account_is_unknown(p);
}

/* A row of the account that is not printed; it may have a figure in a column that others lack. */
static void cut_row(const struct filling *f, const struct process *p)
{
	struct report_tables *t = f->t;

	if (!has_account(f, p))
		return;
	account_row(&f->v, &t->account, p);
	t->account.nr_rows--;
	if (account_is_unknown(p))
		t->unknown_cut++;
	else
		t->cut++;
}

/* The number of processes to show, unless --processes or other options choose them. */
static uint64_t usual_limit(const struct report *r)
{
	if (r->format != FORMAT_TEXT || r->html || report_selects(r) || r->tables & REPORT_WAITS)
		return UINT64_MAX;
	return r->tables & (REPORT_PROCESSES | REPORT_COUNTERS | REPORT_REGIONS) ? MOST_PROCESSES :
										   MOST_ROWS;
}

/* Return: the sorted processes to show, of which there are *@nr; the caller frees them. */
static struct keyed_process *choose(const struct filling *f, struct aggregate *rows, size_t *nr)
{
	struct keyed_process *keyed = cli_alloc(NULL, rows->nr, sizeof(*keyed));
	const struct process *row, *p;

	*nr = 0;
	for (row = rows->processes; row < rows->processes + rows->nr; row++) {
		p = aggregate_open(rows, row);
		if (!wanted(f, p))
			continue;
		note_excess(f, row);
		keyed[(*nr)++] = (struct keyed_process){
			.process = row, .unknown = account_is_unknown(row),
			.key = process_key(f, p),
		};
	}
	qsort(keyed, *nr, sizeof(*keyed), by_process);
	return keyed;
}

static void add_processes(const struct filling *f, struct aggregate *rows)
{
	const uint64_t limit = usual_limit(f->v.r);
	struct keyed_process *keyed;
	size_t nr, shown = 0, i, row;

	keyed = choose(f, rows, &nr);
	f->t->sections = cli_alloc(NULL, nr + 1, sizeof(*f->t->sections));
	for (i = 0; i < nr; i++) {
		row = has_account(f, keyed[i].process);
		if (f->v.r->processes && shown >= f->v.r->processes) {
			f->t->cut += row;
			continue;
		}
		if (!f->v.r->processes && shown >= limit) {
			cut_row(f, aggregate_open(rows, keyed[i].process));
			continue;
		}
		shown += row;
		add_section(f, keyed[i].process, aggregate_open(rows, keyed[i].process));
	}
	if (rows->evicted.tally.nr && was_asked_for(f, &rows->evicted)) {
		f->t->nr_wanted++;
		add_section(f, &rows->evicted, &rows->evicted);
	}
	free(keyed);
}

/*
 * The losses, with their names in the heading of a report. The first word of each name is a
 * plural that ends in s.
 */
static const struct {
	const char *name, *meaning;
} meanings[] = {
	{ "refused", "activations without room in the profiles" },
	{ "refused_memory_limit", "allocations over memory_limit" },
	{ "refused_user_limit", "allocations over the user's share of it" },
	{ "refused_no_memory", "allocations that failed" },
	{ "refused_no_chunk", "activations without room for their counts" },
	{ "refused_no_id", "activations without an id" },
	{ "refused_no_state", "tasks without a profile" },
	{ "refused_descriptors", "descriptors refused" },
	{ "lost_no_ring", "trace slots without a ring" },
	{ "lost_no_room", "trace slots without room in a ring" },
	{ "lost_resized", "trace slots of resized rings" },
	{ "lost_evicted", "unread trace slots of evicted tasks" },
	{ "lost_overwritten", "trace slots overwritten unread" },
	{ "lost_periods", "periods not recorded because the file could not be written" },
	{ "evicted", "tasks evicted" },
	{ "evicted_activations", "activations of tasks evicted unread" },
	{ "clamped", "durations clamped" },
	{ "internal_errors", "internal errors" },
	{ "refused_regions", "changes to unknown regions" },
	{ "refused_functions", "activations of hooked functions without a frame" },
	{ "denied", "tasks denied to the reader" },
	{ "busy", "tasks in the middle of an exec or at the end of their exit" },
	{ "torn", "tasks that could not be copied consistently" },
	{ "stateless", "tasks found without a profile" },
	{ "vanished", "tasks not found" },
	{ "unlisted_frames", "frames in flight not listed" },
	{ "backward_owners", "owners with decreasing figures" },
	{ "unknown", "records of unknown kinds" },
	{ "inconsistent_accounts", "accounts whose parts exceed the life" },
};

/* The same for streams of BPF programs, where it differs. */
static const char *bpf_meaning_of(const char *name)
{
	if (!strcmp(name, "refused_no_state"))
		return "events skipped, or of tasks without a profile";
	if (!strcmp(name, "refused_no_memory"))
		return "exited tasks without room in the buffer";
	return NULL;
}

static const char *meaning_of(const char *name)
{
	size_t i;

	for (i = 0; i < NR(meanings); i++)
		if (!strcmp(meanings[i].name, name))
			return meanings[i].meaning;
	return "";
}

static void put_loss(struct table *t, const char *name, ktau_sum_t value, const char *meaning)
{
	union cell *row = table_row(t);

	row[L_NAME].text = name;
	row[L_VALUE].number = value;
	row[L_MEANING].text = meaning;
}

static void add_loss(struct report_tables *t, const char *name, ktau_sum_t value)
{
	const char *meaning = t->bpf ? bpf_meaning_of(name) : NULL;

	if (!meaning)
		meaning = meaning_of(name);
	put_loss(&t->losses, name, value, meaning);
	if (value)
		put_loss(&t->some_losses, name, value, meaning);
}

uint64_t report_loss_value(const struct table *losses, size_t i)
{
	return sum_u64(losses->cells[i * L_NR + L_VALUE].number);
}

const char *report_loss_name(const struct table *losses, size_t i)
{
	return losses->cells[i * L_NR + L_NAME].text;
}

const char *report_loss_meaning(const struct table *losses, size_t i)
{
	return losses->cells[i * L_NR + L_MEANING].text;
}

/* Counters in END count since boot, so add the difference over the period. */
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

static void add_losses(const struct filling *f, const struct aggregate *rows,
		       const struct period *period)
{
	const struct ktau_rec_stream *stream = ktau_snapshot_stream(period->after);
	const struct ktau_rec_end *end = ktau_snapshot_end(period->after);
	struct report_tables *t = f->t;

	t->bpf = stream && stream->origin == KTAU_ORIGIN_BPF;
	add_loss(t, "refused", rows->refused);
	add_loss(t, "refused_ns", ktau_clock_sum_ns(&f->v.clock, rows->refused_ticks));
	add_counted(t, period);
	add_loss(t, "lost_overwritten", period->overwritten);
	add_loss(t, "lost_periods", period->lost_periods);
	add_loss(t, "denied", end ? end->denied : 0);
	add_loss(t, "busy", end ? end->busy : 0);
	add_loss(t, "torn", end ? end->torn : 0);
	add_loss(t, "stateless", end ? end->stateless : 0);
	add_loss(t, "vanished", end ? end->vanished : 0);
	add_loss(t, "unlisted_frames", rows->unlisted);
	add_loss(t, "backward_owners", rows->backward);
	add_loss(t, "evicted_activations", tally_activations(&rows->evicted.tally));
	add_loss(t, "unknown", rows->unknown);
	add_loss(t, "inconsistent_accounts", t->nr_inconsistent);
}

static void add_total(const struct filling *f, const struct process *total)
{
	struct report_tables *t = f->t;
	struct section *s = &t->total_section;

	s->process = total;
	s->running = add_routines(f, &t->total, total, PICK_RUNNING);
	s->waiting = add_routines(f, &t->total, total, PICK_WAITING);
	add_counters(f, &t->total_counters, total);
}

void report_tables_init(struct report_tables *t, const struct report *r,
			const struct period *period)
{
	struct aggregate *rows = period->rows;
	struct filling f = {
		.t = t,
		.v = {
			.r = r, .registry = period->registry,
			.stream = ktau_snapshot_stream(period->after),
		},
	};
	size_t i;

	ktau_clock_init(&f.v.clock, f.v.stream);
	memset(t, 0, sizeof(*t));
	account_columns(&t->account, &t->cpu_account, r->by);
	waits_columns(&t->waits);
	report_regions_init(&t->regions, &f.v, r->tables & REPORT_REGIONS ? rows->regions : NULL);
	table_init(&t->routines, "processes", routine_columns, NR(routine_columns));
	table_init(&t->counters, "counters", counter_columns, NR(counter_columns));
	table_init(&t->total, "total", routine_columns, NR(routine_columns));
	table_init(&t->total_counters, "total_counters", counter_columns, NR(counter_columns));
	table_init(&t->cpus, "cpus", cpu_columns, NR(cpu_columns));
	table_init(&t->losses, "losses", loss_columns, NR(loss_columns));
	table_init(&t->some_losses, "losses", loss_columns, NR(loss_columns));
	add_processes(&f, rows);
	add_total(&f, &rows->total);
	t->cpu_sections = cli_alloc(NULL, rows->nr_cpus, sizeof(*t->cpu_sections));
	for (i = 0; i < rows->nr_cpus; i++)
		add_cpu(&f, &rows->cpus[i]);
	interrupts_columns(&t->interrupts);
	interrupts_rows(&f.v, &t->interrupts, rows);
	add_losses(&f, rows, period);
}

void report_tables_deinit(struct report_tables *t)
{
	table_deinit(&t->account);
	table_deinit(&t->cpu_account);
	table_deinit(&t->routines);
	table_deinit(&t->counters);
	table_deinit(&t->waits);
	report_regions_deinit(&t->regions);
	table_deinit(&t->total);
	table_deinit(&t->total_counters);
	table_deinit(&t->cpus);
	table_deinit(&t->interrupts);
	table_deinit(&t->losses);
	table_deinit(&t->some_losses);
	free(t->sections);
	free(t->cpu_sections);
}
