// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: copying the profile or the trace of one owner, whole.
 *
 * The owner may run on another CPU while it is copied. A copy is whole if no
 * update was going on when it was begun and none was begun until it ended. Most
 * tasks sleep, so that is the rule. For one that keeps running the copy is made
 * by the CPU that runs it, in an interrupt: then nothing can be begun.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>

#include "ktau.h"

#define QUICK_TRIES	3
#define SLOW_TRIES	100

static void copy_cells(struct ktau_rec_profile *rec,
		       const struct ktau_chunk *chunk, unsigned int first_id)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	unsigned int i;

	for (i = 0; i < KTAU_CHUNK_CELLS; i++) {
		const struct ktau_cell *cell = &chunk->cell[i];

		if (!READ_ONCE(cell->count))
			continue;
		entry[rec->nr_entries++] = (struct ktau_entry) {
			.id = first_id + i,
			.kind = ktau_event_kind(first_id + i),
			.count = READ_ONCE(cell->count),
			.incl = READ_ONCE(cell->v[0]),
			.excl = READ_ONCE(cell->v[1]),
			.max = READ_ONCE(cell->v[2]),
		};
	}
}

static void copy_table(struct ktau_rec_profile *rec,
		       const struct ktau_task *state)
{
	struct ktau_chunk *chunk;
	unsigned int i;

	rec->nr_entries = 0;
	rec->outer_ticks = READ_ONCE(state->outer_ticks);
	rec->refused = READ_ONCE(state->refused);
	rec->refused_ticks = READ_ONCE(state->refused_ticks);
	rec->clamped = READ_ONCE(state->clamped);
	for (i = 0; i < KTAU_NR_CHUNKS; i++) {
		/* Pairs with cell_create(). */
		chunk = smp_load_acquire(&state->chunk[i]);
		if (chunk)
			copy_cells(rec, chunk, i << KTAU_CHUNK_SHIFT);
	}
}

/* The frames of a task that sleeps lie on its stack, or in its state. */
static bool frame_is_valid(const struct ktau_frame *frame,
			   const struct ktau_task *state,
			   unsigned long low, unsigned long high)
{
	unsigned long p = (unsigned long)frame;

	if (frame == &state->sched)
		return true;
	return IS_ALIGNED(p, sizeof(long)) && p >= low &&
	       p + sizeof(*frame) <= high;
}

/*
 * Copy the open frames, innermost first. @stack is the stack that they have to
 * lie on; NULL if the chain cannot change, and need not be doubted. A chain that
 * changes all the same is found out afterwards; until then it must only not
 * lead astray: each frame lies further up the stack than the one before.
 */
static __no_kasan_or_inline bool
copy_frames(struct ktau_rec_profile *rec, const struct ktau_task *state,
	    const struct ktau_frame *frame, void *stack)
{
	struct ktau_open *open = (struct ktau_open *)
		((struct ktau_entry *)(rec + 1) + rec->nr_entries);
	unsigned long low = (unsigned long)stack;
	unsigned long high = low + THREAD_SIZE;

	rec->nr_open = 0;
	rec->depth = 0;
	rec->open_child_ticks = 0;
	for (; frame; frame = READ_ONCE(frame->prev)) {
		u64 start, child;

		if (stack && !frame_is_valid(frame, state, low, high))
			return false;
		start = READ_ONCE(frame->start);
		child = READ_ONCE(frame->child);
		if (!start)
			return false;	/* being written */
		rec->depth++;
		rec->open_child_ticks += child;
		if (rec->nr_open < KTAU_SNAPSHOT_OPEN)
			open[rec->nr_open++] = (struct ktau_open) {
				.id = ktau_frame_id(frame),
				.start_ticks = start,
				.child_ticks = child,
			};
		if (frame != &state->sched)
			low = (unsigned long)(frame + 1);
	}
	return true;
}

/* One try; false if something moved meanwhile. */
static bool copy_once(struct ktau_rec_profile *rec, struct ktau_task *state,
		      struct task_struct *task, void *stack)
{
	const struct ktau_frame *top = task ? READ_ONCE(task->ktau.top) : NULL;
	u64 end = ktau_read(&state->end);

	smp_rmb();	/* @end before the rest, the rest before @begin */
	rec->ticks = ktau_ticks();
	copy_table(rec, state);
	if (!copy_frames(rec, state, top, stack))
		return false;
	smp_rmb();	/* see above */
	return ktau_read(&state->begin) == end &&
	       (!task || READ_ONCE(task->ktau.top) == top);
}

struct remote {
	struct ktau_rec_profile *rec;
	struct ktau_task *state;
	struct task_struct *task;
	bool done;
};

