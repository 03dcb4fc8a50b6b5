/* SPDX-License-Identifier: GPL-2.0-only */
/* What each process did in a period, summed up while the period is read. */
#ifndef KTAU_TOOLS_AGGREGATE_H
#define KTAU_TOOLS_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/hash.h"
#include "regions.h"
#include "registry.h"
#include "lib/symbolize.h"
#include "tally.h"
#include "wakers.h"

/* What a row of a report stands for. */
enum aggregate_by { BY_PROCESS,
		    BY_THREAD,
		    BY_NAME,
		    BY_CGROUP,
		    BY_USER };

/**
 * struct task_filter - which tasks a report is about
 * @flags: KTAU_SELECT_CGROUP, KTAU_SELECT_UID, KTAU_SELECT_TAG; 0 selects all tasks
 * @cgroup: path of the control group, for a file; tasks below it match too
 * @cgroup_id: id of the control group, for the running kernel
 * @uid: real user id
 * @tag: tag of the task
 * @applied: the kernel has already applied the filter
 */
struct task_filter {
	uint32_t flags;
	const char *cgroup;
	uint64_t cgroup_id;
	uint32_t uid, tag;
	bool applied;
};

/**
 * struct account - how a lifetime was spent
 * @life: ticks from beginning to end, summed over the tasks
 * @parts: ticks by ACCOUNT_*
 * @throughout: groups that were enabled for all tasks during the whole period
 */
enum { ACCOUNT_USER,
       ACCOUNT_KERNEL,
       ACCOUNT_IRQ,
       ACCOUNT_RUNQ,
       ACCOUNT_ASLEEP,
       ACCOUNT_GUEST,
       ACCOUNT_NR };

struct account {
	ktau_sum_t life;
	ktau_sum_t parts[ACCOUNT_NR];
	uint32_t throughout;
};

/* One task of a row. */
struct task_ids {
	int32_t tgid, tid;
};

/**
 * struct process - a row: a process, a thread, all tasks of a name, a control group or a user
 * @number: number of the row, from 1, in the order in which rows were created
 * @owner: the leader, or the first task found
 * @label: name, path of the control group, or "uid 1000"
 * @cgroup: control group of @owner
 * @tasks: number of tasks
 * @live: number of tasks that were alive at the end
 * @first_ids: pid and tid of the first task that has its own record
 * @other_ids: those of all others; most rows of very many have none
 * @nr_ids: number of such tasks
 * @room_ids: allocated length of @other_ids
 * @account: how the tasks spent their lifetime
 * @tally: what the tasks did; packed if one of them has exited, see aggregate_open()
 * @wakers: tasks that woke them, if there are traces
 */
struct process {
	uint64_t number;
	struct ktau_rec_owner owner;
	const char *label;
	const char *cgroup;
	uint64_t tasks, live;
	struct task_ids first_ids, *other_ids;
	uint32_t nr_ids, room_ids;
	struct account account;
	struct tally tally;
	struct wakers wakers;
};

/**
 * struct aggregate - a period, process by process
 * @by: what a row stands for
 * @filter: which tasks are included
 * @registry: meaning of ids
 * @processes: the rows
 * @nr: number of rows
 * @room: allocated number of rows
 * @by_key: index of a row plus 1, by the key that its tasks share
 * @taken: serials of exited tasks that are in the rows, or that exited before the period
 * @pass_on: takes the row of an exited task as soon as it is read, instead of the rows, which then
 *	keep none of its figures. The caller sets it after aggregate_init(), with BY_THREAD. The
 *	rows have those tasks that exited before a period begins that may have only one profile.
 * @arg: for @pass_on
 * @passed: serials of the tasks that were passed on
 * @passed_sum: what they did; its @tasks is the number of rows
 * @missing: groups that were disabled for a task at some time, by serial
 * @regions: regions of the tasks; their keys are the numbers of the rows. NULL: not read.
 *	The caller sets it after aggregate_init(), and destroys it.
 * @stacks: open frames of traced tasks
 * @evicted: what tasks did that were evicted before they were read
 * @total: what all tasks did, without the tables of the CPUs
 * @cpus: tables of the CPUs, a second view of the same time
 * @nr_cpus: number of CPUs
 * @exited: number of exited tasks in the rows
 * @skipped: what precedes the period was not read, so it is not known which tasks exited before
 *	it, and the increase of the evicted sum may be theirs
 * @refused: activations refused for lack of room
 * @refused_ticks: exclusive time of @refused
 * @unlisted: frames in flight that were not listed
 * @backward: owners whose figures decreased from the earlier to the later profile
 * @unknown: entries and owners of unknown kinds, which are left out
 * @scratch: difference of one task, or the routines of @opened
 * @opened: a row whose routines are packed, with its routines
 * @user: user of the current owner, with BY_USER
 */
