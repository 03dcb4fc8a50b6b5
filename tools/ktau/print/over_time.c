// SPDX-License-Identifier: GPL-2.0-only
/* A report over time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/report/account.h"
#include "lib/cli.h"
#include "over_time.h"
#include "lib/table.h"
#include "lib/report/tally.h"
#include "lib/text.h"
#include "lib/text_cut.h"

enum { ROWS = 20, NAME_COLUMNS = 16 };

enum { O_FROM, O_LENGTH, O_NAME, O_PID, O_LIFE, O_PARTS,
       O_TID = O_PARTS + ACCOUNT_NR, O_NR };

static const struct column columns[O_NR] = {
	[O_FROM] = { "from_ns", NULL, COLUMN_NS },
	[O_LENGTH] = { "length_ns", NULL, COLUMN_NS },
	[O_NAME] = { "name", NULL, COLUMN_TEXT },
	[O_PID] = { "pid", NULL, COLUMN_SIGNED },
	[O_LIFE] = { "life_ns", NULL, COLUMN_NS },
	[O_PARTS + ACCOUNT_USER] = { "user_ns", NULL, COLUMN_NS },
	[O_PARTS + ACCOUNT_KERNEL] = { "kernel_ns", NULL, COLUMN_NS },
	[O_PARTS + ACCOUNT_IRQ] = { "irq_ns", NULL, COLUMN_NS },
	[O_PARTS + ACCOUNT_RUNQ] = { "runq_ns", NULL, COLUMN_NS },
	[O_PARTS + ACCOUNT_ASLEEP] = { "asleep_ns", NULL, COLUMN_NS },
	[O_PARTS + ACCOUNT_GUEST] = { "guest_ns", NULL, COLUMN_NS },
	[O_TID] = { "tid", NULL, COLUMN_SIGNED },
};

/* A process, or all processes of a name, over the whole recording. */
struct line {
	char *name;
	int32_t pid;
	ktau_sum_t *ns;	/* kernel time in each period */
	size_t nr;
	ktau_sum_t total;
};

struct span {
	uint64_t from_ns, length_ns;
};

/**
 * struct over_time - the recording
 * @r: what to show
 * @table: table for CSV and JSON
 * @lines: rows in the order of appearance
 * @nr_lines: length of @lines
 * @spans: the periods
 * @nr: length of @spans
 * @nodename: name of the machine
 */
struct over_time {
	const struct report *r;
	struct table table;
	struct line *lines;
	size_t nr_lines;
	struct span *spans;
	size_t nr;
	char nodename[80];
};

static bool is_wanted(const struct report *r, const struct process *p)
{
	size_t i, k;

	if (p->owner.flags & KTAU_OWNER_IDLE || !report_matches(r->by, r->pattern, p->label))
		return false;
	for (i = 0; i < r->nr_pids; i++)
		for (k = 0; k < p->nr_ids; k++)
			if (r->pids[i] == p->ids[k].tgid || r->pids[i] == p->ids[k].tid)
				return true;
	return !r->nr_pids;
}

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

static struct line *line_of(struct over_time *o, const struct process *p)
{
	int32_t pid = o->r->by == BY_PROCESS || o->r->by == BY_THREAD ? p->owner.tid : 0;
	size_t i;

	for (i = 0; i < o->nr_lines; i++)
		if (o->lines[i].pid == pid && !strcmp(o->lines[i].name, p->label))
			return &o->lines[i];
	o->lines = cli_alloc(o->lines, o->nr_lines + 1, sizeof(*o->lines));
	o->lines[o->nr_lines] = (struct line){ .name = copy(p->label), .pid = pid };
	return &o->lines[o->nr_lines++];
}

/* Add kernel time to period @at. Periods without an entry are 0. */
static void put_ns(struct line *l, size_t at, ktau_sum_t ns)
{
	if (at >= l->nr) {
		l->ns = cli_alloc(l->ns, at + 1, sizeof(*l->ns));
		memset(l->ns + l->nr, 0, (at + 1 - l->nr) * sizeof(*l->ns));
		l->nr = at + 1;
	}
	l->ns[at] += ns;
	l->total += ns;
}

static void put_row(struct over_time *o, const struct view *v, const struct process *p)
{
	const struct span *s = &o->spans[o->nr - 1];
	union cell *row = table_row(&o->table);
	int i;

	row[O_FROM].number = s->from_ns;
	row[O_LENGTH].number = s->length_ns;
	row[O_NAME].text = line_of(o, p)->name;
	row[O_PID].sign = p->owner.tgid;
	row[O_TID].sign = p->owner.tid;
	row[O_LIFE].number = ktau_clock_sum_ns(&v->clock, p->account.life);
	for (i = 0; i < ACCOUNT_NR; i++) {
		row[O_PARTS + i].number = CELL_NONE;
		if (account_has(v->stream, p, i))
			row[O_PARTS + i].number = ktau_clock_sum_ns(&v->clock, p->account.parts[i]);
	}
}

