// SPDX-License-Identifier: GPL-2.0-only
/* The pages of ktau top: the tables of a report, as lines of text. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/report/account.h"
#include "lib/cli.h"
#include "doing.h"
#include "lib/report/interrupts.h"
#include "lib/report/report_tables.h"
#include "lib/report/tally.h"
#include "top_view.h"
#include "top_vms.h"

enum { T_NAME, T_PID, T_TASKS, T_USER, T_KERNEL, T_IRQ, T_RUNQ, T_ASLEEP, T_TOP, T_NOW, T_NR };

static const struct column columns[T_NR] = {
	[T_NAME] = { NULL, "NAME", COLUMN_TEXT },
	[T_PID] = { NULL, "PID", COLUMN_SIGNED },
	[T_TASKS] = { NULL, "TASKS", COLUMN_NUMBER },
	[T_USER] = { NULL, "USER", COLUMN_SHARE },
	[T_KERNEL] = { NULL, "KERNEL", COLUMN_SHARE },
	[T_IRQ] = { NULL, "IRQ", COLUMN_SHARE },
	[T_RUNQ] = { NULL, "RUNQ", COLUMN_SHARE },
	[T_ASLEEP] = { NULL, "ASLEEP", COLUMN_SHARE },
	[T_TOP] = { NULL, "TOP ROUTINE", COLUMN_TEXT },
	[T_NOW] = { NULL, "DOING NOW", COLUMN_TEXT },
};

/* A row of PAGE_TASKS with its sort key. */
struct shown {
	const struct process *process;
	ktau_sum_t key;
	struct doing_now now;
};

const char *top_sort_name(enum top_sort sort)
{
	static const char *const names[TOP_NR_SORTS] = {
		[TOP_KERNEL] = "kernel", [TOP_USER] = "user", [TOP_IRQ] = "irq",
		[TOP_RUNQ] = "runq", [TOP_ASLEEP] = "asleep", [TOP_LIFE] = "life",
		[TOP_NAME] = "name",
	};

	return names[sort];
}

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

static void add_line(struct top_view *t, const char *line)
{
	t->lines = cli_alloc(t->lines, t->nr_lines + 1, sizeof(*t->lines));
	t->lines[t->nr_lines++] = copy(line);
}

/* Add rows of a table as lines. */
static void add_table(struct top_view *t, struct table *table, size_t first, size_t nr)
{
	char *text, *rest, *line;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	table->width = t->width;
	table_text(table, first, nr, "", f);
	fclose(f);
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest)
		add_line(t, line);
	free(text);
}

static ktau_sum_t part_of(const struct view *v, const struct process *p, int part)
{
	return account_has(v->stream, p, part) ? p->account.parts[part] : 0;
}

