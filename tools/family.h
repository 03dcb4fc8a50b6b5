/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks of a snapshot descend from a process, dead or alive.
 *
 * The process has to be a reaper of orphans (PR_SET_CHILD_SUBREAPER): then the
 * parent of every descendant, whenever one looks, is a descendant or the
 * process itself. Process ids may come again: a parent counts only if it lived
 * when the child was seen.
 */
#ifndef KTAU_TOOLS_FAMILY_H
#define KTAU_TOOLS_FAMILY_H

#include <stdint.h>

#include <ktau.h>

/**
 * family_find() - copy the descendants of a process
 * @all: where to look
 * @pid: the process, which is not copied itself
 * @asked_ns: CLOCK_BOOTTIME when the live tasks of @all were asked for
 * @family: where to; has to have its STREAM record
 *
 * Return: 0, -ENOMEM.
 */
int family_find(const struct ktau_snapshot *all, int32_t pid, uint64_t asked_ns,
		struct ktau_snapshot *family);

/**
 * family_begin() - the profile from which a task is to be counted
 * @before: its profile when the count began
 * @after: a later one
 *
 * What was in flight at the beginning does not belong to the count, though it
 * has been booked since: the result has it as if it had ended before.
 *
 * Return: new record for ktau_record_free(), NULL without memory.
 */
struct ktau_rec_profile *family_begin(const struct ktau_rec_profile *before,
				      const struct ktau_rec_profile *after);

#endif
