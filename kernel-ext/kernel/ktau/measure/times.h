/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: time inside events in which the task did not run its own code. */
#ifndef _KERNEL_KTAU_TIMES_H
#define _KERNEL_KTAU_TIMES_H

#include <linux/minmax.h>

#include "base/arch.h"
#include "base/types.h"

/*
 * Flag in @child of a frame: @base is set. No sum of ticks reaches this bit. The fast
 * exit, which subtracts @child, computes a negative exclusive time, even if a clock went
 * backwards.
 */
#define KTAU_CHILD_TIMED_BIT	62
#define KTAU_CHILD_TIMED	BIT_ULL(KTAU_CHILD_TIMED_BIT)

/*
 * Another flag in @child: nothing is measured any more, and what was has been accounted. With
 * either flag or both, the fast exits compute a negative time, so the frame ends in
 * ktau_settle().
 */
#define KTAU_CHILD_STOPPED_BIT	61
#define KTAU_CHILD_STOPPED	BIT_ULL(KTAU_CHILD_STOPPED_BIT)

/* Ticks in @child of a frame, or in the difference of two of its values. */
static __always_inline u64 ktau_child_ticks(u64 child)
{
	return child & (KTAU_CHILD_STOPPED - 1);
}

/*
 * Whether an open frame is not measured: it is only traced, or has been stopped. It lasts as
 * long as the frames inside it.
 */
static __always_inline bool ktau_is_unmeasured(const struct ktau_frame *frame)
{
	return (READ_ONCE(frame->info) & KTAU_FRAME_TRACE_ONLY) ||
	       (ktau_read(&frame->child) & KTAU_CHILD_STOPPED);
}

/*
 * Times of a frame that has ended: its duration, the sum of the durations directly
 * inside, and its exclusive time.
 */
struct ktau_ended {
	u64 incl;
	u64 inside;
	u64 excl;
	bool outermost;
};

struct ktau_times ktau_times(const struct ktau_state *state);
void ktau_times_copy(struct ktau_rec_profile *rec,
		     const struct ktau_state *state);
unsigned int ktau_times_merge(struct ktau_state *to, struct ktau_state *from);
bool ktau_times_of_all(struct ktau_state *state);
void ktau_times_free(struct ktau_state *state);
void ktau_times_mark(struct ktau_frame *frame, const struct ktau_times *base);
void ktau_times_interrupt(struct ktau_frame *frame, struct ktau_state *state,
			  u64 ticks);
void ktau_times_settle(struct ktau_frame *frame, struct ktau_state *state,
		       const struct ktau_ended *e);

/*
 * Note that a frame contains a wait or interrupt that ends now, with interrupts disabled.
 * @frame is linked or NULL. The sums, which have not been added to yet, only grow: a base
 * that is there already is older.
 */
static __always_inline void ktau_times_note(struct ktau_frame *frame,
					    const struct ktau_state *state)
{
	if (!frame || (ktau_read(&frame->child) & KTAU_CHILD_TIMED))
		return;
	frame->base.asleep = state->asleep_ticks;
	frame->base.runq = state->runq_ticks;
	frame->base.irq = state->irq_ticks;
	ktau_wmb();	/* the base before the bit */
	ktau_set_bit(&frame->child, KTAU_CHILD_TIMED_BIT);
}

/*
 * Pass @base, from a frame that has been unlinked, on to the enclosing one. If that has a
 * base, it is older, unless an interrupt has stored it meanwhile. Between increments of
 * @begin and @end of the state: a reader finds the bit before the base.
 */
static __always_inline void ktau_times_pass(struct ktau_frame *prev,
					    const struct ktau_times *base)
{
	if (!(ktau_read(&prev->child) & KTAU_CHILD_TIMED)) {
		ktau_set_bit(&prev->child, KTAU_CHILD_TIMED_BIT);
		barrier();	/* an interrupt stores no base from here on */
		prev->base = *base;
		return;
	}
	prev->base.asleep = min(prev->base.asleep, base->asleep);
	prev->base.runq = min(prev->base.runq, base->runq);
	prev->base.irq = min(prev->base.irq, base->irq);
}

/*
 * Find the times inside event @id in the list of chunks. A pointer as the result would be
 * compared with NULL again.
 */
static __always_inline bool ktau_times_find(const struct ktau_state *state, unsigned int id,
					    struct ktau_times **times)
{
	struct ktau_extra *extra;
	unsigned int i;

	for (extra = state->extra; extra; extra = extra->next) {
		for (i = 0; i < extra->nr; i++) {
			if (extra->id[i] == id) {
				*times = &extra->times[i];
				return true;
			}
		}
	}
	return false;
}

/* Limit a time to @left, what is left of the time inside a frame. */
static __always_inline u64 ktau_times_limit(u64 ticks, u64 *left)
{
	ticks = min(ticks, *left);
	*left -= ticks;
	return ticks;
}

/*
 * Add the times inside @frame, which has KTAU_CHILD_TIMED and has been unlinked, to @to.
 * The sums also contain interrupts and preemptions in the few instructions since then,
 * which are not inside the frame. So each time is limited to what fits into @inside.
 */
static __always_inline void ktau_times_add(struct ktau_times *to,
					   const struct ktau_state *state,
					   const struct ktau_frame *frame, u64 inside)
{
	const struct ktau_times *base = &frame->base;

	ktau_add(&to->asleep,
		 ktau_times_limit(ktau_read(&state->asleep_ticks) - base->asleep, &inside));
	ktau_add(&to->runq,
		 ktau_times_limit(ktau_read(&state->runq_ticks) - base->runq, &inside));
	ktau_add(&to->irq,
		 ktau_times_limit(ktau_read(&state->irq_ticks) - base->irq, &inside));
}

#endif /* _KERNEL_KTAU_TIMES_H */
