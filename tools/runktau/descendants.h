/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks of a snapshot descend from a process, alive or exited.
 *
 * The process has to be a reaper of orphans (PR_SET_CHILD_SUBREAPER): then the
 * parent of every descendant, whenever it is read, is a descendant or the
 * process itself. Parents are found by serial, which is never reused; only the
 * process itself, which is alive, is found by its pid, because KTAU may not have
 * given it a serial.
 */
#ifndef KTAU_TOOLS_DESCENDANTS_H
#define KTAU_TOOLS_DESCENDANTS_H

#include <stdint.h>

#include <ktau.h>

/**
 * descendants_find() - copy the descendants of a process
 * @all: where to look; without tasks that exited before the process started
 * @pid: the process, which is not copied itself
 * @found: where to; must have its STREAM record
 *
 * Return: 0, -ENOMEM.
 */
int descendants_find(const struct ktau_snapshot *all, int32_t pid,
		     struct ktau_snapshot *found);

/**
 * descendants_begin() - the profile from which a task is to be counted
 * @before: its profile when the count began
 * @after: a later one
 *
 * What was in flight at the beginning does not belong to the count, although it
 * has been accounted since: the result has it as if it had ended before.
 *
 * Return: new record for ktau_record_free(), NULL without memory.
 */
struct ktau_rec_profile *descendants_begin(const struct ktau_rec_profile *before,
					   const struct ktau_rec_profile *after);

#endif
