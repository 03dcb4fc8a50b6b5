// SPDX-License-Identifier: GPL-2.0-only
/* ktau check: check recorded figures for consistency. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "subcommand.h"
#include "text.h"

enum { OPT_LIVE = 256,
       OPT_MAX };

#define ALL_TRACES (KTAU_TARGET_ALL | KTAU_TARGET_EXITED)
#define ALL_PROFILES (ALL_TRACES | KTAU_TARGET_EVICTED | KTAU_TARGET_CPU)

struct options {
	bool live;
	uint64_t max;
	char **files;
	int nr_files;
};

static const struct argp_option argp_options[] = {
	{ "live", OPT_LIVE, NULL, 0, "Check the running kernel", 0 },
	{ "max", OPT_MAX, "N", 0, "Print at most N violations per file (default 20; 0 is all)", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_LIVE:
		o->live = true;
		return 0;
	case OPT_MAX:
		if (cli_number(arg, UINT64_MAX, &o->max))
			cli_usage(state, "--max=%s: not a number", arg);
		return 0;
	case ARGP_KEY_ARGS:
		o->files = state->argv + state->next;
		o->nr_files = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (!o->live && !o->nr_files)
			cli_usage(state, "either a FILE or --live is required");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "FILE...\n--live",
	"Check the consistency of every snapshot, the nesting of every trace, the counts of "
	"losses, the checksums of blocks, and that no count decreases. Print a line for each "
	"violation, and for each file a summary and a line with its losses. FILE - is standard "
	"input.",
	NULL, NULL, NULL
};

/**
 * struct checking - one source being checked
 * @name: name for messages
 * @stream: number of the current stream
 * @found: number of violations so far
 * @max: number of violations to print; 0: all
 * @round_ns: rounding of times; 0 if times are exact
 * @end: last END record; all 0 if there was none
 */
struct checking {
	const char *name;
	uint64_t stream;
	uint64_t found, max;
	uint32_t round_ns;
	struct ktau_rec_end end;
};

static void print_name(const struct checking *c)
{
	print_escaped(c->name, stdout);
	fputs(": ", stdout);
}

static void print_more(const struct checking *c)
{
	print_name(c);
	printf("%" PRIu64 " more violations\n", c->found - c->max);
}

static void print_owner(const struct ktau_finding *f)
{
	const struct ktau_rec_owner *o = f->owner;

	if (!o) {
		if (f->serial)
			printf("serial %" PRIu64 ": ", f->serial);
	} else if (o->kind == KTAU_OWNER_CPU) {
		printf("CPU %" PRIu32 ": ", o->cpu);
	} else if (o->kind == KTAU_OWNER_EVICTED) {
		printf("evicted: ");
	} else {
		printf("task %" PRId32 " (", o->tid);
		print_escaped(o->comm, stdout);
		printf(", serial %llu): ", o->serial);
	}
}

static void found(void *arg, const struct ktau_finding *f)
{
	struct checking *c = arg;

	if (c->found++ >= c->max && c->max)
		return;
	print_name(c);
	printf("stream %" PRIu64 ": ", c->stream);
	print_owner(f);
	printf("%s: %s\n", ktau_finding_name(f->code), f->text);
}

static void look_at(struct checking *c, const union ktau_record *r)
{
	switch (r->rec->type) {
	case KTAU_REC_STREAM:
		c->stream++;
		if (r->stream->round_ns)
			c->round_ns = r->stream->round_ns;
		return;
	case KTAU_REC_END:
		c->end = *r->end;
		return;
	}
}

static int feed(struct checking *c, struct ktau_check *check, struct ktau_reader *reader)
{
	struct progress progress = { 0 };
	uint64_t records = 0, damaged = 0;
	const struct ktau_damage *d;
	union ktau_record r;
	int err, failed = 0;

	while (failed >= 0 && (err = ktau_reader_next(reader, &r)) > 0) {
		d = ktau_reader_damage(reader);
		if (d->bad_blocks + d->missing_blocks != damaged) {
			damaged = d->bad_blocks + d->missing_blocks;
			ktau_check_gap(check);
		}
		look_at(c, &r);
		failed = ktau_check_record(check, &r);
		progress_step(&progress, c->name, ++records);
	}
	progress_end(&progress);
	if (failed < 0) {
		complain("%s: %s", c->name, strerror(-failed));
		return failed;
	}
	if (err < 0)
		cli_reader_failed(reader, err);
	return err;
}

