/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU's part of task_struct. It is separate from linux/ktau.h because linux/sched.h must
 * include it.
 */
#ifndef _LINUX_KTAU_TYPES_H
#define _LINUX_KTAU_TYPES_H

#include <linux/types.h>
#include <linux/ktau_space.h>

struct ktau_frame;
struct ktau_state;

#ifdef CONFIG_KTAU

/**
 * struct ktau_ref - a task's reference to what is measured about it
 * @mask: groups and modes enabled for this task, 0 while there is no @state; written
 *	under ktau_mutex, by the parent before the task first runs, or by the task
 *	itself
 * @flags: KTAU_REF_*; written only by the task
 * @top: innermost open frame, or KTAU_FRAME_OPENING; written only by the CPU that runs the task
 * @state: profile and trace; set once, under ktau_mutex, by the parent before the task
 *	first runs, or by the task itself at an exec; replaced by some execs, cleared
 *	once the task has been switched out for the last time
 * @wake_ticks: when the task was last woken, or created; 0 once it is back on a CPU.
 *	Written by the waker under the task's pi_lock, cleared by the task
 * @serial: identifies the task and its profile, never reused in this boot; 0 before KTAU
 *	was first enabled. Set before the task first runs, under ktau_mutex, or by the
 *	task itself at an exec; replaced with @state
 * @tag: set through /proc/ktau/control and inherited at fork; 0 means none. Written
 *	under ktau_mutex, or by the parent before the task first runs
 * @references: its place in the session that traces its references to pages
 */
struct ktau_ref {
	u32			mask;
	u32			flags;
	struct ktau_frame	*top;
	struct ktau_state	*state;
	u64			wake_ticks;
	u64			serial;
	u32			tag;
	struct ktau_thread_ref	references;
};

#else

struct ktau_ref { };

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_TYPES_H */
