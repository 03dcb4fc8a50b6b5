// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hosts differ from most of the others.
 *
 * For each routine, the median of all hosts is what is normal, and the median distance from it
 * (MAD) is how much variation is normal. Both stay nearly the same however far off a few hosts are.
 * A host that never ran the routine counts as 0.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "compare_hosts.h"
#include "lib/hash.h"
#include "lib/report/hosts.h"
#include "lib/report/period.h"
#include "source.h"
#include "lib/symbolize.h"
#include "lib/report/tally.h"

enum {
	SHOWN = 30,	/* rows of text without --all */
	MIN_HOSTS = 3,	/* the median of two does not show which of them differs */
	DIFFERS = 6,	/* deviations at which a host differs */
};

/* MAD * 1.4826 estimates the standard deviation of a normal distribution. */
static const double mad_to_deviation = 1.4826;

/*
 * The least deviation, as a share of the median and in milliseconds per second: if nearly all hosts
 * agree, tiny differences must not count.
 */
static const double least_share = 0.01;
static const double least_ms_per_s = 0.01;

/**
 * struct value - a routine on a host
 * @routine: index of the routine
 * @host: index of the host
 * @ms_per_s: exclusive milliseconds per second, over all tasks
 */
struct value {
	uint32_t routine, host;
	double ms_per_s;
};

/* A host that differs, or one of all. */
struct outlier {
	const struct value *value;
	double median, deviation, score;
};

/**
 * struct cluster - all hosts
 * @hosts: names
 * @nr_hosts: length of @hosts
 * @groups: groups of events that each host measured throughout
 * @routines: names
 * @needs: group of each routine
 * @nr_routines: length of @routines
 * @room_routines: allocated length of @routines
 * @by_name: index of a routine plus 1
 * @values: figures that are not 0
 * @nr: length of @values
 * @room: allocated length of @values
 * @outliers: figures to print
 * @nr_outliers: length of @outliers
 */
struct cluster {
	const char **hosts;
	uint32_t nr_hosts;
	uint32_t *groups;
	char **routines;
	uint32_t *needs;
	uint32_t nr_routines, room_routines;
	struct hash by_name;
	struct value *values;
	size_t nr, room;
	struct outlier *outliers;
	size_t nr_outliers;
};

static uint32_t routine_of(struct cluster *c, const char *name, uint32_t group)
{
	uint64_t key = hash_text(name);
	size_t bytes = strlen(name) + 1, index;

	for (; (index = hash_get(&c->by_name, key)); key++)
		if (!strcmp(c->routines[index - 1], name))
			return (uint32_t)index - 1;
	if (c->nr_routines == c->room_routines) {
		c->room_routines = c->room_routines ? c->room_routines * 2 : 256;
		c->routines = cli_alloc(c->routines, c->room_routines, sizeof(*c->routines));
		c->needs = cli_alloc(c->needs, c->room_routines, sizeof(*c->needs));
	}
	c->routines[c->nr_routines] = memcpy(cli_alloc(NULL, bytes, 1), name, bytes);
	c->needs[c->nr_routines] = group & KTAU_GROUP_ALL;
	hash_put(&c->by_name, key, ++c->nr_routines);
	return c->nr_routines - 1;
}

static void add_value(struct cluster *c, const struct value *value)
{
	if (c->nr == c->room) {
		c->room = c->room ? c->room * 2 : 4096;
		c->values = cli_alloc(c->values, c->room, sizeof(*c->values));
	}
	c->values[c->nr++] = *value;
}

/* Was the routine measured on the host? A host that did not has no figure for it, not even 0. */
static bool is_measured(const struct cluster *c, uint32_t routine, uint32_t host)
{
	return !(c->needs[routine] & ~c->groups[host]);
}

static void add_routine(struct cluster *c, struct symbolizer *names,
			const struct routine *r, double ms_per_s)
{
	const struct value value = {
		.routine = routine_of(c, symbolize_event(names, r->id),
				      symbolize_group_bit(names, r->id)),
		.host = c->nr_hosts, .ms_per_s = ms_per_s,
	};

	if (is_measured(c, value.routine, value.host))
		add_value(c, &value);
}

/* Add the totals of a period, which are those of ktau report. */
static int add_host(struct cluster *c, const struct host_file *file, struct period *p)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(p->before);
	const struct ktau_rec_stream *after = ktau_snapshot_stream(p->after);
	const struct tally *total = &p->rows->total.tally;
	uint64_t length = less(after->ticks, p->first ? before->ticks : after->boot_ticks);
	struct symbolizer *names;
	const struct routine *r;

	if (!length) {
		complain("%s: all of its streams have the same time", file->path);
		return CLI_FAILED;
	}
	c->groups[c->nr_hosts] = after->groups & (p->first ? before->groups : UINT32_MAX);
	names = symbolize_create(registry_events(p->registry), NULL);
	for (r = total->routines; r < total->routines + total->nr; r++)
		if (r->kind == KTAU_KIND_TIMER && r->excl)
			add_routine(c, names, r, (double)r->excl / (double)length * 1000);
	symbolize_destroy(names);
	c->hosts[c->nr_hosts++] = file->host;
	return CLI_DONE;
}

