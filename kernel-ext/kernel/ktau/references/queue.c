// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the slots of a session, from all its tasks to one reader.
 *
 * Unlike the ring of a task it never overwrites a slot: a trace of references with a gap is of
 * little use. A task that finds it nearly full waits for the reader. If slots are lost
 * nevertheless, nothing is written until the reader has read all that came before them. So
 * there is one gap at a time, and its place is exact.
 *
 * A slot is written under a spin lock, which makes the order of the slots that of their times.
 * A slot takes whole units; the zeros at its end are part of its payload.
 */
#include <linux/math.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "base/arch.h"
#include "queue.h"

/* How long a task waits for room. */
#define WAIT_LIMIT	HZ

/**
 * ktau_queue_init() - set up an empty queue
 * @memory: KTAU_QUEUE_UNIT bytes for each unit, which remain the caller's
 * @nr_units: a power of two
 *
 * Context: Any.
 */
void ktau_queue_init(struct ktau_queue *queue, void *memory, u32 nr_units)
{
	*queue = (struct ktau_queue) { .units = memory, .nr_units = nr_units };
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->readers);
	init_waitqueue_head(&queue->writers);
}

static void *unit_at(const struct ktau_queue *queue, u64 position)
{
	return queue->units + (position & (queue->nr_units - 1)) * KTAU_QUEUE_UNIT;
}

/* Copy a slot to the head. */
static void copy_in(struct ktau_queue *queue, const struct ktau_slot *slot, const void *payload,
		    size_t bytes)
{
	size_t first = min_t(size_t, bytes, KTAU_QUEUE_UNIT - sizeof(*slot)), left = bytes - first;
	void *unit = unit_at(queue, queue->head++);

	memcpy(unit, slot, sizeof(*slot));
	/* Nearly all slots have one size, which the compiler should know. */
	if (bytes == KTAU_QUEUE_UNIT - sizeof(*slot)) {
		memcpy(unit + sizeof(*slot), payload, KTAU_QUEUE_UNIT - sizeof(*slot));
		return;
	}
	memcpy(unit + sizeof(*slot), payload, first);
	memset(unit + sizeof(*slot) + first, 0, KTAU_QUEUE_UNIT - sizeof(*slot) - first);
	for (payload += first; left; payload += first, left -= first) {
		first = min_t(size_t, left, KTAU_QUEUE_UNIT);
		unit = unit_at(queue, queue->head++);
		memcpy(unit, payload, first);
		memset(unit + first, 0, KTAU_QUEUE_UNIT - first);
	}
}

static bool is_filled(const struct ktau_queue *queue, u32 fraction)
{
	return READ_ONCE(queue->head) - READ_ONCE(queue->tail) >= queue->nr_units / fraction;
}

/**
 * ktau_queue_put() - write a slot
 * @type: KTAU_TRACE_*
 * @flags: KTAU_REFERENCE_*
 *
 * Context: Task; locks of page tables may be held.
 */
void ktau_queue_put(struct ktau_queue *queue, u8 type, u8 flags, const void *payload,
		    size_t bytes)
{
	u32 units = DIV_ROUND_UP(sizeof(struct ktau_slot) + bytes, KTAU_QUEUE_UNIT);
	struct ktau_slot slot = {
		.id = KTAU_ID_NONE,
		.type = type,
		.words = units * (KTAU_QUEUE_UNIT / 8),
		.ctx = KTAU_CTX_TASK,
		.flags = flags,
	};

	spin_lock(&queue->lock);
	slot.ticks = ktau_ticks();
	slot.cpu = raw_smp_processor_id();
	if (queue->ended) {
		/* The reader has stopped the session. */
	} else if (queue->lost || queue->head - queue->tail + units > queue->nr_units) {
		if (!queue->lost)
			queue->lost_from = slot.ticks;
		queue->lost_to = slot.ticks;
		queue->lost += units;
	} else {
		copy_in(queue, &slot, payload, bytes);
	}
	spin_unlock(&queue->lock);
	/* A reader that is missed here looks again after a moment. */
	if (is_filled(queue, 4) && waitqueue_active(&queue->readers))
		wake_up_interruptible(&queue->readers);
}

/**
 * ktau_queue_end() - write nothing any more
 *
 * Context: Task.
 */
void ktau_queue_end(struct ktau_queue *queue)
{
	spin_lock(&queue->lock);
	queue->ended = true;
	spin_unlock(&queue->lock);
	wake_up_all(&queue->readers);
	wake_up_all(&queue->writers);
}

