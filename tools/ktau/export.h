/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exporters: a format is one file export_FORMAT.c with one struct exporter, which
 * turns the sequence of timeline.h and the profiles of a period into what other programs
 * open.
 *
 * A *host* is one boot of one machine: ids, serials and clocks are valid within it. The
 * hosts of the input come one after the other.
 */
#ifndef KTAU_TOOLS_EXPORT_H
#define KTAU_TOOLS_EXPORT_H

#include <stdio.h>

#include "export_output.h"
#include "period.h"
#include "timeline.h"

/* How --tau numbers its files. */
enum export_naming { NAMING_DENSE, NAMING_PID, NAMING_NG };

/**
 * struct export_options - what is asked for
 * @host: only streams of this machine, NULL: all
 * @naming: see ktau-export(1)
 */
struct export_options {
	const char *host;
	enum export_naming naming;
};

/**
 * struct export_run - one run of an exporter
 * @format: the exporter
 * @options: what is asked for
 * @output: what is written
 * @out: the same if it is a file
 * @host: number of the present host, from 0
 * @stream: its first STREAM record, of traces or of profiles
 * @names: names of its events
 * @timeline: its sequence
 * @period: its profiles, from the first stream to the last as in ktau report, a row
 *	each task; complete when profile() is called
 * @begun: the exporter's begin() has been called
 * @entered: the present host's host() has been called
 * @data: the exporter's own
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
	bool begun, entered;
	void *data;
};

struct row_cell;

/**
 * struct exporter - a format
 * @name: as in --NAME
 * @suffix: of the file or directory written, with its dot
 * @opens: programs that open it, for --help
 * @package: NULL, or the Debian package that was missing when ktau was built: the format
 *	is listed, and refused
 * @directory: it writes a directory
 * @named: it needs a file, and cannot go to standard output
 * @hosts: it can have more than one
 * @begin: called before anything else; may be NULL
 * @start_host: called before anything of a host; may be NULL
 * @track: see struct timeline_sink; may be NULL
 * @event: see struct timeline_sink; may be NULL
 * @profile: the host has ended, called if it has profiles; may be NULL: traces are
 *	all that the format has
 * @end_host: called if start_host() was, at the end of the host; may be NULL
 * @row: for a format of tables, whose other callbacks are those of export_rows.h: a row of
 *	row_tables[@table]
 * @end: all has been written; frees @data; called if begin() was, even after an
 *	error; may be NULL
 * @run: reads the files itself, instead of all of these; CLI_DONE or CLI_FAILED
 *
 * All others return 0 or -errno. Errors of @out are found by the caller; -EIO means that there
 * has been a message.
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
	int (*profile)(struct export_run *x);
	int (*end_host)(struct export_run *x);
	int (*row)(struct export_run *x, int table, const struct row_cell *cells);
	int (*end)(struct export_run *x);
	int (*run)(struct export_run *x, char **files, int nr_files,
		   const struct ktau_symtab *symtab, struct export_totals *totals);
};

/* A state as the kernel's event sched_switch reports it: those of /proc/PID/stat. */
uint32_t export_state(uint32_t state);

extern const struct exporter export_perfetto;
extern const struct exporter export_chrome;
extern const struct exporter export_ctf;
extern const struct exporter export_otf2;
extern const struct exporter export_tau;
extern const struct exporter export_tau_snapshot;
extern const struct exporter export_tau_trace;
extern const struct exporter export_pprof;
extern const struct exporter export_csv;
extern const struct exporter export_json;
extern const struct exporter export_sqlite;

/* Totals of all hosts. */
struct export_totals {
	struct timeline_counts counts;
	uint64_t hosts, profiles;
	double merge_seconds;
};

/*
 * Read all @files and export them. CLI_DONE or CLI_FAILED, with messages; what could be
 * read of a damaged file has been exported if @totals->hosts is not 0.
 */
int export_files(struct export_run *x, char **files, int nr_files, struct ktau_symtab *symtab,
		 struct export_totals *totals);

#endif
