// SPDX-License-Identifier: GPL-2.0-only
/* The screens of ktau path. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "print.h"
#include "lib/text.h"

/* Routines or tasks shown in a row, and tasks with lost slots shown below the table. */
enum { SHOWN_USES = 2, SHOWN_LOST = 3 };

/* The largest number of slots that ring= takes. */
enum { MAX_RING = 1048576 };

enum { C_SHARE, C_NS, C_STATE, C_TASK, C_IN, C_TID, C_SERIAL, C_COUNT, C_NR };

static const struct column columns[C_NR] = {
	[C_SHARE] = { "share", "SHARE", COLUMN_SHARE },
	[C_NS] = { "time_ns", "MS", COLUMN_NS },
	[C_STATE] = { "state", "STATE", COLUMN_TEXT },
	[C_TASK] = { "task", "TASK", COLUMN_TEXT },
	[C_IN] = { "in", "IN", COLUMN_TEXT },
	[C_TID] = { "tid", NULL, COLUMN_SIGNED },
	[C_SERIAL] = { "serial", NULL, COLUMN_NUMBER },
	[C_COUNT] = { "segments", NULL, COLUMN_NUMBER },
};

enum { S_FROM, S_NS, S_STATE, S_TASK, S_IN, S_TID, S_SERIAL, S_NR };

static const struct column segment_columns[S_NR] = {
	[S_FROM] = { "from_ns", "FROM MS", COLUMN_NS },
	[S_NS] = { "time_ns", "MS", COLUMN_NS },
	[S_STATE] = { "state", "STATE", COLUMN_TEXT },
	[S_TASK] = { "task", "TASK", COLUMN_TEXT },
	[S_IN] = { "in", "IN", COLUMN_TEXT },
	[S_TID] = { "tid", NULL, COLUMN_SIGNED },
	[S_SERIAL] = { "serial", NULL, COLUMN_NUMBER },
};

static const char *const reasons[UNKNOWN_REASONS] = {
	[UNKNOWN_LOST] = "slots lost",
	[UNKNOWN_UNTRACED] = "not traced",
	[UNKNOWN_BEFORE] = "nothing recorded before",
	[UNKNOWN_AFTER] = "nothing recorded after",
	[UNKNOWN_CYCLE] = "wakeups at one time",
};

char *path_task_name(const struct path_graph *g, uint32_t task)
{
	const struct path_task *t = &g->tasks[task];
	const char *host = g->nr_hosts ? g->hosts[t->machine] : "";
	const char *at = g->nr_hosts ? "@" : "";
	char *name;
	int length;

	if (t->owner.rec.type)
		length = asprintf(&name, "%s/%d%s%s", t->owner.comm, t->owner.tid, at, host);
	else
		length = asprintf(&name, "serial %" PRIu64 "%s%s", t->serial, at, host);
	if (length < 0) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	return name;
}

/* The names of all tasks; those that are not shown are NULL. */
static char **make_names(const struct path_print *p)
{
	char **names = cli_alloc(NULL, p->g->nr_tasks + 1, sizeof(*names));

	memset(names, 0, (p->g->nr_tasks + 1) * sizeof(*names));
	return names;
}

static const char *name_of(const struct path_print *p, char **names, uint32_t task)
{
	if (!names[task])
		names[task] = path_task_name(p->g, task);
	return names[task];
}

static void free_texts(char **texts, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(texts[i]);
	free(texts);
}

/* The names of the events of the machine of a segment. */
static struct symbolizer *names_for(const struct path_print *p, const struct path_segment *s)
{
	return p->names[p->g->tasks[s->task].machine];
}

static void print_ms(FILE *out, uint64_t ns)
{
	fprintf(out, " %.3f", (double)ns / 1e6);
}

