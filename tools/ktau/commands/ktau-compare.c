// SPDX-License-Identifier: GPL-2.0-only
/* ktau compare: show what changed between two recordings. */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/account.h"
#include "lib/cli.h"
#include "lib/shared_options.h"
#include "analyse/compare.h"
#include "analyse/compare_hosts.h"
#include "lib/hash.h"
#include "print/pager.h"
#include "lib/report/report_options.h"
#include "subcommand.h"
#include "lib/report/tally.h"
#include "analyse/walk.h"

enum { OPT_BY = 256, OPT_ALL, OPT_NAME };

/* Number of rows in text format without --all. */
enum { SHOWN = 30 };

struct options {
	enum aggregate_by by;
	bool by_host;
	bool all;
	const char *pattern;
	struct shared_options in;
};

/* What a figure requires to be measured: a group of events, by its bit, or a part. */
enum { NR_GROUPS = 32, NR_NEEDS = NR_GROUPS + ACCOUNT_NR };

/**
 * struct subject - a process of one or both recordings
 * @name: its name
 * @missing: what was not measured in the current period, a bit for each need
 * @unmeasured: number of periods without each need, for each recording
 */
struct subject {
	char *name;
	uint64_t missing;
	uint64_t unmeasured[2][NR_NEEDS];
};

/**
 * struct figure - a figure of one or both recordings
 * @subject: index of the process
 * @what: part of the account, or routine
 * @is_part: @what is a part of the account
 * @need: what it requires to be measured
 * @ticks: sum in the current period; several events can have one name
 * @sample: milliseconds per second, for each recording
 */
struct figure {
	size_t subject;
	char *what;
	bool is_part;
	unsigned int need;
	ktau_sum_t ticks;
	struct sample sample[2];
};

/**
 * struct comparison - all figures of two recordings
 * @o: options
 * @which: recording being read
 * @figures: all figures
 * @nr: length of @figures
 * @room: allocated length of @figures
 * @by_key: index of a figure plus 1
 * @subjects: all processes
 * @nr_subjects: length of @subjects
 * @room_subjects: allocated length of @subjects
 * @by_name: index of a process plus 1
 * @periods: number of periods in each recording
 */
struct comparison {
	const struct options *o;
	int which;
	struct figure *figures;
	size_t nr, room;
	struct hash by_key;
	struct subject *subjects;
	size_t nr_subjects, room_subjects;
	struct hash by_name;
	uint64_t periods[2];
};

static const struct argp_option argp_options[] = {
	{ "by", OPT_BY, "WHAT", 0, "Show a row per name, cgroup or user (default: name); host: "
	  "find the hosts that differ from the others", 0 },
	{ "name", OPT_NAME, "PATTERN,...", 0,
	  "Only processes (or control groups) whose name matches a pattern as in sh(1)", 0 },
	{ "all", OPT_ALL, NULL, 0, "Also show what did not change", 0 },
	HOST_OPTION(0),
	FORMAT_OPTION(0),
	{ 0 }
};

