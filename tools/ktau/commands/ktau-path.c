// SPDX-License-Identifier: GPL-2.0-only
/* ktau path: show what a task did and what it waited for, until its time is all accounted for. */
#include <argp.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/report/hosts.h"
#include "print/pager.h"
#include "path/blame.h"
#include "path/machines.h"
#include "path/print.h"
#include "path/region.h"
#include "path/uses.h"
#include "lib/report/registry.h"
#include "analyse/records.h"
#include "analyse/source.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "analyse/timeline.h"

enum { OPT_MODE = 256, OPT_SEGMENTS, OPT_TREE, OPT_BLAME, OPT_REGION, OPT_TOP };

enum screen { SCREEN_ROWS, SCREEN_SEGMENTS, SCREEN_TREE, SCREEN_BLAME, SCREEN_REGION };

struct options {
	const char *task, *blame, *region;
	enum path_mode mode;
	enum screen screen;
	uint64_t top;
	struct shared_options in;
};

/**
 * struct reading - a pass through the files
 * @options: the options
 * @machines: the machines
 * @host: selects the streams of a machine
 * @elsewhere: the current stream is of a machine that is not selected
 * @quiet: what is wrong with the files has been said
 */
struct reading {
	const struct options *options;
	struct machines *machines;
	struct host_filter host;
	bool elsewhere;
	bool quiet;
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Selection:", 1 },
	{ "task", 't', "TASK", 0,
	  "The path of this task: its pid or tid, its name, or its serial (default: the one from "
	  "which all others in the trace descend)",
	  1 },
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
	{ "top", OPT_TOP, "N", 0, "Show only the first N rows", 2 },
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
	if (o->screen == SCREEN_BLAME && o->task)
		cli_usage(state, "--blame takes no --task: it selects tasks by its PATTERN");
	if (o->screen == SCREEN_BLAME && o->mode != PATH_BOUNDED)
		cli_usage(state, "--blame takes no --mode=full");
	if (o->screen == SCREEN_REGION && (o->in.from.given || o->in.to.given))
		cli_usage(state, "--region takes no --from and no --to");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 't':
		o->task = arg;
		return 0;
	case OPT_MODE:
		o->mode = parse_mode(arg, state);
		return 0;
	case OPT_SEGMENTS:
		o->screen = SCREEN_SEGMENTS;
		return 0;
	case OPT_BLAME:
		o->screen = SCREEN_BLAME;
		o->blame = arg ? arg : "*";
		return 0;
	case OPT_REGION:
		o->screen = SCREEN_REGION;
		o->region = arg;
		return 0;
	case OPT_TREE:
		o->screen = SCREEN_TREE;
		return 0;
	case OPT_TOP:
		o->top = shared_count("top", arg, state);
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

/* Reading */

static int take_record(void *arg, const struct ktau_reader *reader,
		       const union ktau_record *record)
{
	const struct options *o;
	struct reading *r = arg;

	o = r->options;
	if (record->rec->type == KTAU_REC_STREAM) {
		r->elsewhere = !host_is_selected(&r->host, record->stream);
		if (!r->elsewhere)
			machines_stream(r->machines, record->stream, o->region, o->in.region_names);
	}
	if (r->elsewhere || !r->machines->current)
		return 0;
	return machines_record(r->machines, reader, record);
}

static int read_files(struct reading *r)
{
	int status = CLI_DONE, i;

	for (i = 0; i < r->options->in.nr_files; i++)
		status |= records_read(r->options->in.files[i], r->quiet, take_record, r);
	return machines_finish(r->machines) ? CLI_FAILED : status;
}

/* Which task */

static bool is_named(const struct path_task *task, const char *name)
{
	uint64_t number;

	if (!task->nr)
		return false;
	if (cli_number(name, UINT64_MAX, &number))
		return task->owner.rec.type && (!strcmp(task->owner.comm, name) ||
						(task->label && !strcmp(task->label, name)));
	return task->owner.rec.type && task->owner.kind <= KTAU_OWNER_EXITED &&
	       (uint64_t)(uint32_t)task->owner.tid == number;
}

/* The last task with this name; the pid of an earlier one may have been used again. */
static uint32_t find_named(const struct path_graph *g, const char *name)
{
	uint32_t found = PATH_NONE, i;
	uint64_t serial = 0;

	for (i = 0; i < g->nr_tasks; i++)
		if (is_named(&g->tasks[i], name) &&
		    (found == PATH_NONE ||
		     g->tasks[i].edges[0].from_ns >= g->tasks[found].edges[0].from_ns))
			found = i;
	if (found != PATH_NONE || cli_number(name, UINT64_MAX, &serial))
		return found;
	for (i = 0; i < g->nr_tasks && found == PATH_NONE; i++)
		if (g->tasks[i].serial == serial && g->tasks[i].nr)
			found = i;
	return found;
}

/* The first ancestor that is traced, among all tasks or those that ktau record has tagged. */
static uint32_t root_of(const struct path_graph *g, uint32_t task, bool tagged)
{
	uint32_t creator, steps;

	for (steps = 0; steps < 10000; steps++) {
		creator = g->tasks[task].creator;
		if (creator == PATH_NONE || (tagged && !g->tasks[creator].owner.tag))
			break;
		task = creator;
	}
	return task;
}

/* The task from which all others descend; PATH_NONE if there is more than one. */
static uint32_t find_root(const struct path_graph *g, bool tagged)
{
	uint32_t root = PATH_NONE, i, at;

	for (i = 0; i < g->nr_tasks; i++) {
		if (!g->tasks[i].nr || (tagged && !g->tasks[i].owner.tag))
			continue;
		at = root_of(g, i, tagged);
		if (root != PATH_NONE && root != at)
			return PATH_NONE;
		root = at;
	}
	return root != PATH_NONE && g->tasks[root].nr ? root : PATH_NONE;
}

/* The command of ktau record, without --task. */
static uint32_t find_command(const struct path_graph *g)
{
	uint32_t root = find_root(g, true);

	return root != PATH_NONE ? root : find_root(g, false);
}

/* Return: the task, or PATH_NONE with a message. */
static uint32_t choose_task(const struct path_graph *g, const struct options *o)
{
	uint32_t task = o->task ? find_named(g, o->task) : find_command(g);

	if (task != PATH_NONE)
		return task;
	if (o->task)
		complain("%s: the trace has no task '%s'", o->in.files[0], o->task);
	else
		complain("%s: the trace is not that of a single command: select a task with "
			 "--task=PID", o->in.files[0]);
	return PATH_NONE;
}

/* When */

static uint64_t moment_boottime(const struct moment *m, const struct ktau_rec_stream *stream,
				uint64_t first_ns)
{
	if (m->relative)
		return first_ns + m->ns;
	return m->ns - stream->realtime_ns + stream->boottime_ns;
}

static uint64_t first_of(const struct path_graph *g)
{
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < g->nr_tasks; i++)
		if (g->tasks[i].nr && g->tasks[i].edges[0].from_ns < first)
			first = g->tasks[i].edges[0].from_ns;
	return first;
}

