// SPDX-License-Identifier: GPL-2.0-only
/* ktau events: list the events of a kernel or a file, with their ids. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "print/pager.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "lib/table.h"

static const struct argp_option argp_options[] = {
	{ "format", OPTION_FORMAT, "FORMAT", 0,
	  "text, csv, json, or tau: a symbol file for TAU (default: text)", 0 },
	MAP_OPTION(0),
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return shared_option(key, arg, state, state->input);
}

static const struct argp parser = {
	argp_options, parse_option, "[FILE]",
	"List the events in FILE, which was written by ktaud or is a saved stream; - is standard "
	"input. Without FILE, list the events that have occurred since boot in tasks that you "
	"may see, and on the CPUs.",
	NULL, NULL, NULL
};

enum { E_ID,
       E_GROUP,
       E_KIND,
       E_SOURCE,
       E_KEY,
       E_ADDRESS,
       E_NAME,
       E_NR };

static const struct column event_columns[E_NR] = {
	[E_ID] = { "id", "id", COLUMN_SMALL },
	[E_GROUP] = { "group", "group", COLUMN_TEXT },
	[E_KIND] = { "kind", "kind", COLUMN_TEXT },
	[E_SOURCE] = { "source", "source", COLUMN_TEXT },
	[E_KEY] = { "key", "key", COLUMN_TEXT },
	[E_ADDRESS] = { "address", "address", COLUMN_HEX },
	[E_NAME] = { "name", "name", COLUMN_TEXT },
};

/* The word for a number, or the number as text if it is unknown. */
static const char *word_or_number(const char *word, uint8_t number)
{
	static char texts[256][4];

	if (word)
		return word;
	snprintf(texts[number], sizeof(texts[number]), "%u", number);
	return texts[number];
}

struct key {
	char text[20];
};

/* Format the key of an event according to its source: an address, or a number. */
static const char *key_text(const struct ktau_rec_event *e, struct key *key)
{
	bool is_number = e->source == KTAU_SOURCE_SYSCALL || e->source == KTAU_SOURCE_FOREIGN ||
			 e->source == KTAU_SOURCE_IRQ;

	snprintf(key->text, sizeof(key->text), is_number || !e->key ? "%llu" : "0x%llx", e->key);
	return key->text;
}

static void print_events(const struct ktau_events *events, const struct ktau_symtab *symtab,
			 enum table_format format)
{
	struct symbolizer *names = symbolize_create(events, symtab);
	struct key *keys = cli_alloc(NULL, ktau_events_count(events), sizeof(*keys));
	const struct ktau_rec_event *e = NULL;
	union cell *row;
	struct table t;

	table_init(&t, "events", event_columns, E_NR);
	while ((e = ktau_events_next(events, e))) {
		row = table_row(&t);
		row[E_ID].number = e->id;
		row[E_GROUP].text = symbolize_group(names, e->id);
		row[E_KIND].text = word_or_number(ktau_kind_name(e->kind), e->kind);
		row[E_SOURCE].text = word_or_number(ktau_source_name(e->source), e->source);
		row[E_KEY].text = key_text(e, &keys[t.nr_rows - 1]);
		row[E_ADDRESS].number = e->address;
		row[E_NAME].text = symbolize_event(names, e->id);
	}
	table_print(&t, format, stdout);
	table_deinit(&t);
	free(keys);
	symbolize_destroy(names);
}

/* TAU treats blanks as separators, and writes names in quotes. */
static void print_tau_line(uint64_t address, char type, const char *name)
{
	printf("%016" PRIx64 " %c ", address, type);
	for (; *name; name++)
		putchar(*name > ' ' && *name <= '~' && *name != '"' ? *name : '_');
	putchar('\n');
}

/*
 * Print all names under which TAU may look up an event; the last is the one that it writes.
 * The wrapper of a system call without arguments is both __x64_sys_NAME and __do_sys_NAME, and
 * the kernel records only one of them.
 */