static void check_arguments(const struct options *o, struct argp_state *state)
{
	if (o->by_host && (o->pattern || o->in.host))
		cli_usage(state, "--by=host compares whole hosts: it takes no --%s",
			  o->pattern ? "name" : "host");
	if (o->by_host && !o->in.nr_files)
		cli_usage(state, "a directory, or files of several hosts, is required");
	if (!o->by_host && o->in.nr_files > 2)
		cli_usage(state, "'%s': only two files can be compared", o->in.files[2]);
	if (!o->by_host && o->in.nr_files != 2)
		cli_usage(state, "two files are required");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_BY:
		o->by_host = !strcmp(arg, "host");
		if (o->by_host)
			return 0;
		if (report_parse_by(arg, &o->by) || o->by == BY_PROCESS || o->by == BY_THREAD)
			cli_usage(state, "--by=%s: not name, cgroup, user or host", arg);
		return 0;
	case OPT_NAME:
		o->pattern = arg;
		return 0;
	case OPT_ALL:
		o->all = true;
		return 0;
	case ARGP_KEY_END:
		check_arguments(o, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "A B\n--by=host DIR...",
	"Print what changed from recording A to recording B: the parts of each process's account "
	"and its routines, in milliseconds per second. A difference counts as a change if the "
	"variation between the periods of each recording does not explain it, at a significance "
	"level of 1 %. With --by=host: find the hosts that differ from the median of all hosts in "
	"some routine.",
	NULL, NULL, NULL
};

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

static struct subject *subject_of(struct comparison *c, const char *name)
{
	uint64_t key = hash_text(name);
	struct subject *s;
	size_t index;

	for (; (index = hash_get(&c->by_name, key)); key++) {
		s = &c->subjects[index - 1];
		if (!strcmp(s->name, name))
			return s;
	}
	if (c->nr_subjects == c->room_subjects) {
		c->room_subjects = c->room_subjects ? c->room_subjects * 2 : 16;
		c->subjects = cli_alloc(c->subjects, c->room_subjects, sizeof(*c->subjects));
	}
	s = &c->subjects[c->nr_subjects++];
	*s = (struct subject){ .name = copy(name) };
	hash_put(&c->by_name, key, c->nr_subjects);
	return s;
}

static struct figure *figure_of(struct comparison *c, const struct subject *subject,
				const char *what, unsigned int need)
{
	uint64_t key = hash_bytes(hash_bytes(HASH_START, subject->name, strlen(subject->name) + 1),
				  what, strlen(what));
	size_t at = (size_t)(subject - c->subjects), index;
	bool is_part = need >= NR_GROUPS;
	struct figure *f;

	for (; (index = hash_get(&c->by_key, key)); key++) {
		f = &c->figures[index - 1];
		if (f->subject == at && !strcmp(f->what, what) && f->is_part == is_part)
			return f;
	}
	if (c->nr == c->room) {
		c->room = c->room ? c->room * 2 : 64;
		c->figures = cli_alloc(c->figures, c->room, sizeof(*c->figures));
	}
	f = &c->figures[c->nr++];
	*f = (struct figure){
		.subject = at, .what = copy(what), .is_part = is_part, .need = need,
	};
	hash_put(&c->by_key, key, c->nr);
	return f;
}

/* End a period of @length ticks. A figure that was not measured in it is unknown, not 0. */
static void end_period(struct comparison *c, uint64_t length)
{
	struct subject *s;
	struct figure *f;
	unsigned int i;

	for (f = c->figures; f < c->figures + c->nr; f++) {
		if (f->ticks && !(c->subjects[f->subject].missing >> f->need & 1))
			sample_add(&f->sample[c->which], (double)f->ticks / (double)length * 1000);
		f->ticks = 0;
	}
	for (s = c->subjects; s < c->subjects + c->nr_subjects; s++) {
		for (i = 0; i < NR_NEEDS; i++)
			s->unmeasured[c->which][i] += s->missing >> i & 1;
		s->missing = 0;
	}
}

/* The groups that were not enabled throughout, and the parts of the account that need them. */
static uint64_t missing_of(const struct view *v, const struct process *p)
{
	uint64_t missing = ~p->account.throughout & KTAU_GROUP_ALL;
	int i;

	for (i = 0; i < ACCOUNT_NR; i++)
		missing |= (uint64_t)!account_has(v->stream, p, i) << (NR_GROUPS + i);
	return missing;
}

/* The bit of the group of @r. A group that streams do not name is always measured. */
static unsigned int group_of(const struct view *v, const struct routine *r)
{
	uint32_t bit = symbolize_group_bit(v->r->names, r->id);

	return bit ? (unsigned int)__builtin_ctz(bit) : NR_GROUPS - 1;
}

static void add_process(struct comparison *c, const struct view *v, const struct process *p)
{
	static const char *const parts[ACCOUNT_NR] = {
		"user", "kernel", "irq", "runq", "asleep", "guest",
	};
	struct subject *s = subject_of(c, p->label);
	const struct routine *r;
	unsigned int i;

	s->missing |= missing_of(v, p);
	for (i = 0; i < ACCOUNT_NR; i++)
		if (p->account.parts[i] || account_has(v->stream, p, (int)i))
			figure_of(c, s, parts[i], NR_GROUPS + i)->ticks += p->account.parts[i];
	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++)
		if (r->kind == KTAU_KIND_TIMER)
			figure_of(c, s, symbolize_event(v->r->names, r->id), group_of(v, r))
				->ticks += r->excl;
}

