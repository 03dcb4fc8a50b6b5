/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What read_data() returns and unpack_bindata() reads: the number of profiles, then for each
 * one its pid, the number of its rows, and the rows. TAU allocates and copies 24 times as
 * much memory as this takes, so the events are not in it.
 */
#ifndef KTAU_LEGACY_PACKED_H
#define KTAU_LEGACY_PACKED_H

#include <stdbool.h>

#include <linux/ktau/ktau_datatype.h>

#include "tasks.h"

/* Tasks of a list: @nr_pids of @pids; all tasks if that is 0. */
struct ktau__wanted {
	const pid_t *pids;
	size_t nr_pids;
};

/* New memory, for free(). 0, -ENOMEM. */
int ktau__pack_tasks(const struct ktau__tasks *tasks, const struct ktau__wanted *wanted,
	       char **data, size_t *size);

/*
 * Room for @nr entries, for free(), and one more with the index UINT_MAX. TAU compares the entry
 * after the last one of a list with those of another list. NULL without memory.
 */
o_ent *ktau__entries_create(unsigned int nr);

#endif /* KTAU_LEGACY_PACKED_H */