struct aggregate {
	enum aggregate_by by;
	const struct task_filter *filter;
	struct registry *registry;
	struct process *processes;
	size_t nr, room;
	struct hash by_key;
	struct hash taken;
	void (*pass_on)(void *arg, const struct process *row);
	void *arg;
	struct hash passed;
	struct process passed_sum;
	struct hash missing;
	struct regions *regions;
	struct wake_stacks stacks;
	struct process evicted;
	struct process total;
	struct process *cpus;
	size_t nr_cpus;
	uint64_t exited;
	bool skipped;
	uint64_t refused;
	ktau_sum_t refused_ticks;
	uint64_t unlisted;
	uint64_t backward;
	uint64_t unknown;
	struct tally scratch;
	struct process opened;
	char user[20];
};

/*
 * If @filter->flags is set, both the rows and the total contain only tasks that match. Evicted
 * tasks cannot be told apart, so they are left out of both. Labels belong to @registry and to
 * the rows.
 */
void aggregate_init(struct aggregate *rows, enum aggregate_by by, const struct task_filter *filter,
		    struct registry *registry);
void aggregate_deinit(struct aggregate *rows);

/* Start of the period: drop everything recorded before. */
void aggregate_begin(struct aggregate *rows);

/* The machine was rebooted: serials start again. */
void aggregate_reboot(struct aggregate *rows);

/*
 * Add an exited task to its row, minus what it had done in @before (NULL: nothing). Each task
 * is added only once, and not if it exited before the time of @before.
 */
void aggregate_exited(struct aggregate *rows, const struct ktau_owned *owned,
		      const struct ktau_snapshot *before);

/* Add a live task to its row, if it is selected, minus what it had done in @before. */
void aggregate_live(struct aggregate *rows, const struct ktau_owned *owned,
		    const struct ktau_owned *before);

/* Pid and tid of the tasks of a row, by their number. */
static inline struct task_ids process_ids(const struct process *p, size_t i)
{
	return i ? p->other_ids[i - 1] : p->first_ids;
}

/* The row of @owner, NULL if it is not selected. It has no tasks until one is added or counted. */
struct process *aggregate_row(struct aggregate *rows, const struct ktau_rec_owner *owner);

/* Count a live task whose times the caller adds; @flags are those of its owner. */
void aggregate_count(struct process *row, struct task_ids ids, uint32_t flags);

/* Process a trace of the period. @reader resolves its owners. */
void aggregate_trace(struct aggregate *rows, const struct ktau_rec_trace *t,
		     const struct ktau_reader *reader);

/* Note which groups were enabled for the owner of a profile within the period. */
void aggregate_note_groups(struct aggregate *rows, const struct ktau_rec_profile *p);

/* Number of tasks that exited between the two snapshots and are not in the rows. */
uint64_t aggregate_unread(const struct aggregate *rows, const struct ktau_snapshot *before,
			  const struct ktau_snapshot *after);

/* Add everything else at the end of the period, from the two snapshots. Return: 0 or -ENOMEM. */
int aggregate_finish(struct aggregate *rows, const struct ktau_snapshot *before,
		     const struct ktau_snapshot *after);

/*
 * The parts of aggregate_finish() after all tasks have been added: the rows alone, or with the
 * total. Without @before, no task is counted as evicted.
 */
void aggregate_finish_rows(struct aggregate *rows);
int aggregate_finish_sums(struct aggregate *rows, const struct ktau_snapshot *before,
			  const struct ktau_snapshot *after);

/* Return: @row with routines that are not packed; valid until the next call. */
const struct process *aggregate_open(struct aggregate *rows, const struct process *row);

/* Ticks that KTAU's own hooks cost in the activations of @t, by kind of hook. */
uint64_t aggregate_own_ticks(const struct tally *t, const struct symbolizer *names,
			     const struct ktau_rec_stream *stream);

/* Subtract KTAU's own cost per activation from the inclusive and exclusive times. */
void aggregate_subtract(struct aggregate *rows, const struct symbolizer *names,
			const struct ktau_rec_stream *stream);

#endif
