// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktau record: run a command and write the profiles and traces of the command and its
 * descendants to a file.
 *
 * The command's task is tagged before the command starts, and its children inherit the tag.
 * The kernel itself therefore selects the tasks, however short-lived they are.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/command.h"
#include "lib/enable.h"
#include "lib/hash.h"
#include "subcommand.h"

/* Exit status if ktau record itself failed, the same as that of runktau. */
#define RECORD_FAILED	125

/* Slots in the ring of each task, unless --ring is given. */
#define RING_SLOTS	16384

/* The groups whose slots a path needs; those of system calls only name its waits. */
#define PATH_GROUPS	"sched,irq,bh,tcp"

/* Number of trace streams per profile stream, which gives about two profile streams a second. */
enum { PROFILE_EVERY = 3 };

struct options {
	const char *groups;
	uint64_t ring;
	bool no_trace, system, path;
	char **command;
	struct shared_options in;
};

/**
 * struct source - profiles or traces of the command
 * @reader: reader of the running kernel
 * @open: @reader has been opened
 * @query: next query
 */
struct source {
	struct ktau_reader *reader;
	bool open;
	struct ktau_query query;
};

/**
 * struct lost - slots that the file does not have, by reason
 * @full: overwritten in a ring of its full size
 * @growing: overwritten before the ring had grown
 * @elsewhere: consumed by another reader
 */
struct lost {
	uint64_t full, growing, elsewhere;
};

/**
 * struct recording - the file and its sources
 * @o: options
 * @writer: writer of the file
 * @created: this program has created the file
 * @profile: profiles of the tagged tasks
 * @trace: traces of the tagged tasks
 * @command: the command
 * @serial: of its task; 0 until it is seen
 * @ticks: number of reads while the command ran
 * @slots: slots written
 * @lost: slots lost
 * @next: position after the last slot of each serial, plus one
 * @before_ticks: start of the previous trace stream
 * @cut_ticks: end of the last loss of this stream that the kernel does not know
 * @err: first error, for which a message has been printed
 */
struct recording {
	const struct options *o;
	struct ktau_writer *writer;
	bool created;
	struct source profile, trace;
	struct command command;
	uint64_t serial, ticks, slots;
	struct lost lost;
	struct hash next;
	uint64_t before_ticks, cut_ticks;
	int err;
};

enum { OPT_RING = 256, OPT_NO_TRACE, OPT_SYSTEM, OPT_PATH };

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "Write FILE (default: the command's name with .ktau)", 0 },
	{ "groups", 'g', "GROUP,...", 0,
	  "Enable these groups, and no others, while the command runs", 0 },
	{ "ring", OPT_RING, "SLOTS", 0, "Size of each task's trace ring (default: 16384)", 0 },
	{ "system", OPT_SYSTEM, NULL, 0, "Record all tasks of the machine", 0 },
	{ "path", OPT_PATH, NULL, 0,
	  "Record what ktau path needs: --system --groups=" PATH_GROUPS, 0 },
	{ "no-trace", OPT_NO_TRACE, NULL, 0, "Record only profiles", 0 },
	LIVE_OPTION(0),
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'g':
		o->groups = arg;
		return 0;
	case OPT_RING:
		if (cli_number(arg, UINT32_MAX, &o->ring) || !o->ring)
			cli_usage(state, "--ring=%s: not a number of slots", arg);
		return 0;
	case OPT_NO_TRACE:
		o->no_trace = true;
		return 0;
	case OPT_SYSTEM:
		o->system = true;
		return 0;
	case OPT_PATH:
		o->system = o->path = true;
		return 0;
	case ARGP_KEY_END:
		if (o->path && (o->groups || o->no_trace))
			cli_usage(state, "--path takes no --groups and no --no-trace");
		break;
	}
	if (!command_argument(key, state, &o->command))
		return 0;
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "COMMAND [ARGUMENT...]",
	"Run COMMAND and write the profiles and traces of it and its descendants to one file, for "
	"ktau report, ktau top, ktau path and ktau export. The exit status is that of the command.",
	NULL, NULL, NULL
};

static uint64_t nr_slots(const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = NULL;
	uint64_t nr = 0;

	while ((slot = ktau_trace_next(t, slot)))
		nr++;
	return nr;
}

/* In a ring of its full size the slots would have fit, unless there were more of them. */
static void count_loss(struct recording *r, const struct ktau_rec_trace *t)
{
	bool fits = t->written - (t->first - t->lost) <= t->ring_slots;

	/* The rings of BPF programs do not grow, and several tasks write to each. */
	if (!live_is_bpf() && (fits || t->ring_slots < r->o->ring))
		r->lost.growing += t->lost;
	else
		r->lost.full += t->lost;
}

