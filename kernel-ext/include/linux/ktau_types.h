/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What KTAU keeps inside task_struct. Apart from linux/ktau.h because
 * linux/sched.h has to include it.
 */
#ifndef _LINUX_KTAU_TYPES_H
#define _LINUX_KTAU_TYPES_H

#include <linux/types.h>

struct ktau_frame;
struct ktau_task;

#ifdef CONFIG_KTAU

/**
 * struct ktau_ref - a task's hold on its measurements
 * @mask: groups and modes on for this task; 0 while there is no @state.
 *	Written by whoever switches, under ktau_mutex; read by the task.
 * @flags: KTAU_REF_*; only the task itself
 * @top: innermost open frame; only the CPU that runs the task
 * @state: profile and trace; set once under ktau_mutex or by the parent before
 *	the task first runs, cleared by the task when it exits
 * @wake_ticks: when the task was woken from the sleep that it is in, or made, 0
 *	when that has been used up. Written by the waker under the task's pi_lock,
 *	cleared by the task when it is back on a CPU
 * @serial: the task's number in this boot, never reused; 0 before KTAU was first
 *	enabled. Set before the task first runs, or under ktau_mutex
 * @tag: set through control, inherited at fork; 0 means none. Written under
 *	ktau_mutex
 */
struct ktau_ref {
	u32			mask;
	u32			flags;
	struct ktau_frame	*top;
	struct ktau_task	*state;
	u64			wake_ticks;
	u64			serial;
	u32			tag;
};

#else

struct ktau_ref { };

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_TYPES_H */