/* Print the start of the line before the first loss. */
static void print_loss(const struct checking *c, size_t *nr, const char *name, uint64_t value)
{
	if (!value)
		return;
	if (!(*nr)++) {
		print_name(c);
		printf("losses%s:", c->end.losses_own ? " of your own tasks" : "");
	}
	printf("%s %s %" PRIu64, *nr > 1 ? "," : "", name, value);
}

/*
 * Print the losses between the first and the last stream, or since boot if there is only one.
 * Losses that are 0 are not printed.
 */
static void print_losses(const struct checking *c, const struct ktau_check_counts *n)
{
	size_t nr = 0;
	unsigned int i;

	print_loss(c, &nr, "refused", n->refused);
	for (i = 0; i < KTAU_NR_LOSSES; i++)
		print_loss(c, &nr, ktau_loss_name(i),
			   n->streams > 1 ? n->losses[i] : ktau_loss_value(&c->end, i));
	print_loss(c, &nr, "lost_overwritten", n->lost);
	print_loss(c, &nr, "missed", c->end.missed);
	print_loss(c, &nr, "refused_gone", c->end.refused_gone);
	print_loss(c, &nr, "denied", n->denied);
	print_loss(c, &nr, "busy", c->end.busy);
	print_loss(c, &nr, "torn", c->end.torn);
	print_loss(c, &nr, "stateless", c->end.stateless);
	print_loss(c, &nr, "vanished", c->end.vanished);
	if (nr)
		putchar('\n');
}

/* Print the summary line of the file. */
static int verdict(const struct checking *c, const struct ktau_check *check, int err)
{
	const struct ktau_check_counts *n = ktau_check_counts(check);
	bool bad = err || c->found;

	if (c->max && c->found > c->max)
		print_more(c);
	print_name(c);
	printf("%" PRIu64 " snapshots, %" PRIu64 " tasks, %" PRIu64 " slots, ", n->profiles,
	       n->tasks, n->slots);
	if (n->unknown)
		printf("%" PRIu64 " of unknown kinds, ", n->unknown);
	if (c->round_ns) {
		print_rounding(c->round_ns, stdout);
		fputs(", ", stdout);
	}
	if (c->found)
		printf("%" PRIu64 " violations%s\n", c->found, err ? ", damaged" : "");
	else
		puts(err ? "damaged" : "ok");
	print_losses(c, n);
	return bad ? CLI_FAILED : CLI_DONE;
}

static int check_reader(const char *name, struct ktau_reader *reader, uint64_t max)
{
	struct checking c = { .name = name, .max = max };
	struct ktau_check *check;
	int err = ktau_check_create(&check, found, &c);

	if (err) {
		complain("out of memory");
		return CLI_FAILED;
	}
	err = verdict(&c, check, feed(&c, check, reader));
	ktau_check_destroy(check);
	return err;
}

static int check_file(const char *path, uint64_t max, struct ktau_reader *reader)
{
	if (!ktau_reader_open_file(reader, path))
		return check_reader(path, reader, max);
	complain("%s", ktau_reader_error(reader));
	return CLI_FAILED;
}

/* Check profiles, then traces; nothing is consumed. */
static int check_live(uint64_t max, struct ktau_reader *reader)
{
	static const struct {
		uint32_t content, target;
		const char *name;
	} sources[] = {
		{ KTAU_REC_PROFILE, ALL_PROFILES, "/proc/ktau/profile" },
		{ KTAU_REC_TRACE, ALL_TRACES, "/proc/ktau/trace" },
	};
	int err = CLI_DONE, status;
	size_t i;

	for (i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		struct ktau_query query = {
			.content = sources[i].content,
			.target = sources[i].target,
		};

		status = ktau_reader_open_live(reader, &query);
		if (!status) {
			err |= check_reader(sources[i].name, reader, max);
		} else {
			cli_reader_failed(reader, status);
			err = CLI_FAILED;
		}
	}
	return err;
}

static int check_main(int argc, char **argv)
{
	struct options o = { .max = 20 };
	struct ktau_reader *reader;
	int err = CLI_DONE, i;

	cli_parse(&parser, argc, argv, 0, &o);
	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	if (o.live)
		err = check_live(o.max, reader);
	for (i = 0; i < o.nr_files; i++)
		err |= check_file(o.files[i], o.max, reader);
	ktau_reader_destroy(reader);
	return cli_finish(stdout) ? CLI_FAILED : err;
}

const struct subcommand subcommand_check = {
	"check", check_main, "check recorded figures for consistency", &parser
};
