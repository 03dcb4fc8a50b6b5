// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: a task that the kernel kills for a fault of its own.
 *
 * x86 rewinds the stack of such a task and lets it exit from there, over the frames of
 * all that it was in. What an interrupt, a switch or the exit followed from there on would
 * be whatever the exit has put on the stack meanwhile. So they end before.
 */
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/preempt.h>

#include "frame.h"
#include "oops.h"

/**
 * ktau_end_frames() - end all that the current task is in, and begin nothing more
 *
 * Context: Task; of one that is about to exit.
 */
void ktau_end_frames(void)
{
	struct ktau_ref *ref = &current->ktau;

	WRITE_ONCE(ref->mask, KTAU_MASK_GONE);
	barrier();	/* no interrupt opens a frame here any more */
	while (ref->top)
		ktau_leave(ref->top, current);
}

static int oops(struct notifier_block *block, unsigned long what, void *args)
{
	/* In an interrupt it is the end of the kernel. */
	if (what == DIE_OOPS && !in_interrupt() && current->ktau.state)
		ktau_end_frames();
	return NOTIFY_DONE;
}

/* The last one: who handles the fault, and lets the task go on, says so before. */
static struct notifier_block oops_block = {
	.notifier_call = oops,
	.priority = INT_MIN,
};

static int __init oops_init(void)
{
	return register_die_notifier(&oops_block);
}
core_initcall(oops_init);
