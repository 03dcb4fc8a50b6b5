/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the slots of a session, from all its tasks to one reader.
 */
#ifndef _KERNEL_KTAU_QUEUE_H
#define _KERNEL_KTAU_QUEUE_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct ktau_rec_trace;

/* The unit of positions in bytes; a slot takes whole ones. */
#define KTAU_QUEUE_UNIT	32

/**
 * struct ktau_queue - the queue
 * @lock: the following fields up to @ended; all are only written under it
 * @units: memory of the slots
 * @nr_units: its size in units, a power of two
 * @head: units written so far
 * @tail: units read so far; written only by the reader
 * @lost: units lost after @head; while it is not 0, nothing can be written
 * @lost_from: time of the first of these
 * @lost_to: time of the last one
 * @stalled: the reader has not made any room for a second
 * @ended: nothing will be written any more
 * @readers: where the reader waits
 * @writers: where tasks wait for room
 * @nr_lost: units that the reader knows are lost; used only by the reader
 */
struct ktau_queue {
	spinlock_t		lock;	/* the fields up to @ended */
	void			*units;
	u32			nr_units;
	u64			head;
	u64			tail;
	u64			lost;
	u64			lost_from;
	u64			lost_to;
	bool			stalled;
	bool			ended;
	wait_queue_head_t	readers;
	wait_queue_head_t	writers;
	u64			nr_lost;
};

void ktau_queue_init(struct ktau_queue *queue, void *memory, u32 nr_units);
void ktau_queue_put(struct ktau_queue *queue, u8 type, u8 flags, const void *payload,
		    size_t bytes);
void ktau_queue_end(struct ktau_queue *queue);
bool ktau_queue_is_tight(const struct ktau_queue *queue);
void ktau_queue_wait(struct ktau_queue *queue);
bool ktau_queue_is_worth_reading(const struct ktau_queue *queue);
bool ktau_queue_is_empty(const struct ktau_queue *queue);
size_t ktau_queue_read(struct ktau_queue *queue, struct ktau_rec_trace *rec, size_t bytes);

#endif /* _KERNEL_KTAU_QUEUE_H */