/* "user 196.100, sys_read 2.100, ..." */
static void print_uses(const struct path_print *p, const struct path_row *row, FILE *out)
{
	size_t i, shown = row->nr_uses;
	char *name;

	if (row->like.state == PATH_RUN_QUEUE)
		fprintf(out, "cpu %u%s", row->like.cpu, shown ? ": " : "");
	if (shown > SHOWN_USES && p->format == FORMAT_TEXT)
		shown = SHOWN_USES;
	for (i = 0; i < shown; i++) {
		fputs(i ? ", " : "", out);
		if (row->like.state == PATH_RUN_QUEUE) {
			name = path_task_name(p->g, row->uses[i].key);
			fputs(name, out);
			free(name);
		} else if (row->uses[i].key == KTAU_ID_NONE) {
			fputs("user", out);
		} else {
			fputs(symbolize_event(names_for(p, &row->like), row->uses[i].key), out);
		}
		print_ms(out, row->uses[i].ns);
	}
	fputs(shown < row->nr_uses ? ", ..." : "", out);
}

/* The task that had the CPU of the host. */
static void print_thief(const struct path_graph *g, uint16_t number, FILE *out)
{
	char *name;

	if (g->thieves[number] == PATH_NONE) {
		fputc('?', out);
		return;
	}
	name = path_task_name(g, g->thieves[number]);
	fputs(name, out);
	free(name);
}

/* The wait and what ended it: "sys_fsync <- irq:11:virtio1". */
static void print_wait(const struct path_print *p, const struct path_segment *s, FILE *out)
{
	if (s->state == PATH_UNKNOWN)
		fputs(reasons[s->unknown], out);
	if (s->state == PATH_STOLEN) {
		print_thief(p->g, s->cause, out);
		return;
	}
	if (s->wait != KTAU_ID_NONE)
		fputs(symbolize_event(names_for(p, s), s->wait), out);
	if (s->cause != KTAU_ID_NONE)
		fprintf(out, "%s<- %s", s->wait != KTAU_ID_NONE ? " " : "",
			symbolize_event(names_for(p, s), s->cause));
}

static char *text_in(const struct path_print *p, const struct path_segment *s,
		     const struct path_row *row)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out) {
		if (row && (s->state == PATH_RUNNING || s->state == PATH_RUN_QUEUE))
			print_uses(p, row, out);
		else if (s->state == PATH_RUN_QUEUE)
			fprintf(out, "cpu %u", s->cpu);
		else
			print_wait(p, s, out);
	}
	if (!out || fclose(out)) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	return text;
}

char *path_wait_text(const struct path_print *p, const struct path_segment *s)
{
	return text_in(p, s, NULL);
}

void path_print_title(const struct path_print *p)
{
	char *name = path_task_name(p->g, p->task);
	uint64_t unknown = 0;
	size_t i;

	for (i = 0; i < p->path->nr; i++)
		unknown += p->path->segments[i].state == PATH_UNKNOWN;
	print_escaped(p->input, stdout);
	fputs(": path of ", stdout);
	print_escaped(name, stdout);
	printf(", %.6f s, %zu segments, %" PRIu64 " unknown\n",
	       (double)(p->path->to_ns - p->path->from_ns) / 1e9, p->path->nr, unknown);
	free(name);
}

void path_print_rows(const struct path_print *p, const struct path_rows *rows)
{
	size_t nr = p->top && p->top < rows->nr ? p->top : rows->nr, i;
	double whole = (double)(p->path->to_ns - p->path->from_ns);
	char **names = make_names(p);
	char **texts = cli_alloc(NULL, nr + 1, sizeof(*texts));
	const struct path_row *r;
	union cell *row;
	struct table t;

	table_init(&t, "path", columns, C_NR);
	for (i = 0; i < nr; i++) {
		r = &rows->rows[i];
		row = table_row(&t);
		texts[i] = text_in(p, &r->like, r);
		row[C_SHARE].share = (double)r->ns / whole;
		row[C_NS].number = r->ns;
		row[C_STATE].text = cause_name(r->like.state);
		row[C_TASK].text = name_of(p, names, r->like.task);
		row[C_IN].text = texts[i];
		row[C_TID].sign = p->g->tasks[r->like.task].owner.tid;
		row[C_SERIAL].number = p->g->tasks[r->like.task].serial;
		row[C_COUNT].number = r->nr;
	}
	t.width = table_width(stdout);
	table_print(&t, p->format, stdout);
	table_deinit(&t);
	free_texts(texts, nr);
	free_texts(names, p->g->nr_tasks);
}

