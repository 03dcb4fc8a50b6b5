// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV by host and hour: small tables of many hosts for a database.
 *
 * A period from one stream to the next belongs to the hour, in UTC, in which it begins. Memory
 * holds one host and one hour. A later run may continue where this one ended, in the middle of an
 * hour, too: all figures can be added up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cli.h"
#include "export.h"
#include "export_csv.h"
#include "lib/hash.h"
#include "hours_plan.h"
#include "lib/report/hosts.h"
#include "lib/text.h"
#include "analyse/walk.h"

#define HOUR_NS	(3600 * 1000000000ULL)

enum { F_INCL, F_EXCL, F_ASLEEP, F_RUNQ, F_IRQ, F_NR };

/**
 * struct figure - a routine in the hour
 * @name: its name
 * @group: its group
 * @count: activations that ended
 * @ticks: by F_*, in ticks of the current boot
 * @ns: by F_*, of earlier boots in the hour
 */
struct figure {
	char *name, *group;
	uint64_t count;
	ktau_sum_t ticks[F_NR], ns[F_NR];
};

/**
 * struct hours - the export
 * @x: the run
 * @totals: totals to fill in
 * @hours: file with a row per host and hour
 * @routines: file with a row per host, hour and routine
 * @files: list of the files that have been read
 * @known: what an earlier run has read; NULL: there was none
 * @plan: what is read of the current host
 * @until: ticks up to which an earlier run has read the current boot
 * @host: the current host
 * @stream: STREAM record of the last period of the current host; magic 0: none yet
 * @hour: current hour, since 1970
 * @periods: periods in it
 * @covered_ticks: their length, in ticks of the current boot
 * @covered_ns: their length in earlier boots in the hour
 * @figures: its routines
 * @nr: length of @figures
 * @room: allocated length of @figures
 * @by_name: index of a figure plus 1
 * @err: -errno of a write
 */
struct hours {
	struct export_run *x;
	struct export_totals *totals;
	FILE *hours, *routines, *files;
	const struct hours_files *known;
	struct hours_plan plan;
	uint64_t until;
	const char *host;
	struct ktau_rec_stream stream;
	uint64_t hour, periods;
	uint64_t covered_ticks, covered_ns;
	struct figure *figures;
	size_t nr, room;
	struct hash by_name;
	int err;
};

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

/* Different ids may have the same name, and after a boot one name has another id. */
static struct figure *figure_of(struct hours *h, const char *name, const char *group)
{
	uint64_t key = hash_text(name);
	size_t index;

	for (; (index = hash_get(&h->by_name, key)); key++)
		if (!strcmp(h->figures[index - 1].name, name) &&
		    !strcmp(h->figures[index - 1].group, group))
			return &h->figures[index - 1];
	if (h->nr == h->room) {
		h->room = h->room ? h->room * 2 : 256;
		h->figures = cli_alloc(h->figures, h->room, sizeof(*h->figures));
	}
	h->figures[h->nr++] = (struct figure){ .name = copy(name), .group = copy(group) };
	hash_put(&h->by_name, key, h->nr);
	return &h->figures[h->nr - 1];
}

/* Convert the ticks so far, because the next boot's clock may run at another rate. */
static void settle(struct hours *h)
{
	struct ktau_clock clock;
	struct figure *f;
	int i;

	ktau_clock_init(&clock, &h->stream);
	h->covered_ns += ktau_clock_ns(&clock, h->covered_ticks);
	h->covered_ticks = 0;
	for (f = h->figures; f < h->figures + h->nr; f++) {
		for (i = 0; i < F_NR; i++) {
			f->ns[i] += ktau_clock_sum_ns(&clock, f->ticks[i]);
			f->ticks[i] = 0;
		}
	}
}

