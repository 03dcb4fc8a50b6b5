// SPDX-License-Identifier: GPL-2.0-only
/* ktau report: show where each process spent its time. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/live.h"
#include "lib/output.h"
#include "html/html.h"
#include "print/over_time.h"
#include "print/pager.h"
#include "lib/report/report.h"
#include "analyse/source.h"
#include "path/keep.h"
#include "vm/keep.h"
#include "view/builtin.h"
#include "view/keep.h"
#include "view/rules.h"
#include "view/show.h"
#include "view/tree.h"
#include "subcommand.h"
#include "view_file.h"

enum {
	OPT_LIVE = 256,
	OPT_INTERVAL,
	OPT_PERIOD,
	OPT_BOOT,
	OPT_BY,
	OPT_NAME,
	OPT_GROUP,
	OPT_TOP,
	OPT_PROCESSES,
	OPT_SORT,
	OPT_TABLES,
	OPT_IDLE,
	OPT_SUBTRACT,
	OPT_CGROUP,
	OPT_UID,
	OPT_TAG,
	OPT_DETAILS,
	OPT_WAITS,
	OPT_CPUS,
	OPT_HTML,
	OPT_OVER_TIME,
	OPT_REGIONS,
	OPT_VIEW,
	OPT_PATH,
	OPT_BLAME, OPT_VM,
};

struct options {
	struct report report;
	struct period_select select;
	const char *view, *path, *blame;
	bool has_path, vm;
	struct shared_options in;
	bool live;
	bool details;
	bool by_given;
	bool over_time;
	uint64_t column_ns;
	uint64_t interval_ns;
	int32_t *pids;
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Input:", 1 },
	{ "live", OPT_LIVE, NULL, 0, "Report on the running kernel instead of a file", 1 },
	{ "interval", OPT_INTERVAL, "SECONDS", 0,
	  "With --live: report on the next SECONDS", 1 },
	LIVE_OPTION(1),
	MAP_OPTION(1),
	REGION_NAMES_OPTION("names and traces of regions from the files ktau-user* in DIR "
			    "(default: the current one)", 1),
	HOST_OPTION(1),
	{ NULL, 0, NULL, 0, "Period (default: from the first stream to the last):", 2 },
	{ "boot", OPT_BOOT, NULL, 0, "Start when KTAU started in that boot", 2 },
	{ "period", OPT_PERIOD, "N", 0, "The period that ends with stream N", 2 },
	TIME_OPTIONS("the first stream", "", 2),
	{ NULL, 0, NULL, 0, "Tasks, also for the totals (default: all):", 3 },
	{ "cgroup", OPT_CGROUP, "PATH", 0, "Tasks in this control group or below it", 3 },
	{ "uid", OPT_UID, "UID", 0, "Tasks with this real user id", 3 },
	{ "tag", OPT_TAG, "TAG", 0, "Tasks with this tag (see ktau-control(1))", 3 },
	{ NULL, 0, NULL, 0, "Contents (default: how tasks spent their lifetimes):", 4 },
	{ "details", OPT_DETAILS, NULL, 0,
	  "Show routines; implied by --group, --top, --sort and --subtract", 4 },
	{ "waits", OPT_WAITS, NULL, 0, "Show the routines in which tasks slept, and why", 4 },
	{ "regions", OPT_REGIONS, NULL, 0,
	  "Show the routines that ran for each region of a program; also part of --details", 4 },
	{ "cpus", OPT_CPUS, NULL, 0,
	  "Show the time of each CPU, and interrupts by line, handler and CPU", 4 },
	{ "over-time", OPT_OVER_TIME, "SECONDS", OPTION_ARG_OPTIONAL,
	  "Show the kernel time of each row for each period of the file, or every SECONDS", 4 },
	{ "view", OPT_VIEW, "VIEW", 0,
	  "Show the time of each row of a view by state: a file, or the name of a built-in view; "
	  "see ktau-view(1)", 4 },
	{ "path", OPT_PATH, "TASK", OPTION_ARG_OPTIONAL,
	  "With --html: show the path of TASK above the tasks; see ktau-path(1)", 4 },
	{ "blame", OPT_BLAME, "PATTERN", OPTION_ARG_OPTIONAL,
	  "With --html: show for which tasks all tasks waited whose names match PATTERN as in "
	  "sh(1)", 4 },
	{ "vm", OPT_VM, NULL, 0,
	  "With --html: FILE is the recording of a host, followed by those of its guests: show "
	  "what their CPUs did above the tasks; see ktau-vm(1)", 4 },
	{ "pid", 'p', "PID,...", 0, "Only these processes or threads", 4 },
	{ "name", OPT_NAME, "PATTERN,...", 0,
	  "Only processes (or control groups) whose names match a pattern as in sh(1)", 4 },
	{ "group", 'g', "GROUP,...", 0, "Only routines of these groups", 4 },
	{ "top", OPT_TOP, "N", 0, "Only the first N routines of each table", 4 },
	{ "tables", OPT_TABLES, "TABLE,...", 0,
	  "Show account, cpu_account, waits, processes, counters, total, cpus, interrupts, "
	  "regions, losses or all", 4 },
	{ "processes", OPT_PROCESSES, "N", 0, "Only the first N processes or rows", 4 },
	{ "idle", OPT_IDLE, NULL, 0,
	  "Also show idle tasks, and kernel threads that did nothing", 4 },
	{ NULL, 0, NULL, 0, "Format:", 5 },
	{ "by", OPT_BY, "WHAT", 0,
	  "Show a row or table per process, thread, name, cgroup or user (default: name; with "
	  "--details: process)",
	  5 },
	{ "sort", OPT_SORT, "COLUMN", 0, "excl, incl, count or name (default: excl)", 5 },
	{ "subtract", OPT_SUBTRACT, NULL, 0, "Subtract KTAU's own cost from the times", 5 },
	FORMAT_OPTION(5),
	{ "html", OPT_HTML, "OUT", 0,
	  "Write everything to OUT as one page for a browser, with a timeline if FILE contains a "
	  "trace",
	  5 },
	{ 0 }
};

static void parse_pids(struct options *o, const char *text, struct argp_state *state)
{
	const char *end;
	uint64_t pid;

	for (;;) {
		end = cli_number_at(text, INT32_MAX, &pid);
		if (!end || (*end && *end != ','))
			cli_usage(state, "--pid: '%s' is not a list of pids", text);
		o->pids = cli_alloc(o->pids, o->report.nr_pids + 1, sizeof(*o->pids));
		o->pids[o->report.nr_pids++] = (int32_t)pid;
		if (!*end)
			break;
		text = end + 1;
	}
	o->report.pids = o->pids;
}

static uint32_t parse_groups(const char *text, struct argp_state *state)
{
	char *words = strdup(text), *rest = words, *word;
	uint32_t groups = 0, bit;
	uint64_t number;

	while (words && (word = strsep(&rest, ","))) {
		bit = ktau_group_by_name(word);
		/* A group without a name is shown and given as a number. */
		if (!bit && !cli_number(word, UINT32_MAX, &number))
			bit = (uint32_t)number;
		if (!bit)
			cli_usage(state, "--group: no group '%s'", word);
		groups |= bit;
	}
	free(words);
	return groups;
}