static int take(void *arg, const struct period *period)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(period->before);
	struct over_time *o = arg;
	struct report r = *o->r;
	struct view v = {
		.r = &r, .registry = period->registry,
		.stream = ktau_snapshot_stream(period->after),
	};
	size_t i;

	r.names = symbolize_create(registry_events(period->registry), NULL);
	ktau_clock_init(&v.clock, v.stream);
	snprintf(o->nodename, sizeof(o->nodename), "%s", v.stream->nodename);
	o->spans = cli_alloc(o->spans, o->nr + 1, sizeof(*o->spans));
	o->spans[o->nr++] = (struct span){
		before->realtime_ns, ktau_clock_ns(&v.clock, less(v.stream->ticks, before->ticks)),
	};
	for (i = 0; i < period->rows->nr; i++) {
		const struct process *p = &period->rows->processes[i];

		if (!is_wanted(o->r, p))
			continue;
		put_ns(line_of(o, p), o->nr - 1,
		       ktau_clock_sum_ns(&v.clock, account_kernel(&v, p)));
		put_row(o, &v, p);
	}
	symbolize_destroy(r.names);
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Kernel time of @l in @group periods, starting with period @first. */
static ktau_sum_t sum_of(const struct line *l, size_t first, size_t group)
{
	ktau_sum_t sum = 0;
	size_t i;

	for (i = first; i < first + group && i < l->nr; i++)
		sum += l->ns[i];
	return sum;
}

static ktau_sum_t largest(const struct over_time *o, size_t shown, size_t group)
{
	ktau_sum_t max = 0;
	size_t i, k;

	for (i = 0; i < shown; i++)
		for (k = 0; k < o->nr; k += group)
			max = sum_more(max, sum_of(&o->lines[i], k, group));
	return max;
}

/* Print the bar in eighths of a full block. Any time above 0 is at least one eighth. */
static void print_blocks(const struct over_time *o, const struct line *l, size_t group,
			 ktau_sum_t max, FILE *out)
{
	static const char *const blocks[] = {
		" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█",
	};
	ktau_sum_t ns;
	size_t k;

	for (k = 0; k < o->nr; k += group) {
		ns = sum_of(l, k, group);
		fputs(blocks[ns ? (size_t)(1 + (double)ns / (double)max * 7) : 0], out);
	}
}

static void print_name(const char *name, int name_columns, FILE *out)
{
	char *cut;
	int width = text_cut(name, name_columns, &cut);

	fprintf(out, "%s%*s", cut, name_columns - width, "");
	free(cut);
}

static void print_head(const struct over_time *o, size_t group, ktau_sum_t max, FILE *out)
{
	uint64_t length = 0;
	size_t i;

	for (i = 0; i < o->nr; i++)
		length += o->spans[i].length_ns;
	print_escaped(o->nodename, out);
	fprintf(out, "  %zu periods, %.1f s; a column is %.3f s, and a full block %.3f ms "
		"of kernel time\n",
		o->nr, (double)length / 1e9,
		(double)length / 1e9 / (double)o->nr * (double)group, (double)max / 1e6);
}

/* Print @shown lines, whose escaped names are @names. */
static void print_lines(const struct over_time *o, const char *const *names, size_t shown,
			FILE *out)
{
	int name_columns = text_distinct(names, shown, NAME_COLUMNS);
	size_t width = (size_t)table_width(out), used = (size_t)name_columns + 18, room, group, i;
	ktau_sum_t max;

	room = width > used + 10 ? width - used : 10;
	group = (o->nr + room - 1) / room;
	max = largest(o, shown, group);
	print_head(o, group, max, out);
	fprintf(out, "%-*s %8s  %9s\n", name_columns, "NAME", o->r->by == BY_NAME ? "" : "PID",
		"KERNEL ms");
	for (i = 0; i < shown; i++) {
		print_name(names[i], name_columns, out);
		if (o->lines[i].pid)
			fprintf(out, " %8" PRId32, o->lines[i].pid);
		else
			fprintf(out, " %8s", "");
		fprintf(out, "  %9.3f  ", (double)o->lines[i].total / 1e6);
		print_blocks(o, &o->lines[i], group, max, out);
		fputc('\n', out);
	}
}

static void print_text(struct over_time *o, FILE *out)
{
	size_t limit = o->r->processes ? o->r->processes : ROWS, shown = o->nr_lines, i;
	const char **names;

	shown = shown > limit ? limit : shown;
	qsort(o->lines, o->nr_lines, sizeof(*o->lines), by_total);
	names = cli_alloc(NULL, shown, sizeof(*names));
	for (i = 0; i < shown; i++)
		names[i] = text_escaped(o->lines[i].name);
	print_lines(o, names, shown, out);
	for (i = 0; i < shown; i++)
		free((char *)names[i]);
	free(names);
	if (o->nr_lines > shown)
		fprintf(out, "Not shown: %zu rows with less kernel time (--processes=N)\n",
			o->nr_lines - shown);
}

static void deinit(struct over_time *o)
{
	size_t i;

	for (i = 0; i < o->nr_lines; i++) {
		free(o->lines[i].name);
		free(o->lines[i].ns);
	}
	free(o->lines);
	free(o->spans);
	table_deinit(&o->table);
}

int over_time_print(const struct report *r, const struct walk *w, FILE *out)
{
	struct over_time o = { .r = r };
	struct walk walk = *w;
	int status;

	table_init(&o.table, "over_time", columns, O_NR);
	walk.want = WALK_ROWS;
	walk.each = take;
	walk.arg = &o;
	status = walk_files(&walk);
	if (!o.nr && status == CLI_DONE) {
		complain("%s: contains no period, which takes two streams of profiles",
			 w->files[0]);
		status = CLI_FAILED;
	} else if (o.nr && !o.nr_lines) {
		complain("%s: nothing matches", w->files[0]);
		status = CLI_FAILED;
	} else if (o.nr && r->format == FORMAT_TEXT) {
		print_text(&o, out);
	} else if (o.nr) {
		table_print(&o.table, r->format, out);
	}
	deinit(&o);
	return cli_finish(out) ? CLI_FAILED : status;
}