/* @t with the loss of @missing more slots, which another reader has consumed. */
static struct ktau_rec_trace *with_loss(struct recording *r, const struct ktau_rec_trace *t,
					uint64_t missing)
{
	const struct ktau_rec_stream *stream = ktau_reader_stream(r->trace.reader);
	const struct ktau_slot *slot = ktau_trace_next(t, NULL);
	struct ktau_rec_trace *own = ktau_record_dup(t);

	if (!own)
		return NULL;
	own->lost += missing;
	own->lost_from_ticks = r->before_ticks;
	own->lost_to_ticks = slot ? slot->ticks : stream->ticks;
	if (own->lost_to_ticks < own->lost_from_ticks)
		own->lost_from_ticks = own->lost_to_ticks;
	if (r->cut_ticks < own->lost_to_ticks)
		r->cut_ticks = own->lost_to_ticks;
	r->lost.elsewhere += missing;
	return own;
}

/*
 * The record to write instead of @record, or NULL. A ring continues where its previous record
 * ended, or is a new one and begins at 0, unless another reader consumes.
 */
static void *corrected(struct recording *r, const union ktau_record *record)
{
	const struct ktau_rec_trace *t = record->trace;
	struct ktau_rec_end *end;
	uint64_t next;

	if (record->rec->type == KTAU_REC_END && record->end->cut_ticks < r->cut_ticks) {
		end = ktau_record_dup(record->end);
		if (end)
			end->cut_ticks = r->cut_ticks;
		return end;
	}
	if (record->rec->type != KTAU_REC_TRACE)
		return NULL;
	count_loss(r, t);
	next = hash_get(&r->next, t->serial);
	hash_put(&r->next, t->serial, t->next + 1);
	if (!next || t->first - t->lost <= next - 1)
		return NULL;
	return with_loss(r, t, t->first - t->lost - (next - 1));
}

static void look_at(struct recording *r, struct source *s, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		if (s == &r->profile)
			s->query.since_ticks = record->stream->ticks;
		return;
	case KTAU_REC_OWNER:
		if (!r->serial && record->owner->tid == r->command.pid)
			r->serial = record->owner->serial;
		return;
	case KTAU_REC_TRACE:
		r->slots += nr_slots(record->trace);
		return;
	case KTAU_REC_END:
		if (s == &r->profile)
			s->query.exited_since = record->end->exited_next;
		return;
	}
}

/* Copy one stream of @s to the file. Return: 0, or -1; the first error prints a message. */
static int copy_stream(struct recording *r, struct source *s)
{
	union ktau_record record;
	void *own;
	int err;

	if (r->err)
		return -1;
	err = s->open ? ktau_reader_restart(s->reader, &s->query) :
			live_open_with(s->reader, r->profile.reader, &s->query);
	s->open = s->open || !err;
	while (!err && (err = ktau_reader_next(s->reader, &record)) > 0) {
		look_at(r, s, &record);
		own = s == &r->trace ? corrected(r, &record) : NULL;
		err = ktau_writer_put(r->writer, own ? own : record.rec);
		ktau_record_free(own);
		if (err) {
			complain("%s", ktau_writer_error(r->writer));
			r->err = err;
			return -1;
		}
	}
	if (!err) {
		if (s == &r->trace)
			r->before_ticks = ktau_reader_stream(s->reader)->ticks;
		r->cut_ticks = 0;
		return 0;
	}
	live_failed(s->reader, err);
	r->err = err;
	return -1;
}

static char *join(char **words)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; words[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", words[i]);
	fclose(f);
	return text;
}

static int put_info(struct recording *r)
{
	const struct ktau_rec_stream *stream = ktau_reader_stream(r->profile.reader);
	char *command = join(r->o->command);
	const struct ktau_writer_info info = {
		.stext = stream ? stream->stext : 0,
		.command = command,
		.command_serial = r->serial,
	};
	int err = ktau_writer_put_info(r->writer, &info);

	free(command);
	return err;
}

/* Return: 0, or -1 with a message. BPF programs know no tags. */
static int set_own_tag(uint32_t tag)
{
	char words[64];
	int err;

	if (live_is_bpf())
		return 0;
	snprintf(words, sizeof(words), "tag=%d:%" PRIu32, (int)getpid(), tag);
	err = ktau_control_write(words);
	if (err)
		complain("cannot select the command: %s", ktau_control_reason(err));
	return err ? -1 : 0;
}

/*
 * The command's task inherits the tag, as its children will: a ring that is created for a task with
 * a tag starts larger.
 */
static int tag(struct recording *r)
{
	const uint32_t tag = (uint32_t)getpid();

	if (set_own_tag(tag))
		return -1;
	if (r->profile.query.flags & KTAU_SELECT_TAG)
		r->profile.query.tag = r->trace.query.tag = tag;
	return 0;
}

static int begin(void *arg)
{
	struct recording *r = arg;
	int err;

	if (set_own_tag(0) || copy_stream(r, &r->profile))
		return -1;
	/*
	 * What other tasks did before is not of this recording, although nobody may have read it.
	 * BPF programs trace from the moment at which they are attached.
	 */
	if (r->o->system && !live_is_bpf())
		r->trace.query.since_ticks = r->profile.query.since_ticks;
	r->trace.query.exited_since = r->profile.query.exited_since;
	err = put_info(r);
	if (err)
		complain("%s", ktau_writer_error(r->writer));
	return err ? -1 : 0;
}

