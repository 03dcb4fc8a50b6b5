// SPDX-License-Identifier: GPL-2.0-only
/* ktau regions: show what the kernel did for each region of a program. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "pager.h"
#include "region_names.h"
#include "subcommand.h"
#include "symbolize.h"
#include "table.h"

enum { OPT_FORMAT = 256 };

struct options {
	enum table_format format;
	uint64_t pid;
	const char *map;
	const char *names;
	const char *file;
};

static const struct argp_option argp_options[] = {
	{ "format", OPT_FORMAT, "FORMAT", 0, "text, csv or json (default: text)", 0 },
	{ "map", 'm', "FILE", 0, "Read names from a System.map, kallsyms or vmlinux", 0 },
	{ "names", 'n', "DIR", 0,
	  "Read the files ktau-user.* in this directory (default: the current one)", 0 },
	{ "pid", 'p', "PID", 0, "Only this process", 0 },
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
	case 'm':
		o->map = arg;
		return 0;
	case 'n':
		o->names = arg;
		return 0;
	case 'p':
		if (cli_number(arg, INT32_MAX, &o->pid) || !o->pid)
			cli_usage(state, "--pid=%s: not a pid", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			cli_usage(state, "'%s': only one FILE can be given", arg);
		o->file = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "[FILE]",
	"Print which kernel routines ran on behalf of which regions of programs, such as "
	"functions. FILE was written by ktaud or is a saved stream; - is standard input. Without "
	"FILE, print the regions of live and exited tasks of the running kernel.",
	NULL, NULL, NULL
};

/* A region of one thread. */
struct item {
	struct ktau_rec_region *record;
	int32_t pid;
	char comm[16];
};

struct items {
	struct item *item;
	size_t nr;
};

/* A new profile of a task replaces its regions. */
static void forget(struct items *items, uint64_t serial)
{
	size_t from, to = 0;

	for (from = 0; from < items->nr; from++) {
		if (items->item[from].record->serial == serial)
			ktau_record_free(items->item[from].record);
		else
			items->item[to++] = items->item[from];
	}
	items->nr = to;
}

static void add(struct items *items, const struct ktau_reader *reader,
		const struct ktau_rec_region *region, uint64_t pid)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, region->serial);
	struct item *item;

	if (!owner || (pid && owner->tgid != (int32_t)pid))
		return;
	items->item = cli_alloc(items->item, items->nr + 1, sizeof(*items->item));
	item = &items->item[items->nr];
	item->record = ktau_record_dup(region);
	if (!item->record)
		return;
	item->pid = owner->tgid;
	memcpy(item->comm, owner->comm, sizeof(item->comm));
	items->nr++;
}

/* One event of all threads of a process in one region. */
struct sum {
	int32_t pid;
	const char *comm;
	char *path;
	uint32_t id;
	bool timer;
	uint64_t count, incl, excl;
};

struct sums {
	struct sum *sum;
	size_t nr;
};

