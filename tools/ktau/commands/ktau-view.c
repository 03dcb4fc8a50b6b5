// SPDX-License-Identifier: GPL-2.0-only
/* ktau view: show states that a view declares over the events of a program and of the kernel. */
#include <argp.h>
#include <stdio.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "print/pager.h"
#include "view/builtin.h"
#include "view/live.h"
#include "view/rules.h"
#include "view/show.h"
#include "view/tree.h"
#include "subcommand.h"

enum { OPT_LIST = 256, OPT_LIVE, OPT_WINDOW, OPT_CHECK, OPT_INTERVALS, OPT_MAX_STATES };

struct options {
	struct shared_options shared;
	const char *check, *view;
	bool list, live, intervals;
	uint64_t interval_ns, window_ns, max_states;
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "View:", 1 },
	{ "list", OPT_LIST, NULL, 0, "List the built-in views", 1 },
	{ "check", OPT_CHECK, "VIEW", 0, "Only look for errors in a view", 1 },
	{ NULL, 0, NULL, 0, "Running kernel:", 2 },
	{ "live", OPT_LIVE, NULL, 0,
	  "Show the last seconds of the running kernel instead of FILE, again and again", 2 },
	{ "interval", 'd', "SECONDS", 0, "Time between two screens (default: 1)", 2 },
	{ "window", OPT_WINDOW, "SECONDS", 0, "Time that a screen shows (default: 10)", 2 },
	{ NULL, 0, NULL, 0, "Selection:", 3 },
	TIME_OPTIONS("the trace began (default: the first event)",
		     " (default: the end of the trace)", 3),
	HOST_OPTION(3),
	REGION_NAMES_OPTION("the regions and events of programs from the files ktau-user* in DIR "
			    "(default: the current one)", 3),
	{ NULL, 0, NULL, 0, "Contents (default: the time of each row by state):", 4 },
	{ "intervals", OPT_INTERVALS, NULL, 0, "Show the intervals in time order", 4 },
	{ "max-states", OPT_MAX_STATES, "N", 0,
	  "Keep at most N intervals, and times of N rows and states (default: 1000000)", 4 },
	{ NULL, 0, NULL, 0, "Format:", 5 },
	FORMAT_OPTION(5),
	CSV_JSON_OPTIONS(5),
	MAP_OPTION(5),
	{ 0 }
};

static uint64_t parse_seconds(const char *option, const char *text, struct argp_state *state)
{
	uint64_t ns;

	if (shared_seconds(text, 100000000, &ns) || ns > 3600000000000)
		cli_usage(state, "--%s=%s: not a number of seconds from 0.1 to 3600", option, text);
	return ns;
}

/* The screens have lines of letters, of all that the kernel has. */
static void check_live(const struct options *o, const struct argp_state *state)
{
	const struct shared_options *s = &o->shared;

	if (!o->live && (o->interval_ns || o->window_ns))
		cli_usage(state, "--interval and --window require --live");
	if (o->live && (s->from.given || s->to.given || s->host || o->intervals || s->format))
		cli_usage(state, "--live takes no --from, --to, --host, --intervals and --format");
	if (o->live && s->nr_files)
		cli_usage(state, "--live takes no FILE");
}

/* The view is the first argument. */
static void check_arguments(struct options *o, const struct argp_state *state)
{
	if (o->list && o->check)
		cli_usage(state, "only one of --list and --check");
	if (o->list || o->check) {
		if (o->shared.nr_files)
			cli_usage(state, "%s takes no FILE", o->list ? "--list" : "--check");
		return;
	}
	if (!o->shared.nr_files)
		cli_usage(state, "a VIEW is required");
	o->view = *o->shared.files++;
	if (!--o->shared.nr_files && !o->live)
		cli_usage(state, "a FILE or --live is required");
	check_live(o, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_LIVE:
		o->live = true;
		return 0;
	case 'd':
		o->interval_ns = parse_seconds("interval", arg, state);
		return 0;
	case OPT_WINDOW:
		o->window_ns = parse_seconds("window", arg, state);
		return 0;
	case OPT_CHECK:
		o->check = arg;
		return 0;
	case OPT_INTERVALS:
		o->intervals = true;
		return 0;
	case OPT_MAX_STATES:
		if (cli_number(arg, UINT32_MAX, &o->max_states) || !o->max_states)
			cli_usage(state, "--max-states=%s: not a number from 1", arg);
		return 0;
	case ARGP_KEY_END:
		check_arguments(o, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->shared);
}

static const struct argp parser = {
	argp_options, parse_option, "VIEW FILE...\n--live VIEW\n--list\n--check=VIEW",
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

static int show(const struct options *o, struct view_rules *view)
{
	const struct view_show show = {
		.files = o->shared.files,
		.nr_files = o->shared.nr_files,
		.map = o->shared.map,
		.host = o->shared.host,
		.region_names = o->shared.region_names,
		.from = o->shared.from,
		.to = o->shared.to,
		.format = o->shared.format,
		.picture = true,
		.intervals = o->intervals,
		.max_states = o->max_states,
	};
	const struct view_live live = {
		.view = o->view,
		.show = show,
		.interval_ns = o->interval_ns ? o->interval_ns : 1000000000,
		.window_ns = o->window_ns ? o->window_ns : 10000000000,
	};

	return o->live ? view_live(&live) : view_show_files(&show, view);
}

static int view_main(int argc, char **argv)
{
	struct options o = {
		.shared.since = "the trace began", .shared.folders = true, .max_states = TREE_MOST,
	};
	struct view_rules view = { 0 };
	int status;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.shared.format == FORMAT_TEXT && !o.live) {
		table_use_colour();
		pager_start();
	}
	if (o.list)
		status = list_builtins();
	else if (o.check)
		status = view_open(&view, o.check) ? CLI_DONE : CLI_FAILED;
	else if (!view_open(&view, o.view))
		status = CLI_FAILED;
	else
		status = show(&o, &view);
	view_deinit(&view);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_view = {
	"view", view_main, "show states that a view declares, over user and kernel events", &parser,
	SUBCOMMAND_ANALYSE
};
