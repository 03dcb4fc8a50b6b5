// SPDX-License-Identifier: GPL-2.0-only
/* ktau pages: record references to pages, and simulate memory with them. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/output.h"
#include "lib/table.h"
#include "pages/live.h"
#include "pages/merger.h"
#include "pages/misses.h"
#include "pages/record.h"
#include "pages/session.h"
#include "pages/sink.h"
#include "pages/text_input.h"
#include "pages/workingset.h"
#include "print/pager.h"
#include "subcommand.h"

/* The verbs from START on are orders to one that records, as in enum record_order. */
enum verb { MERGE, MISSES, WORKINGSET, RECORD, START, PAUSE, STOP, STATUS, NR_VERBS };

static const char *const verbs[] = { "merge", "misses", "workingset", "record", "start",
				     "pause", "stop", "status", NULL };

enum { OPT_TYPE = 256, OPT_FORMAT, OPT_TIME, OPT_FIRST_STORE, OPT_NO_KERNEL, OPT_NO_FETCH,
       OPT_NO_FILES, OPT_FROM, OPT_TO, OPT_STRICT, OPT_INPUT, OPT_PER_PROCESS, OPT_POLICY,
       OPT_SIZES, OPT_TAU, OPT_INTERVAL, OPT_WINDOW, OPT_FIRST, OPT_CLOCK, OPT_RANGE, OPT_RING,
       OPT_LOSSY, OPT_READS_ONLY, OPT_EVICTIONS, OPT_PAUSED, OPT_SECONDS, OPT_CGROUP, OPT_ALL,
       OPT_BUDGET };

#define READERS	(1 << MERGE | 1 << MISSES | 1 << WORKINGSET)

/* Options that not all verbs have. */
static const struct {
	int key;
	unsigned int verbs;
	const char *name;
} limited[] = {
	{ OPT_FORMAT, READERS, "--format" },
	{ OPT_FIRST_STORE, READERS, "--first-store" },
	{ OPT_NO_KERNEL, READERS, "--no-kernel" },
	{ OPT_NO_FETCH, READERS, "--no-fetch" },
	{ OPT_NO_FILES, READERS, "--no-files" },
	{ OPT_FROM, READERS, "--from" },
	{ OPT_TO, READERS, "--to" },
	{ OPT_STRICT, READERS, "--strict" },
	{ OPT_TYPE, 1 << MERGE, "--type" },
	{ 'o', 1 << MERGE | 1 << RECORD, "--output" },
	{ OPT_TIME, 1 << MERGE, "--time" },
	{ OPT_INPUT, 1 << MISSES | 1 << WORKINGSET, "--input" },
	{ OPT_PER_PROCESS, 1 << MISSES | 1 << WORKINGSET, "--per-process" },
	{ OPT_POLICY, 1 << MISSES, "--policy" },
	{ OPT_SIZES, 1 << MISSES, "--sizes" },
	{ OPT_TAU, 1 << WORKINGSET, "--tau" },
	{ OPT_INTERVAL, 1 << WORKINGSET, "--interval" },
	{ 'p', 1 << RECORD | 1 << WORKINGSET, "--pid" },
	{ OPT_CGROUP, 1 << RECORD | 1 << WORKINGSET, "--cgroup" },
	{ OPT_ALL, 1 << RECORD | 1 << WORKINGSET, "--all" },
	{ OPT_WINDOW, 1 << RECORD, "--window" },
	{ OPT_FIRST, 1 << RECORD, "--first" },
	{ OPT_CLOCK, 1 << RECORD, "--clock" },
	{ OPT_RANGE, 1 << RECORD, "--range" },
	{ OPT_RING, 1 << RECORD, "--ring" },
	{ OPT_LOSSY, 1 << RECORD, "--lossy" },
	{ OPT_READS_ONLY, 1 << RECORD, "--reads-only" },
	{ OPT_EVICTIONS, 1 << RECORD, "--evictions" },
	{ OPT_PAUSED, 1 << RECORD, "--paused" },
	{ OPT_SECONDS, 1 << RECORD | 1 << WORKINGSET, "--seconds" },
	{ OPT_BUDGET, 1 << WORKINGSET, "--budget" },
};

