// SPDX-License-Identifier: GPL-2.0-only
/*
 * TAU snapshots, for ParaProf: snapshot.NODE.CONTEXT.THREAD, a file per task. Each stream after
 * the first adds a profile of what the task has done since the first stream.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export.h"
#include "export_tau.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "analyse/walk.h"

/**
 * struct shot - a task
 * @sum: what it has done since the first stream
 * @ids: numbers of its file
 * @defined: number of an event in its file plus 1, by id
 * @nr_timers: number of routines; 0 is the task itself
 * @nr_counters: number of counters
 */
struct shot {
	struct process sum;
	struct tau_ids ids;
	struct hash defined;
	uint32_t nr_timers, nr_counters;
};

/* All tasks; @stream belongs to the first period, @err is the reason why writing stopped. */
struct shots {
	struct export_run *x;
	const struct ktau_symtab *symtab;
	struct export_totals *totals;
	struct shot **shots;
	size_t nr, room;
	struct hash by_serial;
	struct tau_numbering numbering;
	int err;
};

/* Input of one profile. */
struct shot_file {
	struct shot *shot;
	struct symbolizer *names;
	struct ktau_clock clock;
	uint64_t number, realtime_ns;
	FILE *out;
};

/* Print a name as XML text, without characters that are special to TAU. */
static void put_name(const char *name, FILE *out)
{
	char *text = NULL, *c;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	tau_name(name, memory);
	fclose(memory);
	for (c = text; *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "&#%d;", *c);
		else
			fputc(*c, out);
	}
	free(text);
}

static void put_head(struct shot_file *f, const struct ktau_rec_stream *stream)
{
	const struct tau_ids *ids = &f->shot->ids;

	/* ParaProf reads all files as one document, so none may begin with an XML declaration. */
	fputs("<profile_xml>\n", f->out);
	fprintf(f->out, "<thread id=\"0.%" PRIu32 ".%" PRIu32 "\" node=\"0\" context=\"%" PRIu32
		"\" thread=\"%" PRIu32 "\">\n<metadata>", ids->context, ids->thread,
		ids->context, ids->thread);
	tau_metadata(&f->shot->sum, stream, f->out);
	fputs("</metadata>\n</thread>\n", f->out);
}

static void put_event(struct shot_file *f, const struct routine *r)
{
	bool counter = r->kind == KTAU_KIND_COUNTER;
	uint32_t *nr = counter ? &f->shot->nr_counters : &f->shot->nr_timers;
	const char *element = counter ? "userevent" : "event";
	char group[TAU_GROUP_BYTES];

	fprintf(f->out, "<%s id=\"%" PRIu32 "\"><name>", element, (*nr)++);
	put_name(symbolize_event(f->names, r->id), f->out);
	fputs("</name>", f->out);
	if (!counter)
		fprintf(f->out, "<group>%s | TAU_KERNEL</group>",
			tau_group(symbolize_group(f->names, r->id), group));
	fprintf(f->out, "</%s>\n", element);
	hash_put(&f->shot->defined, r->id, *nr);
}

/* Define the events that are new since the previous profile. */
static void put_definitions(struct shot_file *f)
{
	const struct tally *t = &f->shot->sum.tally;
	const struct tau_ids *ids = &f->shot->ids;
	const struct routine *r;

	fprintf(f->out, "<definitions thread=\"0.%" PRIu32 ".%" PRIu32 "\">\n", ids->context,
		ids->thread);
	if (!f->shot->nr_timers) {
		fputs("<metric id=\"0\"><name>TIME</name><units>usec</units></metric>\n"
		      "<metric id=\"1\"><name>RUNNING</name><units>usec</units></metric>\n"
		      "<event id=\"0\"><name>", f->out);
		put_name(tau_process_name(&f->shot->sum), f->out);
		fputs("</name><group>TAU_USER</group></event>\n", f->out);
		f->shot->nr_timers = 1;
	}
	for (r = t->routines; r < t->routines + t->nr; r++)
		if (!hash_get(&f->shot->defined, r->id))
			put_event(f, r);
	fputs("</definitions>\n", f->out);
}

static void put_times(struct shot_file *f, uint32_t number, uint64_t calls,
		      const struct tau_time times[2])
{
	int metric;

	fprintf(f->out, "%" PRIu32 " %" PRIu64 " 0", number, calls);
	for (metric = 0; metric < 2; metric++)
		fprintf(f->out, " %.16G %.16G",
			(double)ktau_clock_ns(&f->clock, times[metric].excl) / 1000,
			(double)ktau_clock_ns(&f->clock, times[metric].incl) / 1000);
	fputc('\n', f->out);
}

static void put_timers(struct shot_file *f)
{
	const struct process *p = &f->shot->sum;
	struct tau_time times[2] = {
		tau_root_time(f->names, p, false), tau_root_time(f->names, p, true),
	};
	const struct routine *r;

	put_times(f, 0, 1, times);
	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		times[0] = tau_routine_time(f->names, r, false);
		times[1] = tau_routine_time(f->names, r, true);
		put_times(f, (uint32_t)hash_get(&f->shot->defined, r->id) - 1, r->count, times);
	}
}

static void put_counters(struct shot_file *f)
{
	const struct tally *t = &f->shot->sum.tally;
	const struct routine *r;
	double mean;

	for (r = t->routines; r < t->routines + t->nr; r++) {
		if (r->kind != KTAU_KIND_COUNTER)
			continue;
		mean = r->count ? (double)r->incl / (double)r->count : 0;
		fprintf(f->out, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.16G %.16G\n",
			(uint32_t)hash_get(&f->shot->defined, r->id) - 1, r->count, r->max,
			r->min, mean, mean * mean * (double)r->count);
	}
}