void path_print_segments(const struct path_print *p)
{
	size_t nr = p->top && p->top < p->path->nr ? p->top : p->path->nr, i;
	char **names = make_names(p);
	char **texts = cli_alloc(NULL, nr + 1, sizeof(*texts));
	const struct path_segment *s;
	union cell *row;
	struct table t;

	table_init(&t, "segments", segment_columns, S_NR);
	for (i = 0; i < nr; i++) {
		s = &p->path->segments[i];
		row = table_row(&t);
		texts[i] = text_in(p, s, NULL);
		row[S_FROM].number = s->from_ns - p->path->from_ns;
		row[S_NS].number = s->to_ns - s->from_ns;
		row[S_STATE].text = cause_name(s->state);
		row[S_TASK].text = name_of(p, names, s->task);
		row[S_IN].text = texts[i];
		row[S_TID].sign = p->g->tasks[s->task].owner.tid;
		row[S_SERIAL].number = p->g->tasks[s->task].serial;
	}
	t.width = table_width(stdout);
	table_print(&t, p->format, stdout);
	table_deinit(&t);
	free_texts(texts, nr);
	free_texts(names, p->g->nr_tasks);
}

/* The unknown time of a task. */
struct unknown {
	uint32_t task;
	uint64_t ns;
};

static int by_unknown(const void *a, const void *b)
{
	const struct unknown *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/*
 * The ring of a new task is small at first. If all that the task wrote would fit into the ring that
 * it has now, then no larger one would have helped.
 */
static void print_ring(const struct path_task *task)
{
	bool fits = task->lost <= MAX_RING && task->lost + task->ring_slots <= MAX_RING;
	uint64_t size = 1;

	if (task->written <= task->ring_slots) {
		puts(" (before its ring had grown)");
	} else if (!fits) {
		puts(" (more than a ring can have)");
	} else {
		while (size < task->ring_slots + task->lost)
			size *= 2;
		printf(" (ring=%" PRIu64 " would have kept them)\n", size);
	}
}

static void print_lost(const struct path_print *p, struct unknown *lost, size_t nr)
{
	uint64_t rest_ns = 0;
	char *name;
	size_t i;

	if (nr)
		qsort(lost, nr, sizeof(*lost), by_unknown);
	for (i = 0; i < nr && i < SHOWN_LOST; i++) {
		name = path_task_name(p->g, lost[i].task);
		printf("%.3f ms unknown: %" PRIu64 " slots lost in ", (double)lost[i].ns / 1e6,
		       p->g->tasks[lost[i].task].lost);
		print_escaped(name, stdout);
		print_ring(&p->g->tasks[lost[i].task]);
		free(name);
	}
	for (; i < nr; i++)
		rest_ns += lost[i].ns;
	if (rest_ns)
		printf("%.3f ms unknown: slots lost in %zu other tasks\n", (double)rest_ns / 1e6,
		       nr - SHOWN_LOST);
}

void path_print_unknown(const struct path_print *p)
{
	struct unknown *lost = cli_alloc(NULL, p->g->nr_tasks + 1, sizeof(*lost));
	uint64_t sums[UNKNOWN_REASONS] = { 0 }, ns;
	const struct path_segment *s;
	size_t i, nr = 0;

	for (i = 0; i < p->g->nr_tasks; i++)
		lost[i] = (struct unknown){ .task = (uint32_t)i };
	for (s = p->path->segments; s < p->path->segments + p->path->nr; s++) {
		ns = s->to_ns - s->from_ns;
		if (s->state == PATH_UNKNOWN && s->unknown == UNKNOWN_LOST)
			lost[s->task].ns += ns;
		else if (s->state == PATH_UNKNOWN)
			sums[s->unknown] += ns;
	}
	for (i = 0; i < p->g->nr_tasks; i++)
		if (lost[i].ns)
			lost[nr++] = lost[i];
	print_lost(p, lost, nr);
	for (i = 0; i < UNKNOWN_REASONS; i++)
		if (sums[i])
			printf("%.3f ms unknown: %s\n", (double)sums[i] / 1e6, reasons[i]);
	free(lost);
}