static uint64_t parse_seconds(const char *option, const char *text, struct argp_state *state)
{
	uint64_t ns;

	if (shared_seconds(text, 1, &ns))
		cli_usage(state, "--%s=%s: not a number of seconds, such as 10 or 0.5", option,
			  text);
	return ns;
}

/* A view has its own rows, which are not those of tasks. */
static void check_view(const struct options *o, const struct argp_state *state)
{
	const struct report *r = &o->report;

	/* In a page, the rows of the view are beside those of tasks. */
	if (r->html && !o->live)
		return;
	if (o->live || o->over_time || o->details || o->by_given || r->tables || r->nr_pids ||
	    r->pattern || r->filter.flags || r->processes || r->idle)
		cli_usage(state, "--view has its own rows: only --from, --to, --host, --map, "
				 "--region-names and --format apply");
	if (o->select.choice != PERIOD_ALL && o->select.choice != PERIOD_TIMES)
		cli_usage(state, "--view: use --from and --to");
}

/* It is a table of its own. */
static void check_over_time(const struct options *o, const struct argp_state *state)
{
	if (o->live || o->select.choice != PERIOD_ALL)
		cli_usage(state, "--over-time requires a FILE and covers all of it");
	if (o->details || o->report.tables || o->report.html)
		cli_usage(state, "--over-time prints one table: none of --html, --details, "
				 "--waits, --regions, --cpus, --tables, --group, --top, --sort "
				 "and --subtract applies");
}

