// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: counters: events that have a value instead of a duration.
 */
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/ktau_api.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/event.h"
#include "base/ids.h"
#include "table.h"
#include "trace.h"

DEFINE_STATIC_CALL(ktau_divert_count, ktau_trace);
DEFINE_STATIC_CALL_NULL(ktau_divert_value,
			void (struct ktau_ref *ref, unsigned int id, u64 value));

/* No single instruction updates a minimum or maximum, so interrupts are disabled. */
static bool count_value(struct ktau_state *state, unsigned int id, u64 value)
{
	struct ktau_cell *cell = ktau_cell(state, id);
	unsigned long flags;

	if (unlikely(!cell)) {
		ktau_add(&state->refused, 1);
		return false;
	}
	raw_local_irq_save(flags);
	ktau_cell_count(cell, value);
	raw_local_irq_restore(flags);
	return true;
}

static void count(struct ktau_ref *ref, unsigned int id, u64 value)
{
	struct ktau_state *state = ref->state;
	u32 mask = READ_ONCE(ref->mask);

	if (mask & (KTAU_MODE_TRACE | KTAU_MASK_HANDLED))
		static_call(ktau_divert_count)(state, 0, KTAU_TRACE_COUNT, id, value);
	if (mask & KTAU_MODE_PROFILE) {
		ktau_add(&state->begin, 1);
		ktau_wmb();
		if (count_value(state, id, value) && (mask & KTAU_MASK_HANDLED))
			static_call_cond(ktau_divert_value)(ref, id, value);
		ktau_wmb();
		ktau_add(&state->end, 1);
	}
}

/* The same as __ktau_count() in all cases. */
static noinline void count_slow(struct ktau_point *point, u64 value)
{
	unsigned int id = ktau_point_id(point);

	if (likely(id != KTAU_ID_NONE))
		count(&current->ktau, id, value);
}

/**
 * __ktau_count() - add a value to a counter of the current task
 * @point: point of the counter, which gets its id at the first call
 * @value: added to the sum, and compared with minimum and maximum
 *
 * A value that is neither a new minimum nor a new maximum takes the fast path, which
 * calls nothing. An interrupt in between may only make the minimum less and the maximum
 * greater.
 *
 * Context: Any but NMI. The current task has the counter's group enabled.
 */
void __ktau_count(struct ktau_point *point, u64 value)
{
	const u32 modes = KTAU_MODE_PROFILE | KTAU_MODE_TRACE | KTAU_MASK_HANDLED;
	const unsigned int id = READ_ONCE(point->id);
	const struct ktau_ref *ref = &current->ktau;
	struct ktau_state *state = ref->state;
	struct ktau_cell *cell;

	/* bits of one word cannot be torn */
	if (unlikely((data_race(ref->mask) & modes) != KTAU_MODE_PROFILE ||
		     id >= KTAU_ID_INDIRECT))
		goto slow;
	cell = ktau_direct_cell(state, id);
	OPTIMIZER_HIDE_VAR(cell);	/* else gcc recomputes it at each use */
	if (unlikely(!ktau_read(&cell->count) || value < ktau_read(&cell->v[1]) ||
		     value > ktau_read(&cell->v[2])))
		goto slow;
	ktau_add(&state->begin, 1);
	ktau_wmb();
	ktau_add(&cell->v[0], value);
	ktau_add(&cell->count, 1);
	ktau_wmb();
	ktau_add(&state->end, 1);
	return;
slow:
	count_slow(point, value);
}
EXPORT_SYMBOL_GPL(__ktau_count);

/**
 * ktau_event() - add a value to a counter that a module has registered
 * @fid: event, from ktau_get_fid()
 * @value: added to the sum, and compared with minimum and maximum
 *
 * Context: Any; in NMI nothing is counted. Does nothing unless @fid is a counter whose
 * group is enabled for the current task.
 */
void ktau_event(int fid, u64 value)
{
	struct ktau_ref *ref = &current->ktau;
	u32 group = ktau_module_group(fid, KTAU_KIND_COUNTER);

	if ((READ_ONCE(ref->mask) & group) && !in_nmi())
		count(ref, fid, value);
}
EXPORT_SYMBOL_GPL(ktau_event);
