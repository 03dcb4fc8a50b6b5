// SPDX-License-Identifier: GPL-2.0-only
/* ktau top: the default report, refreshed periodically or replayed from a file. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "analyse/replay.h"
#include "lib/report/report_options.h"
#include "analyse/source.h"
#include "subcommand.h"
#include "print/top_screen.h"
#include "print/top_view.h"

enum { OPT_BY = 256, OPT_VM };

/**
 * struct top - state of the program
 * @report: what to show
 * @in: options that other commands have, too; without files: the running kernel
 * @replay: where the periods of the files are
 * @symtab: symbols of the map
 * @interval_ns: time between two periods of the running kernel or of a replay
 * @reader: reader of the running kernel or of the current period
 * @period: current period; unused unless @read
 * @rows: rows of @period
 * @read: @period has been read
 * @view: state of the display
 * @screen: visible part of the display
 */
struct top {
	struct report report;
	struct shared_options in;
	struct replay replay;
	struct ktau_symtab *symtab;
	uint64_t interval_ns;
	struct ktau_reader *reader;
	struct period period;
	struct aggregate rows;
	bool read;
	struct top_view view;
	struct top_screen screen;
	int32_t pid;
};

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "PID", 0, "Only this process, or the process of this thread", 0 },
	{ "by", OPT_BY, "WHAT", 0, "Show a row per name, pid, cgroup or user (default: name)", 0 },
	{ "vm", OPT_VM, NULL, 0, "Begin with the virtual CPUs of this host's guests", 0 },
	{ "interval", 'd', "SECONDS", 0, "Time between two screens (default: 1)", 0 },
	HOST_OPTION(0),
	LIVE_OPTION(0),
	MAP_OPTION(0),
	REGION_NAMES_OPTION("names of regions from the files ktau-user.* in DIR (default: the "
			    "current one)", 0),
	{ 0 }
};

static int parse_by(const char *word, enum aggregate_by *by)
{
	static const struct {
		const char *word;
		enum aggregate_by by;
	} words[] = {
		{ "name", BY_NAME }, { "pid", BY_PROCESS }, { "cgroup", BY_CGROUP },
		{ "user", BY_USER },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i].word, word)) {
			*by = words[i].by;
			return 0;
		}
	}
	return -1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct top *t = state->input;
	uint64_t pid;
	const char *once;

	switch (key) {
	case 'p':
		if (cli_number(arg, INT32_MAX, &pid))
			cli_usage(state, "--pid=%s: not a pid", arg);
		t->pid = (int32_t)pid;
		t->report.pids = &t->pid;
		t->report.nr_pids = 1;
		t->report.by = BY_PROCESS;
		return 0;
	case OPT_BY:
		if (parse_by(arg, &t->report.by))
			cli_usage(state, "--by=%s: not name, pid, cgroup or user", arg);
		return 0;
	case OPT_VM:
		t->view.page = PAGE_VMS;
		return 0;
	case 'd':
		if (shared_seconds(arg, 100000000, &t->interval_ns))
			cli_usage(state, "--interval=%s: not a number of seconds, 0.1 or more",
				  arg);
		return 0;
	case ARGP_KEY_END:
		once = source_read_once(t->in.files, t->in.nr_files);
		if (once)
			cli_usage(state, "%s can be read only once; save it in a file", once);
		return 0;
	}
	return shared_option(key, arg, state, &t->in);
}

static const struct argp parser = {
	argp_options, parse_option, "[FILE...]",
	"Show where each task spends its time and what it is doing now, on a screen that "
	"refreshes itself. FILE was written by ktaud or is a saved stream; its periods are "
	"replayed one after the other. Several files in time order are one recording. Keys: "
	"Enter shows the routines of a task, w its waits, r the regions of its program, i "
	"interrupts by line and CPU, v virtual CPUs, l losses, ? all keys; Esc goes back; s sorts, "
	"/ filters by name, f freezes; left and right step through the periods of a FILE; q quits.",
	NULL, NULL, NULL
};

static void drop_period(struct top *t)
{
	if (!t->read)
		return;
	regions_destroy(t->rows.regions);
	aggregate_deinit(&t->rows);
	period_deinit(&t->period);
	t->read = false;
}