static void put_key(const struct hours *h, FILE *out)
{
	time_t start = (time_t)(h->hour * 3600);
	struct tm tm;
	char text[32];

	export_csv_text(h->host, out);
	gmtime_r(&start, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(out, ",%s,", text);
}

static void put_figure(const struct hours *h, const struct figure *f)
{
	char digits[NUMBER_TEXT_BYTES];
	FILE *out = h->routines;
	int i;

	if (!f->count && !f->ns[F_INCL] && !f->ns[F_EXCL])
		return;
	put_key(h, out);
	export_csv_text(f->group, out);
	putc(',', out);
	export_csv_text(f->name, out);
	fprintf(out, ",%" PRIu64, f->count);
	for (i = 0; i < F_NR; i++)
		fprintf(out, ",%s", text_number(f->ns[i], digits));
	putc('\n', out);
}

static void end_hour(struct hours *h)
{
	struct figure *f;

	if (!h->periods)
		return;
	settle(h);
	put_key(h, h->hours);
	fprintf(h->hours, "%" PRIu64 ",%" PRIu64 "\n", h->periods, h->covered_ns);
	for (f = h->figures; f < h->figures + h->nr; f++) {
		put_figure(h, f);
		free(f->name);
		free(f->group);
	}
	h->nr = 0;
	hash_clear(&h->by_name);
	h->periods = h->covered_ns = 0;
	if (output_check(h->x->output, h->hours) || output_check(h->x->output, h->routines))
		h->err = -EIO;
}

static void add_routine(struct hours *h, struct symbolizer *names, const struct routine *r)
{
	struct figure *f;

	if (r->kind != KTAU_KIND_TIMER)
		return;
	f = figure_of(h, symbolize_event(names, r->id), symbolize_group(names, r->id));
	f->count += r->count;
	f->ticks[F_INCL] += r->incl;
	f->ticks[F_EXCL] += r->excl;
	f->ticks[F_ASLEEP] += r->asleep;
	f->ticks[F_RUNQ] += r->runq;
	f->ticks[F_IRQ] += r->irq;
}

static void add_period(struct hours *h, const struct period *period)
{
	const struct ktau_rec_stream *before = ktau_snapshot_stream(period->before);
	const struct ktau_rec_stream *after = ktau_snapshot_stream(period->after);
	const struct tally *total = &period->rows->total.tally;
	struct symbolizer *names;
	const struct routine *r;

	if (before->realtime_ns / HOUR_NS != h->hour) {
		output_enter();
		end_hour(h);
		output_exit();
	}
	h->stream = *after;
	h->hour = before->realtime_ns / HOUR_NS;
	h->periods++;
	h->covered_ticks += less(after->ticks, before->ticks);
	names = symbolize_create(registry_events(period->registry), NULL);
	for (r = total->routines; r < total->routines + total->nr; r++)
		add_routine(h, names, r);
	symbolize_destroy(names);
	h->totals->profiles++;
}

static int take(void *arg, const struct period *period)
{
	const struct ktau_rec_stream *after = ktau_snapshot_stream(period->after);
	struct hours *h = arg;

	if (!h->stream.magic || !ktau_same_boot(&h->stream, after)) {
		if (h->stream.magic)
			settle(h);
		h->stream = *after;
		h->until = h->known ? hours_files_until(h->known, after->boot_id) : 0;
	}
	if (after->ticks <= h->until)
		return 0;
	add_period(h, period);
	hours_plan_note(&h->plan, after);
	return h->err;
}

static int read_files(struct hours *h, const struct hosts *run)
{
	static const struct task_filter all;
	const struct walk walk = {
		.files = h->plan.paths, .nr_files = h->plan.nr,
		.from_ns = h->plan.from_ns, .statuses = h->plan.statuses,
		.host = run->files->host, .of_host = run,
		.by = BY_NAME, .want = WALK_TOTAL, .filter = &all, .each = take, .arg = h,
	};
	int status = walk_files(&walk);

	hours_plan_end(&h->plan);
	output_enter();
	end_hour(h);
	output_exit();
	return status;
}

static int read_host(struct hours *h, const struct hosts *hosts, size_t first, size_t nr)
{
	const struct hosts run = { .files = &hosts->files[first], .nr = nr };
	const uint64_t before = h->totals->profiles;
	int status;

	h->host = run.files->host;
	h->stream.magic = 0;
	status = hours_plan_init(&h->plan, h->known, run.files, nr);
	if (h->plan.nr)
		status |= read_files(h, &run);
	hours_plan_deinit(&h->plan);
	h->totals->hosts += h->known || h->totals->profiles > before;
	return status;
}

static void list_files(struct hours *h, const struct hosts *hosts)
{
	size_t i;

	for (i = 0; i < hosts->nr; i++)
		if (hosts->files[i].read_bytes)
			hours_files_write(h->files, &hosts->files[i]);
}

static int begin(struct hours *h)
{
	struct output *output = h->x->output;

	h->hours = output_add(output, "hours.csv");
	h->routines = h->hours ? output_add(output, "routines.csv") : NULL;
	h->files = h->routines ? output_add(output, "files") : NULL;
	if (!h->files)
		return -EIO;
	fputs("host,hour,periods,covered_ns\n", h->hours);
	fputs("host,hour,group_name,routine,count,incl_ns,excl_ns,asleep_ns,runq_ns,irq_ns\n",
	      h->routines);
	hours_files_begin(h->files);
	return 0;
}

static void end(struct hours *h)
{
	FILE *const files[] = { h->hours, h->routines, h->files };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i] && output_close(h->x->output, files[i]))
			h->err = -EIO;
	free(h->figures);
	hash_deinit(&h->by_name);
}

/* Return: CLI_DONE or CLI_FAILED. */
static int read_hosts(struct hours *h, char **files, int nr_files)
{
	const char *host = h->x->options.host;
	struct hosts hosts;
	int status = hosts_find_more(&hosts, h->known ? &h->known->files : NULL, files, nr_files);
	size_t i, nr;

	for (i = 0; !h->err && i < hosts.nr; i += nr) {
		nr = hosts_run(&hosts, i);
		if (!host || !strcmp(host, hosts.files[i].host))
			status |= read_host(h, &hosts, i, nr);
	}
	output_enter();
	if (!h->err)
		list_files(h, &hosts);
	output_exit();
	hosts_deinit(&hosts);
	return status;
}

static int run(struct export_run *x, char **files, int nr_files,
	       const struct ktau_symtab *symtab, struct export_totals *totals)
{
	struct hours h = { .x = x, .totals = totals };
	struct hours_files known = { .nr_boots = 0 };
	int status = CLI_DONE;

	(void)symtab;
	if (x->options.after) {
		h.known = &known;
		h.err = hours_files_read(&known, x->options.after);
	}
	output_enter();
	h.err = h.err ? h.err : begin(&h);
	output_exit();
	if (!h.err)
		status = read_hosts(&h, files, nr_files);
	output_enter();
	end(&h);
	output_exit();
	hours_files_deinit(&known);
	if (!h.err && !totals->hosts && status == CLI_DONE)
		complain("the input has fewer than two streams of profiles of one boot");
	if (h.err)
		totals->hosts = 0;
	return h.err || !totals->hosts ? CLI_FAILED : status;
}

const struct exporter export_hours = {
	.name = "csv --hours",
	.suffix = ".csv",
	.directory = true,
	.hosts = true,
	.run = run,
};
