// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: time inside events in which the task did not run its own code: asleep, in the run
 * queue and in interrupts.
 *
 * A state has a running sum of each. The base of a frame holds the sums from before the
 * first wait or interrupt inside it; the growth since then lies inside the frame. Code
 * that adds to a sum stores the old sums as the base of the innermost frame, and sets
 * KTAU_CHILD_TIMED in the frame's child. So a frame without waits and interrupts costs
 * nothing extra. A frame with one leaves the fast exit, which computes a negative
 * exclusive time. Its exit accounts the times to the event and passes the base on to the
 * enclosing frame, unless that has an older one. Once the event has times, all of this is
 * in a fast path of its own.
 *
 * The fast exit reads child after it has unlinked the frame. So an interrupt or
 * preemption in the middle of an exit is never missed: it marks either the frame, while
 * that is still linked, or the enclosing frame.
 *
 * The times of events are in a list of separate chunks, because most events of a task
 * have none.
 */
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "base/arch.h"
#include "base/event.h"
#include "base/memory.h"
#include "times.h"

/**
 * ktau_times() - read the sums of a state
 *
 * Context: Any.
 * Return: Their current values.
 */
struct ktau_times ktau_times(const struct ktau_state *state)
{
	return (struct ktau_times) {
		.asleep = ktau_read(&state->asleep_ticks),
		.runq = ktau_read(&state->runq_ticks),
		.irq = ktau_read(&state->irq_ticks),
	};
}

/**
 * ktau_times_mark() - note that a frame contains a wait or interrupt
 * @frame: a linked frame of the current task, or NULL
 * @base: the sums before the wait or interrupt
 *
 * If an interrupt or a preemption stores a base meanwhile, the older of the two is kept.
 *
 * Context: Any but NMI, after an increment of @begin of the state and before one of @end:
 * a reader finds the bit before the base.
 */
void ktau_times_mark(struct ktau_frame *frame, const struct ktau_times *base)
{
	if (frame)
		ktau_times_pass(frame, base);
}

static struct ktau_times *find(const struct ktau_state *state, unsigned int id)
{
	struct ktau_times *times;

	if (state->extra_by_id)
		return &state->extra_by_id[id];
	return ktau_times_find(state, id, &times) ? times : NULL;
}

/* Add an event to the first chunk of the list, which has room. */
static struct ktau_times *append(struct ktau_extra *extra, unsigned int id)
{
	const unsigned int nr = extra->nr;

	extra->id[nr] = id;
	smp_wmb();	/* pairs with ktau_times_copy() on another CPU */
	WRITE_ONCE(extra->nr, nr + 1);
	return &extra->times[nr];
}

static void push(struct ktau_state *state, struct ktau_extra *extra)
{
	extra->next = state->extra;
	/* Pairs with ktau_times_copy() on another CPU. */
	smp_store_release(&state->extra, extra);
}

/* Interrupts are disabled, because one could create the same entry. */
static struct ktau_times *create(struct ktau_state *state, unsigned int id)
{
	struct ktau_times *times = find(state, id);
	struct ktau_chunk *chunk;

	if (times)
		return times;
	if (!state->extra || state->extra->nr == KTAU_EXTRA_EVENTS) {
		chunk = ktau_chunk_take(state->user);
		if (!chunk) {
			WRITE_ONCE(state->times_refused, true);
			return NULL;
		}
		atomic_long_add(sizeof(*chunk), &state->bytes);
		push(state, &chunk->extra);
	}
	return append(state->extra, id);
}

static void add(struct ktau_times *to, const struct ktau_times *more)
{
	ktau_add(&to->asleep, more->asleep);
	ktau_add(&to->runq, more->runq);
	ktau_add(&to->irq, more->irq);
}

/**
 * ktau_times_settle() - account the times inside a frame that has been unlinked
 * @frame: the frame, with KTAU_CHILD_TIMED
 *
 * Context: Any but NMI, on the CPU that runs the owner, after an increment of
 * @state->begin and before one of @state->end.
 */
void ktau_times_settle(struct ktau_frame *frame, struct ktau_state *state,
		       const struct ktau_ended *e)
{
	const unsigned int id = ktau_frame_id(frame);
	struct ktau_times *times;
	unsigned long flags;

	ktau_times_mark(frame->prev, &frame->base);
	if (!e->outermost || ktau_is_unmeasured(frame))
		return;
	times = find(state, id);
	if (unlikely(!times)) {
		raw_local_irq_save(flags);
		times = create(state, id);
		raw_local_irq_restore(flags);
	}
	if (times)
		ktau_times_add(times, state, frame, e->inside);
}

/**
 * ktau_times_interrupt() - account the frame of an interrupt to the interrupted task
 * @frame: the frame, unlinked
 * @ticks: duration of the interrupt
 *
 * Interrupts nested in this one are in the sum already.
 *
 * Context: Interrupts disabled since before the frame was unlinked.
 */
void ktau_times_interrupt(struct ktau_frame *frame, struct ktau_state *state,
			  u64 ticks)
{
	struct ktau_times base = ktau_times(state);

	if (frame->child & KTAU_CHILD_TIMED) {
		ticks -= base.irq - frame->base.irq;
		base = frame->base;
	}
	ktau_add(&state->irq_ticks, ticks);
	ktau_times_mark(frame->prev, &base);
}