#define NR_LIMITED	(sizeof(limited) / sizeof(*limited))

/**
 * struct options - the command line
 * @merge: for all verbs
 * @misses: for misses
 * @workingset: for workingset
 * @record: for record
 * @input: --input
 * @given: a bit for each of @limited that was given
 * @budget: --budget
 * @has_verb: @verb is set
 * @verb: what to do
 * @format: --format
 * @output: --output
 */
struct options {
	struct merge_options merge;
	struct misses_options misses;
	struct workingset_options workingset;
	struct record_options record;
	enum page_input_form input;
	uint64_t given;
	double budget;
	bool has_verb;
	enum verb verb;
	const char *format, *output;
};

static const struct argp_option argp_options[] = {
	{ "format", OPT_FORMAT, "FORMAT", 0,
	  "text (the default), csv or json; merge: text or binary", 1 },
	{ "first-store", OPT_FIRST_STORE, "WORD", 0,
	  "First stores to a page in the window: write (the default) or drop them", 1 },
	{ "no-kernel", OPT_NO_KERNEL, NULL, 0, "Without references by the kernel", 1 },
	{ "no-fetch", OPT_NO_FETCH, NULL, 0, "Without fetches of instructions", 1 },
	{ "no-files", OPT_NO_FILES, NULL, 0, "Without read(2) and write(2) of files", 1 },
	{ "from", OPT_FROM, "SECONDS", 0, "Only from this time after the first slot on", 1 },
	{ "to", OPT_TO, "SECONDS", 0, "Only up to this time", 1 },
	{ "strict", OPT_STRICT, NULL, 0,
	  "Fail if the input contradicts itself, or slots were lost", 1 },
	{ NULL, 0, NULL, 0, "merge:", 2 },
	{ "type", OPT_TYPE, "TYPE", 0,
	  "The output: basic (the default), basic-named, per-process, per-thread, or another one "
	  "that --type=list lists", 2 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, compressed if its name ends in .gz or .zst; for per-process and "
	  "per-thread, a directory", 2 },
	{ "time", OPT_TIME, "UNIT", 0,
	  "Times in ns since the first slot (the default), or in ticks", 2 },
	{ NULL, 0, NULL, 0, "record, and workingset without a file:", 5 },
	{ "pid", 'p', "PID,...", 0, "These processes", 5 },
	{ "cgroup", OPT_CGROUP, "DIRECTORY", 0, "The processes of this control group", 5 },
	{ "all", OPT_ALL, NULL, 0, "All processes", 5 },
	{ "seconds", OPT_SECONDS, "SECONDS", 0, "Stop after this time", 5 },
	{ "budget", OPT_BUDGET, "PERCENT", 0,
	  "workingset: pause after each interval, so that counting takes at most this much of the "
	  "time", 5 },
	{ NULL, 0, NULL, 0, "record:", 4 },
	{ "window", OPT_WINDOW, "PAGES", 0,
	  "Pages that a process accesses without a record (default: 512)", 4 },
	{ "first", OPT_FIRST, "PAGES", 0,
	  "Pages of its first part, always a FIFO (default: 8)", 4 },
	{ "clock", OPT_CLOCK, NULL, 0,
	  "The second part is a CLOCK: pages that are accessed again remain in it", 4 },
	{ "range", OPT_RANGE, "FROM-TO", 0, "Only these addresses, in hexadecimal", 4 },
	{ "ring", OPT_RING, "SLOTS", 0,
	  "Size of the buffer in units of 32 bytes (default: 1048576)", 4 },
	{ "lossy", OPT_LOSSY, NULL, 0,
	  "Lose slots if the file cannot be written fast enough; otherwise processes wait", 4 },
	{ "reads-only", OPT_READS_ONLY, NULL, 0, "Without first stores, which is faster", 4 },
	{ "evictions", OPT_EVICTIONS, NULL, 0, "Record also which pages leave the window", 4 },
	{ "paused", OPT_PAUSED, NULL, 0, "Wait for ktau pages start", 4 },
	{ NULL, 0, NULL, 0, "misses and workingset:", 3 },
	{ "input", OPT_INPUT, "FORM", 0,
	  "FILE is ktau, merged (by ktau pages merge) or lackey (by valgrind); auto (the "
	  "default) finds out", 3 },
	{ "per-process", OPT_PER_PROCESS, NULL, 0, "Each process by itself", 3 },
	{ "policy", OPT_POLICY, "POLICY,...", 0,
	  "misses: lru (the default), fifo, clock, opt, or several", 3 },
	{ "sizes", OPT_SIZES, "SIZES", 0,
	  "misses: sizes of memory in pages, such as 64,100 or 16..4096, which doubles", 3 },
	{ "tau", OPT_TAU, "TIME,...", 0,
	  "workingset: how long a page remains in it, such as 10ms,1s (default: 1s)", 3 },
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "workingset: time between two rows (default: the longest tau)", 3 },
	{ 0 }
};

