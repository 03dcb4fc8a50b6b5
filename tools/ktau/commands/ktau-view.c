// SPDX-License-Identifier: GPL-2.0-only
/* ktau view: show states that a view declares over the events of a program and of the kernel. */
#include <argp.h>
#include <stdio.h>

#include "lib/cli.h"
#include "print/pager.h"
#include "view/builtin.h"
#include "view/rules.h"
#include "view/show.h"
#include "view/tree.h"
#include "subcommand.h"

enum { OPT_FROM = 256,
       OPT_TO,
       OPT_HOST,
       OPT_REGION_NAMES,
       OPT_LIST,
       OPT_CHECK,
       OPT_INTERVALS,
       OPT_MAX_STATES,
       OPT_FORMAT,
       OPT_CSV,
       OPT_JSON };

struct options {
	const char *check, *view;
	bool list;
	struct view_show show;
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "View:", 1 },
	{ "list", OPT_LIST, NULL, 0, "List the built-in views", 1 },
	{ "check", OPT_CHECK, "VIEW", 0, "Only look for errors in a view", 1 },
	{ NULL, 0, NULL, 0, "Selection:", 2 },
	{ "from", OPT_FROM, "TIME", 0,
	  "Start at TIME: \"2026-01-31 13:00:05\", @seconds since 1970, or +seconds since the "
	  "trace began (default: the first event)",
	  2 },
	{ "to", OPT_TO, "TIME", 0, "End at TIME (default: the end of the trace)", 2 },
	{ "host", OPT_HOST, "NAME", 0, "Use only the streams of this machine", 2 },
	{ "region-names", OPT_REGION_NAMES, "DIR", 0,
	  "Read the regions and events of programs from the files ktau-user* in DIR (default: the "
	  "current one)",
	  2 },
	{ NULL, 0, NULL, 0, "Contents (default: the time of each row by state):", 3 },
	{ "intervals", OPT_INTERVALS, NULL, 0, "Show the intervals in time order", 3 },
	{ "max-states", OPT_MAX_STATES, "N", 0,
	  "Keep at most N intervals, and times of N rows and states (default: 1000000)", 3 },
	{ NULL, 0, NULL, 0, "Format:", 4 },
	{ "format", OPT_FORMAT, "FORMAT", 0, "text, csv or json (default: text)", 4 },
	{ "csv", OPT_CSV, NULL, 0, "The same as --format=csv", 4 },
	{ "json", OPT_JSON, NULL, 0, "The same as --format=json", 4 },
	{ "map", 'm', "FILE", 0, "Read names from a System.map, kallsyms or vmlinux", 4 },
	{ 0 }
};

static void parse_moment(const char *option, const char *text, struct moment *m,
			 struct argp_state *state)
{
	if (moment_parse(text, m))
		cli_usage(state, "--%s=%s: not a time: use \"2026-01-31 13:00:05+0100\", "
				 "@seconds since 1970, or +seconds since the trace began",
			  option, text);
}

static error_t parse_format(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_INTERVALS:
		o->show.intervals = true;
		return 0;
	case OPT_MAX_STATES:
		if (cli_number(arg, UINT32_MAX, &o->show.max_states) || !o->show.max_states)
			cli_usage(state, "--max-states=%s: not a number from 1", arg);
		return 0;
	case OPT_FORMAT:
		if (table_parse_format(arg, &o->show.format))
			cli_usage(state, "--format=%s: not text, csv or json", arg);
		return 0;
	case OPT_CSV:
		o->show.format = FORMAT_CSV;
		return 0;
	case OPT_JSON:
		o->show.format = FORMAT_JSON;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The view is the first argument. */
static void check_arguments(struct options *o, const struct argp_state *state)
{
	if (o->list && o->check)
		cli_usage(state, "only one of --list and --check");
	if (o->list || o->check) {
		if (o->show.nr_files)
			cli_usage(state, "%s takes no FILE", o->list ? "--list" : "--check");
		return;
	}
	if (!o->show.nr_files)
		cli_usage(state, "a VIEW is required");
	o->view = *o->show.files++;
	if (!--o->show.nr_files)
		cli_usage(state, "a FILE is required");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_CHECK:
		o->check = arg;
		return 0;
	case OPT_FROM:
		parse_moment("from", arg, &o->show.from, state);
		return 0;
	case OPT_TO:
		parse_moment("to", arg, &o->show.to, state);
		return 0;
	case OPT_HOST:
		o->show.host = arg;
		return 0;
	case OPT_REGION_NAMES:
		o->show.region_names = arg;
		return 0;
	case 'm':
		o->show.map = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->show.files = state->argv + state->next;
		o->show.nr_files = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		check_arguments(o, state);
		return 0;
	}
	return parse_format(key, arg, state);
}

static const struct argp parser = {
	argp_options, parse_option, "VIEW FILE...\n--list\n--check=VIEW",
	"Show how long the rows of a view were in which state. VIEW is the name of a built-in "
	"view, or a file that says how the events of programs and of the kernel change states. "
	"FILE has a trace, written by ktaud or saved from /proc/ktau/trace. Several files in time "
	"order are one recording.",
	NULL, NULL, NULL
};

static int list_builtins(void)
{
	struct view_rules view = { 0 };
	size_t i;

	for (i = 0; view_builtins[i].name; i++) {
		if (!view_open(&view, view_builtins[i].name))
			return CLI_FAILED;
		printf("%-8s%s\n", view_builtins[i].name, view.title);
		view_deinit(&view);
	}
	return CLI_DONE;
}

static int view_main(int argc, char **argv)
{
	struct options o = { .show = { .max_states = TREE_MOST, .picture = true } };
	struct view_rules view = { 0 };
	int status;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.show.format == FORMAT_TEXT) {
		table_use_colour();
		pager_start();
	}
	if (o.list)
		status = list_builtins();
	else if (o.check)
		status = view_open(&view, o.check) ? CLI_DONE : CLI_FAILED;
	else
		status = view_open(&view, o.view) ? view_show_files(&o.show, &view) : CLI_FAILED;
	view_deinit(&view);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_view = {
	"view", view_main, "show states that a view declares, over user and kernel events", &parser,
	SUBCOMMAND_ANALYSE
};
