/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the machines of some files, and finds the task whose path is wanted. */
#ifndef KTAU_TOOLS_PATH_READ_H
#define KTAU_TOOLS_PATH_READ_H

#include "lib/report/hosts.h"
#include "lib/shared_options.h"
#include "lib/symbolize.h"
#include "machines.h"
#include "walk.h"

/**
 * struct path_reading - a pass through the files
 * @in: the files, the host to select, and where the names of regions are
 * @region: passes through this region are wanted, NULL: none
 * @machines: the machines
 * @host: selects the streams of a machine
 * @steals: what hosts took from guests; filled in if there are any
 * @find_steals: fills it in, if the files can be read again; NULL: it is not wanted
 * @elsewhere: the current stream is of a machine that is not selected
 * @map: names of events, if there is one machine
 * @quiet: what is wrong with the files has been said
 */
struct path_reading {
	const struct shared_options *in;
	const char *region;
	struct machines *machines;
	struct host_filter host;
	struct steals steals;
	int (*find_steals)(const struct shared_options *in, size_t nr, struct steals *steals);
	struct symbolize_map map;
	bool elsewhere;
	bool quiet;
};

/* Read the files to the end. Return: CLI_DONE or, after messages, CLI_FAILED. */
int path_read(struct path_reading *r);

/* True if the trace has slots of two times; otherwise there is a message. */
bool path_has_trace(const struct path_reading *r);

/* The start of the first task. */
uint64_t path_first_ns(const struct path_graph *g);

/*
 * The last task with this name, pid or serial; without @name, that of the recorded command, or the
 * one from which all others descend. Return: its index, or PATH_NONE with a message, which may name
 * the @option by which a task is selected.
 */
uint32_t path_choose_task(const struct path_reading *r, const char *name, const char *option);

/*
 * From the start of the life of a task to its end. That of the recorded command starts when the
 * recorder let it run.
 */
struct path path_life(const struct path_graph *g, uint32_t task);

#endif