static int make_period(struct top *t)
{
	if (period_init(&t->period, &t->rows)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	t->read = true;
	aggregate_init(&t->rows, t->report.by, &t->report.filter, t->period.registry);
	t->rows.regions = regions_create(t->in.region_names);
	return CLI_DONE;
}

static int read_live(struct top *t)
{
	bool again = t->read;
	int err;

	if (!again && make_period(t))
		return CLI_FAILED;
	err = period_live_next(&t->period, t->reader, again, &t->report.filter);
	if (err)
		source_failed(t->reader, NULL, err);
	return err ? CLI_FAILED : CLI_DONE;
}

/* Read the period that ends with stream number t->screen.number. */
static int read_files(struct top *t)
{
	int err;

	drop_period(t);
	if (make_period(t))
		return CLI_FAILED;
	err = replay_read(&t->replay, t->screen.number, &t->period, &t->reader);
	if (err == -ENODATA)
		complain("%s: stream %" PRIu64 " no longer exists", t->in.files[0],
			 t->screen.number);
	else if (err)
		source_failed(t->reader, t->in.files[0], err);
	return err ? CLI_FAILED : CLI_DONE;
}

static int read_period(struct top *t)
{
	if ((t->in.files ? read_files(t) : read_live(t)) ||
	    (t->symtab && symbolize_fit_map(t->symtab, t->in.files ? t->in.files[0] : "this kernel",
					    t->reader)))
		return CLI_FAILED;
	if (!aggregate_finish(&t->rows, t->period.before, t->period.after))
		return CLI_DONE;
	complain("out of memory");
	return CLI_FAILED;
}

/* Is there a stream with this number? If it is not in the index yet, the index grows. */
static bool has_stream(struct top *t, uint64_t number)
{
	bool found = number <= t->replay.nr || replay_find(&t->replay, number);

	t->screen.last = t->replay.nr;
	t->screen.more = !t->replay.complete;
	return found;
}

/* Read the first period: a file with two streams has one; one stream shows what preceded it. */
static int read_first(struct top *t)
{
	const struct period_select any = { .host = t->in.host };
	struct period none = { .streams = 0 };

	if (!t->in.files)
		return read_period(t);
	replay_init(&t->replay, t->in.files, t->in.nr_files, t->in.host);
	t->screen.number = has_stream(t, 2) ? 2 : 1;
	if (t->screen.last)
		return read_period(t);
	none.traces = t->replay.traces;
	source_has_period(&none, &any, t->in.files[0]);
	return CLI_FAILED;
}

static void fill(struct top *t)
{
	t->report.names = symbolize_create(registry_events(t->period.registry), t->symtab);
	t->view.width = top_screen_width();
	top_view_fill(&t->view, &t->report, &t->period);
	symbolize_destroy(t->report.names);
}

/* Go to another period of the files. Does nothing at either end. */
static int step(struct top *t, int by)
{
	uint64_t to = t->screen.number + (uint64_t)by;

	if (!t->in.files || to < (t->screen.last > 1 ? 2 : 1) || !has_stream(t, to))
		return CLI_DONE;
	t->screen.number = to;
	return read_period(t);
}

static void open_page(struct top *t, enum top_page page)
{
	t->view.page = page;
	t->screen.scroll = 0;
}

static void move_by(struct top *t, long by)
{
	size_t nr = t->view.nr_lines ? t->view.nr_lines - 1 : 0;
	size_t *at = t->view.page == PAGE_TASKS ? &t->view.selected : &t->screen.scroll;
	size_t to = *at;

	if (!nr)
		return;
	if (by < 0)
		to = to > (size_t)-by ? to - (size_t)-by : 0;
	else
		to = to + (size_t)by < nr ? to + (size_t)by : nr - 1;
	if (t->view.page == PAGE_TASKS)
		top_view_select(&t->view, to);
	else
		t->screen.scroll = to;
}

/* Edit the filter text. */
static void edit_filter(struct top *t, int key)
{
	size_t used = strlen(t->view.filter);

	if (key == TOP_KEY_ENTER)
		t->screen.prompt = false;
	else if (key == TOP_KEY_BACK && used)
		t->view.filter[used - 1] = 0;
	else if (key == TOP_KEY_BACK)
		t->screen.prompt = false;
	else if (key >= ' ' && key < TOP_KEY_NONE && used + 1 < sizeof(t->view.filter))
		t->view.filter[used] = (char)key, t->view.filter[used + 1] = 0;
}

static void move_key(struct top *t, int key)
{
	long page = (long)top_screen_rows(&t->view) - 1;

	switch (key) {
	case TOP_KEY_UP:
		move_by(t, -1);
		break;
	case TOP_KEY_DOWN:
		move_by(t, 1);
		break;
	case TOP_KEY_PAGE_UP:
		move_by(t, -page);
		break;
	case TOP_KEY_PAGE_DOWN:
		move_by(t, page);
		break;
	case TOP_KEY_HOME:
		move_by(t, -(1L << 30));
		break;
	case TOP_KEY_END:
		move_by(t, 1L << 30);
		break;
	}
}

static void page_key(struct top *t, int key)
{
	bool has_rows = t->view.page != PAGE_TASKS || t->view.nr_lines > 1;

	switch (key) {
	case TOP_KEY_ENTER:
		if (has_rows)
			open_page(t, PAGE_ROUTINES);
		break;
	case 'w':
		if (has_rows)
			open_page(t, PAGE_WAITS);
		break;
	case 'r':
		if (has_rows)
			open_page(t, PAGE_REGIONS);
		break;
	case 'i':
		open_page(t, PAGE_INTERRUPTS);
		break;
	case 'v':
		open_page(t, PAGE_VMS);
		break;
	case 'l':
		open_page(t, PAGE_LOSSES);
		break;
	case '?':
	case 'h':
		open_page(t, PAGE_KEYS);
		break;
	case TOP_KEY_BACK:
		open_page(t, PAGE_TASKS);
		break;
	}
}

/* Handle a key. Return: 0; -1 to quit; 1 after an error. */
static int handle_key(struct top *t, int key)
{
	if (key == TOP_KEY_STOP || (key == 'q' && !t->screen.prompt))
		return -1;
	if (t->screen.prompt) {
		edit_filter(t, key);
		return 0;
	}
	switch (key) {
	case 's':
		t->view.sort = (t->view.sort + 1) % TOP_NR_SORTS;
		break;
	case '/':
		open_page(t, PAGE_TASKS);
		t->screen.prompt = true;
		t->view.filter[0] = 0;
		break;
	case 'f':
		t->screen.frozen = !t->screen.frozen;
		break;
	case TOP_KEY_LEFT:
	case TOP_KEY_RIGHT:
		t->screen.frozen = t->screen.frozen || t->in.files;
		return step(t, key == TOP_KEY_LEFT ? -1 : 1);
	default:
		move_key(t, key);
		page_key(t, key);
	}
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Show the next period. */
static int refresh(struct top *t)
{
	if (t->screen.frozen)
		return 0;
	return t->in.files ? step(t, 1) : read_period(t);
}

static int show(struct top *t)
{
	uint64_t next = now_ns() + t->interval_ns, now;
	int status = 0, wait_ms;

	do {
		fill(t);
		top_screen_draw(&t->screen, &t->view);
		now = now_ns();
		wait_ms = now < next ? (int)((next - now) / 1000000) + 1 : 0;
		status = handle_key(t, top_screen_key(wait_ms));
		if (!status && now_ns() >= next) {
			next = now_ns() + t->interval_ns;
			status = refresh(t);
		}
	} while (!status);
	return status > 0 ? CLI_FAILED : CLI_DONE;
}

/*
 * Messages would garble the screen. Keep them, and print them when the terminal has been
 * restored.
 */
static int hold_messages(int *saved)
{
	int held = memfd_create("messages", MFD_CLOEXEC);

	fflush(stderr);
	*saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (held >= 0 && *saved >= 0)
		dup2(held, STDERR_FILENO);
	return held;
}

static void release_messages(int held, int saved)
{
	char text[1024];
	ssize_t n;

	fflush(stderr);
	if (held < 0 || saved < 0)
		return;
	dup2(saved, STDERR_FILENO);
	n = pread(held, text, sizeof(text), 0);
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) != n)
		n = 0;
	close(saved);
	close(held);
}

