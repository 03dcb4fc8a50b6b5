// SPDX-License-Identifier: GPL-2.0-only
/* ktau check: check recorded figures for consistency. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "subcommand.h"
#include "lib/text.h"

enum { OPT_LIVE = 256,
       OPT_MAX };

#define ALL_TRACES (KTAU_TARGET_ALL | KTAU_TARGET_EXITED)
#define ALL_PROFILES (ALL_TRACES | KTAU_TARGET_EVICTED | KTAU_TARGET_CPU)

struct options {
	bool live;
	uint64_t max;
	struct shared_options in;
};

static const struct argp_option argp_options[] = {
	{ "live", OPT_LIVE, NULL, 0, "Check the running kernel", 0 },
	{ "max", OPT_MAX, "N", 0,
	  "Print at most N violations of a rule per file (default 5; 0 is all)", 0 },
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
	case ARGP_KEY_END:
		if (!o->live && !o->in.nr_files)
			cli_usage(state, "either a FILE or --live is required");
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

/* argp's help below the options: the rules. */
static char *help_filter(int key, const char *text, void *input)
{
	char *out = NULL;
	size_t size;
	FILE *help;
	int i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	help = open_memstream(&out, &size);
	if (!help)
		return NULL;
	fputs("Rules:\n", help);
	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		fprintf(help, "  %-10s %s\n", ktau_finding_name(i), ktau_finding_meaning(i));
	return fclose(help) ? NULL : out;
}

static const struct argp parser = {
	argp_options, parse_option, "FILE...\n--live",
	"Check every record of the files against the rules below. Print for each file a summary, a "
	"line for each violation, and a line with its losses. Files of one boot are checked in the "
	"order of what is in them, as one recording. FILE - is standard input.\v",
	NULL, help_filter, NULL
};

/**
 * struct checking - one source being checked
 * @name: name for messages
 * @reader: the reader
 * @check: the checker, which may know files before this one
 * @before: what it had found before this one
 * @follows: whether there was one
 * @stream: number of the current stream
 * @ticks: when it began
 * @found: number of violations so far
 * @max: number of violations of a rule to print; 0: all
 * @printed: how many have been printed, by rule
 * @lines: the violations to print
 * @text: text of @lines
 * @text_bytes: length of @text
 * @round_ns: rounding of times; 0 if times are exact
 * @end: last END record; all 0 if there was none
 * @gap: the periods that were not recorded, from the first of them to the last
 */
struct checking {
	const char *name;
	struct ktau_reader *reader;
	struct ktau_check *check;
	struct ktau_check_counts before;
	bool follows;
	uint64_t stream, ticks;
	uint64_t found, max;
	uint64_t printed[KTAU_NR_FINDINGS];
	FILE *lines;
	char *text;
	size_t text_bytes;
	uint32_t round_ns;
	struct ktau_rec_end end;
	struct ktau_rec_gap gap;
};

static void print_name(const struct checking *c, FILE *out)
{
	print_escaped(c->name, out);
	fputs(": ", out);
}

static void print_owner(const struct ktau_finding *f, FILE *out)
{
	const struct ktau_rec_owner *o = f->owner;

	if (!o) {
		if (f->serial)
			fprintf(out, "serial %" PRIu64 ": ", f->serial);
	} else if (o->kind == KTAU_OWNER_CPU) {
		fprintf(out, "CPU %" PRIu32 ": ", o->cpu);
	} else if (o->kind == KTAU_OWNER_EVICTED) {
		fputs("evicted: ", out);
	} else {
		print_escaped(o->comm, out);
		fprintf(out, " pid %" PRId32, o->tgid);
		if (o->tid != o->tgid)
			fprintf(out, " tid %" PRId32, o->tid);
		fprintf(out, " (serial %llu): ", o->serial);
	}
}

