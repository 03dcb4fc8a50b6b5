// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktau export: the trace of a file in the format of another program.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "export.h"
#include "subcommand.h"

static const struct exporter *const formats[] = {
	&export_perfetto,
	&export_chrome,
};

enum { NR_FORMATS = sizeof(formats) / sizeof(*formats),
       OPT_FORMAT = 0x100 };

struct options {
	const struct exporter *format;
	const char *map, *output, *file;
};

/* One option for each format, then the others. */
static struct argp_option argp_options[NR_FORMATS + 4];
static char descriptions[NR_FORMATS][80];

static void make_options(void)
{
	static const struct argp_option others[] = {
		{ "output", 'o', "FILE", 0,
		  "Write FILE; - is standard output (the name of the input with the "
		  "suffix of the format, in the current directory)",
		  2 },
		{ "map", 'm', "FILE", 0,
		  "System.map, kallsyms or vmlinux, for names that the kernel did not know",
		  2 },
		{ 0 }
	};
	size_t i;

	for (i = 0; i < NR_FORMATS; i++) {
		snprintf(descriptions[i], sizeof(descriptions[i]), "For %s", formats[i]->opens);
		argp_options[i] = (struct argp_option){
			.name = formats[i]->name,
			.key = OPT_FORMAT + (int)i,
			.doc = descriptions[i],
			.group = 1,
		};
	}
	memcpy(&argp_options[NR_FORMATS], others, sizeof(others));
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key >= OPT_FORMAT && key < OPT_FORMAT + NR_FORMATS) {
		if (o->format)
			argp_error(state, "--%s and --%s: one format at a time",
				   o->format->name, formats[key - OPT_FORMAT]->name);
		o->format = formats[key - OPT_FORMAT];
		return 0;
	}
	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case 'm':
		o->map = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one FILE at a time");
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->format)
			argp_error(state, "choose a format, for example --%s",
				   formats[0]->name);
		if (!o->file)
			argp_error(state, "give a FILE");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "--FORMAT FILE",
	"Write the trace in FILE, made by ktaud or saved from /proc/ktau/trace, in the "
	"format of another program. - is standard input.",
	NULL, NULL, NULL
};

/* run.ktau becomes run.json. */
static char *default_output(const struct exporter *format, const char *file)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	size_t n = strlen(base);
	char *path;

	if (!strcmp(file, "-")) {
		base = "ktau";
		n = 4;
	} else if (n > 5 && !strcmp(base + n - 5, ".ktau")) {
		n -= 5;
	}
	if (asprintf(&path, "%.*s%s", (int)n, base, format->suffix) < 0)
		path = NULL;
	return path;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* 0, or CLI_FAILED with a message. */
static int open_output(struct export_run *x, const char *file)
{
	bool std = !strcmp(x->path, "-");

	if (x->format->directory) {
		if (std) {
			complain("--%s writes a directory, not standard output", x->format->name);
			return CLI_FAILED;
		}
		if (mkdir(x->path, 0777)) {
			complain("cannot create %s: %s", x->path, strerror(errno));
			return CLI_FAILED;
		}
		return 0;
	}
	if (same_file(x->path, file)) {
		complain("%s is the input and would be overwritten", x->path);
		return CLI_FAILED;
	}
	x->out = std ? stdout : fopen(x->path, "we");
	if (!x->out) {
		complain("cannot create %s: %s", x->path, strerror(errno));
		return CLI_FAILED;
	}
	return 0;
}

/* The exporter begins when the first stream is known. */
static int begin_once(struct export_run *x)
{
	int err = 0;

	if (!x->begun) {
		x->begun = true;
		err = x->format->begin ? x->format->begin(x) : 0;
	}
	return err;
}

static int take_track(void *arg, struct track *track)
{
	struct export_run *x = arg;
	int err = begin_once(x);

	return err || !x->format->track ? err : x->format->track(x, track);
}

