/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exporters. Each format is a file export_FORMAT.c with one EXPORT_FORMAT(), which converts
 * the event sequence of timeline.h and the profiles of a period for other programs.
 *
 * A *host* is one boot of one machine; ids, serials and clocks are only valid within it. The
 * hosts of the input are processed one after the other.
 */
#ifndef KTAU_TOOLS_EXPORT_H
#define KTAU_TOOLS_EXPORT_H

#include <stdio.h>

#include "lib/output.h"
#include "lib/report/period.h"
#include "analyse/states.h"
#include "analyse/timeline.h"
#include "analyse/user_trace.h"

/* How --tau numbers its files. */
enum export_naming { NAMING_DENSE, NAMING_PID, NAMING_NG };

/**
 * struct export_options - options of ktau export
 * @host: only export streams of this machine; NULL: all
 * @after: output of an earlier run of --hours, after which this one continues; NULL: none
 * @naming: see ktau-export(1)
 * @region_names: directory with names of regions; NULL: the current one
 * @states: rows of a view, for formats that have them; NULL: none
 */
struct export_options {
	const char *host;
	const char *after;
	enum export_naming naming;
	const char *region_names;
	const struct states *states;
};

/**
 * struct export_run - one run of an exporter
 * @format: the exporter
 * @options: requested options
 * @output: the file or directory to write
 * @out: stream of @output if it is a file
 * @host: number of the current host, from 0
 * @stream: first STREAM record of the host, of traces or profiles
 * @names: names of the events of the host
 * @timeline: merged traces of the host
 * @period: profiles of the host, from the first stream to the last as in ktau report, with
 *	a row per task; complete when profile() is called
 * @regions: regions of the host, by number of the row; complete when profile() is called
 * @profile_from_ns: CLOCK_BOOTTIME of the first stream of profiles; 0 before there is one
 * @profile_to_ns: of the last one so far
 * @begun: the exporter's begin() has been called
 * @entered: the current host's start_host() has been called
 * @data: private data of the exporter
 */
struct export_run {
	const struct exporter *format;
	struct export_options options;
	struct output *output;
	FILE *out;
	uint32_t host;
	struct ktau_rec_stream stream;
	struct symbolizer *names;
	struct timeline *timeline;
	struct period *period;
	struct region_sums regions;
	uint64_t profile_from_ns, profile_to_ns;
	bool begun, entered;
	void *data;
};

struct row_cell;

typedef void (*export_put_fn)(struct export_run *x, const struct timeline_event *e);

/**
 * struct exporter - an export format
 * @name: name of the option, without dashes
 * @suffix: suffix of the file or directory, with its dot
 * @opens: programs that open it, for --help
 * @package: NULL, or the Debian package that was missing when ktau was built; the format
 *	is then listed, but rejected
 * @directory: the output is a directory
 * @named: the output must be a file and cannot be standard output
 * @hosts: the output can contain more than one host
 * @begin: called before anything else; may be NULL
 * @start_host: called before anything else of a host; may be NULL
 * @track: see struct timeline_sink; may be NULL
 * @event: see struct timeline_sink; NULL: call export_put() with @put
 * @put: functions that write an event, by its type
 * @lost: the same for TIMELINE_LOST
 * @mark: the same for TIMELINE_MARK
 * @gone: the same for TIMELINE_GONE
 * @task: called for an exited task of a profile as soon as it is read, except before the second
 *	stream; the task is then not in the rows. NULL: it is
 * @profile: called at the end of the host if it has profiles; NULL if the format has
 *	only traces
 * @states: write the rows of a view, at the end of the host; NULL if the format has none
 * @end_host: called at the end of the host if start_host() was called; may be NULL
 * @row: write a row of row_tables[@table]; only for table formats, which take the other
 *	callbacks from export_rows.h
 * @end: called at the end if begin() was called, even after an error; frees @data; may be
 *	NULL
 * @run: reads the files itself and replaces all other callbacks; returns CLI_DONE or CLI_FAILED
 *
 * All others return 0 or -errno. The caller checks @out for errors. -EIO means that a message
 * has already been printed.
 */
struct export_totals;

struct exporter {
	const char *name;
	const char *suffix;
	const char *opens;
	const char *package;
	bool directory;
	bool named;
	bool hosts;
	int (*begin)(struct export_run *x);
	int (*start_host)(struct export_run *x);
	int (*track)(struct export_run *x, struct track *track);
	int (*event)(struct export_run *x, const struct timeline_event *e);
	export_put_fn put[UINT8_MAX + 1];
	export_put_fn lost;
	export_put_fn mark;
	export_put_fn gone;
	int (*task)(struct export_run *x, const struct process *p);
	int (*profile)(struct export_run *x);
	int (*states)(struct export_run *x, const struct states *s);
	int (*end_host)(struct export_run *x);
	int (*row)(struct export_run *x, int table, const struct row_cell *cells);
	int (*end)(struct export_run *x);
	int (*run)(struct export_run *x, char **files, int nr_files,
		   const struct ktau_symtab *symtab, struct export_totals *totals);
};

/* Write @e with the format's function for events of its type; without one it is omitted. */
void export_put(struct export_run *x, const struct timeline_event *e);

/* Convert a state to the bits that the event sched_switch reports, those of /proc/PID/stat. */
uint32_t export_state(uint32_t state);

/*
 * Define the exporter of a format, which is then one of the formats of ktau export: the linker
 * collects pointers to them, from __start_export_formats on.
 */
#define EXPORT_FORMAT(format) \
	extern const struct exporter export_##format; \
	static const struct exporter *const registered_##format \
		__attribute__((used, section("export_formats"))) = &export_##format; \
	const struct exporter export_##format

extern const struct exporter *const __start_export_formats[], *const __stop_export_formats[];

/* The format of an option with further options, and the variants that these choose. */
extern const struct exporter export_tau, export_tau_snapshot;
extern const struct exporter export_csv, export_hours;

/* Totals of all hosts. */
struct export_totals {
	struct timeline_counts counts;
	uint64_t hosts, profiles;
	double merge_seconds;
};

/*
 * Read all @files and export them. Return: CLI_DONE, or CLI_FAILED with messages. In both cases
 * the readable part of the input has been exported if @totals->hosts is not 0.
 */
int export_files(struct export_run *x, char **files, int nr_files, struct ktau_symtab *symtab,
		 struct export_totals *totals);

#endif