/* Findings about an event have its id as their number. */
static void print_event(const struct checking *c, const struct ktau_finding *f)
{
	const struct ktau_rec_event *event;

	if (strncmp(f->text, "event ", strlen("event ")))
		return;
	event = ktau_reader_event(c->reader, f->number);
	if (!event)
		return;
	print_escaped(ktau_display_name(ktau_event_name(event)), c->lines);
	fputs(": ", c->lines);
}

static void found(void *arg, const struct ktau_finding *f)
{
	struct checking *c = arg;

	c->found++;
	if (c->max && c->printed[f->code] == c->max)
		return;
	c->printed[f->code]++;
	print_name(c, c->lines);
	fprintf(c->lines, "stream %" PRIu64 ": ", c->stream);
	print_owner(f, c->lines);
	fprintf(c->lines, "%s: ", ktau_finding_name(f->code));
	print_event(c, f);
	fprintf(c->lines, "%s\n", f->text);
}

static void look_at(struct checking *c, const union ktau_record *r)
{
	switch (r->rec->type) {
	case KTAU_REC_STREAM:
		c->stream++;
		c->ticks = r->stream->ticks;
		if (r->stream->round_ns)
			c->round_ns = r->stream->round_ns;
		return;
	case KTAU_REC_END:
		c->end = *r->end;
		return;
	case KTAU_REC_GAP:
		if (!c->gap.periods)
			c->gap.from_ns = r->gap->from_ns;
		c->gap.to_ns = r->gap->to_ns;
		c->gap.error = r->gap->error;
		c->gap.periods += r->gap->periods;
		return;
	}
}

static int feed(struct checking *c)
{
	struct progress progress = { 0 };
	uint64_t records = 0, damaged = 0;
	const struct ktau_damage *d;
	union ktau_record r;
	int err, failed = 0;

	while (failed >= 0 && (err = ktau_reader_next(c->reader, &r)) > 0) {
		d = ktau_reader_damage(c->reader);
		if (d->bad_blocks + d->missing_blocks != damaged) {
			damaged = d->bad_blocks + d->missing_blocks;
			ktau_check_gap(c->check);
		}
		look_at(c, &r);
		failed = ktau_check_record(c->check, &r);
		progress_step(&progress, c->name, ++records);
	}
	progress_end(&progress);
	if (failed < 0) {
		complain("%s: %s", c->name, strerror(-failed));
		return failed;
	}
	if (err < 0)
		cli_reader_failed(c->reader, err);
	return err;
}

/* Print the start of the line before the first loss. */
static void print_loss(const struct checking *c, size_t *nr, const char *name, uint64_t value)
{
	if (!value)
		return;
	if (!(*nr)++) {
		print_name(c, stdout);
		printf("losses%s:", c->end.losses_own ? " of your own tasks" : "");
	}
	printf("%s %s %" PRIu64, *nr > 1 ? "," : "", name, value);
}

/*
 * Print the losses since the file before, or between the first and the last stream, or since boot
 * if there is only one. Losses that are 0 are not printed.
 */