static void put_profile(struct shot_file *f)
{
	const struct tau_ids *ids = &f->shot->ids;

	put_definitions(f);
	fprintf(f->out, "<profile thread=\"0.%" PRIu32 ".%" PRIu32 "\">\n<name>stream %" PRIu64
		"</name>\n<timestamp>%" PRIu64 "</timestamp>\n<interval_data metrics=\"0 1\">\n",
		ids->context, ids->thread, f->number, f->realtime_ns / 1000);
	put_timers(f);
	fputs("</interval_data>\n<atomic_data>\n", f->out);
	put_counters(f);
	fputs("</atomic_data>\n</profile>\n", f->out);
}

/* Append @text to the file of @shot. */
static int append(struct export_run *x, const struct shot *shot, const char *text, size_t bytes)
{
	char name[64];

	snprintf(name, sizeof(name), "snapshot.0.%" PRIu32 ".%" PRIu32, shot->ids.context,
		 shot->ids.thread);
	return output_append(x->output, name, text, bytes) ? -EIO : 0;
}

static struct shot *shot_of(struct shots *s, const struct process *p)
{
	struct shot *shot = (struct shot *)hash_get(&s->by_serial, p->owner.serial);

	if (shot)
		return shot;
	shot = cli_alloc(NULL, 1, sizeof(*shot));
	*shot = (struct shot){ .ids = tau_number(&s->numbering, &p->owner) };
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->shots = cli_alloc(s->shots, s->room, sizeof(struct shot *));
	}
	s->shots[s->nr++] = shot;
	hash_put(&s->by_serial, p->owner.serial, (uintptr_t)shot);
	return shot;
}

/* Labels belong to the period and are not kept. */
static void add(struct shot *shot, const struct process *p)
{
	size_t i;

	shot->sum.owner = p->owner;
	tally_merge(&shot->sum.tally, &p->tally);
	shot->sum.account.life += p->account.life;
	for (i = 0; i < ACCOUNT_NR; i++)
		shot->sum.account.parts[i] += p->account.parts[i];
}

static int put_shot(struct shots *s, struct shot_file *f, const struct process *p)
{
	bool first = !hash_get(&s->by_serial, p->owner.serial);
	char *text = NULL;
	size_t bytes;
	int err;

	f->shot = shot_of(s, p);
	f->out = open_memstream(&text, &bytes);
	if (!f->out)
		return -ENOMEM;
	add(f->shot, p);
	if (first)
		put_head(f, &s->x->stream);
	put_profile(f);
	fclose(f->out);
	output_enter();
	err = append(s->x, f->shot, text, bytes);
	output_exit();
	free(text);
	return err;
}

/* Process the next period. Ids and serials are only valid within one boot. */
static int take(void *arg, const struct period *period)
{
	const struct ktau_rec_stream *stream = ktau_snapshot_stream(period->after);
	struct aggregate *rows = period->rows;
	struct shots *s = arg;
	struct shot_file f = { .number = period->last, .realtime_ns = stream->realtime_ns };
	const struct process *p;

	if (!s->x->stream.magic)
		s->x->stream = *stream;
	if (!ktau_same_boot(&s->x->stream, stream)) {
		complain("the input contains several boots, but --snapshot can hold only one: "
			 "export them separately");
		s->err = -EIO;
		return -1;
	}
	ktau_clock_init(&f.clock, &s->x->stream);
	f.names = symbolize_create(registry_events(period->registry), s->symtab);
	for (p = rows->processes; !s->err && p < rows->processes + rows->nr; p++)
		s->err = put_shot(s, &f, aggregate_open(rows, p));
	symbolize_destroy(f.names);
	s->totals->hosts = 1;
	return s->err;
}

static void finish(struct shots *s)
{
	static const char end[] = "</profile_xml>\n";
	struct shot *shot;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		shot = s->shots[i];
		if (!s->err)
			s->err = append(s->x, shot, end, sizeof(end) - 1);
		tally_deinit(&shot->sum.tally);
		hash_deinit(&shot->defined);
		free(shot);
	}
	s->totals->profiles = s->nr;
	free(s->shots);
	hash_deinit(&s->by_serial);
	tau_numbering_deinit(&s->numbering);
}

static int run(struct export_run *x, char **files, int nr_files,
	       const struct ktau_symtab *symtab, struct export_totals *totals)
{
	static const struct task_filter all;
	struct shots s = { .x = x, .symtab = symtab, .totals = totals };
	const struct walk walk = {
		.files = files, .nr_files = nr_files, .host = x->options.host,
		.by = BY_THREAD, .filter = &all, .each = take, .arg = &s,
	};
	int status = walk_files(&walk);

	output_enter();
	finish(&s);
	output_exit();
	if (s.err == -ENOMEM)
		complain("out of memory");
	if (!s.nr && !s.err && status == CLI_DONE)
		complain("the input has fewer than two streams of profiles");
	if (s.err)
		totals->hosts = 0;
	return s.err || !s.nr ? CLI_FAILED : status;
}

const struct exporter export_tau_snapshot = {
	.name = "tau --snapshot",
	.suffix = ".tau",
	.directory = true,
	.run = run,
};
