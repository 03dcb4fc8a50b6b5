// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: time inside events that is not the task's own: asleep, in the run queue, and
 * in interrupts.
 *
 * A state has the sum of each. A frame needs to know what they were before the first
 * wait or interrupt inside it: what they have grown by since is inside the frame.
 * Whoever adds to a sum notes the old sums in the frame that is innermost then, as
 * its base, and sets KTAU_CHILD_TIMED in its child. So a frame in which nothing
 * happened pays nothing, and one in which something did leaves by the slow path: the
 * fast exit finds the exclusive time below zero. That path accounts the times to the
 * event, and hands the base to the frame around it, unless that has an older one.
 *
 * The fast exit looks at child after it has unlinked the frame. So an interrupt, or a
 * preemption, in the middle of an exit is never missed: it hits either the frame while
 * it is linked, or the frame around it.
 *
 * Times inside events are in a list of chunks of their own, since most events of a task
 * have none.
 */
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "arch.h"
#include "event.h"
#include "memory.h"
#include "times.h"

/**
 * ktau_times() - the sums of a state
 * @state: whose
 *
 * Context: Any.
 * Return: What they are now.
 */
struct ktau_times ktau_times(const struct ktau_task *state)
{
	return (struct ktau_times) {
		.asleep = ktau_read(&state->asleep_ticks),
		.runq = ktau_read(&state->runq_ticks),
		.irq = ktau_read(&state->irq_ticks),
	};
}

/**
 * ktau_times_mark() - note that something in a frame was not the task's own time
 * @frame: a frame of the current task that is linked, or NULL
 * @base: what the sums were before
 *
 * An interrupt meanwhile notes a later base: the older one stays.
 *
 * Context: Any but NMI.
 */
void ktau_times_mark(struct ktau_frame *frame, const struct ktau_times *base)
{
	if (!frame)
		return;
	if (!(ktau_read(&frame->child) & KTAU_CHILD_TIMED)) {
		frame->base = *base;
		barrier();	/* the base, then the bit */
		ktau_set_bit(&frame->child, KTAU_CHILD_TIMED_BIT);
		return;
	}
	frame->base.asleep = min(frame->base.asleep, base->asleep);
	frame->base.runq = min(frame->base.runq, base->runq);
	frame->base.irq = min(frame->base.irq, base->irq);
}

static struct ktau_times *find(const struct ktau_task *state, unsigned int id)
{
	struct ktau_extra *extra;
	unsigned int i;

	if (state->extra_by_id)
		return &state->extra_by_id[id];
	for (extra = state->extra; extra; extra = extra->next)
		for (i = 0; i < extra->nr; i++)
			if (extra->id[i] == id)
				return &extra->times[i];
	return NULL;
}

/* Room for one more event in the first chunk of the list. */
static struct ktau_times *append(struct ktau_extra *extra, unsigned int id)
{
	const unsigned int nr = extra->nr;

	extra->id[nr] = id;
	smp_wmb();	/* pairs with ktau_times_copy() on another CPU */
	WRITE_ONCE(extra->nr, nr + 1);
	return &extra->times[nr];
}

static void push(struct ktau_task *state, struct ktau_extra *extra)
{
	extra->next = state->extra;
	/* Pairs with ktau_times_copy() on another CPU. */
	smp_store_release(&state->extra, extra);
}

/* Interrupts off: one may want the same. */
static struct ktau_times *create(struct ktau_task *state, unsigned int id)
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

static void add_to_event(struct ktau_task *state, unsigned int id,
			 const struct ktau_times *inside)
{
	struct ktau_times *times = find(state, id);
	unsigned long flags;

	if (unlikely(!times)) {
		raw_local_irq_save(flags);
		times = create(state, id);
		raw_local_irq_restore(flags);
	}
	if (times)
		add(times, inside);
}

/**
 * ktau_times_settle() - account the times inside a frame that is off the stack
 * @frame: the frame, with KTAU_CHILD_TIMED
 * @state: the owner
 * @e: its times
 *
 * What has hit since it was unlinked is in the sums too, but not in the frame. That
 * can only have been an interrupt or a preemption, in the few instructions since then;
 * what does not fit into the frame is theirs.
 *
 * Context: Any but NMI, on the CPU that runs the owner, between an increment of
 * @state->begin and one of @state->end.
 */
void ktau_times_settle(struct ktau_frame *frame, struct ktau_task *state,
		       const struct ktau_ended *e)
{
	struct ktau_times inside = ktau_times(state);

	ktau_times_mark(frame->prev, &frame->base);
	if (!e->outermost || (frame->info & KTAU_FRAME_TRACE_ONLY))
		return;
	inside.asleep = min(inside.asleep - frame->base.asleep, e->inside);
	inside.runq = min(inside.runq - frame->base.runq,
			  e->inside - inside.asleep);
	inside.irq = min(inside.irq - frame->base.irq,
			 e->inside - inside.asleep - inside.runq);
	add_to_event(state, ktau_frame_id(frame), &inside);
}

/**
 * ktau_times_interrupt() - account the frame of an interrupt to the task that it hit
 * @frame: the frame, off the stack
 * @state: the task's
 * @ticks: its duration
 *
 * What hit the interrupt itself is in the sum already.
 *
 * Context: Interrupts off since before it was taken off the stack.
 */
void ktau_times_interrupt(struct ktau_frame *frame, struct ktau_task *state,
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

/* Which of a timer's fields are measured, and what follows from its other times. */
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

/* The entry of event @id, or NULL: its activations were refused. */
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
 * @state: whose
 *
 * Context: Any. @state may be in use: the caller finds out afterwards.
 */
void ktau_times_copy(struct ktau_rec_profile *rec, const struct ktau_task *state)
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

/*
 * Move the events of @from that @to lacks, as many as its first chunk has room for. The
 * others stay; those that it has are added.
 */
static void merge_chunk(struct ktau_task *to, struct ktau_extra *from)
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
 * ktau_times_merge() - add times inside events to those of another state, which takes
 * what it lacks
 * @to: the state that gets them; nobody else writes it, and a reader copies it again
 * @from: the state that is added, and then of no use; nobody reads it, unless @to has
 *	all events
 *
 * Context: Any. Both are charged to the same user, unless @to has all events.
 * Return: How many chunks have changed hands.
 */
unsigned int ktau_times_merge(struct ktau_task *to, struct ktau_task *from)
{
	struct ktau_extra *extra, *kept = NULL;
	unsigned int moved = 0;

	if (from->times_refused)
		WRITE_ONCE(to->times_refused, true);
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
 * ktau_times_of_all() - give a state room for the times of all events
 * @state: the state, not yet in use
 *
 * Context: May sleep.
 * Return: Whether there was memory.
 */
bool ktau_times_of_all(struct ktau_task *state)
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
 * ktau_times_free() - free what the times of a state take
 * @state: whose; nobody uses it any more
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_times_free(struct ktau_task *state)
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
