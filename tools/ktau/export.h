/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exporters: a format is one file export_FORMAT.c with one struct exporter, which
 * turns the sequence of timeline.h into what other programs open.
 */
#ifndef KTAU_TOOLS_EXPORT_H
#define KTAU_TOOLS_EXPORT_H

#include <stdio.h>

#include "timeline.h"

/**
 * struct export_run - one run of an exporter
 * @format: the exporter
 * @path: what is written: a file, or a directory that exists and is empty
 * @out: the file, open; NULL if @path is a directory
 * @names: names of events
 * @timeline: the sequence
 * @begun: the exporter's begin() has been called
 * @data: the exporter's own
 */
struct export_run {
	const struct exporter *format;
	const char *path;
	FILE *out;
	struct symbolizer *names;
	struct timeline *timeline;
	bool begun;
	void *data;
};

/**
 * struct exporter - a format
 * @name: as in --NAME
 * @suffix: of the file or directory written, with its dot
 * @opens: programs that open it, for --help
 * @directory: it writes a directory
 * @begin: called at the first event or track; timeline_stream() is known; may be NULL
 * @track: see struct timeline_sink; may be NULL
 * @event: see struct timeline_sink
 * @end: the sequence has ended; frees @data; called if begin() was, even after an
 *	error; may be NULL
 *
 * All return 0 or -errno. Errors of @out are found by the caller.
 */
struct exporter {
	const char *name;
	const char *suffix;
	const char *opens;
	bool directory;
	int (*begin)(struct export_run *x);
	int (*track)(struct export_run *x, struct track *track);
	int (*event)(struct export_run *x, const struct timeline_event *e);
	int (*end)(struct export_run *x);
};

extern const struct exporter export_chrome;
extern const struct exporter export_perfetto;

#endif