/* On the CPU that ran the task a moment ago. */
static void copy_here(void *data)
{
	struct remote *remote = data;

	if (current == remote->task)
		remote->done = copy_once(remote->rec, remote->state,
					 remote->task, NULL);
}

static bool copy_task(struct ktau_rec_profile *rec, struct ktau_task *state,
		      struct task_struct *task)
{
	struct remote remote = { rec, state, task };
	void *stack = try_get_task_stack(task);
	unsigned int i;
	bool done = false;

	if (!stack)
		return false;
	for (i = 0; i < SLOW_TRIES && !done; i++) {
		/* Its own frames cannot change under a task that copies them. */
		done = copy_once(rec, state, task,
				 task == current ? NULL : stack);
		if (done || i < QUICK_TRIES)
			continue;
		smp_call_function_single(task_cpu(task), copy_here, &remote, 1);
		done = remote.done;
		cond_resched();
	}
	put_task_stack(task);
	return done;
}

static bool copy_untasked(struct ktau_rec_profile *rec, struct ktau_task *state)
{
	unsigned int i;

	for (i = 0; i < SLOW_TRIES; i++) {
		if (copy_once(rec, state, NULL, NULL))
			return true;
		cpu_relax();
	}
	return false;
}

/**
 * ktau_snapshot() - copy a profile
 * @rec: where it goes, KTAU_SNAPSHOT_BYTES; all but the owner is filled in
 * @state: whose
 * @task: the live task that it belongs to, held by the caller; or NULL: it
 *	belongs to a CPU or to the dead
 *
 * Context: Task. May sleep if @task is not NULL.
 * Return: 0, or -EAGAIN if the owner never held still.
 */
int ktau_snapshot(struct ktau_rec_profile *rec, struct ktau_task *state,
		  struct task_struct *task)
{
	memset(rec, 0, sizeof(*rec));
	if (!(task ? copy_task(rec, state, task) : copy_untasked(rec, state)))
		return -EAGAIN;

	rec->rec.type = KTAU_REC_PROFILE;
	rec->rec.head = sizeof(*rec);
	rec->rec.size = sizeof(*rec) +
			rec->nr_entries * sizeof(struct ktau_entry) +
			rec->nr_open * sizeof(struct ktau_open);
	rec->entry_size = sizeof(struct ktau_entry);
	rec->open_size = sizeof(struct ktau_open);
	if (task)
		rec->groups = READ_ONCE(task->ktau.mask) & ~KTAU_MASK_GONE;
	return 0;
}

/* Wait until slot @nr is whole, or overwritten; false if it never is. */
static bool wait_written(const struct ktau_place *place, u64 nr)
{
	unsigned int i;

	for (i = 0; i < SLOW_TRIES; i++) {
		if ((s32)(READ_ONCE(place->turn) - (u32)nr) > 0)
			return true;
		if (i < QUICK_TRIES)
			cpu_relax();
		else
			usleep_range(20, 100);
	}
	return false;
}

static unsigned int context(u32 count)
{
	if (count & HARDIRQ_MASK)
		return KTAU_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? KTAU_CTX_SOFTIRQ : KTAU_CTX_TASK;
}

/* A slot as it is given to user space. What is torn is found out afterwards. */
static void make_slot(struct ktau_slot *slot, const struct ktau_place *from)
{
	struct ktau_place place = data_race(*from);	/* see above */
	struct ktau_slot_more *more = (struct ktau_slot_more *)slot;

	slot->ticks = place.ticks;
	slot->arg = place.arg;
	slot->id = (u16)place.what;
	slot->type = (u8)(place.what >> 16);
	if (slot->type == KTAU_TRACE_MORE) {
		more->index = place.what >> 24;
		more->small2 = place.count;
		return;
	}
	slot->ctx = context(place.count);
	slot->cpu = place.cpu;
	slot->more = place.what >> 24;
	if (place.what & KTAU_WHAT_FRAME) {
		slot->arg = 0;
		slot->more = 0;
	}
}

/* Drop @nr slots from the front. */
static void drop_front(struct ktau_rec_trace *rec, u32 nr)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);

	nr = min(nr, rec->nr_slots);
	rec->nr_slots -= nr;
	rec->first += nr;
	memmove(slot, slot + nr, rec->nr_slots * sizeof(*slot));
}

/* A slot whose leading one is gone says nothing; nor does a half at the end. */
static void trim_halves(struct ktau_rec_trace *rec, bool at_end)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	u32 i;

	for (i = 0; i < rec->nr_slots && slot[i].type == KTAU_TRACE_MORE; i++)
		;
	drop_front(rec, i);
	if (at_end || !rec->nr_slots)
		return;
	for (i = rec->nr_slots - 1; i && slot[i].type == KTAU_TRACE_MORE; i--)
		;
	if (i + slot[i].more >= rec->nr_slots)
		rec->nr_slots = i;
}

