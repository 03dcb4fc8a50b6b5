// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: telling readers which tasks are counted elsewhere now.
 *
 * A reader that adds up all owners must count each task once. It has a task from an
 * earlier stream, or as a live task from this one; then the task exits, and is folded
 * into another one of its process or evicted before the reader gets that far. No
 * number tells the reader so: each user's tasks are evicted on their own, and folding
 * picks tasks from anywhere. So a descriptor remembers which serials it has shown, and
 * whoever folds or evicts one of them marks it there. The stream lists what is marked
 * (GONE) as of the same moment as the evicted sum, and forgets it once the stream is
 * complete. So there are never more serials than tasks that live or are kept, and
 * those that have gone since the last complete stream.
 *
 * A reader without the evicted sum keeps what it knows of evicted tasks; they are
 * not listed to it.
 */
#include <linux/xarray.h>

#include "gone.h"

#define FOLDED	XA_MARK_0
#define EVICTED	XA_MARK_1
#define TAKEN	XA_MARK_2	/* is listed in the stream that is being read */

/**
 * ktau_gone_know() - note that a stream is about to show a live task
 * @watch: of the stream, locked
 * @serial: the task's
 *
 * The task may have exited meanwhile: the caller looks whether it still has its state.
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

static void note(struct ktau_watch *watch, const struct ktau_task *state,
		 bool evicted)
{
	if (!xa_load(&watch->known, state->serial)) {
		if (evicted && state->owner.dead_seq >= watch->from)
			watch->missed += state->owner.nr_tasks;
	} else if (evicted && !watch->sums) {
		xa_erase(&watch->known, state->serial);
	} else {
		xa_set_mark(&watch->known, state->serial,
			    evicted ? EVICTED : FOLDED);
		watch->nr_gone++;
	}
}

/**
 * ktau_gone_note() - note that an exited task is no longer kept
 * @watches: some of those that may know it
 * @state: the task's state
 * @evicted: the task is in the evicted sum, else in another one of its process
 *
 * Context: The lock of exited.c held.
 */
void ktau_gone_note(struct list_head *watches, const struct ktau_task *state,
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
 * ktau_gone_take() - list what is gone, what has been folded first
 * @settle: has a watch, and room for all of its @nr_gone
 *
 * Context: The lock of exited.c held.
 */
void ktau_gone_take(struct ktau_settle *settle)
{
	settle->missed = settle->watch->missed;
	settle->nr = 0;
	take(settle, FOLDED);
	settle->nr_folded = settle->nr;
	take(settle, EVICTED);
}

/**
 * ktau_gone_taken() - forget what has been listed in a complete stream
 * @watch: of the stream
 * @settle: what was listed
 *
 * Context: The lock of exited.c held.
 */
void ktau_gone_taken(struct ktau_watch *watch, const struct ktau_settle *settle)
{
	unsigned long serial;
	void *entry;

	xa_for_each_marked(&watch->known, serial, entry, TAKEN)
		xa_erase(&watch->known, serial);
	watch->nr_gone -= settle->nr;
	watch->missed -= settle->missed;
	watch->from = settle->next;
}
