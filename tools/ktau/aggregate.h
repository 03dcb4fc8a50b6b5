/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each process did in a period, added up while the period is read.
 */
#ifndef KTAU_TOOLS_AGGREGATE_H
#define KTAU_TOOLS_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "hash.h"
#include "registry.h"
#include "symbolize.h"
#include "tally.h"
#include "wakers.h"

/* What one row of a report is about. */
enum aggregate_by { BY_PROCESS,
		    BY_THREAD,
		    BY_NAME,
		    BY_CGROUP,
		    BY_USER };

/**
 * struct task_filter - which tasks a report is about
 * @flags: KTAU_SELECT_CGROUP, KTAU_SELECT_UID, KTAU_SELECT_TAG; 0: all tasks
 * @cgroup: path of the control group, for a file; tasks below it match too
 * @cgroup_id: its id, for the running kernel
 * @uid: real user
 * @tag: tag
 * @applied: by the kernel, which has left out the others
 */
struct task_filter {
	uint32_t flags;
	const char *cgroup;
	uint64_t cgroup_id;
	uint32_t uid, tag;
	bool applied;
};

/**
 * struct account - where the time went
 * @life: ticks between the beginning and the end, summed over the tasks
 * @parts: ticks by ACCOUNT_*
 * @throughout: groups that were on for all of them all the time
 */
enum { ACCOUNT_USER,
       ACCOUNT_KERNEL,
       ACCOUNT_IRQ,
       ACCOUNT_RUNQ,
       ACCOUNT_ASLEEP,
       ACCOUNT_GUEST,
       ACCOUNT_NR };

struct account {
	uint64_t life;
	uint64_t parts[ACCOUNT_NR];
	uint32_t throughout;
};

/* One task of a row. */
struct task_ids {
	int32_t tgid, tid;
};

/**
 * struct process - a process, a thread, all of one name, a control group or a user
 * @owner: of its leader, or of the first that was found; without the path
 * @label: its name, the control group's path, or "uid 1000"
 * @cgroup: control group of @owner
 * @tasks: tasks in it
 * @live: how many of them were alive at the end
 * @ids: of each task that has a record of its own
 * @nr_ids: number of them
 * @room_ids: for how many there is memory
 * @account: where its life went
 * @tally: what they did
 * @wakers: who woke them, if there are traces
 */
struct process {
	struct ktau_rec_owner owner;
	const char *label;
	const char *cgroup;
	uint64_t tasks, live;
	struct task_ids *ids;
	size_t nr_ids, room_ids;
	struct account account;
	struct tally tally;
	struct wakers wakers;
};

/**
 * struct aggregate - the period, process by process
 * @by: what a row is
 * @filter: which tasks are in them
 * @registry: what ids stand for
 * @processes: those that were found in the period
 * @nr: number of them
 * @room: for how many there is memory
 * @by_key: index of a row plus 1, by what its tasks have in common
 * @taken: serials of exited tasks that are in the rows, or exited before the period
 * @missing: by serial of a task, groups that were off for it at some time
 * @stacks: where traced tasks are
 * @evicted: what tasks did that were evicted before they were read
 * @total: everything that tasks did; the tables of the CPUs are not in it
 * @cpus: tables of the CPUs, a second view of the same time
 * @nr_cpus: number of them
 * @exited: how many tasks of them have exited
 * @refused: activations that found no room
 * @refused_ticks: their exclusive time
 * @unlisted: frames in flight that were not listed
 * @backward: owners whose later profile has less than the earlier one
 * @unknown: entries and owners of unknown kinds, which are left out
 * @scratch: one task's difference
 * @user: the present owner's user, with BY_USER
 */
struct aggregate {
	enum aggregate_by by;
	const struct task_filter *filter;
	struct registry *registry;
	struct process *processes;
	size_t nr, room;
	struct hash by_key;
	struct hash taken;
	struct hash missing;
	struct wake_stacks stacks;
	struct process evicted;
	struct process total;
	struct process *cpus;
	size_t nr_cpus;
	uint64_t exited;
	uint64_t refused, refused_ticks;
	uint64_t unlisted;
	uint64_t backward;
	uint64_t unknown;
	struct tally scratch;
	char user[20];
};

/*
 * With @filter->flags the rows are those of the tasks that match, and so is the total;
 * evicted tasks cannot be told apart and are in none. Labels belong to @registry and
 * to the rows.
 */
void aggregate_init(struct aggregate *rows, enum aggregate_by by, const struct task_filter *filter,
		    struct registry *registry);
void aggregate_deinit(struct aggregate *rows);

/* The period begins here: what came before it is dropped. */
void aggregate_begin(struct aggregate *rows);

/* Serials start anew. */
void aggregate_reboot(struct aggregate *rows);

/*
 * A task that has exited goes into its row as soon as it has been read, less what it
 * had done in @before; NULL: all that it ever did. Only the first time.
 */
void aggregate_exited(struct aggregate *rows, const struct ktau_owned *owned,
		      const struct ktau_snapshot *before);

/* A trace of the period, of which @reader has the owners. */
void aggregate_trace(struct aggregate *rows, const struct ktau_rec_trace *t,
		     const struct ktau_reader *reader);

/* A profile of the period says which groups were on for its owner. */
void aggregate_note_groups(struct aggregate *rows, const struct ktau_rec_profile *p);

/* Everything else, at the end of the period, from the snapshots around it. 0 or -ENOMEM. */
int aggregate_finish(struct aggregate *rows, const struct ktau_snapshot *before,
		     const struct ktau_snapshot *after);

/* Ticks that KTAU itself has cost in the activations of @t, by the kind of their hooks. */
uint64_t aggregate_own_ticks(const struct tally *t, const struct symbolizer *names,
			     const struct ktau_rec_stream *stream);

/*
 * Take KTAU's own time out of times: what each activation costs, from its own inclusive
 * and exclusive time.
 */
void aggregate_subtract(struct aggregate *rows, const struct symbolizer *names,
			const struct ktau_rec_stream *stream);

#endif