static int read_host(struct cluster *c, const struct hosts *hosts, size_t first, size_t nr)
{
	static const struct task_filter all;
	const struct host_file *file = &hosts->files[first];
	const struct hosts run = { .files = &hosts->files[first], .nr = nr };
	const struct period_select select = { .host = file->host, .of_host = &run };
	char **paths = hosts_paths(hosts, first, nr);
	struct ktau_reader *reader = NULL;
	struct aggregate rows;
	struct period period;
	int status;

	if (period_init(&period, &rows)) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	aggregate_init(&rows, BY_NAME, &all, period.registry);
	status = source_read_files(&period, &select, paths, (int)nr, &reader);
	if (!source_has_period(&period, &select, file->path))
		status = CLI_FAILED;
	else if (aggregate_finish(&rows, period.before, period.after))
		status = CLI_FAILED;
	else
		status |= add_host(c, file, &period);
	ktau_reader_destroy(reader);
	aggregate_deinit(&rows);
	period_deinit(&period);
	free(paths);
	return status;
}

static int read_hosts(struct cluster *c, const struct hosts *hosts)
{
	int status = CLI_DONE;
	size_t i, nr;

	c->hosts = cli_alloc(NULL, hosts->nr + 1, sizeof(*c->hosts));
	c->groups = cli_alloc(NULL, hosts->nr + 1, sizeof(*c->groups));
	for (i = 0; i < hosts->nr; i += nr) {
		nr = hosts_run(hosts, i);
		status |= read_host(c, hosts, i, nr);
	}
	return status;
}

static int by_routine(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	if (x->routine != y->routine)
		return x->routine < y->routine ? -1 : 1;
	return x->host < y->host ? -1 : x->host > y->host;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *numbers, size_t nr)
{
	qsort(numbers, nr, sizeof(*numbers), by_number);
	return (numbers[(nr - 1) / 2] + numbers[nr / 2]) / 2;
}

static size_t nr_measured(const struct cluster *c, uint32_t routine)
{
	size_t nr = 0;
	uint32_t host;

	for (host = 0; host < c->nr_hosts; host++)
		nr += is_measured(c, routine, host);
	return nr;
}

/* Judge one routine; @numbers has room for a number per host. */
static void judge(struct cluster *c, const struct value *values, size_t nr, double *numbers,
		  bool all)
{
	size_t hosts = nr_measured(c, values->routine), i;
	double normal, deviation, score;

	if (hosts < MIN_HOSTS)
		return;
	for (i = 0; i < hosts; i++)
		numbers[i] = i < nr ? values[i].ms_per_s : 0;
	normal = median(numbers, hosts);
	for (i = 0; i < hosts; i++)
		numbers[i] = fabs((i < nr ? values[i].ms_per_s : 0) - normal);
	deviation = median(numbers, hosts) * mad_to_deviation;
	deviation = fmax(deviation, fmax(normal * least_share, least_ms_per_s));
	for (i = 0; i < nr; i++) {
		score = (values[i].ms_per_s - normal) / deviation;
		if (all || fabs(score) > DIFFERS)
			c->outliers[c->nr_outliers++] = (struct outlier){
				&values[i], normal, deviation, score,
			};
	}
}

/* Several events of a host can have one name: add them up. */
static void merge(struct cluster *c)
{
	size_t nr = 0, i;

	for (i = 0; i < c->nr; i++) {
		if (nr && !by_routine(&c->values[nr - 1], &c->values[i]))
			c->values[nr - 1].ms_per_s += c->values[i].ms_per_s;
		else
			c->values[nr++] = c->values[i];
	}
	c->nr = nr;
}

/*
 * A host that lacks a routine which most of the others have may be an outlier, too: give it a value
 * of 0. If most lack it, the median is 0 and those hosts cannot differ.
 */
static void add_zeros(struct cluster *c)
{
	size_t nr = c->nr, i, end;
	uint32_t host;

	for (i = 0; i < nr; i = end) {
		for (end = i; end < nr && c->values[end].routine == c->values[i].routine; end++)
			;
		if ((end - i) * 2 <= nr_measured(c, c->values[i].routine))
			continue;
		for (host = 0; host < c->nr_hosts; host++) {
			const struct value key = { .routine = c->values[i].routine, .host = host };

			if (is_measured(c, key.routine, host) &&
			    !bsearch(&key, c->values + i, end - i, sizeof(key), by_routine))
				add_value(c, &key);
		}
	}
	if (c->nr > nr)
		qsort(c->values, c->nr, sizeof(*c->values), by_routine);
}

