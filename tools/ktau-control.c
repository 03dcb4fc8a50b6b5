// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktau control, ktau stats, ktau events: the text files of /proc/ktau.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "names.h"
#include "table.h"

enum { OPT_FORMAT = 256 };

struct options {
	enum table_format format;
	const char *map;
	char **words;
	int nr_words;
	bool takes_map, takes_words;
};

static const struct argp_option argp_options[] = {
	{ "format", OPT_FORMAT, "FORMAT", 0, "text, csv or json (text)", 0 },
	{ 0 }
};

static const struct argp_option events_options[] = {
	{ "format", OPT_FORMAT, "FORMAT", 0, "text, csv or json (text)", 0 },
	{ "map", 'm', "FILE", 0,
	  "System.map, kallsyms or vmlinux, for names that the kernel did not know", 0 },
	{ 0 }
};

static const struct argp_option no_options[] = { { 0 } };

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_FORMAT:
		if (table_parse_format(arg, &o->format))
			argp_error(state, "--format=%s: not text, csv or json", arg);
		return 0;
	case 'm':
		o->map = arg;
		return 0;
	case ARGP_KEY_ARGS:
		if (!o->takes_words)
			argp_error(state, "'%s': no arguments here",
				   state->argv[state->next]);
		o->words = state->argv + state->next;
		o->nr_words = state->argc - state->next;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print_table(const struct table *t, enum table_format format)
{
	switch (format) {
	case FORMAT_TEXT:
		table_text(t, 0, t->nr_rows, "", stdout);
		return;
	case FORMAT_CSV:
		table_csv(t, stdout);
		return;
	case FORMAT_JSON:
		putchar('{');
		table_json(t, stdout);
		puts("}");
		return;
	}
}

/* A file of /proc/ktau could not be used: why. */
static int no_ktau(const char *path, int err)
{
	if (err == -ENOENT)
		complain("%s: not there: this kernel has no KTAU", path);
	else
		complain("%s: %s", path, strerror(-err));
	return CMD_FAILED;
}

enum { E_ID, E_GROUP, E_KIND, E_ADDRESS, E_NAME, E_NR };

static const struct column event_columns[E_NR] = {
	[E_ID] = { "id", "id", COLUMN_NUMBER },
	[E_GROUP] = { "group", "group", COLUMN_TEXT },
	[E_KIND] = { "kind", "kind", COLUMN_TEXT },
	[E_ADDRESS] = { "address", "address", COLUMN_HEX },
	[E_NAME] = { "name", "name", COLUMN_TEXT },
};

static void print_events(const struct ktau_events *events, const struct ktau_symtab *symtab,
			 enum table_format format)
{
	struct names *names = names_create(events, symtab);
	const struct ktau_event *e = NULL;
	union cell *row;
	struct table t;

	table_init(&t, "events", event_columns, E_NR);
	while ((e = ktau_events_next(events, e))) {
		row = table_row(&t);
		row[E_ID].number = e->id;
		row[E_GROUP].text = names_group(names, e->id);
		row[E_KIND].text = ktau_kind_name(e->kind);
		row[E_ADDRESS].number = e->address;
		row[E_NAME].text = names_event(names, e->id);
	}
	print_table(&t, format);
	table_deinit(&t);
	names_destroy(names);
}

int cmd_events(int argc, char **argv)
{
	static const struct argp parser = {
		events_options, parse_option, "",
		"List the events of the running kernel that have an id: those that have "
		"happened since boot.",
		NULL, NULL, NULL
	};
	struct ktau_symtab *symtab = NULL;
	struct ktau_events *events;
	struct options o = { 0 };
	int err;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (o.map && names_load_map(&symtab, o.map))
		return CMD_FAILED;
	err = ktau_events_create(&events);
	if (!err)
		err = ktau_events_load(events, NULL);
	if (err == -ENOENT)
		no_ktau("/proc/ktau/events", err);
	else if (err < 0)
		complain("%s", events ? ktau_events_error(events) : "out of memory");
	else
		print_events(events, symtab, o.format);
	ktau_events_destroy(events);
	ktau_symtab_destroy(symtab);
	return err < 0 || cmd_finish(stdout) ? CMD_FAILED : CMD_DONE;
}

enum { S_VALUE, S_NAME, S_NR };

static const struct column stat_columns[S_NR] = {
	[S_VALUE] = { "value", "value", COLUMN_NUMBER },
	[S_NAME] = { "name", "name", COLUMN_TEXT },
};

/* The figures asked for (all if none), and which were found. */
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

int cmd_stats(int argc, char **argv)
{
	static const struct argp parser = {
		argp_options, parse_option, "[NAME...]",
		"Print KTAU's figures about itself: losses and refusals by reason, "
		"memory, tasks.",
		NULL, NULL, NULL
	};
	struct options o = { .takes_words = true };
	struct stats s = { .o = &o };
	int err, i, status = CMD_DONE;
	size_t row;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	s.found = cmd_alloc(NULL, (size_t)o.nr_words, sizeof(*s.found));
	memset(s.found, 0, (size_t)o.nr_words * sizeof(*s.found));
	table_init(&s.t, "stats", stat_columns, S_NR);
	err = ktau_stats_each(add_stat, &s);
	if (err)
		status = no_ktau("/proc/ktau/stats", err);
	else
		print_table(&s.t, o.format);
	for (i = 0; !err && i < o.nr_words; i++) {
		if (!s.found[i]) {
			complain("no figure '%s' in /proc/ktau/stats", o.words[i]);
			status = CMD_FAILED;
		}
	}
	for (row = 0; row < s.t.nr_rows; row++)
		free((char *)s.t.cells[row * S_NR + S_NAME].text);
	table_deinit(&s.t);
	free(s.found);
	return cmd_finish(stdout) ? CMD_FAILED : status;
}

static int show_control(void)
{
	static const char path[] = "/proc/ktau/control";
	FILE *control = fopen(path, "re");
	char line[4096];
	int err = 0;

	if (!control)
		return no_ktau(path, -errno);
	while (fgets(line, sizeof(line), control))
		fputs(line, stdout);
	if (ferror(control))
		err = no_ktau(path, -errno);
	fclose(control);
	return err || cmd_finish(stdout) ? CMD_FAILED : CMD_DONE;
}

/* All words go in one write: the kernel takes all of them or none. */
static int write_control(const struct options *o)
{
	size_t bytes = 1;
	char *words, *end;
	int i, err;

	for (i = 0; i < o->nr_words; i++)
		bytes += strlen(o->words[i]) + 1;
	words = end = cmd_alloc(NULL, bytes, 1);
	*words = 0;
	for (i = 0; i < o->nr_words; i++)
		end += sprintf(end, "%s%s", i ? " " : "", o->words[i]);
	err = ktau_control_write(words);
	if (err)
		complain("cannot set '%s': %s", words, ktau_control_reason(err));
	free(words);
	return err ? CMD_FAILED : CMD_DONE;
}

int cmd_control(int argc, char **argv)
{
	static const struct argp parser = {
		no_options, parse_option, "[WORD...]",
		"Enable and disable groups (+tcp -irq groups=syscall,sched) and modes "
		"(profile=on trace=off), filter tasks (filter=uid:1000 filter+=pid:12), tag "
		"them (tag=12:7), set sizes (ring=1024). Without a WORD print the settings, "
		"in the words that restore them. Words that begin with - go after --.",
		NULL, NULL, NULL
	};
	struct options o = { .takes_words = true };

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	return o.nr_words ? write_control(&o) : show_control();
}