static void tick(void *arg)
{
	struct recording *r = arg;

	if (!r->o->no_trace)
		copy_stream(r, &r->trace);
	if (++r->ticks % PROFILE_EVERY == 0)
		copy_stream(r, &r->profile);
}

/* Copy what has happened since the last read, and close the file. */
static int finish(struct recording *r)
{
	int err;

	if (!r->o->no_trace)
		copy_stream(r, &r->trace);
	copy_stream(r, &r->profile);
	err = ktau_writer_close(r->writer);
	if (err && !r->err)
		complain("%s", ktau_writer_error(r->writer));
	return err || r->err ? -1 : 0;
}

static int open_recording(struct recording *r, const struct options *o, const char *path)
{
	const struct ktau_query query = {
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED,
		.flags = live_is_bpf() || o->system ? 0 : KTAU_SELECT_TAG,
	};
	int err;

	*r = (struct recording){ .o = o, .profile.query = query, .trace.query = query };
	r->profile.query.content = KTAU_REC_PROFILE;
	r->trace.query.content = KTAU_REC_TRACE;
	r->trace.query.flags |= KTAU_SELECT_CONSUME;
	if (ktau_writer_create(&r->writer) || ktau_reader_create(&r->profile.reader) ||
	    ktau_reader_create(&r->trace.reader)) {
		complain("out of memory");
		return -1;
	}
	err = ktau_writer_open(r->writer, path, KTAU_WRITER_COMPACT, NULL);
	if (err == -EEXIST)
		complain("cannot create %s: it already exists; choose another name with -o", path);
	else if (err)
		complain("%s", ktau_writer_error(r->writer));
	r->created = !err;
	return err ? -1 : 0;
}

static void close_recording(struct recording *r)
{
	ktau_reader_destroy(r->trace.reader);
	ktau_reader_destroy(r->profile.reader);
	ktau_writer_destroy(r->writer);
	hash_deinit(&r->next);
}

static void print_summary(const struct recording *r, const char *path)
{
	const struct lost *lost = &r->lost;

	fprintf(stderr, "%s: %" PRIu64 " slots%s\n", path, r->slots,
		live_is_bpf() ? " of all tasks of this machine, because BPF programs measured" :
				"");
	if (lost->full)
		fprintf(stderr,
			"%s: %" PRIu64 " slots lost, overwritten before they were read: "
			"use a --ring of more than %" PRIu64 " slots\n",
			path, lost->full, r->o->ring);
	if (lost->growing)
		fprintf(stderr, "%s: %" PRIu64 " slots lost in rings that had not grown yet, "
			"or are of kernel threads and cannot grow\n",
			path, lost->growing);
	if (lost->elsewhere)
		fprintf(stderr, "%s: %" PRIu64 " slots lost to another process that consumes the "
			"traces as well\n", path, lost->elsewhere);
}

/* Return: the exit status. */
static int run(struct recording *r, const char *path)
{
	const struct command_hooks hooks = { begin, tick, r };
	struct command *command = &r->command;
	int status, err = -1;

	if (!command_init(command, r->o->command, false)) {
		command->hooks = &hooks;
		err = tag(r) ? -1 : command_run(command);
	}
	if (!err)
		err = finish(r);
	if (!err && !command->exec_errno)
		print_summary(r, path);
	status = command_status(command, err, RECORD_FAILED);
	/* If the command never ran, remove the file. */
	if (!command->end_ns || command->exec_errno)
		unlink(path);
	command_deinit(command);
	return status;
}

/* "sleep.ktau", in the current directory. */
static char *default_output(const char *command)
{
	const char *base = strrchr(command, '/') ? strrchr(command, '/') + 1 : command;
	char *path;

	if (asprintf(&path, "%s.ktau", base) < 0)
		cli_alloc(NULL, SIZE_MAX, 1);
	return path;
}

static int record_main(int argc, char **argv)
{
	struct options o = { .ring = RING_SLOTS };
	char *restore = NULL, *path, more[64] = "";
	struct recording r = { 0 };
	int status = RECORD_FAILED;

	cli_fail_with(RECORD_FAILED);
	cli_parse(&parser, argc, argv, ARGP_IN_ORDER, &o);
	path = o.in.output ? NULL : default_output(o.command[0]);
	if (!o.no_trace) {
		live_set_trace(o.ring);
		snprintf(more, sizeof(more), "trace=on ring=%" PRIu64, o.ring);
	}
	if (!enable_collecting(o.path ? PATH_GROUPS : o.groups, more, &restore)) {
		enable_warn_of_filter();
		if (!open_recording(&r, &o, o.in.output ? o.in.output : path))
			status = run(&r, o.in.output ? o.in.output : path);
		close_recording(&r);
	}
	enable_restore(restore);
	free(path);
	return status;
}

const struct subcommand subcommand_record = {
	"record", record_main, "run a command and write its profile and trace to a file",
	&parser, SUBCOMMAND_RECORD
};