static void print_losses(const struct checking *c, const struct ktau_check_counts *n)
{
	size_t nr = 0;
	unsigned int i;

	print_loss(c, &nr, "refused", n->refused);
	print_loss(c, &nr, "unmeasured", n->unmeasured);
	for (i = 0; i < KTAU_NR_LOSSES; i++)
		print_loss(c, &nr, ktau_loss_name(i),
			   n->streams > 1 || c->follows ? n->losses[i] :
							  ktau_loss_value(&c->end, i));
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

static void print_gap(const struct checking *c)
{
	const struct ktau_rec_gap *gap = &c->gap;

	if (!gap->periods)
		return;
	print_name(c, stdout);
	printf("%llu periods from ", gap->periods);
	print_time(stdout, gap->from_ns);
	fputs(" to ", stdout);
	print_time(stdout, gap->to_ns);
	printf(" were not recorded: %s\n", strerror((int)gap->error));
}

/* What was counted in this file alone. All counts are 64 bits wide. */
static struct ktau_check_counts counts_of(const struct checking *c)
{
	struct ktau_check_counts n = *ktau_check_counts(c->check);
	const uint64_t *before = (const uint64_t *)&c->before;
	const uint64_t denied = n.denied;
	uint64_t *now = (uint64_t *)&n;
	size_t i;

	for (i = 0; i < sizeof(n) / sizeof(*now); i++)
		now[i] -= before[i];
	n.denied = denied;	/* of the last streams */
	return n;
}

static void print_verdict(const struct checking *c, const struct ktau_check_counts *n, int err)
{
	const char *separator = ": ";
	int i;

	if (!c->found) {
		puts(err ? "damaged" : "ok");
		return;
	}
	printf("%" PRIu64 " violation%s%s", c->found, c->found == 1 ? "" : "s",
	       err ? ", damaged" : "");
	for (i = 0; i < KTAU_NR_FINDINGS; i++) {
		if (!n->findings[i])
			continue;
		printf("%s%s %" PRIu64, separator, ktau_finding_name(i), n->findings[i]);
		separator = ", ";
	}
	putchar('\n');
}

/* Say how many violations have not been printed. */
static void print_more(const struct checking *c)
{
	uint64_t left = c->found;
	int i;

	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		left -= c->printed[i];
	if (!left)
		return;
	print_name(c, stdout);
	printf("%" PRIu64 " more violations (--max=0 prints all)\n", left);
}

/* Print what was checked, the violations and the losses. */
static int verdict(const struct checking *c, int err)
{
	const struct ktau_check_counts n = counts_of(c);

	print_name(c, stdout);
	printf("%" PRIu64 " streams, %" PRIu64 " tasks, %" PRIu64 " snapshots, %" PRIu64
	       " periods, %" PRIu64 " slots, ", n.streams, n.tasks, n.profiles, n.periods, n.slots);
	if (n.unknown)
		printf("%" PRIu64 " of unknown kinds, ", n.unknown);
	if (c->round_ns) {
		print_rounding(c->round_ns, stdout);
		fputs(", ", stdout);
	}
	printf("%d rules: ", KTAU_NR_FINDINGS);
	print_verdict(c, &n, err);
	fwrite(c->text, 1, c->text_bytes, stdout);
	print_more(c);
	print_losses(c, &n);
	print_gap(c);
	return err || c->found ? CLI_FAILED : CLI_DONE;
}

/**
 * struct session - what is kept from file to file
 * @reader: a reader
 * @check: checker of the files of one boot, or NULL
 * @current: the file being checked, to which the checker reports
 * @boot_id: the boot
 * @ticks: when the last stream of them began
 * @max: number of violations of a rule to print per file; 0: all
 */
struct session {
	struct ktau_reader *reader;
	struct ktau_check *check;
	struct checking current;
	uint8_t boot_id[16];
	uint64_t ticks;
	uint64_t max;
};

static void end_session(struct session *s)
{
	ktau_check_destroy(s->check);
	s->check = NULL;
}

/* Check what the reader has open. */
static int check_reader(const char *name, struct session *s)
{
	struct checking *c = &s->current;
	int err = 0;

	*c = (struct checking){ .name = name, .reader = s->reader, .max = s->max };
	c->lines = open_memstream(&c->text, &c->text_bytes);
	c->follows = s->check;
	if (!s->check)
		err = ktau_check_create(&s->check, found, c);
	else
		ktau_check_file(s->check);
	if (err || !c->lines) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	c->check = s->check;
	c->before = *ktau_check_counts(s->check);
	err = feed(c);
	if (fclose(c->lines)) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	s->ticks = c->ticks;
	if (verdict(c, err))
		err = CLI_FAILED;
	if (ktau_reader_damage(s->reader)->lost_bytes)
		end_session(s);
	free(c->text);
	return err ? CLI_FAILED : CLI_DONE;
}

/**
 * struct input - a file to check
 * @path: its path
 * @has_stream: whether a stream could be read; if not, the rest is 0
 * @boot_id: of the first stream
 * @ticks: when it began
 * @boot: order of the boot
 */
struct input {
	const char *path;
	bool has_stream;
	uint8_t boot_id[16];
	uint64_t ticks;
	size_t boot;
};

/* Find out what a file begins with. Standard input and whatever is not a file is read only once. */
static void look_into(struct input *input, struct ktau_reader *reader)
{
	union ktau_record r;
	struct stat st;

	if (!strcmp(input->path, "-") || stat(input->path, &st) || !S_ISREG(st.st_mode) ||
	    ktau_reader_open_file(reader, input->path))
		return;
	while (!input->has_stream && ktau_reader_next(reader, &r) > 0) {
		if (r.rec->type != KTAU_REC_STREAM)
			continue;
		input->has_stream = true;
		input->ticks = r.stream->ticks;
		memcpy(input->boot_id, r.stream->boot_id, sizeof(input->boot_id));
	}
}

static bool is_same_boot(const struct input *a, const struct input *b)
{
	return a->has_stream && b->has_stream &&
	       !memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
}

/* Boots are in the order of their first file. */
static void number_boots(struct input *inputs, size_t nr)
{
	size_t i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < i && !is_same_boot(&inputs[i], &inputs[j]); j++)
			;
		inputs[i].boot = j < i ? inputs[j].boot : i;
	}
}

