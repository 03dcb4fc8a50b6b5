// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: beginning and ending the account of a task.
 *
 * Groups are enabled and disabled for all tasks at one moment, while all CPUs execute the
 * stopper thread (switch.c). At that moment no task is in user mode or in an interrupt, and
 * each one's condition is known:
 *
 *	in the kernel, off the CPU	all tasks except
 *	in the kernel, on a CPU		the stopper threads, and
 *	not born yet			tasks that have never run
 *
 * So a task in the kernel gets its root frame, and one off the CPU the frame of a task that
 * has been switched out, whenever it entered that condition. From then on the hooks
 * continue. If a group is disabled, the parts that it measures are accounted until that
 * moment, and the frames in flight are stopped: they stay in the list, because their exits
 * expect them, but last only as long as the frames inside them.
 *
 * A task may be off the CPU because it was preempted between any two instructions of a hook.
 *
 *  1. In an update (profile.c) it cannot be changed. It keeps its groups until it has
 *     continued; the caller tries again.
 *  2. Before an update, with a frame that it is about to close: a stopped frame leaves the
 *     fast path, which subtracts its child sum.
 *  3. About to open a frame, because its group was enabled: the frame is measured, although
 *     the group is not any more. The caller looks again a tick later, and stops it.
 *  4. Having read that there is no enclosing frame: it loses the root frame that is linked
 *     here. When it returns to user mode or to a CPU, the time of the root frame is
 *     accounted; see settle_lost() in root.c.
 */
#include <linux/sched.h>

#include "base/arch.h"
#include "collect.h"
#include "frame.h"
#include "root.h"
#include "sched.h"

static void change(struct task_struct *task, u32 from, u32 to, u64 now)
{
	struct ktau_ref *ref = &task->ktau;

	if (from & ~to & KTAU_GROUP_SCHED)
		ktau_sched_stop(ref, now);
	if (!from || !to)
		ktau_frames_stop(ref, now);
	if (from & ~to & KTAU_GROUP_ACCOUNT)
		ktau_root_stop(ref, now);
	if (to & ~from & KTAU_GROUP_ACCOUNT)
		ktau_root_start(task, now);
	if (to & ~from & KTAU_GROUP_SCHED)
		ktau_sched_start(task, now);
}

/**
 * ktau_collect() - change the groups whose activations are profiled for a task
 * @task: the task, which has a state; not in the middle of an update
 * @from: the groups until now
 * @to: the groups from now on
 * @now: the moment of the change, in ticks
 *
 * Context: All other CPUs are stopped, or the task is the current one or has never run;
 * interrupts disabled.
 * Return: Whether to do the same again later, because the task may be about to open a frame
 * that will not be measured.
 */
bool ktau_collect(struct task_struct *task, u32 from, u32 to, u64 now)
{
	struct ktau_state *state = task->ktau.state;

	ktau_add(&state->begin, 1);
	ktau_wmb();
	change(task, from, to, now);
	ktau_wmb();
	ktau_add(&state->end, 1);
	return IS_ENABLED(CONFIG_PREEMPTION) && from && !to && READ_ONCE(task->on_rq) &&
	       !task_curr(task);
}
