// SPDX-License-Identifier: GPL-2.0-only
/* ktau flame: draw the call paths of a trace as a flame graph. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "flame.h"
#include "stacks.h"
#include "subcommand.h"
#include "symbolize.h"
#include "timeline.h"

enum { OPT_FOLDED = 256, OPT_TIME };

struct options {
	const char *map, *output, *file;
	unsigned int time;
	bool folded;
	int32_t pid;
};

/* State of reading: the call paths, the selected process, and the walk of each track. */
struct reading {
	struct stacks stacks;
	struct stack_walk *walks;
	size_t nr_walks;
	const struct options *options;
	uint64_t events;
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "OUT", 0,
	  "Write OUT; - is standard output (default: flame.svg or flame.folded)", 1 },
	{ "folded", OPT_FOLDED, NULL, 0,
	  "Write folded stacks for other programs: lines \"task;routine;routine NANOSECONDS\"", 1 },
	{ "time", OPT_TIME, "WHICH", 0, "Time on the CPU, off the CPU or both (default: on)", 1 },
	{ "pid", 'p', "PID", 0, "Only this process or thread", 1 },
	{ "map", 'm', "FILE", 0,
	  "Read names from a System.map, kallsyms or vmlinux", 1 },
	{ 0 }
};

static unsigned int parse_time(const char *word, const struct argp_state *state)
{
	if (!strcmp(word, "on"))
		return FLAME_ON_CPU;
	if (!strcmp(word, "off"))
		return FLAME_OFF_CPU;
	if (strcmp(word, "both"))
		cli_usage(state, "--time=%s: not on, off or both", word);
	return FLAME_ON_CPU | FLAME_OFF_CPU;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	uint64_t pid;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case 'm':
		o->map = arg;
		return 0;
	case 'p':
		if (cli_number(arg, INT32_MAX, &pid) || !pid)
			cli_usage(state, "--pid=%s: not a pid", arg);
		o->pid = (int32_t)pid;
		return 0;
	case OPT_FOLDED:
		o->folded = true;
		return 0;
	case OPT_TIME:
		o->time = parse_time(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			cli_usage(state, "only one FILE can be given");
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->file)
			cli_usage(state, "a FILE is required");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "FILE",
	"Draw a flame graph of the kernel routines in the trace in FILE, written by ktaud or saved "
	"from /proc/ktau/trace. The width of a frame is its time. FILE - is standard input.",
	NULL, NULL, NULL
};

static int take_event(void *arg, const struct timeline_event *e)
{
	struct reading *r = arg;
	const struct ktau_rec_owner *owner = &e->track->owner;
	int32_t pid = r->options->pid;
	size_t nr;

	r->events++;
	if (pid && pid != owner->tgid && pid != owner->tid)
		return 0;
	if (e->track->index >= r->nr_walks) {
		nr = 2 * (size_t)e->track->index + 64;
		r->walks = cli_alloc(r->walks, nr, sizeof(*r->walks));
		memset(r->walks + r->nr_walks, 0, (nr - r->nr_walks) * sizeof(*r->walks));
		r->nr_walks = nr;
	}
	stacks_event(&r->stacks, &r->walks[e->track->index], e);
	return 0;
}

/* Remove the file after an error, because a partial file is useless; never remove a device. */
static int close_output(const char *path, FILE *out)
{
	bool failed = ferror(out) || fflush(out), std = out == stdout;
	struct stat st;
	bool file = !fstat(fileno(out), &st) && S_ISREG(st.st_mode);

	if (!std && fclose(out))
		failed = true;
	if (!failed)
		return CLI_DONE;
	complain("cannot write %s: %s", path, strerror(errno));
	if (file && !std)
		unlink(path);
	return CLI_FAILED;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static int draw(const struct options *o, const struct flame *f)
{
	const char *path = o->output ? o->output : o->folded ? "flame.folded" : "flame.svg";
	FILE *out;

	if (same_file(path, o->file)) {
		complain("cannot write %s: it is also the input", path);
		return CLI_FAILED;
	}
	out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!out) {
		complain("cannot create %s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	if (o->folded)
		flame_folded(f, out);
	else
		flame_svg(f, out);
	return close_output(path, out);
}

static int show(struct reading *r, struct ktau_reader *reader, struct ktau_symtab *symtab)
{
	static const char *const times[] = {
		"", "on the CPU", "off the CPU", "on and off the CPU",
	};
	const struct options *o = r->options;
	struct flame f = { .stacks = &r->stacks, .time = o->time };
	int status = CLI_FAILED;
	char *title;

	if (!r->events) {
		complain("the input contains no trace: record one with ktaud --info=both");
		return CLI_FAILED;
	}
	if (!r->stacks.nr) {
		complain("the trace contains nothing of pid %d", o->pid);
		return CLI_FAILED;
	}
	if (asprintf(&title, "%s: kernel time %s", o->file, times[o->time]) < 0)
		return CLI_FAILED;
	f.title = title;
	f.names = symbolize_create(ktau_reader_events(reader), symtab);
	if (!flame_total(&f))
		complain("the trace contains no time %s", times[o->time]);
	else
		status = draw(o, &f);
	symbolize_destroy(f.names);
	free(title);
	return status;
}

/* The readable part of a damaged file is shown. */
static int read_and_show(const struct options *o, struct ktau_reader *reader,
			 struct ktau_symtab *symtab)
{
	struct reading r = { .options = o };
	const struct timeline_sink sink = { NULL, take_event, &r };
	struct timeline *timeline;
	int err, status = CLI_DONE;

	stacks_init(&r.stacks, ktau_reader_events(reader));
	timeline = timeline_create(reader, &sink);
	err = timeline_read(timeline);
	if (err == -ESTALE)
		complain("the input contains traces of several boots; only the first is shown");
	else if (err)
		cli_reader_failed(reader, err);
	if (err)
		status = CLI_FAILED;
	status |= show(&r, reader, symtab);
	free(r.walks);
	timeline_destroy(timeline);
	stacks_deinit(&r.stacks);
	return status;
}

static int flame_main(int argc, char **argv)
{
	struct options o = { .time = FLAME_ON_CPU };
	struct ktau_symtab *symtab = NULL;
	struct ktau_reader *reader;
	int status = CLI_FAILED;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.map && symbolize_load_map(&symtab, o.map))
		return CLI_FAILED;
	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		ktau_symtab_destroy(symtab);
		return CLI_FAILED;
	}
	if (ktau_reader_open_file(reader, o.file))
		complain("%s", ktau_reader_error(reader));
	else
		status = read_and_show(&o, reader, symtab);
	ktau_reader_destroy(reader);
	ktau_symtab_destroy(symtab);
	return status;
}

const struct subcommand subcommand_flame = {
	"flame", flame_main, "draw the call paths of a trace as a flame graph", &parser
};