/* The index of a word in a list that ends with NULL; a usage message if it is not in it. */
static unsigned int parse_word(const struct argp_state *state, const char *option,
			       const char *word, const char *const *words)
{
	char list[128] = "";
	unsigned int i;
	size_t bytes = 0;

	for (i = 0; words[i]; i++) {
		if (!strcmp(word, words[i]))
			return i;
		bytes += (size_t)snprintf(list + bytes, sizeof(list) - bytes, "%s%s",
					  !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	}
	cli_usage(state, "--%s=%s: not %s", option, word, list);
	return 0;
}

static double parse_percent(const struct argp_state *state, const char *option, const char *word)
{
	double percent;
	char *end;

	percent = strtod(word, &end);
	if (!strcmp(end, "%"))
		end++;
	if (end == word || *end || !(percent > 0 && percent <= 100))
		cli_usage(state, "--%s=%s: not a share such as 1%%", option, word);
	return percent;
}

static uint64_t parse_seconds(const struct argp_state *state, const char *option,
			      const char *word)
{
	double seconds;
	char *end;

	errno = 0;
	seconds = strtod(word, &end);
	if (errno || end == word || *end || !(seconds >= 0 && seconds < 1e9))
		cli_usage(state, "--%s=%s: not a number of seconds", option, word);
	return (uint64_t)(seconds * 1e9 + 0.5);
}

/* A time with a unit; without one, in nanoseconds. */
static uint64_t parse_time(const struct argp_state *state, const char *option, const char *word)
{
	static const char *const units[] = { "", "ns", "us", "ms", "s", NULL };
	static const double factors[] = { 1, 1, 1e3, 1e6, 1e9 };
	double number, ns = 0;
	char *end;
	size_t i;

	errno = 0;
	number = strtod(word, &end);
	for (i = 0; units[i]; i++)
		if (!strcmp(end, units[i]))
			ns = number * factors[i];
	if (errno || end == word || !(ns >= 1 && ns < 1e18))
		cli_usage(state, "--%s: %s: not a time such as 10ms", option, word);
	return (uint64_t)ns;
}

static void parse_taus(const struct argp_state *state, struct workingset_options *o, char *list)
{
	char *word;

	o->nr_taus = 0;
	while ((word = strsep(&list, ","))) {
		if (o->nr_taus == NR_TAUS_MAX)
			cli_usage(state, "--tau: more than %d times", NR_TAUS_MAX);
		o->tau_ns[o->nr_taus++] = parse_time(state, "tau", word);
	}
}

static void parse_policies(const struct argp_state *state, struct misses_options *o, char *list)
{
	char *word;

	o->policies = 0;
	while ((word = strsep(&list, ",")))
		o->policies |= 1U << parse_word(state, "policy", word, policy_words);
}

static void add_size(struct misses_options *o, uint64_t size)
{
	o->sizes = cli_alloc(o->sizes, o->nr_sizes + 1, sizeof(*o->sizes));
	o->sizes[o->nr_sizes++] = (uint32_t)size;
}

static int compare_sizes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A list of sizes and of ranges FIRST..LAST, which double. */
static void parse_sizes(const struct argp_state *state, struct misses_options *o, char *list)
{
	uint64_t first, last;
	char *word, *range;

	o->nr_sizes = 0;
	while ((word = strsep(&list, ","))) {
		range = strstr(word, "..");
		if (range)
			*range = '\0';
		if (cli_number(word, UINT32_MAX, &first) ||
		    cli_number(range ? range + 2 : word, UINT32_MAX, &last) || !first ||
		    last < first)
			cli_usage(state, "--sizes: not numbers of pages such as 16..4096");
		for (; first < last; first *= 2)
			add_size(o, first);
		add_size(o, last);
	}
	qsort(o->sizes, o->nr_sizes, sizeof(*o->sizes), compare_sizes);
}

static void parse_pids(const struct argp_state *state, struct record_options *o, char *list)
{
	uint64_t pid;
	char *word;

	while ((word = strsep(&list, ","))) {
		if (cli_number(word, INT32_MAX, &pid) || !pid)
			cli_usage(state, "--pid: %s: not a process id", word);
		o->pids = cli_alloc(o->pids, o->nr_pids + 1, sizeof(*o->pids));
		o->pids[o->nr_pids++] = (int32_t)pid;
	}
}

static void parse_range(const struct argp_state *state, struct record_options *o,
			const char *arg)
{
	unsigned long long lo, hi;
	char end;

	if (sscanf(arg, "%llx-%llx%c", &lo, &hi, &end) != 2 || lo >= hi)
		cli_usage(state, "--range=%s: not two addresses", arg);
	o->request.lo = lo;
	o->request.hi = hi;
}

static uint32_t parse_pages(const struct argp_state *state, const char *option, const char *arg,
			    uint32_t max)
{
	uint64_t value;

	if (cli_number(arg, max, &value) || !value)
		cli_usage(state, "--%s=%s: not a number from 1 to %u", option, arg, max);
	return (uint32_t)value;
}

static error_t parse_record(int key, char *arg, const struct argp_state *state,
			    struct record_options *o)
{
	struct ktau_references *r = &o->request;

	switch (key) {
	case 'p':
		parse_pids(state, o, arg);
		return 0;
	case OPT_CGROUP:
		r->cgroup = session_cgroup(arg);
		if (!r->cgroup)
			exit(CLI_FAILED);
		return 0;
	case OPT_ALL:
		r->flags |= KTAU_REFERENCES_ALL;
		return 0;
	case OPT_WINDOW:
		r->window = parse_pages(state, "window", arg, KTAU_REFERENCES_WINDOW_MAX);
		return 0;
	case OPT_FIRST:
		r->first = parse_pages(state, "first", arg, KTAU_REFERENCES_WINDOW_MAX / 2);
		return 0;
	case OPT_CLOCK:
		r->policy = KTAU_REFERENCES_CLOCK;
		return 0;
	case OPT_RANGE:
		parse_range(state, o, arg);
		return 0;
	case OPT_RING:
		r->ring_slots = parse_pages(state, "ring", arg, KTAU_REFERENCES_RING_MAX);
		return 0;
	case OPT_LOSSY:
		r->when_full = KTAU_REFERENCES_LOSE;
		return 0;
	case OPT_READS_ONLY:
		r->flags |= KTAU_REFERENCES_READS_ONLY;
		return 0;
	case OPT_EVICTIONS:
		r->flags |= KTAU_REFERENCES_EVICTIONS;
		return 0;
	case OPT_PAUSED:
		o->paused = true;
		return 0;
	case OPT_SECONDS:
		o->seconds = (double)parse_seconds(state, "seconds", arg) / 1e9;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* A word after the options: what to do, then files, or the command to record. */
static void parse_argument(struct argp_state *state, struct options *o, char *arg)
{
	struct merge_options *m = &o->merge;
	unsigned int i;

	if (o->has_verb && o->verb == RECORD) {
		o->record.command = state->argv + state->next - 1;
		state->next = state->argc;
		return;
	}
	if (o->has_verb) {
		m->paths = cli_alloc(m->paths, m->nr_paths + 1, sizeof(*m->paths));
		m->paths[m->nr_paths++] = arg;
		return;
	}
	for (i = 0; verbs[i] && strcmp(arg, verbs[i]); i++)
		;
	if (!verbs[i])
		cli_usage(state, "%s: not something that ktau pages does", arg);
	o->verb = i;
	o->has_verb = true;
}

static void check_format(const struct argp_state *state, struct options *o)
{
	static const char *const formats[] = { "text", "binary", NULL };

	if (!o->format)
		return;
	if (o->verb == MERGE)
		o->merge.setup.binary = parse_word(state, "format", o->format, formats);
	else if (table_parse_format(o->format, &o->misses.format))
		cli_usage(state, "--format=%s: not text, csv or json", o->format);
	o->workingset.format = o->misses.format;
}

/* Processes that run, in some way or other. */
static unsigned int ways_of_naming(const struct record_options *r)
{
	return !!r->nr_pids + !!r->request.cgroup + !!(r->request.flags & KTAU_REFERENCES_ALL) +
	       !!r->command;
}

static void check_what(const struct argp_state *state, const struct options *o)
{
	unsigned int ways = ways_of_naming(&o->record);

	if (o->verb == RECORD && ways != 1)
		cli_usage(state, "one of COMMAND, --pid, --cgroup and --all is required");
	if (o->verb == WORKINGSET && ways + !!o->merge.nr_paths != 1)
		cli_usage(state, "either a FILE, or one of --pid, --cgroup and --all is required");
	if (o->verb != RECORD && o->verb != WORKINGSET && !o->merge.nr_paths)
		cli_usage(state, "a FILE is required");
}

static void check_arguments(const struct argp_state *state, struct options *o)
{
	size_t i;

	if (!o->has_verb)
		cli_usage(state, "merge, misses, workingset or record is missing");
	if (o->merge.from_ns > o->merge.to_ns)
		cli_usage(state, "--from is after --to");
	check_what(state, o);
	for (i = 0; i < NR_LIMITED; i++)
		if (o->given & 1ULL << i && !(limited[i].verbs & 1U << o->verb))
			cli_usage(state, "%s is not for %s", limited[i].name, verbs[o->verb]);
	check_format(state, o);
}

static void list_types(void)
{
	const struct consumer *c;
	unsigned int i;

	for (i = 0; (c = consumer_at(i)); i++)
		printf("%-12s %s\n", c->name, c->summary);
	exit(cli_finish(stdout));
}

/* Options that select records. */
static error_t parse_filter(int key, const char *arg, const struct argp_state *state,
			    struct merge_options *m)
{
	static const char *const first_stores[] = { "write", "drop", NULL };

	switch (key) {
	case OPT_FIRST_STORE:
		m->drop_first_stores = parse_word(state, "first-store", arg, first_stores);
		return 0;
	case OPT_NO_KERNEL:
		m->no_kernel = true;
		return 0;
	case OPT_NO_FILES:
		m->no_files = true;
		return 0;
	case OPT_NO_FETCH:
		m->no_fetch = true;
		return 0;
	case OPT_FROM:
		m->from_ns = parse_seconds(state, "from", arg);
		return 0;
	case OPT_TO:
		m->to_ns = parse_seconds(state, "to", arg);
		return 0;
	case OPT_STRICT:
		m->strict = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Options of some verbs. */
static error_t parse_limited(int key, char *arg, const struct argp_state *state,
			     struct options *o)
{
	static const char *const units[] = { "ns", "ticks", NULL };

	switch (key) {
	case OPT_TYPE:
		if (!strcmp(arg, "list"))
			list_types();
		o->merge.consumer = consumer_find(arg);
		if (!o->merge.consumer)
			cli_usage(state, "--type=%s: no such output; --type=list lists them", arg);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case OPT_TIME:
		o->merge.setup.ticks = parse_word(state, "time", arg, units);
		return 0;
	case OPT_INPUT:
		o->input = parse_word(state, "input", arg, input_words);
		return 0;
	case OPT_PER_PROCESS:
		o->misses.per_process = o->workingset.per_process = true;
		return 0;
	case OPT_POLICY:
		parse_policies(state, &o->misses, arg);
		return 0;
	case OPT_SIZES:
		parse_sizes(state, &o->misses, arg);
		return 0;
	case OPT_TAU:
		parse_taus(state, &o->workingset, arg);
		return 0;
	case OPT_BUDGET:
		o->budget = parse_percent(state, "budget", arg);
		return 0;
	case OPT_INTERVAL:
		o->workingset.interval_ns = parse_time(state, "interval", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	size_t i;

	for (i = 0; i < NR_LIMITED; i++)
		if (key == limited[i].key)
			o->given |= 1ULL << i;
	switch (key) {
	case OPT_FORMAT:
		o->format = arg;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(state, o, arg);
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, o);
		return 0;
	}
	if (!parse_filter(key, arg, state, &o->merge) ||
	    !parse_record(key, arg, state, &o->record))
		return 0;
	return parse_limited(key, arg, state, o);
}

static const struct argp parser = {
	argp_options, parse_option,
	"merge FILE...\nmisses FILE...\nworkingset [FILE...]\nrecord [COMMAND [ARGUMENT...]]\n"
	"start FILE\npause FILE\nstop FILE\nstatus FILE",
	"Record references to pages, and read such traces. "
	"\"merge\" writes a line for each reference, with a "
	"number that a page keeps in all processes; \"misses\" prints how often a page would have "
	"to be loaded, by size of memory; \"workingset\" prints how many pages were in use, over "
	"time. \"record\" runs a command and records its references; "
	"\"start\", \"pause\", \"stop\" "
	"and \"status\" control it.",
	NULL, NULL, NULL
};

static int run_live(struct options *o)
{
	const struct live_options live = {
		.record = &o->record,
		.interval_ns = o->workingset.interval_ns ? o->workingset.interval_ns : 1000000000,
		.budget = o->budget,
		.csv = o->misses.format == FORMAT_CSV,
	};

	return live_run(&live);
}

static bool would_destroy(const struct merge_options *m, const char *path)
{
	uint32_t i;

	for (i = 0; i < m->nr_paths; i++)
		if (output_is_input(path, m->paths[i]))
			return true;
	return false;
}

static int merge(struct merge_options *m, const char *output)
{
	bool directory = m->consumer->directory;
	const char *suffix = sink_suffix(output);
	char *path;
	int status = CLI_FAILED;

	if (directory && !strcmp(output, "-")) {
		complain("%s has more than one file: give --output=DIRECTORY", m->consumer->name);
		return CLI_FAILED;
	}
	path = strndup(output, strlen(output) - (directory ? strlen(suffix) : 0));
	if (!path)
		complain("out of memory");
	else if (!would_destroy(m, path))
		m->setup.output = output_create(path, directory);
	m->setup.suffix = suffix;
	if (m->setup.output)
		status = merge_files(m);
	free(path);
	return status;
}

/* Read the files with the consumer of the verb. Return: the exit status. */
static int run_verb(struct options *o)
{
	struct merge_options *m = &o->merge;

	if (o->verb == MERGE)
		return merge(m, o->output ? o->output : "-");
	if (o->verb == MISSES) {
		m->consumer = &misses_consumer;
		m->setup.data = &o->misses;
	} else {
		m->consumer = &workingset_consumer;
		m->setup.data = &o->workingset;
		m->needs_ns = true;
	}
	if (o->misses.format == FORMAT_TEXT) {
		table_use_colour();
		pager_start();
	}
	if (o->input == INPUT_AUTO)
		o->input = text_form(m->paths[0]);
	if (o->input == INPUT_KTAU)
		return merge_files(m);
	if (o->misses.per_process) {
		complain("%s does not say which process a reference is of", m->paths[0]);
		return CLI_FAILED;
	}
	return text_read(m, o->input);
}

static int pages_main(int argc, char **argv)
{
	struct options o = {
		.merge.to_ns = UINT64_MAX,
		.misses.policies = 1U << POLICY_LRU,
		.workingset = { .tau_ns = { 1000000000 }, .nr_taus = 1 },
	};
	int status;

	o.merge.consumer = consumer_find("basic");
	cli_parse(&parser, argc, argv, ARGP_IN_ORDER, &o);
	if (o.verb == RECORD) {
		o.record.output = o.output ? o.output : "pages.ktau";
		status = record_run(&o.record);
	} else if (o.verb == WORKINGSET && !o.merge.nr_paths) {
		status = run_live(&o);
	} else if (o.verb >= START) {
		status = record_order(o.merge.paths[0], (enum record_order)(o.verb - START));
	} else {
		status = run_verb(&o);
	}
	free(o.merge.paths);
	free(o.misses.sizes);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_pages = {
	"pages", pages_main, "record references to pages, simulate memory with them",
	&parser, SUBCOMMAND_ANALYSE
};