/*
 * Set the times of @path, which has those of a task, to what the user has given. Return: 0, or -1
 * with a message.
 */
static int choose_time(const struct machines *m, const struct options *o, struct path *path)
{
	const struct ktau_rec_stream *stream = &m->all[m->reference]->stream;
	const struct path_graph *g = m->graph;
	uint64_t first_ns = first_of(g);

	if (o->in.from.given)
		path->from_ns = moment_boottime(&o->in.from, stream, first_ns);
	if (o->in.to.given)
		path->to_ns = moment_boottime(&o->in.to, stream, first_ns);
	if (path->from_ns < path->to_ns && path->from_ns >= first_ns && path->to_ns <= g->end_ns)
		return 0;
	complain("%s: the times are not within the trace, which is %.6f s long", o->in.files[0],
		 (double)(g->end_ns - first_ns) / 1e9);
	return -1;
}

static struct path life_of(const struct path_task *task)
{
	struct path path = { .from_ns = task->edges[0].from_ns,
			     .to_ns = task->edges[task->nr - 1].to_ns };

	if (task->creator != PATH_NONE && task->created_ns < path.from_ns)
		path.from_ns = task->created_ns;
	return path;
}

/* Output */

/* Read the files again for what was on the CPU, which is not shown of input that cannot be. */
static void find_uses(const struct reading *first, const struct path *path,
		      struct path_rows *rows)
{
	const struct options *o = first->options;
	struct reading r = {
		.options = o, .machines = first->machines, .host.host = o->in.host, .quiet = true,
	};
	struct uses *uses;

	if (source_read_once(o->in.files, o->in.nr_files))
		return;
	uses = uses_create(r.machines, path, rows);
	read_files(&r);
	uses_destroy(uses);
}

static int print(const struct reading *r, struct path *path, uint32_t task,
		 struct symbolizer **names)
{
	const struct options *o = r->options;
	const struct path_print p = {
		.g = r->machines->graph, .path = path, .task = task, .names = names,
		.input = o->in.files[0], .format = o->in.format, .top = o->top,
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
		.g = r->machines->graph, .names = names, .format = o->in.format, .top = o->top,
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
	struct path time = { .from_ns = first_of(g), .to_ns = g->end_ns };
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
		.g = r->machines->graph, .names = names, .format = o->in.format, .top = o->top,
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
	uint32_t task = o->task ? choose_task(g, o) : PATH_NONE;
	struct region_paths paths = { 0 };
	int status = CLI_FAILED;

	if (o->task && task == PATH_NONE)
		return CLI_FAILED;
	if (o->task)
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
	uint32_t task = choose_task(g, r->options);
	int status = CLI_FAILED;
	struct path path;

	if (task == PATH_NONE)
		return CLI_FAILED;
	machines_refer(r->machines, g->tasks[task].machine);
	path = life_of(&g->tasks[task]);
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

static int read_and_show(const struct options *o, struct ktau_symtab *symtab)
{
	struct machines machines = { 0 };
	struct reading r = { .options = o, .machines = &machines, .host.host = o->in.host };
	int status = read_files(&r);

	if (machines.graph && machines.graph->events &&
	    first_of(machines.graph) == UINT64_MAX) {
		complain("%s: the trace has no durations: no task has slots of two times",
			 o->in.files[0]);
		status = CLI_FAILED;
	} else if (machines.graph && machines.graph->events) {
		status |= show(&r, symtab);
	} else if (!status) {
		complain("%s: has no trace: record one with ktaud --info=both", o->in.files[0]);
		status = CLI_FAILED;
	}
	machines_deinit(&machines);
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