/* Set the flags of a timer, and times that follow from its other fields. */
static void fill_flags(struct ktau_entry *entry, bool timed)
{
	if (entry->kind != KTAU_KIND_TIMER)
		return;
	entry->flags = KTAU_ENTRY_LONGEST;
	if (!timed)
		return;
	entry->flags |= KTAU_ENTRY_ASLEEP | KTAU_ENTRY_RUNQ | KTAU_ENTRY_IRQ;
	if (ktau_is_voluntary(entry->id))
		entry->asleep = entry->excl;
	if (entry->id >= KTAU_ID_SCHEDULE && entry->id <= KTAU_ID_SCHEDULE_YLD)
		entry->runq = entry->incl - entry->asleep;
}

static void fill_times(struct ktau_entry *entry, const struct ktau_times *times)
{
	entry->asleep = ktau_read(&times->asleep);
	entry->runq = ktau_read(&times->runq);
	entry->irq = ktau_read(&times->irq);
}

/* The entry of event @id, or NULL if all its activations were refused. */
static struct ktau_entry *entry_of(struct ktau_rec_profile *rec, unsigned int id)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	u32 low = 0, high = rec->nr_entries, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (entry[middle].id == id)
			return &entry[middle];
		if (entry[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/**
 * ktau_times_copy() - copy the times inside events into the entries of a snapshot
 * @rec: the snapshot, complete except for these times
 *
 * Context: Any. @state may be in use: the caller detects that afterwards.
 */
void ktau_times_copy(struct ktau_rec_profile *rec, const struct ktau_state *state)
{
	const bool timed = state->owner.kind != KTAU_OWNER_CPU &&
			   !READ_ONCE(state->times_refused);
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1), *end, *e;
	const struct ktau_extra *extra;
	unsigned int i, nr;

	end = entry + rec->nr_entries;
	for (e = entry; timed && state->extra_by_id && e < end; e++)
		if (e->kind == KTAU_KIND_TIMER)
			fill_times(e, &state->extra_by_id[e->id]);
	/* Pairs with push(). */
	extra = timed ? smp_load_acquire(&state->extra) : NULL;
	for (; extra; extra = extra->next) {
		nr = READ_ONCE(extra->nr);
		smp_rmb();	/* pairs with append() */
		for (i = 0; i < nr; i++) {
			e = entry_of(rec, extra->id[i]);
			if (e)
				fill_times(e, &extra->times[i]);
		}
	}
	for (e = entry; e < end; e++)
		fill_flags(e, timed);
}

/* Add the events of @from, which may have readers, to @to, which has all events. */
static void add_chunk(struct ktau_state *to, const struct ktau_extra *from)
{
	unsigned int i;

	for (i = 0; i < from->nr; i++)
		add(find(to, from->id[i]), &from->times[i]);
}

/*
 * Add the events of @from that @to has, and move as many others as fit into the first
 * chunk of @to. The rest stay in @from.
 */
static void merge_chunk(struct ktau_state *to, struct ktau_extra *from)
{
	unsigned int i, left = 0;
	struct ktau_times *times;

	for (i = 0; i < from->nr; i++) {
		times = find(to, from->id[i]);
		if (!times && to->extra && to->extra->nr < KTAU_EXTRA_EVENTS)
			times = append(to->extra, from->id[i]);
		if (times) {
			add(times, &from->times[i]);
			continue;
		}
		from->id[left] = from->id[i];
		from->times[left++] = from->times[i];
	}
	memset(&from->times[left], 0, (from->nr - left) * sizeof(*times));
	from->nr = left;
}

/**
 * ktau_times_merge() - add the times inside events to those of another state
 * @to: receives the sums, and the chunks that it lacks; no other writer, and readers
 *	retry
 * @from: is added, and not used afterwards; without readers, unless @to has all events.
 *	Then it is not changed
 *
 * Context: Any. Both are charged to the same user, unless @to has all events.
 * Return: The number of chunks that were moved.
 */
unsigned int ktau_times_merge(struct ktau_state *to, struct ktau_state *from)
{
	struct ktau_extra *extra, *kept = NULL;
	unsigned int moved = 0;

	if (from->times_refused)
		WRITE_ONCE(to->times_refused, true);
	if (to->extra_by_id) {
		for (extra = from->extra; extra; extra = extra->next)
			add_chunk(to, extra);
		return 0;
	}
	while ((extra = from->extra)) {
		from->extra = extra->next;
		merge_chunk(to, extra);
		if (extra->nr) {
			push(to, extra);
			moved++;
		} else {
			extra->next = kept;
			kept = extra;
		}
	}
	from->extra = kept;
	return moved;
}

/**
 * ktau_times_of_all() - allocate the times of all events in advance
 * @state: the state, not yet in use
 *
 * Context: May sleep.
 * Return: Whether there was memory.
 */
bool ktau_times_of_all(struct ktau_state *state)
{
	const size_t bytes = KTAU_NR_IDS * sizeof(struct ktau_times);

	state->extra_by_id = ktau_alloc(state->user, bytes, GFP_KERNEL);
	if (!state->extra_by_id)
		return false;
	memset(state->extra_by_id, 0, bytes);
	atomic_long_add(bytes, &state->bytes);
	return true;
}

/**
 * ktau_times_free() - free the times of a state
 * @state: the owner, no longer in use
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_times_free(struct ktau_state *state)
{
	struct ktau_extra *extra, *next;

	for (extra = state->extra; extra; extra = next) {
		next = extra->next;
		ktau_chunk_free(state->user,
				container_of(extra, struct ktau_chunk, extra));
	}
	if (state->extra_by_id)
		ktau_free(state->user, state->extra_by_id,
			  KTAU_NR_IDS * sizeof(struct ktau_times));
}