static int compare_keys(const struct sum *a, const struct sum *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int compare_ids(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	int order = compare_keys(a, b);

	return order ? order : (int)a->id - (int)b->id;
}

/* By process and region; of a region, the event with most exclusive time first. */
static int compare_shown(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	int order = compare_keys(a, b);

	if (order)
		return order;
	if (a->timer != b->timer)
		return a->timer ? -1 : 1;
	if (a->excl != b->excl)
		return a->excl > b->excl ? -1 : 1;
	return (int)a->id - (int)b->id;
}

static void add_entries(struct sums *sums, const struct item *item, const char *path)
{
	const struct ktau_rec_region *r = item->record;
	const struct ktau_entry *e = ktau_region_entries(r);
	uint32_t i;

	sums->sum = cli_alloc(sums->sum, sums->nr + r->nr_entries + 1, sizeof(*sums->sum));
	for (i = 0; i < r->nr_entries; i++) {
		if (e[i].kind > KTAU_KIND_COUNTER)
			continue;
		sums->sum[sums->nr] = (struct sum){
			.pid = item->pid, .comm = item->comm, .path = strdup(path),
			.id = e[i].id, .timer = e[i].kind == KTAU_KIND_TIMER,
			.count = e[i].count, .incl = e[i].incl, .excl = e[i].excl,
		};
		sums->nr += sums->sum[sums->nr].path != NULL;
	}
}

/* Add up the threads of a process. */
static void merge(struct sums *sums)
{
	struct sum *to, *from;
	size_t nr = 0, i;

	qsort(sums->sum, sums->nr, sizeof(*sums->sum), compare_ids);
	for (i = 0; i < sums->nr; i++) {
		from = &sums->sum[i];
		to = nr ? &sums->sum[nr - 1] : NULL;
		if (!to || compare_ids(to, from)) {
			sums->sum[nr++] = *from;
			continue;
		}
		to->count += from->count;
		to->incl += from->incl;
		to->excl += from->excl;
		free(from->path);
	}
	sums->nr = nr;
	qsort(sums->sum, sums->nr, sizeof(*sums->sum), compare_shown);
}

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

static void print_sums(const struct sums *sums, const struct ktau_clock *clock,
		       struct symbolizer *names, enum table_format format)
{
	char **both = cli_alloc(NULL, sums->nr + 1, sizeof(*both));
	const struct sum *s;
	union cell *row;
	struct table t;
	size_t i;

	table_init(&t, "regions", columns, R_NR);
	for (i = 0; i < sums->nr; i++) {
		s = &sums->sum[i];
		if (asprintf(&both[i], "%s => %s", s->path, symbolize_event(names, s->id)) < 0)
			both[i] = NULL;
		row = table_row(&t);
		row[R_PID].sign = s->pid;
		row[R_COMM].text = s->comm;
		row[R_COUNT].number = s->count;
		row[R_INCL].number = s->timer ? ktau_clock_ns(clock, s->incl) : CELL_NONE;
		row[R_EXCL].number = s->timer ? ktau_clock_ns(clock, s->excl) : CELL_NONE;
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

static int print(const struct items *items, const struct options *o,
		 const struct ktau_reader *reader, const struct ktau_symtab *symtab)
{
	const struct ktau_rec_stream *stream = ktau_reader_stream(reader);
	struct region_names *names = region_names_load(o->names ? o->names : ".", stream);
	struct sums sums = { 0 };
	struct symbolizer *events;
	struct ktau_clock clock;
	char path[1024];
	size_t i;

	for (i = 0; i < items->nr; i++) {
		region_names_path(names, items->item[i].record->serial,
				  items->item[i].record->region, path, sizeof(path));
		add_entries(&sums, &items->item[i], path);
	}
	region_names_free(names);
	if (!sums.nr) {
		complain("%s: no task has regions", o->file ? o->file : "the running kernel");
		free(sums.sum);
		return CLI_FAILED;
	}
	merge(&sums);
	ktau_clock_init(&clock, stream);
	events = symbolize_create(ktau_reader_events(reader), symtab);
	print_sums(&sums, &clock, events, o->format);
	symbolize_destroy(events);
	for (i = 0; i < sums.nr; i++)
		free(sums.sum[i].path);
	free(sums.sum);
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

static int regions(struct ktau_reader *reader, const struct options *o,
		   struct ktau_symtab *symtab)
{
	struct items items = { 0 };
	union ktau_record record;
	int err, status = CLI_FAILED;
	size_t i;

	if (open_source(reader, o->file))
		return CLI_FAILED;
	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_PROFILE || record.rec->type == KTAU_REC_DIFF)
			forget(&items, record.profile->serial);
		else if (record.rec->type == KTAU_REC_REGION)
			add(&items, reader, record.region, o->pid);
	}
	if (err)
		cli_reader_failed(reader, err);
	if (ktau_reader_stream(reader) &&
	    !(symtab && symbolize_fit_map(symtab, o->file ? o->file : "the running kernel",
					  reader)))
		status = print(&items, o, reader, symtab);
	for (i = 0; i < items.nr; i++)
		ktau_record_free(items.item[i].record);
	free(items.item);
	return err ? CLI_FAILED : status;
}

static int regions_main(int argc, char **argv)
{
	struct ktau_symtab *symtab = NULL;
	struct ktau_reader *reader;
	struct options o = { 0 };
	int status = CLI_FAILED;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.format == FORMAT_TEXT) {
		table_use_colour();
		pager_start();
	}
	if (o.map && symbolize_load_map(&symtab, o.map))
		return CLI_FAILED;
	if (ktau_reader_create(&reader)) {
		complain("out of memory");
	} else {
		status = regions(reader, &o, symtab);
		ktau_reader_destroy(reader);
	}
	ktau_symtab_destroy(symtab);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_regions = {
	"regions", regions_main, "show what the kernel did for each region of a program", &parser
};
