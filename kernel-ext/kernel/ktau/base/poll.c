// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: waking the readers that wait for rings to fill, and the one that empties them.
 *
 * The traced task must not pay for the number of waiting readers. It only queues a work
 * item, which wakes them at most WAKES_PER_SECOND times a second.
 */
#include <linux/jiffies.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "defer.h"
#include "poll.h"

#define WAKES_PER_SECOND	100

DECLARE_WAIT_QUEUE_HEAD(ktau_trace_wait);
/* How often pollers were woken; each stream compares it with an earlier value. */
atomic_t ktau_trace_fills;

/*
 * The descriptor that consumes traces, or NULL. There is one at a time: two would share the slots
 * between them, and none of the two traces would be complete.
 */
static const void *consumer;

static unsigned long woken_at;

static void wake_pollers(struct work_struct *work)
{
	WRITE_ONCE(woken_at, jiffies);
	atomic_inc(&ktau_trace_fills);
	wake_up_all(&ktau_trace_wait);
}

static DECLARE_DELAYED_WORK(wake_work, wake_pollers);

/**
 * ktau_poll_wake() - wake the readers that wait for rings to fill, soon
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_poll_wake(void)
{
	unsigned long now = jiffies;
	unsigned long next = READ_ONCE(woken_at) +
			     DIV_ROUND_UP(HZ, WAKES_PER_SECOND);

	schedule_delayed_work(&wake_work,
			      ktau_is_soon(next, now) ? next - now : 0);
}

/**
 * ktau_consume() - become the one that consumes traces, or stop being it
 * @reader: its descriptor, which is only compared
 * @on: whether it is to consume
 *
 * Context: Any.
 * Return: 0, or -EBUSY if there is another one.
 */
int ktau_consume(const void *reader, bool on)
{
	const void *old = cmpxchg(&consumer, on ? NULL : reader, on ? reader : NULL);

	return on && old && old != reader ? -EBUSY : 0;
}

/**
 * ktau_is_consumed() - whether there is one that consumes traces
 *
 * Context: Any.
 * Return: Whether there is, at this moment.
 */
bool ktau_is_consumed(void)
{
	return READ_ONCE(consumer);
}
