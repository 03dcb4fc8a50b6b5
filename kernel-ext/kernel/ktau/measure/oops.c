// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: ending the frames of a task that is about to exit, or that oopses.
 *
 * When a task oopses, x86 rewinds its stack and makes it exit from there, which
 * overwrites the frames on the stack. An interrupt, a context switch or the exit would
 * then follow pointers to overwritten memory. So all frames are ended before.
 */
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/static_call.h>

#include "frame.h"
#include "oops.h"

/**
 * ktau_end_frames() - end all frames of the current task, and open no more
 *
 * Context: Task.
 * Return: The outermost of these frames; @id is KTAU_ID_NONE if there was none.
 */
struct ktau_last ktau_end_frames(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_last last = { .id = KTAU_ID_NONE };
	struct ktau_frame *frame;

	WRITE_ONCE(ref->mask, KTAU_MASK_GONE);
	barrier();	/* no interrupt opens a frame of this task any more */
	while ((frame = ref->top)) {
		last.id = ktau_is_unmeasured(frame) ? KTAU_ID_NONE : ktau_frame_id(frame);
		last.end = frame->start;
		last.incl = static_call(ktau_divert_leave)(frame, current).incl;
		last.end += last.incl;
	}
	return last;
}

static int oops(struct notifier_block *block, unsigned long what, void *args)
{
	/* An oops in an interrupt ends in a panic. */
	if (what == DIE_OOPS && !in_interrupt() && current->ktau.state)
		ktau_end_frames();
	return NOTIFY_DONE;
}

/* Called last: a notifier that handles the fault stops the chain before. */
static struct notifier_block oops_block = {
	.notifier_call = oops,
	.priority = INT_MIN,
};

static int __init oops_init(void)
{
	return register_die_notifier(&oops_block);
}
core_initcall(oops_init);
