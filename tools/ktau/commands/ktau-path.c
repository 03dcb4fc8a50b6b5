// SPDX-License-Identifier: GPL-2.0-only
/* ktau path: show what a task did and what it waited for, until its time is all accounted for. */
#include <argp.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "print/pager.h"
#include "path/blame.h"
#include "path/machines.h"
#include "path/print.h"
#include "path/read.h"
#include "path/region.h"
#include "path/uses.h"
#include "vm/keep.h"
#include "lib/report/registry.h"
#include "analyse/source.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "analyse/timeline.h"

enum { OPT_MODE = 256, OPT_SEGMENTS, OPT_TREE, OPT_BLAME, OPT_REGION };

enum screen { SCREEN_ROWS, SCREEN_SEGMENTS, SCREEN_TREE, SCREEN_BLAME, SCREEN_REGION };

struct options {
	const char *blame, *region;
	enum path_mode mode;
	enum screen screen;
	struct shared_options in;
};

/* What is shown of which machines. */
struct reading {
	const struct options *options;
	struct machines *machines;
	const struct path_reading *files;
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Selection:", 1 },
	TASK_OPTION("The path of this task: its pid or tid, its name, or its serial (default: the "
		    "recorded command, or the task from which all others in the trace descend)", 1),
	TIME_OPTIONS("the trace began (default: when the task started)",
		     " (default: when the task ended)", 1),
	HOST_OPTION(1),
	REGION_NAMES_OPTION("the regions of programs from the files ktau-user* in DIR (default: "
			    "the current one)", 1),
	{ "mode", OPT_MODE, "MODE", 0,
	  "bounded: the task, and what happened during its waits; full: back from the end, with "
	  "the task that was ready last (default: bounded)",
	  1 },
	{ NULL, 0, NULL, 0, "Contents (default: a row for each task, state and cause):", 2 },
	{ "segments", OPT_SEGMENTS, NULL, 0, "Show the segments in time order", 2 },
	{ "tree", OPT_TREE, NULL, 0, "Show a row for each program, below the one that ran it", 2 },
	{ "blame", OPT_BLAME, "PATTERN", OPTION_ARG_OPTIONAL,
	  "Show for which tasks all tasks waited whose names match PATTERN as in sh(1)", 2 },
	{ "region", OPT_REGION, "NAME", 0,
	  "Show the paths of all passes through the region NAME of a program, and of the slowest "
	  "1 %",
	  2 },
	TOP_OPTION("rows", 2),
	{ NULL, 0, NULL, 0, "Format:", 3 },
	{ "format", OPTION_FORMAT, "FORMAT", 0,
	  "text, csv or json (default: text); with --blame also dot, a graph for dot(1)", 3 },
	CSV_JSON_OPTIONS(3),
	MAP_OPTION(3),
	{ 0 }
};

static enum path_mode parse_mode(const char *word, const struct argp_state *state)
{
	if (!strcmp(word, "full"))
		return PATH_FULL;
	if (strcmp(word, "bounded"))
		cli_usage(state, "--mode=%s: not bounded or full", word);
	return PATH_BOUNDED;
}

static void check_combination(const struct options *o, const struct argp_state *state)
{
	if (o->in.is_other && o->screen != SCREEN_BLAME)
		cli_usage(state, "--format=dot requires --blame");
	if (o->screen == SCREEN_BLAME && o->in.task)
		cli_usage(state, "--blame takes no --task: it selects tasks by its PATTERN");
	if (o->screen == SCREEN_BLAME && o->mode != PATH_BOUNDED)
		cli_usage(state, "--blame takes no --mode=full");
	if (o->screen == SCREEN_REGION && (o->in.from.given || o->in.to.given))
		cli_usage(state, "--region takes no --from and no --to");
}

