/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live tasks of a walk. What a task did in a period in which it slept follows from the length
 * of the period, so it is computed for all such tasks of a kind at once: a period costs as much as
 * the tasks that did something.
 */
#ifndef KTAU_TOOLS_SLEEPERS_H
#define KTAU_TOOLS_SLEEPERS_H

#include "lib/report/period.h"

struct sleeper;
struct sleeper_kind;

/**
 * struct sleepers - the live tasks
 * @tasks: the tasks, in the order of a snapshot
 * @nr: length of @tasks
 * @room: allocated length of @tasks
 * @by_serial: index of a task plus 1
 * @kinds: kinds of sleeping tasks
 * @nr_kinds: length of @kinds
 * @room_kinds: allocated length of @kinds
 * @by_kind: index of a kind plus 1
 * @complete: the period has a stream that does not leave sleeping tasks out
 */
struct sleepers {
	struct sleeper *tasks;
	size_t nr, room;
	struct hash by_serial;
	struct sleeper_kind *kinds;
	size_t nr_kinds, room_kinds;
	struct hash by_kind;
	bool complete;
};

/* Note a record of a stream of profiles. An all-zero structure has no tasks. */
void sleepers_put(struct sleepers *s, const union ktau_record *record);

/*
 * Add what all live tasks did in the period to its rows, at its end. Longest activations are only
 * those of tasks that did something.
 */
void sleepers_add(struct sleepers *s, const struct period *p);

/* The machine was rebooted. */
void sleepers_clear(struct sleepers *s);
void sleepers_deinit(struct sleepers *s);

#endif
