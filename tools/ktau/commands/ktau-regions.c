// SPDX-License-Identifier: GPL-2.0-only
/* ktau regions: show what the kernel did for each region of a program. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "print/pager.h"
#include "lib/report/regions.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "lib/table.h"

struct options {
	int32_t pid;
	const char *names;
	struct shared_options in;
};

static const struct argp_option argp_options[] = {
	FORMAT_OPTION(0),
	MAP_OPTION(0),
	{ "names", 'n', "DIR", 0,
	  "Read the files ktau-user.* in this directory (default: the current one)", 0 },
	{ "pid", 'p', "PID", 0, "Only this process", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'n':
		o->names = arg;
		return 0;
	case 'p':
		o->pid = shared_pid(arg, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "[FILE]",
	"Print which kernel routines ran on behalf of which regions of programs, such as "
	"functions. FILE was written by ktaud or is a saved stream; - is standard input. Without "
	"FILE, print the regions of live and exited tasks of the running kernel.",
	NULL, NULL, NULL
};

enum { R_PID, R_COMM, R_COUNT, R_INCL, R_EXCL, R_REGION, R_ROUTINE, R_BOTH, R_NR };

static const struct column columns[R_NR] = {
	[R_PID] = { "pid", "pid", COLUMN_SIGNED },
	[R_COMM] = { "name", "name", COLUMN_TEXT },
	[R_COUNT] = { "count", "count", COLUMN_NUMBER },
	[R_INCL] = { "incl_ns", "incl ms", COLUMN_NS },
	[R_EXCL] = { "excl_ns", "excl ms", COLUMN_NS },
	[R_REGION] = { "region", NULL, COLUMN_TEXT },
	[R_ROUTINE] = { "routine", NULL, COLUMN_TEXT },
	[R_BOTH] = { NULL, "region => routine", COLUMN_TEXT },
};

static void print_sums(const struct region_sums *sums, const struct ktau_clock *clock,
		       struct symbolizer *names, enum table_format format)
{
	char **both = cli_alloc(NULL, sums->nr + 1, sizeof(*both));
	const struct region_sum *s;
	union cell *row;
	struct table t;
	size_t i;

	table_init(&t, "regions", columns, R_NR);
	for (i = 0; i < sums->nr; i++) {
		s = &sums->sum[i];
		if (asprintf(&both[i], "%s => %s", s->path, symbolize_event(names, s->id)) < 0)
			both[i] = NULL;
		row = table_row(&t);
		row[R_PID].sign = s->owner->tgid;
		row[R_COMM].text = s->owner->comm;
		row[R_COUNT].number = s->count;
		row[R_INCL].number = s->timer ? ktau_clock_sum_ns(clock, s->incl) : CELL_NONE;
		row[R_EXCL].number = s->timer ? ktau_clock_sum_ns(clock, s->excl) : CELL_NONE;
		row[R_REGION].text = s->path;
		row[R_ROUTINE].text = symbolize_event(names, s->id);
		row[R_BOTH].text = both[i] ? both[i] : "";
	}
	table_print(&t, format, stdout);
	table_deinit(&t);
	for (i = 0; i < sums->nr; i++)
		free(both[i]);
	free(both);
}

static int print(const struct regions *regions, const struct options *o,
		 const struct ktau_reader *reader, const struct ktau_symtab *symtab)
{
	const struct ktau_rec_stream *stream = ktau_reader_stream(reader);
	struct region_sums sums;
	struct symbolizer *events;
	struct ktau_clock clock;

	regions_sum(regions, stream, &sums);
	if (!sums.nr) {
		complain("%s: no task has regions", shared_input(&o->in));
		region_sums_deinit(&sums);
		return CLI_FAILED;
	}
	ktau_clock_init(&clock, stream);
	events = symbolize_create(ktau_reader_events(reader), symtab);
	print_sums(&sums, &clock, events, o->in.format);
	symbolize_destroy(events);
	region_sums_deinit(&sums);
	return CLI_DONE;
}

static int open_source(struct ktau_reader *reader, const char *file)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED,
	};
	int err = file ? ktau_reader_open_file(reader, file) :
			 ktau_reader_open_live(reader, &query);

	if (err && !file)
		cli_reader_failed(reader, err);
	else if (err)
		complain("%s", ktau_reader_error(reader));
	return err;
}

/* The key of a thread is its pid, or 0 if the user has selected another one. */
static uint64_t choose(void *data, const struct ktau_rec_owner *owner)
{
	const struct options *o = data;

	return o->pid && owner->tgid != o->pid ? 0 : (uint32_t)owner->tgid;
}

static int read_regions(struct ktau_reader *reader, struct options *o,
			struct regions *regions, struct ktau_symtab *symtab)
{
	union ktau_record record;
	int err, status = CLI_FAILED;

	if (open_source(reader, shared_file(&o->in)))
		return CLI_FAILED;
	while ((err = ktau_reader_next(reader, &record)) > 0)
		regions_put(regions, reader, &record, REGIONS_AFTER);
	if (err)
		cli_reader_failed(reader, err);
	regions_choose(regions, choose, o);
	if (ktau_reader_stream(reader) &&
	    !(symtab && symbolize_fit_map(symtab, shared_input(&o->in), reader)))
		status = print(regions, o, reader, symtab);
	return err ? CLI_FAILED : status;
}

static int regions_main(int argc, char **argv)
{
	struct ktau_symtab *symtab = NULL;
	struct ktau_reader *reader;
	struct regions *regions;
	struct options o = { .in.wanted = FILES_AT_MOST_ONE };
	int status = CLI_FAILED;

	cli_parse(&parser, argc, argv, 0, &o);
	pager_for_tables(o.in.format);
	if (o.in.map && symbolize_load_map(&symtab, o.in.map))
		return CLI_FAILED;
	if (ktau_reader_create(&reader)) {
		complain("out of memory");
	} else {
		regions = regions_create(o.names);
		status = read_regions(reader, &o, regions, symtab);
		regions_destroy(regions);
		ktau_reader_destroy(reader);
	}
	ktau_symtab_destroy(symtab);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_regions = {
	"regions", regions_main, "show the kernel routines that ran for each function of a program",
	&parser, SUBCOMMAND_LOOK
};
