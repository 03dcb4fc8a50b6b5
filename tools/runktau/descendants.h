/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the tasks of a snapshot, alive or exited, that descend from a process.
 *
 * The process must reap orphans (PR_SET_CHILD_SUBREAPER). The parent of every descendant is then
 * always another descendant or the process itself. Parents are identified by serial, which is
 * never reused. Only the process itself, which is alive, is identified by pid, because it may have
 * no serial.
 */
#ifndef KTAU_TOOLS_DESCENDANTS_H
#define KTAU_TOOLS_DESCENDANTS_H

#include <stdint.h>

#include <ktau.h>

/**
 * descendants_find() - copy the descendants of a process
 * @all: snapshot to search, without tasks that exited before the process started
 * @pid: the process, which is not copied itself
 * @found: receives the copies; must have its STREAM record
 *
 * Return: 0 or -ENOMEM.
 */
int descendants_find(const struct ktau_snapshot *all, int32_t pid,
		     struct ktau_snapshot *found);

/**
 * descendants_begin() - the profile to subtract from a later profile of a task
 * @before: profile at the start of counting
 * @after: a later profile
 *
 * Frames that were in flight at the start must not be counted, but @after may account them. The
 * result therefore contains them as if they had ended before the start.
 *
 * Return: a new record for ktau_record_free(); NULL if there is no memory.
 */
struct ktau_rec_profile *descendants_begin(const struct ktau_rec_profile *before,
					   const struct ktau_rec_profile *after);

#endif