static int run(struct top *t)
{
	int status, held, saved;

	if (read_first(t) || top_screen_open())
		return CLI_FAILED;
	held = hold_messages(&saved);
	status = show(t);
	top_screen_close();
	release_messages(held, saved);
	top_view_deinit(&t->view);
	return status;
}

static int top_main(int argc, char **argv)
{
	struct top t = { .report.groups = KTAU_GROUP_ALL, .report.by = BY_NAME,
			 .interval_ns = 1000000000 };
	int status = CLI_FAILED, number;

	cli_parse(&parser, argc, argv, 0, &t);
	t.report.filter.applied = t.view.live = !t.in.files;
	if (t.in.map && symbolize_load_map(&t.symtab, t.in.map))
		return CLI_FAILED;
	if (ktau_reader_create(&t.reader))
		complain("out of memory");
	else
		status = run(&t);
	drop_period(&t);
	replay_deinit(&t.replay);
	ktau_reader_destroy(t.reader);
	ktau_symtab_destroy(t.symtab);
	number = top_screen_signal();
	if (number) {
		signal(number, SIG_DFL);
		raise(number);
	}
	return status;
}

const struct subcommand subcommand_top = {
	"top", top_main, "show the busiest processes on a screen that refreshes itself",
	&parser, SUBCOMMAND_LOOK
};
