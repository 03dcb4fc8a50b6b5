// SPDX-License-Identifier: GPL-2.0-only
/* ktau pages: traces of references to pages. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "pages/merger.h"
#include "subcommand.h"

enum { OPT_TYPE = 256, OPT_FORMAT, OPT_TIME, OPT_FIRST_STORE, OPT_NO_KERNEL, OPT_NO_FETCH,
       OPT_FROM, OPT_TO, OPT_STRICT };

struct options {
	struct merge_options merge;
	const char *verb, *format;
	char **paths;
	uint32_t nr_paths;
};

static const struct argp_option argp_options[] = {
	{ "type", OPT_TYPE, "TYPE", 0,
	  "The output: basic (the default), basic-named, per-process or per-thread", 1 },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, compressed if its name ends in .gz or .zst; for per-process and "
	  "per-thread, a directory", 1 },
	{ "format", OPT_FORMAT, "FORMAT", 0, "text (the default) or binary", 1 },
	{ "time", OPT_TIME, "UNIT", 0,
	  "Times in ns since the first slot (the default), or in ticks", 1 },
	{ "first-store", OPT_FIRST_STORE, "WORD", 0,
	  "First stores to a page in the window: write (the default) them, or drop them", 2 },
	{ "no-kernel", OPT_NO_KERNEL, NULL, 0, "Without references by the kernel", 2 },
	{ "no-fetch", OPT_NO_FETCH, NULL, 0, "Without fetches of instructions", 2 },
	{ "from", OPT_FROM, "SECONDS", 0, "Only from this time after the first slot on", 2 },
	{ "to", OPT_TO, "SECONDS", 0, "Only up to this time", 2 },
	{ "strict", OPT_STRICT, NULL, 0, "Fail if the input contradicts itself, or slots are lost",
	  2 },
	{ 0 }
};

/* The index of a word in a list that ends with NULL; a usage message if it is not in it. */
static unsigned int parse_word(const struct argp_state *state, const char *option,
			       const char *word, const char *const *words)
{
	unsigned int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	cli_usage(state, "--%s=%s: not one of those in --help", option, word);
	return 0;
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
	return (uint64_t)(seconds * 1e9);
}

static const char *const formats[] = { "text", "binary", NULL };
static const char *const units[] = { "ns", "ticks", NULL };
static const char *const first_stores[] = { "write", "drop", NULL };

/* A word after the options: what to do, then files. */
static void parse_argument(const struct argp_state *state, struct options *o, char *arg)
{
	if (!o->verb) {
		if (strcmp(arg, "merge"))
			cli_usage(state, "%s: not merge", arg);
		o->verb = arg;
		return;
	}
	o->paths = cli_alloc(o->paths, o->nr_paths + 1, sizeof(*o->paths));
	o->paths[o->nr_paths++] = arg;
}

static void check_arguments(const struct argp_state *state, const struct options *o)
{
	if (!o->verb)
		cli_usage(state, "merge is missing");
	if (!o->nr_paths)
		cli_usage(state, "a FILE is required");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct merge_options *m = &o->merge;

	switch (key) {
	case OPT_TYPE:
		m->consumer = consumer_find(arg);
		if (!m->consumer)
			cli_usage(state, "--type=%s: no such output", arg);
		return 0;
	case 'o':
		m->setup.output = arg;
		return 0;
	case OPT_FORMAT:
		m->setup.binary = parse_word(state, "format", arg, formats);
		return 0;
	case OPT_TIME:
		m->setup.ticks = parse_word(state, "time", arg, units);
		return 0;
	case OPT_FIRST_STORE:
		m->drop_first_stores = parse_word(state, "first-store", arg, first_stores);
		return 0;
	case OPT_NO_KERNEL:
		m->no_kernel = true;
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
	case ARGP_KEY_ARG:
		parse_argument(state, o, arg);
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, o);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "merge FILE...",
	"Read traces of references to pages. \"merge\" writes one line for each reference, with a "
	"number that a page keeps in all processes.",
	NULL, NULL, NULL
};

static int pages_main(int argc, char **argv)
{
	struct options o = { .merge.to_ns = UINT64_MAX };
	int status;

	o.merge.consumer = consumer_find("basic");
	cli_parse(&parser, argc, argv, 0, &o);
	o.merge.paths = o.paths;
	o.merge.nr_paths = o.nr_paths;
	status = merge_files(&o.merge);
	free(o.paths);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_pages = {
	"pages", pages_main, "merge traces of references to pages",
	&parser, SUBCOMMAND_ANALYSE
};