static int take(void *arg, const struct period *period)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(period->before);
	struct comparison *c = arg;
	struct report r = { .by = c->o->by };
	struct view v = {
		.r = &r, .registry = period->registry,
		.stream = ktau_snapshot_stream(period->after),
	};
	uint64_t length = less(v.stream->ticks, before->ticks);
	size_t i;

	if (!length)
		return 0;
	c->periods[c->which]++;
	r.names = symbolize_create(registry_events(period->registry), NULL);
	for (i = 0; i < period->rows->nr; i++) {
		const struct process *p = aggregate_open(period->rows,
							 &period->rows->processes[i]);

		if (p->owner.flags & KTAU_OWNER_IDLE ||
		    !report_matches(c->o->by, c->o->pattern, p->label))
			continue;
		add_process(c, &v, p);
	}
	symbolize_destroy(r.names);
	end_period(c, length);
	return 0;
}

static int read_both(struct comparison *c)
{
	static const struct task_filter all;
	int status = CLI_DONE;

	for (c->which = 0; c->which < 2; c->which++) {
		const struct walk w = {
			.files = &c->o->in.files[c->which],
			.nr_files = 1,
			.host = c->o->in.host,
			.by = c->o->by,
			.want = WALK_ROWS,
			.filter = &all,
			.each = take,
			.arg = c,
		};

		status |= walk_files(&w);
		if (c->periods[c->which])
			continue;
		if (status == CLI_DONE)
			complain("%s: contains no period%s%s, which takes two streams of profiles",
				 c->o->in.files[c->which], c->o->in.host ? " of host " : "",
				 c->o->in.host ? c->o->in.host : "");
		return CLI_FAILED;
	}
	return status;
}

enum { C_NAME, C_KIND, C_WHAT, C_A, C_A_ERROR, C_B, C_B_ERROR, C_DIFFERENCE, C_RATIO, C_CHANGED,
       C_NR };

static const struct column columns[C_NR] = {
	[C_NAME] = { "name", "NAME", COLUMN_TEXT },
	[C_KIND] = { "kind", NULL, COLUMN_TEXT },
	[C_WHAT] = { "what", "WHAT", COLUMN_TEXT },
	[C_A] = { "a_ms_per_s", "A ms/s", COLUMN_RATE },
	[C_A_ERROR] = { "a_error", "+-", COLUMN_RATE },
	[C_B] = { "b_ms_per_s", "B ms/s", COLUMN_RATE },
	[C_B_ERROR] = { "b_error", "+-", COLUMN_RATE },
	[C_DIFFERENCE] = { "difference", "CHANGE", COLUMN_RATE },
	[C_RATIO] = { "ratio", "ERRORS", COLUMN_RATE },
	[C_CHANGED] = { "changed", NULL, COLUMN_SMALL },
};

/* A figure with the result of its comparison. */
struct row {
	const struct figure *figure;
	const char *name;
	struct judged judged;
};

static double difference(const struct row *r)
{
	return r->judged.mean[1] - r->judged.mean[0];
}

/* Sort parts of the account first, then by descending difference. */
static int by_difference(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double p = fabs(difference(x)), q = fabs(difference(y));
	int order;

	if (x->figure->is_part != y->figure->is_part)
		return x->figure->is_part ? -1 : 1;
	if (isnan(p) != isnan(q))
		return isnan(p) ? 1 : -1;
	if (p < q || p > q)
		return p < q ? 1 : -1;
	order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->figure->what, y->figure->what);
}

