// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: reporting which tasks are counted elsewhere now.
 *
 * A reader that adds up all owners must count each task once. But a task that the reader
 * knows, from an earlier stream or as a live task from this one, may exit and be folded
 * into another one or evicted before the reader gets that far. Sequence numbers cannot
 * report that, because tasks of each user are evicted separately and folding takes them
 * from anywhere in the queue. So a descriptor remembers the serials that it has shown,
 * and folding or evicting a task marks its serial there. The stream lists the marked
 * serials (GONE) as of the same moment as the evicted sum, and forgets them once it is
 * complete. So the number of serials is bounded by the tasks that are live or queued,
 * plus those that have gone since the last complete stream.
 *
 * A reader that never completes a stream would accumulate marked serials without bound.
 * So they are charged to the user that opened the stream. If that user has no room, the
 * serial is dropped, and END reports (refused_gone) that the reader must start over.
 *
 * A reader without the evicted sum keeps the evicted tasks that it knows, so these are
 * not listed.
 */
#include <linux/xarray.h>

#include "base/memory.h"
#include "gone.h"

#define FOLDED	XA_MARK_0
#define EVICTED	XA_MARK_1
#define TAKEN	XA_MARK_2	/* listed in the current stream */

/* Upper bound of the memory of one serial: a node of the tree without neighbours. */
#define SERIAL_BYTES	sizeof(struct xa_node)

/**
 * ktau_gone_know() - note that a stream is about to show a live task
 * @watch: of the stream, locked
 *
 * The task may have exited meanwhile, so the caller must check that it still has its
 * state.
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int ktau_gone_know(struct ktau_watch *watch, u64 serial)
{
	if (xa_load(&watch->known, serial))
		return 0;
	return xa_err(xa_store(&watch->known, serial, xa_mk_value(1),
			       GFP_KERNEL_ACCOUNT));
}

static void note(struct ktau_watch *watch, const struct ktau_state *state,
		 bool evicted)
{
	if (!xa_load(&watch->known, state->serial)) {
		if (evicted && state->owner.exited_seq >= watch->from)
			watch->missed += state->owner.nr_tasks;
	} else if (evicted && !watch->sums) {
		xa_erase(&watch->known, state->serial);
	} else if (watch->nr_gone >= KTAU_GONE_MAX ||
		   !ktau_charge(watch->user, SERIAL_BYTES)) {
		xa_erase(&watch->known, state->serial);
		watch->unlisted++;
	} else {
		xa_set_mark(&watch->known, state->serial,
			    evicted ? EVICTED : FOLDED);
		watch->nr_gone++;
	}
}

/**
 * ktau_gone_note() - mark an exited task that leaves the queue
 * @watches: one of the lists of watches that may know it
 * @evicted: the task was evicted; otherwise it was folded
 *
 * Context: The lock of exited.c held.
 */
void ktau_gone_note(struct list_head *watches, const struct ktau_state *state,
		    bool evicted)
{
	struct ktau_watch *watch;

	list_for_each_entry(watch, watches, node)
		note(watch, state, evicted);
}

static void take(struct ktau_settle *settle, xa_mark_t mark)
{
	struct xarray *known = &settle->watch->known;
	unsigned long serial;
	void *entry;

	xa_for_each_marked(known, serial, entry, mark) {
		xa_set_mark(known, serial, TAKEN);
		settle->gone[settle->nr++] = serial;
	}
}

/**
 * ktau_gone_take() - list the marked serials, folded tasks first
 * @settle: with a watch, and room for its @nr_gone serials
 *
 * Context: The lock of exited.c held.
 */
void ktau_gone_take(struct ktau_settle *settle)
{
	settle->missed = settle->watch->missed;
	settle->unlisted = settle->watch->unlisted;
	settle->nr = 0;
	take(settle, FOLDED);
	settle->nr_folded = settle->nr;
	take(settle, EVICTED);
}

/**
 * ktau_gone_taken() - forget the serials that a complete stream has listed
 * @watch: the watch of the stream
 * @settle: how much that list has, and where the next one begins
 *
 * Context: The lock of exited.c held.
 */
void ktau_gone_taken(struct ktau_watch *watch, const struct ktau_settle *settle)
{
	unsigned long serial;
	void *entry;

	xa_for_each_marked(&watch->known, serial, entry, TAKEN)
		xa_erase(&watch->known, serial);
	ktau_uncharge(watch->user, settle->nr * SERIAL_BYTES);
	watch->nr_gone -= settle->nr;
	watch->missed -= settle->missed;
	watch->unlisted -= settle->unlisted;
	watch->from = settle->next;
}

/**
 * ktau_gone_forget() - forget all serials of a stream that is being closed
 * @watch: the watch of the stream, no longer in a list
 *
 * Context: Task.
 */
void ktau_gone_forget(struct ktau_watch *watch)
{
	xa_destroy(&watch->known);
	ktau_uncharge(watch->user, watch->nr_gone * SERIAL_BYTES);
	watch->nr_gone = 0;
}