static void choose(struct options *o, enum screen screen, const struct argp_state *state)
{
	if (o->screen != SCREEN_ROWS && o->screen != screen)
		cli_usage(state, "--segments, --tree, --blame and --region exclude each other");
	o->screen = screen;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_MODE:
		o->mode = parse_mode(arg, state);
		return 0;
	case OPT_SEGMENTS:
		choose(o, SCREEN_SEGMENTS, state);
		return 0;
	case OPT_BLAME:
		choose(o, SCREEN_BLAME, state);
		o->blame = arg ? arg : "*";
		return 0;
	case OPT_REGION:
		choose(o, SCREEN_REGION, state);
		o->region = arg;
		return 0;
	case OPT_TREE:
		choose(o, SCREEN_TREE, state);
		return 0;
	case ARGP_KEY_END:
		check_combination(o, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "FILE...",
	"Show what a task did and what it waited for. Each wait is followed to the task, device or "
	"timer that ended it, so that the rows add up to the whole time. FILE has a trace, written "
	"by ktaud or saved from /proc/ktau/trace. Several files in time order are one recording. "
	"Those of several machines are joined by the TCP segments between them.",
	NULL, NULL, NULL
};

/* When */

static uint64_t moment_boottime(const struct moment *m, const struct ktau_rec_stream *stream,
				uint64_t first_ns)
{
	if (m->relative)
		return first_ns + m->ns;
	return m->ns - stream->realtime_ns + stream->boottime_ns;
}

/*
 * Set the times of @path, which has those of a task, to what the user has given. Return: 0, or -1
 * with a message.
 */
static int choose_time(const struct machines *m, const struct options *o, struct path *path)
{
	const struct ktau_rec_stream *stream = &m->all[m->reference]->stream;
	const struct path_graph *g = m->graph;
	const struct path life = *path;
	uint64_t first_ns = path_first_ns(g);

	if (o->in.from.given)
		path->from_ns = moment_boottime(&o->in.from, stream, first_ns);
	if (o->in.to.given)
		path->to_ns = moment_boottime(&o->in.to, stream, first_ns);
	if (path->from_ns < path->to_ns && path->from_ns >= first_ns && path->to_ns <= g->end_ns)
		return 0;
	if (path->from_ns >= path->to_ns && path->from_ns < g->end_ns && path->to_ns > first_ns)
		complain("%s: the task is not in this part of the trace: it is there from +%.6f to "
			 "+%.6f s", o->in.files[0], (double)(life.from_ns - first_ns) / 1e9,
			 (double)(life.to_ns - first_ns) / 1e9);
	else
		complain("%s: the times are not within the trace, which is %.6f s long",
			 o->in.files[0], (double)(g->end_ns - first_ns) / 1e9);
	return -1;
}

/* Output */

/* Read the files again for what was on the CPU, which is not shown of input that cannot be. */
static void find_uses(const struct reading *first, const struct path *path,
		      struct path_rows *rows)
{
	const struct options *o = first->options;
	struct path_reading r = {
		.in = &o->in, .region = o->region, .machines = first->machines,
		.host.host = o->in.host, .quiet = true,
	};
	struct uses *uses;

	if (source_read_once(o->in.files, o->in.nr_files))
		return;
	uses = uses_create(r.machines, path, rows);
	path_read(&r);
	uses_destroy(uses);
}

static int print(const struct reading *r, struct path *path, uint32_t task,
		 struct symbolizer **names)
{
	const struct options *o = r->options;
	const struct path_print p = {
		.g = r->machines->graph, .path = path, .task = task, .names = names,
		.input = o->in.files[0], .format = o->in.format, .top = o->in.top,
	};
	struct path_rows rows = { 0 };

	if (o->in.format == FORMAT_TEXT) {
		path_print_title(&p);
		machines_print_clocks(r->machines);
	}
	if (o->screen == SCREEN_SEGMENTS) {
		path_print_segments(&p);
	} else if (o->screen == SCREEN_TREE) {
		path_print_tree(&p);
	} else {
		path_rows_add(&rows, path);
		find_uses(r, path, &rows);
		path_rows_sort(&rows);
		path_print_rows(&p, &rows);
		path_rows_deinit(&rows);
	}
	if (o->in.format == FORMAT_TEXT)
		path_print_unknown(&p);
	return CLI_DONE;
}

static int print_blame(const struct reading *r, const struct blame *blame,
		       struct symbolizer **names)
{
	const struct options *o = r->options;
	const struct path_print p = {
		.g = r->machines->graph, .names = names, .format = o->in.format, .top = o->in.top,
	};

	if (!blame->victims) {
		complain("%s: the trace has no task '%s'", o->in.files[0], o->blame);
		return CLI_FAILED;
	}
	if (o->in.format == FORMAT_TEXT && !o->in.is_other)
		machines_print_clocks(r->machines);
	if (o->in.is_other)
		blame_print_dot(&p, blame);
	else
		blame_print(&p, blame);
	return CLI_DONE;
}

static int show_blame(const struct reading *r, struct symbolizer **names)
{
	const struct options *o = r->options;
	const struct path_graph *g = r->machines->graph;
	struct path time = { .from_ns = path_first_ns(g), .to_ns = g->end_ns };
	struct blame blame = { 0 };
	int status = CLI_FAILED;

	if (choose_time(r->machines, o, &time))
		return CLI_FAILED;
	if (blame_make(g, o->blame, time.from_ns, time.to_ns, &blame))
		status = print_blame(r, &blame, names);
	else
		complain("%s: internal error: the waits do not add up", o->in.files[0]);
	blame_deinit(&blame);
	return status;
}

static int print_region(const struct reading *r, const struct region_paths *paths,
			struct symbolizer **names)
{
	const struct options *o = r->options;
	const struct path_print p = {
		.g = r->machines->graph, .names = names, .format = o->in.format, .top = o->in.top,
	};

	if (!paths->passes) {
		complain("%s: there is no complete pass through the region '%s'", o->in.files[0],
			 o->region);
		return CLI_FAILED;
	}
	region_print(&p, o->region, paths);
	return CLI_DONE;
}

/* Without --task, the passes of all tasks. */
static int show_region(const struct reading *r, struct symbolizer **names)
{
	const struct options *o = r->options;
	struct path_graph *g = r->machines->graph;
	uint32_t task = o->in.task ? path_choose_task(r->files, o->in.task, "task") : PATH_NONE;
	struct region_paths paths = { 0 };
	int status = CLI_FAILED;

	if (o->in.task && task == PATH_NONE)
		return CLI_FAILED;
	if (o->in.task)
		machines_refer(r->machines, g->tasks[task].machine);
	if (region_make(g, o->mode, task, &paths))
		status = print_region(r, &paths, names);
	else
		complain("%s: internal error: the segments do not add up", o->in.files[0]);
	region_deinit(&paths);
	return status;
}

static int show_path(const struct reading *r, struct symbolizer **names)
{
	const struct path_graph *g = r->machines->graph;
	uint32_t task = path_choose_task(r->files, r->options->in.task, "task");
	int status = CLI_FAILED;
	struct path path;

	if (task == PATH_NONE)
		return CLI_FAILED;
	machines_refer(r->machines, g->tasks[task].machine);
	path = path_life(g, task);
	if (choose_time(r->machines, r->options, &path))
		return CLI_FAILED;
	path_walk(g, r->options->mode, task, &path);
	if (path_is_exact(&path))
		status = print(r, &path, task, names);
	else
		complain("%s: internal error: the segments do not add up", r->options->in.files[0]);
	path_deinit(&path);
	return status;
}

/* The names of each machine's events. A map is that of one. */
static struct symbolizer **name_events(const struct machines *m, struct ktau_symtab *symtab)
{
	struct symbolizer **names = cli_alloc(NULL, m->nr, sizeof(struct symbolizer *));
	size_t i;

	for (i = 0; i < m->nr; i++)
		names[i] = symbolize_create(registry_events(m->all[i]->registry),
					    m->nr > 1 ? NULL : symtab);
	return names;
}

static int show(const struct reading *r, struct ktau_symtab *symtab)
{
	const struct machines *m = r->machines;
	struct symbolizer **names;
	int status;
	size_t i;

	if (symtab && m->nr > 1)
		complain("--map: not used, because the files are of %zu machines", m->nr);
	names = name_events(m, symtab);
	if (r->options->screen == SCREEN_BLAME)
		status = show_blame(r, names);
	else if (r->options->screen == SCREEN_REGION)
		status = show_region(r, names);
	else
		status = show_path(r, names);
	for (i = 0; i < m->nr; i++)
		symbolize_destroy(names[i]);
	free(names);
	return status;
}

static int find_steals(const struct shared_options *in, size_t nr, struct steals *steals)
{
	return source_read_once(in->files, in->nr_files) ? CLI_DONE :
							   vm_keep_steals(in, nr, steals);
}

static int read_and_show(const struct options *o, struct ktau_symtab *symtab)
{
	struct machines machines = { 0 };
	struct path_reading r = {
		.in = &o->in, .region = o->region, .machines = &machines, .host.host = o->in.host,
		.find_steals = find_steals, .map.symtab = symtab,
	};
	int status = path_read(&r);

	if (!r.map.misfit && (!status || (machines.graph && machines.graph->events)))
		status |= path_has_trace(&r) ? show(&(struct reading){ o, &machines, &r }, symtab) :
					       CLI_FAILED;
	machines_deinit(&machines);
	steals_deinit(&r.steals);
	return status;
}

static int path_main(int argc, char **argv)
{
	struct options o = {
		.mode = PATH_BOUNDED,
		.in = {
			.since = "the trace began",
			.other_format = "dot",
			.wanted = FILES_REQUIRED,
			.folders = true,
		},
	};
	struct ktau_symtab *symtab = NULL;
	int status;

	cli_parse(&parser, argc, argv, 0, &o);
	pager_for_tables(o.in.format);
	if (o.in.map && symbolize_load_map(&symtab, o.in.map))
		return CLI_FAILED;
	status = read_and_show(&o, symtab);
	ktau_symtab_destroy(symtab);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_path = {
	"path", path_main, "show what a task did and what it waited for", &parser,
	SUBCOMMAND_ANALYSE
};