static void check_files(const struct options *o, const struct argp_state *state)
{
	const char *once = source_read_once(o->in.files, o->in.nr_files);

	if (o->live == (o->in.nr_files > 0))
		cli_usage(state, "either a FILE or --live is required");
	if (o->interval_ns && !o->live)
		cli_usage(state, "--interval requires --live");
	if (o->report.html && once)
		cli_usage(state, "--html: %s can be read only once, and a page takes "
				 "three times; save it in a file", once);
	if (o->live && o->select.choice != PERIOD_ALL && o->select.choice != PERIOD_BOOT)
		cli_usage(state, "--period, --from and --to require a FILE");
	if (o->report.html && o->in.format != FORMAT_TEXT)
		cli_usage(state, "--html writes a page: --format does not apply");
	if (o->over_time)
		check_over_time(o, state);
	if (o->view)
		check_view(o, state);
	if (o->has_path && (!o->report.html || o->view))
		cli_usage(state, "--path goes with --html, without --view");
	if (o->vm && (!o->report.html || o->view || o->has_path))
		cli_usage(state, "--vm goes with --html, without --view and --path");
	if (o->vm && o->in.nr_files < 2)
		cli_usage(state, "--vm needs a recording of the host and one of each guest");
	if (o->blame && !o->report.html)
		cli_usage(state, "--blame goes with --html; otherwise use ktau path --blame");
}

static void choose_period(struct options *o, enum period_choice choice,
			  const struct argp_state *state)
{
	if (o->select.choice != PERIOD_ALL && o->select.choice != choice)
		cli_usage(state, "--boot, --period and --from or --to exclude each other");
	o->select.choice = choice;
}