static ktau_sum_t key_of(const struct view *v, const struct process *p, enum top_sort sort)
{
	switch (sort) {
	case TOP_KERNEL:
		return account_kernel(v, p);
	case TOP_USER:
		return part_of(v, p, ACCOUNT_USER);
	case TOP_IRQ:
		return part_of(v, p, ACCOUNT_IRQ);
	case TOP_RUNQ:
		return part_of(v, p, ACCOUNT_RUNQ);
	case TOP_ASLEEP:
		return part_of(v, p, ACCOUNT_ASLEEP);
	case TOP_LIFE:
		return p->account.life;
	case TOP_NAME:
	case TOP_NR_SORTS:
		break;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	order = strcmp(x->process->label, y->process->label);
	return order ? order : x->process < y->process ? -1 : 1;
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

static bool is_shown(const struct top_view *t, const struct view *v, const struct process *p)
{
	if (!has_pid(v->r, p) || p->owner.flags & KTAU_OWNER_IDLE || account_is_unknown(p))
		return false;
	/* A name that the kernel has cut may be given whole. */
	return !*t->filter || strstr(p->label, t->filter) ||
	       report_matches(v->r->by, t->filter, p->label);
}

static double share(const struct view *v, const struct process *p, int part)
{
	if (!account_has(v->stream, p, part) || !p->account.life)
		return (double)NAN;
	return share_of(p->account.parts[part], p->account.life);
}

static void add_row(const struct view *v, struct table *table, const struct shown *s)
{
	static const struct {
		int column, part;
	} shares[] = {
		{ T_USER, ACCOUNT_USER }, { T_KERNEL, ACCOUNT_KERNEL }, { T_IRQ, ACCOUNT_IRQ },
		{ T_RUNQ, ACCOUNT_RUNQ }, { T_ASLEEP, ACCOUNT_ASLEEP },
	};
	const struct process *p = s->process;
	union cell *row = table_row(table);
	const struct routine *top = account_top_routine(v, p, account_kernel(v, p));
	size_t i;

	row[T_NAME].text = p->label;
	row[T_PID].sign = p->owner.tgid;
	row[T_TASKS].number = p->tasks;
	for (i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		row[shares[i].column].share = share(v, p, shares[i].part);
	row[T_TOP].text = top ? symbolize_event(v->r->names, top->id) : "-";
	row[T_NOW].text = *s->now.text ? s->now.text : p->live ? "-" : "(exited)";
}

/* Remember the row on each line, and find the selected row again. */
static void add_selection(struct top_view *t, const struct shown *shown, size_t nr)
{
	size_t i, found = nr;

	t->pids = cli_alloc(NULL, nr, sizeof(*t->pids));
	t->names = cli_alloc(NULL, nr + 1, sizeof(*t->names));
	for (i = 0; i < nr; i++) {
		t->pids[i] = shown[i].process->owner.tgid;
		t->names[i] = copy(shown[i].process->label);
		if (t->pids[i] == t->selected_pid && !strcmp(t->names[i], t->selected_name))
			found = i;
	}
	t->names[nr] = NULL;
	if (found == nr)
		found = t->selected < nr ? t->selected : nr ? nr - 1 : 0;
	if (nr)
		top_view_select(t, found);
}

/* Columns that are left for the last column, with names of 15 characters in the others. */
static size_t now_columns(const struct top_view *t)
{
	enum { ALL = 110, OTHERS = 74, FEWER = 49, LEAST = 10 };
	int left = t->width - (t->width < ALL ? FEWER : OTHERS);

	return left > LEAST ? (size_t)left : LEAST;
}

static void fill_tasks(struct top_view *t, const struct view *v, const struct period *period)
{
	struct aggregate *rows = period->rows;
	struct shown *shown = cli_alloc(NULL, rows->nr, sizeof(*shown));
	struct table table;
	size_t nr = 0, i;

	for (i = 0; i < rows->nr; i++) {
		if (!is_shown(t, v, &rows->processes[i]))
			continue;
		shown[nr].process = &rows->processes[i];
		shown[nr++].key = key_of(v, aggregate_open(rows, &rows->processes[i]), t->sort);
	}
	qsort(shown, nr, sizeof(*shown), by_key);
	table_init(&table, "tasks", columns, T_NR);
	table.spare = 1ULL << T_TOP | 1ULL << T_IRQ;
	table.hidden = v->r->by == BY_PROCESS ? 1ULL << T_TASKS : 1ULL << T_PID;
	for (i = 0; i < nr; i++) {
		shown[i].process = aggregate_open(rows, shown[i].process);
		shown[i].now.columns = now_columns(t);
		doing_now(v, shown[i].process, period->after, &shown[i].now);
		add_row(v, &table, &shown[i]);
	}
	add_selection(t, shown, nr);
	add_table(t, &table, 0, nr);
	snprintf(t->heading, sizeof(t->heading), "%zu rows by %s time%s%s", nr,
		 top_sort_name(t->sort), *t->filter ? ", with " : "", t->filter);
	table_deinit(&table);
	free(shown);
}

static bool is_selected(const struct top_view *t, const struct process *p)
{
	return p->owner.tgid == t->selected_pid && !strcmp(p->label, t->selected_name);
}

static const struct section *find_section(const struct top_view *t,
					  const struct report_tables *tables)
{
	size_t i;

	for (i = 0; i < tables->nr_sections; i++)
		if (is_selected(t, tables->sections[i].process))
			return &tables->sections[i];
	return NULL;
}

static void fill_routines(struct top_view *t, struct report_tables *tables)
{
	const struct section *s = find_section(t, tables);

	snprintf(t->heading, sizeof(t->heading), "%s: routines, by exclusive time",
		 t->selected_name);
	if (!s || !(s->running + s->waiting)) {
		add_line(t, "");
		add_line(t, "nothing in this period");
		return;
	}
	tables->routines.spare = ~0ULL >> 1;
	add_table(t, &tables->routines, s->first, s->running + s->waiting);
}

static void fill_waits(struct top_view *t, struct report_tables *tables)
{
	const struct section *s = find_section(t, tables);

	snprintf(t->heading, sizeof(t->heading), "%s: waits, by time asleep and for a CPU",
		 t->selected_name);
	if (!s || !s->nr_waits) {
		add_line(t, "");
		add_line(t, "no waits in this period");
		return;
	}
	add_table(t, &tables->waits, s->first_wait, s->nr_waits);
}

static void fill_regions(struct top_view *t, struct report_tables *tables)
{
	const struct section *s = find_section(t, tables);

	snprintf(t->heading, sizeof(t->heading), "%s: regions of the program, by routine",
		 t->selected_name);
	if (!s || !s->nr_regions) {
		add_line(t, "");
		add_line(t, "no regions in this period");
		return;
	}
	add_table(t, &tables->regions.table, s->first_region, s->nr_regions);
}

static void fill_interrupts(struct top_view *t, const struct view *v,
			    const struct period *period)
{
	struct table table;

	interrupts_columns(&table);
	interrupts_rows(v, &table, period->rows);
	add_table(t, &table, 0, table.nr_rows);
	snprintf(t->heading, sizeof(t->heading), "interrupts and softirqs by line and CPU");
	table_deinit(&table);
}

static void fill_vms(struct top_view *t, const struct view *v, const struct period *period)
{
	struct top_vms vms;

	top_vms_init(&vms, v, period, t->live);
	snprintf(t->heading, sizeof(t->heading), "virtual CPUs of this host's guests: %zu",
		 vms.table.nr_rows);
	if (vms.table.nr_rows) {
		add_table(t, &vms.table, 0, vms.table.nr_rows);
	} else {
		add_line(t, "");
		add_line(t, v->stream->groups & KTAU_GROUP_KVM ?
			 "no virtual CPU has run" :
			 "time in guests is not measured: the group kvm is not enabled");
	}
	top_vms_deinit(&vms);
}

static void fill_losses(struct top_view *t, struct report_tables *tables)
{
	snprintf(t->heading, sizeof(t->heading), "losses in this period");
	if (tables->some_losses.nr_rows) {
		add_table(t, &tables->some_losses, 0, tables->some_losses.nr_rows);
		return;
	}
	add_line(t, "");
	add_line(t, "none");
}

static void fill_cpus(struct top_view *t, const struct view *v, const struct aggregate *rows)
{
	size_t i;

	t->cpus = cli_alloc(NULL, rows->nr_cpus, sizeof(*t->cpus));
	t->nr_cpus = rows->nr_cpus;
	for (i = 0; i < rows->nr_cpus; i++)
		t->cpus[i] = (struct top_cpu){
			.cpu = rows->cpus[i].owner.cpu,
			.tasks = share(v, &rows->cpus[i], ACCOUNT_KERNEL),
			.irq = share(v, &rows->cpus[i], ACCOUNT_IRQ),
		};
}

static void fill_title(struct top_view *t, const struct view *v, const struct period *period,
		       const struct report_tables *tables)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(period->before);
	uint64_t from = before && period->first ? before->ticks : v->stream->boot_ticks;
	uint64_t ns = ktau_clock_ns(&v->clock, less(v->stream->ticks, from));
	time_t seconds = (time_t)(v->stream->realtime_ns / 1000000000);
	char clock[16] = "", length[24], losses[32] = "none";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	doing_format_ns(ns, length, sizeof(length));
	if (tables->some_losses.nr_rows)
		snprintf(losses, sizeof(losses), "%zu (l)", tables->some_losses.nr_rows);
	snprintf(t->title, sizeof(t->title), "%s  %s  %s%s  losses: %s",
		 v->stream->nodename, clock, length, period->first ? "" : " since boot", losses);
	snprintf(t->release, sizeof(t->release), "  %s", v->stream->release);
}

static void fill_keys(struct top_view *t)
{
	static const char *const keys[] = {
		"Key             What it does",
		"Up, Down        select a row; on other pages, scroll; also Page up, Page down,",
		"                Home and End",
		"Enter           the routines of the selected row, by exclusive time",
		"w               its waits: the routines that it slept in",
		"r               the regions of its program",
		"i               interrupts and softirqs by line and CPU",
		"v               the virtual CPUs of this host's guests",
		"l               the losses in this period",
		"Esc, Backspace  back to the rows",
		"s               sort by the next column",
		"/               show only rows whose name contains a text",
		"f               freeze or unfreeze the screen",
		"Left, Right     with a file: the previous or the next period",
		"?, h            this page",
		"q, Ctrl-C       quit",
	};
	size_t i;

	snprintf(t->heading, sizeof(t->heading), "keys");
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		add_line(t, keys[i]);
}

static void clear(struct top_view *t)
{
	size_t i;

	for (i = 0; i < t->nr_lines; i++)
		free(t->lines[i]);
	for (i = 0; t->names && t->names[i]; i++)
		free(t->names[i]);
	free(t->lines);
	free(t->names);
	free(t->pids);
	free(t->cpus);
	t->lines = t->names = NULL;
	t->pids = NULL;
	t->cpus = NULL;
	t->nr_lines = t->nr_cpus = 0;
}

void top_view_fill(struct top_view *t, const struct report *r, const struct period *period)
{
	struct report all = *r;
	struct report_tables tables;
	struct view v = {
		.r = &all, .registry = period->registry,
		.stream = ktau_snapshot_stream(period->after),
	};

	all.groups = KTAU_GROUP_ALL;
	all.idle = true;
	all.tables = t->page == PAGE_REGIONS  ? REPORT_REGIONS :
		     t->page == PAGE_ROUTINES ? REPORT_PROCESSES :
		     t->page == PAGE_WAITS    ? REPORT_WAITS :
						REPORT_ACCOUNT;
	all.processes = UINT64_MAX;
	ktau_clock_init(&v.clock, v.stream);
	report_tables_init(&tables, &all, period);
	clear(t);
	fill_title(t, &v, period, &tables);
	fill_cpus(t, &v, period->rows);
	switch (t->page) {
	case PAGE_TASKS:
		fill_tasks(t, &v, period);
		break;
	case PAGE_ROUTINES:
		fill_routines(t, &tables);
		break;
	case PAGE_WAITS:
		fill_waits(t, &tables);
		break;
	case PAGE_REGIONS:
		fill_regions(t, &tables);
		break;
	case PAGE_INTERRUPTS:
		fill_interrupts(t, &v, period);
		break;
	case PAGE_VMS:
		fill_vms(t, &v, period);
		break;
	case PAGE_LOSSES:
		fill_losses(t, &tables);
		break;
	case PAGE_KEYS:
		fill_keys(t);
		break;
	}
	report_tables_deinit(&tables);
}

void top_view_deinit(struct top_view *t)
{
	clear(t);
}

void top_view_select(struct top_view *t, size_t selected)
{
	t->selected = selected;
	t->selected_pid = t->pids[selected];
	snprintf(t->selected_name, sizeof(t->selected_name), "%s", t->names[selected]);
}
