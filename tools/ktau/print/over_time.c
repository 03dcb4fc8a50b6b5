// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report over time.
 *
 * CSV and JSON are printed period by period. Text shows the rows with the most kernel time, which
 * are known at the end: the kernel time of each row is kept, in a few bytes for each period in
 * which it had any.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/report/account.h"
#include "lib/cli.h"
#include "lib/hash.h"
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

/**
 * struct line - a process, or all processes of a name, over the whole recording
 * @name: its name
 * @pid: its pid; 0: all processes of the name
 * @periods: kernel time of the periods that have any: for each, the number of periods since the
 *	previous one and nanoseconds, 7 bits to a byte
 * @bytes: length of @periods
 * @room: allocated length of @periods
 * @last: number of the last period in @periods
 * @total: nanoseconds in all periods
 */
struct line {
	char *name;
	int32_t pid;
	unsigned char *periods;
	size_t bytes, room, last;
	ktau_sum_t total;
};

struct span {
	uint64_t from_ns, length_ns;
};

/**
 * struct over_time - the recording
 * @r: what to show
 * @out: output
 * @table: table for CSV and JSON
 * @lines: rows of text in the order of appearance
 * @nr_lines: length of @lines
 * @room_lines: allocated length of @lines
 * @by_name: index of a line plus 1
 * @spans: the periods
 * @nr: length of @spans
 * @room: allocated length of @spans
 * @nodename: name of the machine
 */
struct over_time {
	const struct report *r;
	FILE *out;
	struct table table;
	struct line *lines;
	size_t nr_lines, room_lines;
	struct hash by_name;
	struct span *spans;
	size_t nr, room;
	char nodename[80];
};

static bool is_wanted(const struct report *r, const struct process *p)
{
	size_t i, k;

	if (p->owner.flags & KTAU_OWNER_IDLE || !report_matches(r->by, r->pattern, p->label))
		return false;
	for (i = 0; i < r->nr_pids; i++)
		for (k = 0; k < p->nr_ids; k++)
			if (r->pids[i] == process_ids(p, k).tgid ||
			    r->pids[i] == process_ids(p, k).tid)
				return true;
	return !r->nr_pids;
}

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

static struct line *new_line(struct over_time *o, const char *name, int32_t pid)
{
	if (o->nr_lines == o->room_lines) {
		o->room_lines = o->room_lines ? o->room_lines * 2 : 64;
		o->lines = cli_alloc(o->lines, o->room_lines, sizeof(*o->lines));
	}
	o->lines[o->nr_lines] = (struct line){ .name = copy(name), .pid = pid };
	return &o->lines[o->nr_lines++];
}

static struct line *line_of(struct over_time *o, const struct process *p)
{
	int32_t pid = o->r->by == BY_PROCESS || o->r->by == BY_THREAD ? p->owner.tid : 0;
	uint64_t key = hash_bytes(hash_text(p->label), &pid, sizeof(pid));
	struct line *l;
	size_t index;

	for (; (index = hash_get(&o->by_name, key)); key++) {
		l = &o->lines[index - 1];
		if (l->pid == pid && !strcmp(l->name, p->label))
			return l;
	}
	l = new_line(o, p->label, pid);
	hash_put(&o->by_name, key, o->nr_lines);
	return l;
}

static void put_number(struct line *l, ktau_sum_t number)
{
	do {
		l->periods[l->bytes++] = (unsigned char)(number & 0x7f) |
					 (number > 0x7f ? 0x80 : 0);
		number >>= 7;
	} while (number);
}