static int take_event(void *arg, const struct timeline_event *e)
{
	struct export_run *x = arg;
	int err = begin_once(x);

	return err ? err : x->format->event(x, e);
}

static void print_summary(const struct export_run *x, double seconds)
{
	const struct timeline_counts *c = timeline_counts(x->timeline);

	fprintf(stderr, "%s: %" PRIu64 " frames from %" PRIu64 " slots", x->path, c->enters,
		c->slots);
	if (c->lost)
		fprintf(stderr, ", %" PRIu64 " slots lost in %" PRIu64 " gaps", c->lost, c->gaps);
	if (c->half_enters + c->half_exits)
		fprintf(stderr, ", %" PRIu64 " frames cut by gaps",
			c->half_enters + c->half_exits);
	if (c->unfinished)
		fprintf(stderr, ", %" PRIu64 " unfinished", c->unfinished);
	if (c->clamped)
		fprintf(stderr, ", %" PRIu64 " times clamped", c->clamped);
	fprintf(stderr, "; %.0f slots/s\n", (double)c->slots / (seconds > 1e-9 ? seconds : 1e-9));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A file that is only half written is worse than none. */
static int close_output(struct export_run *x, int status)
{
	bool failed = x->out && (ferror(x->out) || fflush(x->out));
	struct stat st;
	bool file = x->out && x->out != stdout && !fstat(fileno(x->out), &st) &&
		    S_ISREG(st.st_mode);

	if (x->out && x->out != stdout && fclose(x->out))
		failed = true;
	if (failed) {
		complain("cannot write %s: %s", x->path, strerror(errno));
		status = CLI_FAILED;
	}
	/* A device is not removed. */
	if (status != CLI_DONE && file)
		unlink(x->path);
	return status;
}

static int convert(struct export_run *x, struct ktau_reader *reader)
{
	int status = CLI_DONE, err, end_err = 0;
	double start = now();

	err = timeline_read(x->timeline);
	if (x->begun && x->format->end)
		end_err = x->format->end(x);
	if (err == -EBADMSG) {
		cli_reader_failed(reader, err);
		status = CLI_FAILED;
		err = end_err;
	} else if (!err) {
		err = end_err;
	}
	if (err == -ESTALE)
		complain("the input has traces of two boots; export them apart");
	else if (err)
		complain("%s", strerror(-err));
	else if (!x->begun)
		complain("there is no trace in the input: record with trace=on");
	if (err || !x->begun)
		return close_output(x, CLI_FAILED);
	/* What could be read of a damaged file is kept. */
	if (close_output(x, CLI_DONE))
		return CLI_FAILED;
	print_summary(x, now() - start);
	return status;
}

static int export_file(struct export_run *x, const struct options *o, struct ktau_symtab *symtab)
{
	const struct timeline_sink sink = { take_track, take_event, x };
	struct ktau_reader *reader;
	int status = CLI_FAILED;

	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	if (ktau_reader_open_file(reader, o->file)) {
		complain("%s", ktau_reader_error(reader));
	} else if (!open_output(x, o->file)) {
		x->names = symbolize_create(ktau_reader_events(reader), symtab);
		x->timeline = timeline_create(reader, &sink);
		status = convert(x, reader);
		timeline_destroy(x->timeline);
		symbolize_destroy(x->names);
	}
	ktau_reader_destroy(reader);
	return status;
}

static int export_main(int argc, char **argv)
{
	struct ktau_symtab *symtab = NULL;
	struct options o = { 0 };
	struct export_run x = { 0 };
	char *path = NULL;
	int status;

	make_options();
	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (o.map && symbolize_load_map(&symtab, o.map))
		return CLI_FAILED;
	x.format = o.format;
	x.path = o.output;
	if (!x.path)
		x.path = path = default_output(o.format, o.file);
	status = export_file(&x, &o, symtab);
	free(path);
	ktau_symtab_destroy(symtab);
	return status;
}

const struct subcommand subcommand_export = {
	"export", export_main, "convert a trace for another program", &parser
};
