// SPDX-License-Identifier: GPL-2.0-only
/* ktau export: convert a file to the format of another program. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cli.h"
#include "lib/output.h"
#include "lib/shared_options.h"
#include "analyse/source.h"
#include "export/export.h"
#include "path/keep.h"
#include "vm/keep.h"
#include "view/builtin.h"
#include "view/keep.h"
#include "view/rules.h"
#include "view/show.h"
#include "view/tree.h"
#include "subcommand.h"
#include "view_file.h"

enum { MAX_FORMATS = 64,
       OPT_FORMAT = 0x100, OPT_NAMING = 0x200, OPT_SNAPSHOT, OPT_HOURS, OPT_AFTER,
       OPT_VIEW, OPT_PATH, OPT_VM };

struct options {
	const struct exporter *format;
	struct export_options more;
	bool snapshot, hours;
	const char *view, *path;
	bool has_path, vm;
	struct shared_options in;
};

/* An option per format, then the others. Filled in before main(), because completion needs it. */
static struct argp_option argp_options[MAX_FORMATS + 12];
static char descriptions[MAX_FORMATS][80];

static size_t nr_formats(void)
{
	return (size_t)(__stop_export_formats - __start_export_formats);
}

static void __attribute__((constructor)) make_options(void)
{
	static const struct argp_option others[] = {
		{ "output", 'o', "FILE", 0,
		  "Write FILE; - is standard output (default: the name of the input with "
		  "the suffix of the format, in the current directory)",
		  2 },
		MAP_OPTION(2),
		{ "host", OPTION_HOST, "NAME", 0, "Use only the data of this machine", 2 },
		{ "naming", OPT_NAMING, "WHAT", 0,
		  "With --tau: files numbered dense, by pid, or ng: by pid in a directory for "
		  "each host (default: dense)", 2 },
		{ "snapshot", OPT_SNAPSHOT, NULL, 0,
		  "With --tau: a file for each task with a profile for each stream", 2 },
		REGION_NAMES_OPTION("names and traces of regions from the files ktau-user* in DIR "
				    "(default: the current one)", 2),
		{ "view", OPT_VIEW, "VIEW", 0,
		  "With --perfetto and --chrome: add the rows of a view, a file or the name of a "
		  "built-in view; see ktau-view(1)", 2 },
		{ "path", OPT_PATH, "TASK", OPTION_ARG_OPTIONAL,
		  "With --perfetto and --chrome: add the path of TASK as a row; see ktau-path(1)",
		  2 },
		{ "vm", OPT_VM, NULL, 0,
		  "With --perfetto and --chrome: FILE is the recording of a host, followed by "
		  "those of its guests: add what their CPUs did as rows; see ktau-vm(1)", 2 },
		{ "hours", OPT_HOURS, NULL, 0,
		  "With --csv: two small tables by host and hour; FILE may be a directory of "
		  "files of many hosts", 2 },
		{ "after", OPT_AFTER, "DIR", 0,
		  "With --hours: only what was recorded after DIR, the output of an earlier run, "
		  "was written", 2 },
		{ 0 }
	};
	const struct exporter *format;
	size_t i, nr = nr_formats();

	if (nr > MAX_FORMATS)
		abort();
	for (i = 0; i < nr; i++) {
		format = __start_export_formats[i];
		snprintf(descriptions[i], sizeof(descriptions[i]), "For %s%s", format->opens,
			 format->package ? " (not built)" : "");
		argp_options[i] = (struct argp_option){
			.name = format->name,
			.key = OPT_FORMAT + (int)i,
			.doc = descriptions[i],
			.group = 1,
		};
	}
	memcpy(&argp_options[nr], others, sizeof(others));
}

static int parse_naming(const char *word, enum export_naming *naming)
{
	static const char *const words[] = { "dense", "pid", "ng" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i], word)) {
			*naming = (enum export_naming)i;
			return 0;
		}
	}
	return -1;
}

/* Rows of states, which are read before the rest. */
static void check_rows(const struct options *o, const struct argp_state *state)
{
	const char *once = source_read_once(o->in.files, o->in.nr_files);

	if (!o->view && !o->has_path && !o->vm)
		return;
	if ((o->view != NULL) + o->has_path + o->vm > 1)
		cli_usage(state, "--view, --path and --vm: only one of them can be given");
	if (!o->format->states)
		cli_usage(state, "--view, --path and --vm go with --perfetto and --chrome");
	if (o->vm && o->in.nr_files < 2)
		cli_usage(state, "--vm needs a recording of the host and one of each guest");
	if (once)
		cli_usage(state, "%s: %s can be read only once, and this takes twice; "
				 "save it in a file",
			  o->view ? "--view" : o->vm ? "--vm" : "--path", once);
}