static int by_content(const void *left, const void *right)
{
	const struct input *a = left, *b = right;

	if (a->boot != b->boot)
		return a->boot < b->boot ? -1 : 1;
	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static int check_file(const struct input *input, struct session *s)
{
	/* Recordings that were made at the same time are not one recording. */
	if (!input->has_stream || memcmp(s->boot_id, input->boot_id, sizeof(s->boot_id)) ||
	    input->ticks < s->ticks)
		end_session(s);
	memcpy(s->boot_id, input->boot_id, sizeof(s->boot_id));
	if (!ktau_reader_open_file(s->reader, input->path))
		return check_reader(input->path, s);
	complain("%s", ktau_reader_error(s->reader));
	return CLI_FAILED;
}

static int check_files(const struct options *o, struct session *s)
{
	struct input *inputs = cli_alloc(NULL, o->in.nr_files, sizeof(*inputs));
	int i, err = CLI_DONE;

	for (i = 0; i < o->in.nr_files; i++) {
		inputs[i] = (struct input){ .path = o->in.files[i] };
		look_into(&inputs[i], s->reader);
	}
	number_boots(inputs, o->in.nr_files);
	qsort(inputs, o->in.nr_files, sizeof(*inputs), by_content);
	for (i = 0; i < o->in.nr_files; i++)
		err |= check_file(&inputs[i], s);
	end_session(s);
	free(inputs);
	return err;
}

/* Check profiles, then traces; nothing is consumed. */
static int check_live(struct session *s)
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

		end_session(s);
		status = ktau_reader_open_live(s->reader, &query);
		if (status) {
			cli_reader_failed(s->reader, status);
			return CLI_FAILED;
		}
		err |= check_reader(sources[i].name, s);
	}
	return err;
}

static int check_main(int argc, char **argv)
{
	struct options o = { .max = 5, .in.folders = true };
	struct session session = { 0 };
	int err = CLI_DONE;

	cli_parse(&parser, argc, argv, 0, &o);
	session.max = o.max;
	if (ktau_reader_create(&session.reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	if (o.live)
		err = check_live(&session);
	err |= check_files(&o, &session);
	ktau_reader_destroy(session.reader);
	return cli_finish(stdout) ? CLI_FAILED : err;
}

const struct subcommand subcommand_check = {
	"check", check_main, "check that the figures of a recording are consistent",
	&parser, SUBCOMMAND_ANALYSE
};
