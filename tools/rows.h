/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the two snapshots of a period to what each process did in it.
 */
#ifndef KTAU_TOOLS_ROWS_H
#define KTAU_TOOLS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "names.h"
#include "period.h"

/* What one table of a report is about. */
enum rows_by { BY_PROCESS, BY_THREAD, BY_NAME, BY_CGROUP };

/**
 * struct routine - one event in the period
 * @id: event id
 * @kind: KTAU_KIND_*
 * @count: activations that ended, or values
 * @incl: ticks; @sum for counters
 * @excl: ticks
 * @min: counters: smallest value, of the whole life
 * @max: counters: largest value, likewise
 * @open: frames in flight at the end of the period
 * @open_incl: ticks since the outermost of them was entered
 * @open_excl: ticks of that without what ran inside
 */
struct routine {
	uint32_t id;
	uint32_t kind;
	uint64_t count;
	uint64_t incl;
	uint64_t excl;
	uint64_t min, max;
	uint64_t open;
	uint64_t open_incl, open_excl;
};

/* One task of a row. */
struct task_ids {
	int32_t tgid, tid;
};

/**
 * struct process - a process, a thread, all of one name, or a control group
 * @owner: of its leader, or of the first that was found; without the path
 * @label: its name, or the control group's path
 * @cgroup: control group of @owner
 * @tasks: tasks in it
 * @live: how many of them were alive at the end
 * @ids: of each task that has a record of its own
 * @nr_ids: number of them
 * @routines: what they did, in the order of ids
 * @nr_routines: number of them
 * @pairs: enters with their exits: what KTAU itself has cost, in pairs
 */
struct process {
	struct ktau_rec_owner owner;
	const char *label;
	const char *cgroup;
	uint64_t tasks, live;
	const struct task_ids *ids;
	size_t nr_ids;
	struct routine *routines;
	size_t nr_routines;
	uint64_t pairs;
};

/**
 * struct rows - the period, process by process
 * @processes: those that were found in the period
 * @nr: number of them
 * @ids: of all their tasks
 * @evicted: what tasks did that were evicted before they were read
 * @total: everything that tasks did; the tables of the CPUs are not in it
 * @cpus: tables of the CPUs, a second view of the same time
 * @nr_cpus: number of them
 * @refused: activations that found no room
 * @refused_ticks: their exclusive time
 * @unlisted: frames in flight that were not listed
 * @backward: owners whose later profile has less than the earlier one
 * @unknown: entries and owners of unknown kinds, which are left out
 */
struct rows {
	struct process *processes;
	size_t nr;
	struct task_ids *ids;
	struct process evicted;
	struct process total;
	struct process *cpus;
	size_t nr_cpus;
	uint64_t refused, refused_ticks;
	uint64_t unlisted;
	uint64_t backward;
	uint64_t unknown;
};

/*
 * With @filter->flags the rows are those of the tasks that match, and so is the total;
 * evicted tasks cannot be told apart and are in none. 0 or -errno; rows_deinit() in any
 * case. Labels belong to the period.
 */
int rows_init(struct rows *rows, const struct period *period, enum rows_by by,
	      const struct task_filter *filter);
void rows_deinit(struct rows *rows);

/* Ticks that KTAU itself has cost in the activations of @p, by the kind of their hooks. */
uint64_t rows_own_ticks(const struct process *p, const struct names *names,
			const struct ktau_rec_stream *stream);

/*
 * Take KTAU's own time out of times: what each activation costs, from its own inclusive
 * and exclusive time.
 */
void rows_subtract(struct rows *rows, const struct names *names,
		   const struct ktau_rec_stream *stream);

#endif
