// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: adding the profile of one exited task to another.
 *
 * Nobody else changes the two. Readers may copy the one that is added to; they notice it, see
 * ktau_snapshot_into().
 */
#include "base/arch.h"
#include "measure/state.h"
#include "measure/table.h"
#include "merge.h"

static void add_counts(struct ktau_state *to, const struct ktau_state *from)
{
	/* A group counts as enabled if it was for each. */
	to->profiled &= ktau_groups_throughout(from, KTAU_GROUP_ALL, 0);
	to->outer_ticks += from->outer_ticks;
	to->user_ticks += from->user_ticks;
	to->irq_ticks += from->irq_ticks;
	to->runq_ticks += from->runq_ticks;
	to->asleep_ticks += from->asleep_ticks;
	to->guest_ticks += from->guest_ticks;
	to->refused += from->refused;
	to->refused_ticks += from->refused_ticks;
	to->clamped += from->clamped;
	to->no_room += from->no_room;
	to->owner.nr_tasks += from->owner.nr_tasks;
	to->owner.utime_ns += from->owner.utime_ns;
	to->owner.stime_ns += from->owner.stime_ns;
	to->owner.nvcsw += from->owner.nvcsw;
	to->owner.nivcsw += from->owner.nivcsw;
	to->owner.migrations += from->owner.migrations;
}

/* Add the table of @from to that of @to, moving the chunks that @to lacks. */
static void add_table(struct ktau_state *to, struct ktau_state *from)
{
	long bytes = ktau_table_merge(to, from) * sizeof(struct ktau_chunk);

	atomic_long_add(bytes, &to->bytes);
	atomic_long_sub(bytes, &from->bytes);
	to->exited_bytes += bytes;
	from->exited_bytes -= bytes;
}

/**
 * ktau_merge() - fold an exited task into another one of its process
 * @to: receives all that @from has
 * @from: what is left of it may only be freed
 *
 * Context: Task, under the lock of the exited queue.
 */
void ktau_merge(struct ktau_state *to, struct ktau_state *from)
{
	ktau_add(&to->begin, 1);
	smp_wmb();	/* @begin before the rest, the rest before @end */
	add_counts(to, from);
	add_table(to, from);
	smp_wmb();	/* see above */
	ktau_add(&to->end, 1);
	to->owner.flags |= KTAU_OWNER_FOLDED;
}

/**
 * ktau_merge_sum() - add an exited task to the evicted sum
 * @sum: has all chunks, so that none is moved
 * @from: left as it is
 *
 * Context: Task, under the lock of the exited queue.
 */
void ktau_merge_sum(struct ktau_state *sum, struct ktau_state *from)
{
	add_counts(sum, from);
	ktau_table_merge(sum, from);
}