static void judge_all(struct cluster *c, bool all)
{
	double *numbers = cli_alloc(NULL, c->nr_hosts, sizeof(*numbers));
	size_t i, end;

	if (c->nr)
		qsort(c->values, c->nr, sizeof(*c->values), by_routine);
	merge(c);
	add_zeros(c);
	c->outliers = cli_alloc(NULL, c->nr + 1, sizeof(*c->outliers));
	for (i = 0; i < c->nr; i = end) {
		for (end = i; end < c->nr && c->values[end].routine == c->values[i].routine; end++)
			;
		judge(c, c->values + i, end - i, numbers, all);
	}
	free(numbers);
}

static int by_score(const void *a, const void *b)
{
	const struct outlier *x = a, *y = b;
	double p = fabs(x->score), q = fabs(y->score);

	if (p < q || p > q)
		return p < q ? 1 : -1;
	return by_routine(x->value, y->value);
}

enum { C_HOST, C_ROUTINE, C_VALUE, C_MEDIAN, C_DEVIATION, C_CHANGE, C_SCORE, C_DIFFERS, C_NR };

static const struct column columns[C_NR] = {
	[C_HOST] = { "host", "HOST", COLUMN_TEXT },
	[C_ROUTINE] = { "routine", "ROUTINE", COLUMN_TEXT },
	[C_VALUE] = { "ms_per_s", "ms/s", COLUMN_RATE },
	[C_MEDIAN] = { "median_ms_per_s", "MEDIAN", COLUMN_RATE },
	[C_DEVIATION] = { "deviation", "+-", COLUMN_RATE },
	[C_CHANGE] = { "difference", "CHANGE", COLUMN_RATE },
	[C_SCORE] = { "deviations", "DEVIATIONS", COLUMN_RATE },
	[C_DIFFERS] = { "differs", NULL, COLUMN_SMALL },
};

static void put_row(struct table *t, const struct cluster *c, const struct outlier *o)
{
	union cell *row = table_row(t);

	row[C_HOST].text = c->hosts[o->value->host];
	row[C_ROUTINE].text = c->routines[o->value->routine];
	row[C_VALUE].share = o->value->ms_per_s;
	row[C_MEDIAN].share = o->median;
	row[C_DEVIATION].share = o->deviation;
	row[C_CHANGE].share = o->value->ms_per_s - o->median;
	row[C_SCORE].share = o->score;
	row[C_DIFFERS].number = fabs(o->score) > DIFFERS;
}

static void print(const struct cluster *c, enum table_format format, bool all)
{
	bool limited = format == FORMAT_TEXT && !all && c->nr_outliers > SHOWN;
	size_t shown = limited ? SHOWN : c->nr_outliers, differ = 0, i;
	struct table t;

	table_init(&t, "hosts", columns, C_NR);
	for (i = 0; i < c->nr_outliers; i++)
		differ += fabs(c->outliers[i].score) > DIFFERS;
	for (i = 0; i < shown; i++)
		put_row(&t, c, &c->outliers[i]);
	if (format == FORMAT_TEXT)
		printf("%u hosts, %u routines; %zu figures differ from the median by more than %d "
		       "deviations\n", c->nr_hosts, c->nr_routines, differ, DIFFERS);
	if (shown || format != FORMAT_TEXT)
		table_print(&t, format, stdout);
	if (limited)
		printf("Not shown: %zu smaller differences (--all)\n", c->nr_outliers - shown);
	table_deinit(&t);
}

int compare_hosts(char *const *paths, int nr_paths, enum table_format format, bool all)
{
	struct cluster c = { .hosts = NULL };
	struct hosts hosts;
	int status = hosts_find(&hosts, paths, nr_paths);

	status |= read_hosts(&c, &hosts);
	if (c.nr_hosts >= MIN_HOSTS) {
		judge_all(&c, all);
		qsort(c.outliers, c.nr_outliers, sizeof(*c.outliers), by_score);
		print(&c, format, all);
	} else {
		complain("--by=host: the input has profiles of %u hosts, and at least %d are "
			 "required", c.nr_hosts, MIN_HOSTS);
		status = CLI_FAILED;
	}
	while (c.nr_routines)
		free(c.routines[--c.nr_routines]);
	free(c.routines);
	free(c.needs);
	free(c.hosts);
	free(c.groups);
	free(c.values);
	free(c.outliers);
	hash_deinit(&c.by_name);
	hosts_deinit(&hosts);
	return status;
}