/* False if the owner never ended a write. */
static bool copy_slots(struct ktau_rec_trace *rec, const struct ktau_ring *ring,
		       u64 from, u32 max_slots)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	const struct ktau_place *place;
	u64 end = ktau_read(&ring->head), gone;
	u32 i;

	rec->written = end;
	rec->first = max(from, ktau_ring_oldest(ring, end));
	rec->nr_slots = min_t(u64, end - rec->first, max_slots);
	for (i = 0; i < rec->nr_slots; i++) {
		place = &ring->place[(rec->first + i) & ring->mask];
		if (!wait_written(place, rec->first + i))
			return false;
		smp_rmb();	/* pairs with ktau_place_done() */
		make_slot(&slot[i], place);
	}
	smp_rmb();	/* what the writer has reached meanwhile may be torn */
	gone = ktau_ring_oldest(ring, ktau_read(&ring->head));
	if (gone > rec->first)
		drop_front(rec, min_t(u64, gone - rec->first, U32_MAX));
	trim_halves(rec, rec->first + rec->nr_slots == end);
	if (rec->nr_slots)
		return true;
	/* All of it has been overwritten, and perhaps what came after it too. */
	rec->first = max(rec->first, gone);
	rec->written = max(rec->written, rec->first);
	return true;
}

/* Time of the last slot; one that continues another has none. */
static u64 last_ticks(const struct ktau_rec_trace *rec)
{
	const struct ktau_slot *slot = (const struct ktau_slot *)(rec + 1);
	u32 i = rec->nr_slots - 1;

	while (i && slot[i].type == KTAU_TRACE_MORE)
		i--;
	return slot[i].ticks;
}

static void note_loss(struct ktau_rec_trace *rec, u64 from, u64 from_ticks)
{
	const struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);

	rec->lost = rec->first - from;
	if (!rec->lost)
		return;
	rec->lost_from_ticks = from_ticks;
	rec->lost_to_ticks = rec->nr_slots ? slot->ticks : ktau_ticks();
}

/**
 * ktau_snapshot_trace() - copy what is new in a ring
 * @rec: where it goes, with room for @max_slots behind it; all but the owner
 *	is filled in
 * @max_slots: at least 4
 * @state: whose
 * @task: the live task that it belongs to, or NULL
 * @reach: zero for a new owner, and kept from one call for it to the next. With
 *	@peek all that a live task's ring holds, of a dead one's what nobody has
 *	had; without, what nobody has had, and from now on nobody else will
 *
 * A ring of another size is another ring, which begins with slot 0 again.
 *
 * Context: May sleep.
 * Return: 1 if there are more slots to copy, 0 if not, -ENODATA without a ring,
 * -EAGAIN if the owner never held still.
 */
int ktau_snapshot_trace(struct ktau_rec_trace *rec, u32 max_slots,
			struct ktau_task *state, struct task_struct *task,
			struct ktau_reach *reach)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	struct ktau_ring *ring;
	int ret = -ENODATA;
	u64 begin, next;

	memset(rec, 0, sizeof(*rec));
	mutex_lock(&state->read_lock);
	ring = READ_ONCE(state->ring);
	if (!ring)
		goto out;
	ret = -EAGAIN;
	if (reach->ring != ring->serial) {
		reach->ring = ring->serial;
		reach->next = task ? 0 : ring->tail;
		reach->until = ktau_read(&ring->head);
	}
	begin = reach->peek ? reach->next : ring->tail;
	if (!copy_slots(rec, ring, begin, max_slots))
		goto out;
	note_loss(rec, begin, reach->peek ? 0 : ring->tail_ticks);
	next = rec->first + rec->nr_slots;
	if (reach->peek) {
		reach->next = next;
	} else {
		ring->tail = next;
		if (rec->nr_slots)
			ring->tail_ticks = last_ticks(rec);
	}

	rec->rec.type = KTAU_REC_TRACE;
	rec->rec.head = sizeof(*rec);
	rec->rec.size = sizeof(*rec) + rec->nr_slots * sizeof(*slot);
	rec->slot_size = sizeof(*slot);
	rec->ring_slots = ring->size;
	if (task)
		rec->groups = READ_ONCE(task->ktau.mask) & ~KTAU_MASK_GONE;
	ret = next < reach->until;
	if (!ret && !reach->peek)
		ktau_ring_rearm(ring);
out:
	mutex_unlock(&state->read_lock);
	return ret;
}