static void check_options(struct options *o, struct argp_state *state)
{
	if (o->format != &export_tau && (o->snapshot || o->more.naming))
		cli_usage(state, "--snapshot and --naming go with --tau");
	if (o->snapshot && o->more.naming)
		cli_usage(state, "--snapshot numbers its files dense; --naming is invalid");
	if (o->snapshot)
		o->format = &export_tau_snapshot;
	if (o->hours && (o->format != &export_csv || o->in.map))
		cli_usage(state, "--hours goes with --csv, without --map");
	if (o->more.after && !o->hours)
		cli_usage(state, "--after goes with --hours");
	if (o->hours)
		o->format = &export_hours;
	check_rows(o, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	const struct exporter *format;

	if (key >= OPT_FORMAT && key < OPT_FORMAT + (int)nr_formats()) {
		format = __start_export_formats[key - OPT_FORMAT];
		if (o->format)
			cli_usage(state, "--%s and --%s: only one format can be given",
				  o->format->name, format->name);
		o->format = format;
		return 0;
	}
	switch (key) {
	case OPT_NAMING:
		if (parse_naming(arg, &o->more.naming))
			cli_usage(state, "--naming=%s: not dense, pid or ng", arg);
		return 0;
	case OPT_SNAPSHOT:
		o->snapshot = true;
		return 0;
	case OPT_HOURS:
		o->hours = true;
		return 0;
	case OPT_AFTER:
		o->more.after = arg;
		return 0;
	case OPT_PATH:
		o->has_path = true;
		o->path = arg;
		return 0;
	case OPT_VIEW:
		o->view = arg;
		return 0;
	case OPT_VM:
		o->vm = true;
		return 0;
	case ARGP_KEY_END:
		if (!o->format)
			cli_usage(state, "a format is required, for example --perfetto");
		if (!o->in.nr_files)
			cli_usage(state, "a FILE is required");
		check_options(o, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "--FORMAT FILE...",
	"Convert FILE, written by ktaud or saved from /proc/ktau/trace or profile, to the format "
	"of another program. FILE - is standard input. Several files from one boot must be in "
	"time order.",
	NULL, NULL, NULL
};

/* "run.ktau" becomes "run.json". */
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

static bool overwrites_input(const struct options *o, const char *path)
{
	return shared_is_input(&o->in, path) || output_is_input(path, view_file(o->view));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void print_summary(const char *name, const struct export_totals *t, double seconds)
{
	const struct timeline_counts *c = &t->counts;

	fprintf(stderr, "%s: %" PRIu64 " frames from %" PRIu64 " slots", name, c->enters,
		c->slots);
	if (t->profiles)
		fprintf(stderr, ", %" PRIu64 " profiles", t->profiles);
	if (t->hosts > 1)
		fprintf(stderr, ", %" PRIu64 " hosts", t->hosts);
	if (c->lost)
		fprintf(stderr, ", %" PRIu64 " slots lost in %" PRIu64 " gaps", c->lost, c->gaps);
	if (c->half_enters + c->half_exits)
		fprintf(stderr, ", %" PRIu64 " frames cut by gaps",
			c->half_enters + c->half_exits);
	if (c->unfinished)
		fprintf(stderr, ", %" PRIu64 " unfinished", c->unfinished);
	if (c->misplaced)
		fprintf(stderr, ", %" PRIu64 " trace records in streams of profiles left out",
			c->misplaced);
	if (c->clamped)
		fprintf(stderr, ", %" PRIu64 " times clamped", c->clamped);
	fprintf(stderr, "; %.0f slots/s\n", (double)c->slots / (seconds > 1e-9 ? seconds : 1e-9));
}

/* The readable part of a damaged input is kept. */
static int export_to(struct export_run *x, const struct options *o, const char *path,
		     struct ktau_symtab *symtab)
{
	struct export_totals totals = { 0 };
	double start = now();
	int status;

	if ((x->format->directory || x->format->named) && !strcmp(path, "-")) {
		complain("--%s writes a %s, not standard output", x->format->name,
			 x->format->directory ? "directory" : "database");
		return CLI_USAGE;
	}
	x->output = output_create(path, x->format->directory);
	if (!x->output)
		return CLI_FAILED;
	x->out = output_file(x->output);
	if (x->format->run)
		status = x->format->run(x, o->in.files, o->in.nr_files, symtab, &totals);
	else
		status = export_files(x, o->in.files, o->in.nr_files, symtab, &totals);
	if (!totals.hosts)
		output_discard(x->output);
	else if (output_commit(x->output))
		status = CLI_FAILED;
	else
		print_summary(path, &totals, now() - start);
	return status;
}

static int read_view(const struct options *o, struct view_rules *view, struct states *states)
{
	const struct view_show show = {
		.files = o->in.files,
		.nr_files = o->in.nr_files,
		.map = o->in.map,
		.host = o->in.host,
		.region_names = o->in.region_names,
		.max_states = TREE_MOST,
		.take = view_keep,
		.arg = states,
	};

	return view_open(view, o->view) ? view_show_files(&show, view) : CLI_FAILED;
}

static int export_main(int argc, char **argv)
{
	struct ktau_symtab *symtab = NULL;
	struct options o = { .in.folders = true };
	struct export_run x = { 0 };
	struct view_rules view = { 0 };
	struct states states = { 0 };
	int status = CLI_DONE;
	char *path = NULL;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.format && o.format->package) {
		complain("--%s: not available: install %s and rebuild ktau",
			 o.format->name, o.format->package);
		return CLI_FAILED;
	}
	if (!o.in.output)
		path = default_output(o.format, o.in.files[0]);
	if (overwrites_input(&o, path ? path : o.in.output) ||
	    (o.in.map && symbolize_load_map(&symtab, o.in.map))) {
		status = CLI_FAILED;
		goto out;
	}
	x.format = o.format;
	x.options = o.more;
	x.options.host = o.in.host;
	x.options.region_names = o.in.region_names;
	if (o.view)
		status = read_view(&o, &view, &states);
	else if (o.has_path)
		status = path_keep(&o.in, o.path, &states);
	else if (o.vm)
		status = vm_keep_states(&o.in, &states);
	if (o.view || o.has_path || o.vm)
		x.options.states = &states;
	if (!status)
		status = export_to(&x, &o, path ? path : o.in.output, symtab);
out:
	free(path);
	states_deinit(&states);
	view_deinit(&view);
	ktau_symtab_destroy(symtab);
	return status;
}

const struct subcommand subcommand_export = {
	"export", export_main, "convert a recording for Perfetto, SQLite and other programs",
	&parser, SUBCOMMAND_CONVERT
};