/**
 * ktau_queue_is_tight() - whether tasks should wait for the reader
 *
 * Context: Any.
 * Return: Whether less than a quarter is free.
 */
bool ktau_queue_is_tight(const struct ktau_queue *queue)
{
	return READ_ONCE(queue->head) - READ_ONCE(queue->tail) >
	       queue->nr_units - queue->nr_units / 4;
}

/**
 * ktau_queue_wait() - wait until the queue is not tight any more
 *
 * Gives up after a second, or if the task has been killed. Nobody waits until the reader goes
 * on after that.
 *
 * Context: May sleep.
 */
void ktau_queue_wait(struct ktau_queue *queue)
{
	if (READ_ONCE(queue->stalled))
		return;
	wake_up_interruptible(&queue->readers);
	if (!wait_event_killable_timeout(queue->writers, !ktau_queue_is_tight(queue) ||
					 READ_ONCE(queue->ended), WAIT_LIMIT))
		WRITE_ONCE(queue->stalled, true);
}

/**
 * ktau_queue_is_worth_reading() - whether the reader should be woken
 *
 * Context: Any.
 * Return: Whether a quarter is filled, or the session has been stopped.
 */
bool ktau_queue_is_worth_reading(const struct ktau_queue *queue)
{
	return is_filled(queue, 4) || READ_ONCE(queue->lost) || READ_ONCE(queue->ended);
}

/**
 * ktau_queue_is_empty() - whether there is nothing to read
 *
 * Context: Any.
 * Return: Whether everything has been read, losses included.
 */
bool ktau_queue_is_empty(const struct ktau_queue *queue)
{
	return READ_ONCE(queue->head) == READ_ONCE(queue->tail) && !READ_ONCE(queue->lost);
}

/* What can be read. If that is nothing, the slots that are lost after it, which it ends. */
static u64 take_head(struct ktau_queue *queue, struct ktau_rec_trace *rec)
{
	u64 head;

	spin_lock(&queue->lock);
	head = queue->head;
	if (head == queue->tail) {
		rec->lost = queue->lost;
		rec->lost_from_ticks = queue->lost ? queue->lost_from : 0;
		rec->lost_to_ticks = queue->lost ? queue->lost_to : 0;
		queue->nr_lost += queue->lost;
		queue->lost = 0;
	}
	spin_unlock(&queue->lock);
	return head;
}

/* Copy whole slots up to @head that fit in @bytes. Return: the position after them. */
static u64 copy_out(const struct ktau_queue *queue, struct ktau_rec_trace *rec, u64 head,
		    size_t bytes)
{
	void *to = (void *)(rec + 1), *end = to + bytes;
	u64 at = queue->tail;

	while (at != head) {
		const struct ktau_slot *slot = unit_at(queue, at);
		size_t units = slot->words / (KTAU_QUEUE_UNIT / 8);

		if (units * KTAU_QUEUE_UNIT > end - to)
			break;
		for (; units; units--, to += KTAU_QUEUE_UNIT)
			memcpy(to, unit_at(queue, at++), KTAU_QUEUE_UNIT);
		rec->nr_slots++;
	}
	rec->slots_bytes = to - (void *)(rec + 1);
	return at;
}

/**
 * ktau_queue_read() - take slots as a TRACE record
 * @rec: receives the record, without the serial of its owner
 * @bytes: room for it
 *
 * Context: May be called by one task at a time.
 * Return: Size of the record, 0 if there is nothing to read. A record without slots only says
 * that slots were lost.
 */
size_t ktau_queue_read(struct ktau_queue *queue, struct ktau_rec_trace *rec, size_t bytes)
{
	u64 head, next;

	*rec = (struct ktau_rec_trace) { };
	head = take_head(queue, rec);
	next = copy_out(queue, rec, head, bytes - sizeof(*rec));
	if (!rec->nr_slots && !rec->lost)
		return 0;
	rec->first = queue->nr_lost + queue->tail;
	rec->next = queue->nr_lost + next;
	rec->written = queue->nr_lost + head;
	rec->ring_slots = queue->nr_units;
	rec->rec = (struct ktau_rec) {
		sizeof(*rec) + rec->slots_bytes, KTAU_REC_TRACE, sizeof(*rec)
	};
	spin_lock(&queue->lock);
	queue->tail = next;
	queue->stalled = false;
	spin_unlock(&queue->lock);
	if (!ktau_queue_is_tight(queue))
		wake_up_all(&queue->writers);
	return rec->rec.size;
}
