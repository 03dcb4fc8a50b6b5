// SPDX-License-Identifier: GPL-2.0-only
/* ktau stats: print KTAU's figures about itself, from /proc/ktau/stats. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "subcommand.h"
#include "lib/table.h"

enum { OPT_FORMAT = 256 };

struct options {
	enum table_format format;
	char **words;
	int nr_words;
};

static const struct argp_option argp_options[] = {
	{ "format", OPT_FORMAT, "FORMAT", 0, "text, csv or json (default: text)", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_FORMAT:
		if (table_parse_format(arg, &o->format))
			cli_usage(state, "--format=%s: not text, csv or json", arg);
		return 0;
	case ARGP_KEY_ARGS:
		o->words = state->argv + state->next;
		o->nr_words = state->argc - state->next;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

enum { S_VALUE,
       S_NAME,
       S_NR };

static const struct column stat_columns[S_NR] = {
	[S_VALUE] = { "value", "value", COLUMN_NUMBER },
	[S_NAME] = { "name", "name", COLUMN_TEXT },
};

/* The requested figures (all if there are none), and which of them were found. */
struct stats {
	const struct options *o;
	struct table t;
	bool *found;
};

static int add_stat(void *arg, const char *name, uint64_t value)
{
	struct stats *s = arg;
	bool wanted = !s->o->nr_words;
	union cell *row;
	int i;

	for (i = 0; i < s->o->nr_words; i++) {
		if (!strcmp(s->o->words[i], name))
			wanted = s->found[i] = true;
	}
	if (!wanted)
		return 0;
	row = table_row(&s->t);
	row[S_VALUE].number = value;
	row[S_NAME].text = strdup(name);
	return row[S_NAME].text ? 0 : -ENOMEM;
}

static const struct argp parser = {
	argp_options, parse_option, "[NAME...]",
	"Print KTAU's figures about itself: losses by reason, memory and tasks.",
	NULL, NULL, NULL
};

static int stats_main(int argc, char **argv)
{
	struct options o = { 0 };
	struct stats s = { .o = &o };
	int err, i, status = CLI_DONE;
	size_t row;

	cli_parse(&parser, argc, argv, 0, &o);
	s.found = cli_alloc(NULL, (size_t)o.nr_words, sizeof(*s.found));
	memset(s.found, 0, (size_t)o.nr_words * sizeof(*s.found));
	table_init(&s.t, "stats", stat_columns, S_NR);
	err = ktau_stats_each(add_stat, &s);
	if (err)
		status = no_ktau("/proc/ktau/stats", err);
	else
		table_print(&s.t, o.format, stdout);
	for (i = 0; !err && i < o.nr_words; i++) {
		if (!s.found[i]) {
			complain("no figure '%s' in /proc/ktau/stats", o.words[i]);
			status = CLI_FAILED;
		}
	}
	for (row = 0; row < s.t.nr_rows; row++)
		free((char *)s.t.cells[row * S_NR + S_NAME].text);
	table_deinit(&s.t);
	free(s.found);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_stats = {
	"stats", stats_main, "print KTAU's losses, memory use and task counts", &parser
};