static void print_tau_names(uint64_t address, struct symbolizer *names,
			    const struct ktau_rec_event *e)
{
	const char *shown = symbolize_event(names, e->id);
	const char *name = ktau_event_name(e);
	char wrapper[256];

	if (strcmp(name, shown))
		print_tau_line(address, 'T', name);
	if (!strncmp(name, "__do_sys_", 9)) {
		snprintf(wrapper, sizeof(wrapper), "__x64_sys_%s", name + 9);
		print_tau_line(address, 'T', wrapper);
	}
	print_tau_line(address, 'T', shown);
}

/* The same rule as in libktau-legacy, where a callback is identified by its id. */
static bool has_own_address(const struct ktau_rec_event *e)
{
	return e->address && (e->source == KTAU_SOURCE_SYSCALL || e->source == KTAU_SOURCE_POINT ||
			      e->source == KTAU_SOURCE_FUNCTION);
}

/*
 * The functions of the running kernel, for events that occur for the first time later. Without the
 * right to see addresses, all of them are 0.
 */
static void print_tau_functions(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address;
	char *line = NULL;
	char name[512], type;
	size_t room = 0;

	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) == 3 && address &&
		    (type == 'T' || type == 't'))
			print_tau_line(address, 'T', name);
	free(line);
	fclose(file);
}

/*
 * Print a System.map for TAU, which does not recognise the end of a real one. A reader that may
 * not see addresses gets numbers instead, so there are also lines with the number of each event.
 * They come last because TAU uses the last line with a name.
 */
static void print_tau(const struct ktau_events *events, const struct ktau_symtab *symtab,
		      bool live)
{
	struct symbolizer *names = symbolize_create(events, symtab);
	const struct ktau_rec_event *e = NULL;

	if (live)
		print_tau_functions();
	while ((e = ktau_events_next(events, e)))
		if (has_own_address(e))
			print_tau_names(e->address, names, e);
	while ((e = ktau_events_next(events, e)))
		print_tau_names(0x10000 | e->id, names, e);
	print_tau_line(UINT64_MAX, 'A', "_etext");
	symbolize_destroy(names);
}

static int open_source(struct ktau_reader *reader, const char *file)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED |
			  KTAU_TARGET_CPU,
	};
	int err = file ? ktau_reader_open_file(reader, file) :
			 ktau_reader_open_live(reader, &query);

	if (err && !file)
		cli_reader_failed(reader, err);
	else if (err)
		complain("%s", ktau_reader_error(reader));
	return err;
}

static int list(struct ktau_reader *reader, const struct shared_options *o,
		struct ktau_symtab *symtab)
{
	union ktau_record record;
	int err;

	if (open_source(reader, shared_file(o)))
		return CLI_FAILED;
	while ((err = ktau_reader_next(reader, &record)) > 0)
		;
	if (err)
		cli_reader_failed(reader, err);
	if (symtab && symbolize_fit_map(symtab, shared_input(o), reader))
		return CLI_FAILED;
	if (o->is_other)
		print_tau(ktau_reader_events(reader), symtab, !shared_file(o));
	else
		print_events(ktau_reader_events(reader), symtab, o->format);
	return err ? CLI_FAILED : CLI_DONE;
}

static int events_main(int argc, char **argv)
{
	struct ktau_symtab *symtab = NULL;
	struct ktau_reader *reader;
	struct shared_options o = { .other_format = "tau", .wanted = FILES_AT_MOST_ONE };
	int status = CLI_FAILED;

	cli_parse(&parser, argc, argv, 0, &o);
	pager_for_tables(o.is_other ? FORMAT_CSV : o.format);
	if (o.map && symbolize_load_map(&symtab, o.map))
		return CLI_FAILED;
	if (ktau_reader_create(&reader)) {
		complain("out of memory");
	} else {
		status = list(reader, &o, symtab);
		ktau_reader_destroy(reader);
	}
	ktau_symtab_destroy(symtab);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_events = {
	"events", events_main, "list the routines that have been measured, and their ids",
	&parser, SUBCOMMAND_LOOK
};