static void put_row(struct table *t, const struct row *r)
{
	union cell *row = table_row(t);

	row[C_NAME].text = r->name;
	row[C_KIND].text = r->figure->is_part ? "part" : "routine";
	row[C_WHAT].text = r->figure->what;
	row[C_A].share = r->judged.mean[0];
	row[C_A_ERROR].share = r->judged.error[0];
	row[C_B].share = r->judged.mean[1];
	row[C_B_ERROR].share = r->judged.error[1];
	row[C_DIFFERENCE].share = difference(r);
	row[C_RATIO].share = r->judged.ratio;
	row[C_CHANGED].number = r->judged.changed;
}

static struct judged judge_figure(const struct comparison *c, const struct figure *f)
{
	const struct subject *s = &c->subjects[f->subject];
	uint64_t periods[2];
	int i;

	for (i = 0; i < 2; i++)
		periods[i] = c->periods[i] - s->unmeasured[i][f->need];
	return compare_judge(&f->sample[0], &f->sample[1], periods);
}

/* Return: the sorted rows to show; the caller frees them. */
static struct row *judge(const struct comparison *c, size_t *nr, size_t *changed)
{
	struct row *rows = cli_alloc(NULL, c->nr, sizeof(*rows));
	size_t i;

	*nr = *changed = 0;
	for (i = 0; i < c->nr; i++) {
		const struct figure *f = &c->figures[i];

		rows[*nr].figure = f;
		rows[*nr].name = c->subjects[f->subject].name;
		rows[*nr].judged = judge_figure(c, f);
		*changed += rows[*nr].judged.changed;
		*nr += c->o->all || rows[*nr].judged.changed;
	}
	qsort(rows, *nr, sizeof(*rows), by_difference);
	return rows;
}

static void print(const struct comparison *c)
{
	bool judged = c->periods[0] > 1 && c->periods[1] > 1;
	struct table t;
	size_t nr, changed, shown, i;
	struct row *rows = judge(c, &nr, &changed);

	shown = c->o->in.format != FORMAT_TEXT || c->o->all || nr < SHOWN ? nr : SHOWN;
	table_init(&t, "compare", columns, C_NR);
	for (i = 0; i < shown; i++)
		put_row(&t, &rows[i]);
	if (c->o->in.format == FORMAT_TEXT) {
		printf("A: %" PRIu64 " periods, B: %" PRIu64 " periods; "
		       "%zu of %zu figures changed\n",
		       c->periods[0], c->periods[1], changed, c->nr);
		if (!judged)
			puts("a recording of one period has no variation to compare with "
			     "(--all shows all figures)");
	}
	if (nr || c->o->in.format != FORMAT_TEXT)
		table_print(&t, c->o->in.format, stdout);
	if (nr > shown)
		printf("Not shown: %zu smaller changes (--all)\n", nr - shown);
	table_deinit(&t);
	free(rows);
}

static int compare_main(int argc, char **argv)
{
	struct options o = { .by = BY_NAME };
	struct comparison c = { .o = &o };
	int status;
	size_t i;

	cli_parse(&parser, argc, argv, 0, &o);
	pager_for_tables(o.in.format);
	if (o.by_host) {
		status = compare_hosts(o.in.files, o.in.nr_files, o.in.format, o.all);
		return cli_finish(stdout) ? CLI_FAILED : status;
	}
	status = read_both(&c);
	if (c.periods[0] && c.periods[1])
		print(&c);
	for (i = 0; i < c.nr; i++)
		free(c.figures[i].what);
	for (i = 0; i < c.nr_subjects; i++)
		free(c.subjects[i].name);
	free(c.figures);
	free(c.subjects);
	hash_deinit(&c.by_key);
	hash_deinit(&c.by_name);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_compare = {
	"compare", compare_main, "show what differs between two recordings, or between hosts",
	&parser, SUBCOMMAND_ANALYSE
};