static ktau_sum_t get_number(const unsigned char **at)
{
	ktau_sum_t number = 0;
	unsigned int shift = 0;

	do
		number |= (ktau_sum_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return number;
}

/* Bytes of two numbers at most */
enum { TWO_NUMBERS = 2 * (sizeof(ktau_sum_t) * 8 + 6) / 7 };

/* Add kernel time to the line in period @at, which is not before the last one. */
static void put_ns(struct line *l, size_t at, ktau_sum_t ns)
{
	if (!ns)
		return;
	if (l->room - l->bytes < TWO_NUMBERS) {
		l->room = l->room ? l->room * 2 : 2 * TWO_NUMBERS;
		l->periods = cli_alloc(l->periods, l->room, 1);
	}
	put_number(l, at - l->last);
	put_number(l, ns);
	l->last = at;
	l->total += ns;
}

/* The strings of a row are printed before the period ends. */
static void put_row(struct over_time *o, const struct view *v, const struct process *p)
{
	const struct span *s = &o->spans[o->nr - 1];
	union cell *row = table_row(&o->table);
	int i;

	row[O_FROM].number = s->from_ns;
	row[O_LENGTH].number = s->length_ns;
	row[O_NAME].text = p->label;
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
	if (o->nr == o->room) {
		o->room = o->room ? o->room * 2 : 64;
		o->spans = cli_alloc(o->spans, o->room, sizeof(*o->spans));
	}
	o->spans[o->nr++] = (struct span){
		before->realtime_ns, ktau_clock_ns(&v.clock, less(v.stream->ticks, before->ticks)),
	};
	for (i = 0; i < period->rows->nr; i++) {
		const struct process *p = aggregate_open(period->rows,
							 &period->rows->processes[i]);

		if (!is_wanted(o->r, p))
			continue;
		if (r.format == FORMAT_TEXT)
			put_ns(line_of(o, p), o->nr - 1,
			       ktau_clock_sum_ns(&v.clock, account_kernel(&v, p)));
		else
			put_row(o, &v, p);
	}
	table_flush(&o->table, r.format, o->out);
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

/* The columns of a line: kernel time of @group periods each. The caller frees them. */
static ktau_sum_t *columns_of(const struct over_time *o, const struct line *l, size_t group)
{
	const unsigned char *at = l->periods;
	size_t nr = (o->nr + group - 1) / group, period = 0;
	ktau_sum_t *sums = cli_alloc(NULL, nr, sizeof(*sums));

	memset(sums, 0, nr * sizeof(*sums));
	while (at < l->periods + l->bytes) {
		period += (size_t)get_number(&at);
		sums[period / group] += get_number(&at);
	}
	return sums;
}

static ktau_sum_t largest(const struct over_time *o, size_t shown, size_t group)
{
	ktau_sum_t max = 0, *sums;
	size_t i, k;

	for (i = 0; i < shown; i++) {
		sums = columns_of(o, &o->lines[i], group);
		for (k = 0; k * group < o->nr; k++)
			max = sum_more(max, sums[k]);
		free(sums);
	}
	return max;
}

/* Print the bar in eighths of a full block. Any time above 0 is at least one eighth. */
static void print_blocks(const struct over_time *o, const struct line *l, size_t group,
			 ktau_sum_t max, FILE *out)
{
	static const char *const blocks[] = {
		" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█",
	};
	ktau_sum_t *sums = columns_of(o, l, group);
	size_t k;

	for (k = 0; k * group < o->nr; k++)
		fputs(blocks[sums[k] ? (size_t)(1 + (double)sums[k] / (double)max * 7) : 0], out);
	free(sums);
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
		free(o->lines[i].periods);
	}
	free(o->lines);
	hash_deinit(&o->by_name);
	free(o->spans);
	table_deinit(&o->table);
}

int over_time_print(const struct report *r, const struct walk *w, FILE *out)
{
	struct over_time o = { .r = r, .out = out };
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
	} else if (o.nr && !o.nr_lines && !o.table.nr_flushed) {
		complain("%s: nothing matches", w->files[0]);
		status = CLI_FAILED;
	} else if (o.nr && r->format == FORMAT_TEXT) {
		print_text(&o, out);
	} else if (o.nr) {
		table_end(&o.table, r->format, out);
	}
	deinit(&o);
	return cli_finish(out) ? CLI_FAILED : status;
}
