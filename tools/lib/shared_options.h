/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that several commands have. A command puts their rows into its table, and its parser
 * leaves what it does not handle itself to shared_option().
 */
#ifndef KTAU_TOOLS_SHARED_OPTIONS_H
#define KTAU_TOOLS_SHARED_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "live.h"
#include "moment.h"
#include "table.h"

enum { OPTION_FROM = LIVE_OPT_SOURCE + 1, OPTION_TO, OPTION_HOST, OPTION_REGION_NAMES,
       OPTION_FORMAT, OPTION_CSV, OPTION_JSON, OPTION_TOP };

#define MAP_OPTION(group) \
	{ "map", 'm', "FILE", 0, "Read names from a System.map, kallsyms or vmlinux", group }
/* @what: what is shown of the task, and how it can be given; @rows: what there are N of */
#define TASK_OPTION(what, group) { "task", 't', "TASK", 0, what, group }
#define TOP_OPTION(rows, group) \
	{ "top", OPTION_TOP, "N", 0, "Show only the first N " rows, group }
#define HOST_OPTION(group) \
	{ "host", OPTION_HOST, "NAME", 0, "Use only the streams of this machine", group }
#define FORMAT_OPTION(group) \
	{ "format", OPTION_FORMAT, "FORMAT", 0, "text, csv or json (default: text)", group }
#define CSV_JSON_OPTIONS(group) \
	{ "csv", OPTION_CSV, NULL, 0, "The same as --format=csv", group }, \
	{ "json", OPTION_JSON, NULL, 0, "The same as --format=json", group }
/* @what: what is read from which files, and the default of DIR */
#define REGION_NAMES_OPTION(what, group) \
	{ "region-names", OPTION_REGION_NAMES, "DIR", 0, "Read " what, group }
/* @start: when the input begins, and the default of --from; @end: the default of --to */
#define TIME_OPTIONS(start, end, group) \
	{ "from", OPTION_FROM, "TIME", 0, \
	  "Start at TIME: \"2026-01-31 13:00:05\", @seconds since 1970, or +seconds since " start, \
	  group }, \
	{ "to", OPTION_TO, "TIME", 0, "End at TIME" end, group }

enum files_wanted { FILES_ANY, FILES_REQUIRED, FILES_AT_MOST_ONE };

/**
 * struct shared_options - what shared_option() has parsed
 * @map: file with names
 * @host: machine whose streams to use; NULL: any
 * @task: a task by name or number; NULL: none is given
 * @top: number of rows to show; 0: all
 * @region_names: directory with names of regions; NULL: the current one
 * @output: file to write, from a row with the key 'o'
 * @source: --source is given, which does not go with a file
 * @from: start of the period
 * @to: end of the period
 * @since: what relative times count from, for messages; set by the command
 * @format: how to print tables
 * @other_format: a further word that --format accepts, if any; set by the command
 * @is_other: --format=@other_format was given last
 * @files: the arguments
 * @nr_files: number of @files
 * @wanted: how many there may be; set by the command
 * @folders: a folder stands for the recordings in it; set by the command
 */
struct shared_options {
	const char *map, *host, *task, *region_names, *output;
	bool source;
	uint64_t top;
	struct moment from, to;
	const char *since;
	enum table_format format;
	const char *other_format;
	bool is_other;
	char **files;
	int nr_files;
	enum files_wanted wanted;
	bool folders;
};

/* Parse one of the options above, and arguments. Return: 0 or ARGP_ERR_UNKNOWN. */
error_t shared_option(int key, char *arg, struct argp_state *state, struct shared_options *o);

/* The only argument; NULL if there is none. */
static inline const char *shared_file(const struct shared_options *o)
{
	return o->nr_files ? o->files[0] : NULL;
}

/* Its name for messages. */
static inline const char *shared_input(const struct shared_options *o)
{
	return o->nr_files ? o->files[0] : "the running kernel";
}

/*
 * Whether @path is one of the files that the options name: the arguments, the map, or what
 * programs have written about their regions. Prints a message.
 */
bool shared_is_input(const struct shared_options *o, const char *path);

/* The argument of an option. Both exit with a message if it is none. */
uint64_t shared_count(const char *name, const char *arg, const struct argp_state *state);
int32_t shared_pid(const char *arg, const struct argp_state *state);

/* Parse a length of time from @least_ns to a million seconds. Return: 0 or -1. */
int shared_seconds(const char *arg, uint64_t least_ns, uint64_t *ns);

#endif