static error_t parse_selection(int key, char *arg, struct options *o,
			       struct argp_state *state)
{
	switch (key) {
	case OPT_LIVE:
		o->live = true;
		return 0;
	case OPT_INTERVAL:
		o->interval_ns = parse_seconds("interval", arg, state);
		return 0;
	case OPT_BOOT:
		choose_period(o, PERIOD_BOOT, state);
		return 0;
	case OPT_PERIOD:
		choose_period(o, PERIOD_NUMBER, state);
		o->select.number = shared_count("period", arg, state);
		if (!o->select.number)
			cli_usage(state, "--period: periods are numbered from 1");
		return 0;
	case OPTION_FROM:
	case OPTION_TO:
		choose_period(o, PERIOD_TIMES, state);
		break;
	case OPT_HTML:
		o->report.html = arg;
		return 0;
	case OPT_VIEW:
		o->view = arg;
		return 0;
	case OPT_PATH:
		o->has_path = true;
		o->path = arg;
		return 0;
	case OPT_VM:
		o->vm = true;
		return 0;
	case OPT_BLAME:
		o->blame = arg ? arg : "*";
		return 0;
	case ARGP_KEY_END:
		check_files(o, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static error_t parse_filter(int key, const char *arg, struct task_filter *f,
			    struct argp_state *state)
{
	switch (key) {
	case OPT_CGROUP:
		f->flags |= KTAU_SELECT_CGROUP;
		f->cgroup = arg;
		return 0;
	case OPT_UID:
		f->flags |= KTAU_SELECT_UID;
		f->uid = (uint32_t)shared_count("uid", arg, state);
		return 0;
	case OPT_TAG:
		f->flags |= KTAU_SELECT_TAG;
		f->tag = (uint32_t)shared_count("tag", arg, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_form(int key, char *arg, struct options *o, struct argp_state *state)
{
	struct report *r = &o->report;

	switch (key) {
	case OPT_BY:
		o->by_given = true;
		if (report_parse_by(arg, &r->by))
			cli_usage(state, "--by=%s: not process, thread, name, cgroup or user", arg);
		return 0;
	case OPT_SORT:
		if (report_parse_sort(arg, &r->sort))
			cli_usage(state, "--sort=%s: not excl, incl, count or name", arg);
		return 0;
	}
	return parse_selection(key, arg, o, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct report *r = &o->report;

	if (!parse_filter(key, arg, &r->filter, state))
		return 0;
	o->details |= key == 'g' || key == OPT_TOP || key == OPT_SORT || key == OPT_SUBTRACT;

	switch (key) {
	case OPT_DETAILS:
		o->details = true;
		return 0;
	case OPT_WAITS:
		r->tables |= REPORT_WAITS;
		return 0;
	case OPT_REGIONS:
		r->tables |= REPORT_REGIONS;
		return 0;
	case OPT_CPUS:
		r->cpus = true;
		r->tables |= REPORT_ACCOUNT | REPORT_CPU_ACCOUNT | REPORT_INTERRUPTS;
		return 0;
	case OPT_OVER_TIME:
		o->over_time = true;
		o->column_ns = arg ? parse_seconds("over-time", arg, state) : 0;
		return 0;
	case 'p':
		parse_pids(o, arg, state);
		return 0;
	case OPT_NAME:
		r->pattern = arg;
		return 0;
	case 'g':
		r->groups = parse_groups(arg, state);
		return 0;
	case OPT_TOP:
		r->top = shared_count("top", arg, state);
		return 0;
	case OPT_PROCESSES:
		r->processes = shared_count("processes", arg, state);
		return 0;
	case OPT_IDLE:
		r->idle = true;
		return 0;
	case OPT_SUBTRACT:
		r->subtract = true;
		return 0;
	case OPT_TABLES:
		if (report_parse_tables(arg, &r->tables))
			cli_usage(state, "--tables=%s: no such table", arg);
		return 0;
	}
	return parse_form(key, arg, o, state);
}

static const struct argp parser = {
	argp_options, parse_option, "FILE...\n--live",
	"Print how tasks spent their lifetime (in user mode, in the kernel, in interrupts, waiting "
	"for a CPU, asleep) and which kernel routines took most of it. FILE was written by ktaud "
	"or is a saved stream; - is standard input. Several files in time order make one report.",
	NULL, NULL, NULL
};

static int read_live(struct options *o, struct period *period, struct ktau_reader *reader)
{
	struct task_filter *f = &o->report.filter;
	int err;

	if (f->flags & KTAU_SELECT_CGROUP) {
		err = ktau_cgroup_id(f->cgroup, &f->cgroup_id);
		if (err) {
			complain("cannot find control group %s: %s", f->cgroup, strerror(-err));
			return CLI_FAILED;
		}
	}
	/* BPF programs begin to measure now. */
	if (!o->interval_ns && live_is_bpf())
		o->interval_ns = 1000000000;
	f->applied = true;
	err = period_live(period, reader, o->interval_ns, f);
	if (err)
		source_failed(reader, NULL, err);
	return err ? CLI_FAILED : CLI_DONE;
}

/* Name the source for the heading; the caller frees the text. */
static char *name_source(const struct options *o)
{
	char *name;
	int n;

	if (o->live)
		n = asprintf(&name, "the running kernel");
	else if (o->in.nr_files == 1)
		n = asprintf(&name, "%s", o->in.files[0]);
	else
		n = asprintf(&name, "%s to %s", o->in.files[0], o->in.files[o->in.nr_files - 1]);
	return n < 0 ? NULL : name;
}

static int print(struct report *r, const struct period *period, const struct ktau_reader *reader,
		 struct ktau_symtab *symtab)
{
	int err;

	if (symtab && symbolize_fit_map(symtab, r->source, reader))
		return CLI_FAILED;
	if (r->subtract && ktau_snapshot_stream(period->after)->origin == KTAU_ORIGIN_BPF) {
		complain("%s: --subtract is not possible: the cost of BPF programs was not "
			 "measured",
			 r->source);
		return CLI_FAILED;
	}
	err = aggregate_finish(period->rows, period->before, period->after);
	if (err) {
		complain("out of memory");
		return CLI_FAILED;
	}
	r->names = symbolize_create(registry_events(period->registry), symtab);
	if (r->html) {
		err = html_report(r, period);
	} else if (!report_print(r, period, stdout)) {
		complain("%s: nothing matches", r->source);
		err = -ENOENT;
	}
	symbolize_destroy(r->names);
	return err ? CLI_FAILED : CLI_DONE;
}

static int report(struct options *o, struct ktau_reader **reader, struct ktau_symtab *symtab)
{
	struct period period;
	struct aggregate rows;
	int status = CLI_FAILED, err = period_init(&period, &rows);

	if (err) {
		complain("out of memory");
		return CLI_FAILED;
	}
	aggregate_init(&rows, o->report.by, &o->report.filter, period.registry);
	rows.regions = regions_create(o->report.region_names);
	if (o->live)
		status = read_live(o, &period, *reader);
	else
		status = source_read_files(&period, &o->select, o->in.files, o->in.nr_files,
					   reader);
	if ((status == CLI_DONE || period.streams) &&
	    !source_has_period(&period, &o->select, o->report.source))
		status = CLI_FAILED;
	else if (period.last)
		status |= print(&o->report, &period, *reader, symtab);
	regions_destroy(rows.regions);
	aggregate_deinit(&rows);
	period_deinit(&period);
	return status;
}

/* The default tables. If processes are selected, their routines are shown. */
static unsigned int usual_tables(const struct options *o)
{
	static const unsigned int tables[][3] = {
		/* text, csv, json */
		{ REPORT_ACCOUNT | REPORT_CPU_ACCOUNT, REPORT_ACCOUNT,
		  REPORT_ACCOUNT | REPORT_CPU_ACCOUNT | REPORT_LOSSES },
		{ REPORT_PROCESSES | REPORT_COUNTERS | REPORT_REGIONS | REPORT_LOSSES,
		  REPORT_PROCESSES,
		  REPORT_ACCOUNT | REPORT_PROCESSES | REPORT_COUNTERS | REPORT_REGIONS |
			  REPORT_LOSSES },
		{ REPORT_DETAILS | REPORT_REGIONS, REPORT_PROCESSES, REPORT_ALL },
	};
	const struct report *r = &o->report;

	if (o->details)
		return tables[2][r->format];
	return tables[r->nr_pids || r->pattern][r->format];
}

static void choose(struct options *o)
{
	const unsigned int by_process = REPORT_PROCESSES | REPORT_COUNTERS | REPORT_REGIONS;
	struct report *r = &o->report;

	r->format = o->in.format;
	r->region_names = o->in.region_names;
	o->select.host = o->in.host;
	o->select.from = o->in.from;
	o->select.to = o->in.to;
	if (!r->tables)
		r->tables = usual_tables(o);
	if (r->html)
		r->by = BY_PROCESS;
	else if (!o->by_given)
		r->by = r->tables & by_process ? BY_PROCESS : BY_NAME;
}

static int over_time(const struct options *o)
{
	const struct walk walk = {
		.files = o->in.files,
		.nr_files = o->in.nr_files,
		.host = o->select.host,
		.by = o->report.by,
		.filter = &o->report.filter,
		.length_ns = o->column_ns,
	};
	int status = over_time_print(&o->report, &walk, stdout);

	free(o->pids);
	return status;
}

/* Print the rows of a view, or keep them in @states for the page. */
static int show_view(const struct options *o, struct view_rules *view, struct states *states)
{
	struct view_show show = {
		.files = o->in.files,
		.nr_files = o->in.nr_files,
		.map = o->in.map,
		.host = o->select.host,
		.region_names = o->report.region_names,
		.format = o->report.format,
		.max_states = TREE_MOST,
		.take = states ? view_keep : NULL,
		.arg = states,
	};

	/* The page has the rows of the whole trace, and selects a part itself. */
	if (!states) {
		show.from = o->select.from;
		show.to = o->select.to;
	}
	return view_open(view, o->view) ? view_show_files(&show, view) : CLI_FAILED;
}

static bool overwrites_input(const struct options *o)
{
	const char *html = o->report.html;

	return html && (shared_is_input(&o->in, html) || output_is_input(html, view_file(o->view)));
}

static int report_main(int argc, char **argv)
{
	struct options o = {
		.report.groups = KTAU_GROUP_ALL, .in.since = "the first stream", .in.folders = true,
	};
	struct ktau_symtab *symtab = NULL;
	struct ktau_reader *reader = NULL;
	struct view_rules view = { 0 };
	struct states states = { 0 };
	struct delays delays = { 0 };
	int status = CLI_FAILED;
	char *source = NULL;

	cli_parse(&parser, argc, argv, 0, &o);
	choose(&o);
	if (overwrites_input(&o))
		goto out;
	pager_for_tables(o.report.format);
	if (o.view) {
		status = show_view(&o, &view, o.report.html ? &states : NULL);
		if (status || !o.report.html)
			goto out;
		o.report.states = &states;
		status = CLI_FAILED;
	}
	if (o.has_path || o.vm) {
		if (o.vm ? vm_keep_states(&o.in, &states) : path_keep(&o.in, o.path, &states))
			goto out;
		o.report.states = &states;
	}
	if (o.blame) {
		if (path_keep_delays(&o.in, o.blame, &delays))
			goto out;
		o.report.delays = &delays;
	}
	if (o.over_time)
		return over_time(&o);
	o.report.files = o.in.files;
	o.report.nr_files = o.in.nr_files;
	o.report.source = source = name_source(&o);
	if (o.in.map && symbolize_load_map(&symtab, o.in.map))
		goto out;
	if (!source || ktau_reader_create(&reader)) {
		complain("out of memory");
		goto out;
	}
	status = report(&o, &reader, symtab);
out:
	if (cli_finish(stdout))
		status = CLI_FAILED;
	states_deinit(&states);
	delays_deinit(&delays);
	view_deinit(&view);
	ktau_reader_destroy(reader);
	ktau_symtab_destroy(symtab);
	free(source);
	free(o.pids);
	return status;
}

const struct subcommand subcommand_report = {
	"report", report_main, "show how long each process ran and waited, and in which routines",
	&parser, SUBCOMMAND_LOOK
};
