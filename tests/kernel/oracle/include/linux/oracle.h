/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_ORACLE_H
#define _LINUX_ORACLE_H

#include <linux/context_tracking_state.h>
#include <linux/sched.h>
#include <linux/vtime.h>

/*
 * vtime reads its clock directly after KTAU, on entry and on exit, so both have
 * the same boundary between user mode and the kernel.
 */
static __always_inline void oracle_user_exit(void)
{
	if (vtime_accounting_enabled_this_cpu()) {
		vtime_user_exit(current);
		current->vtime.transitions++;
	}
}

static __always_inline void oracle_user_enter(void)
{
	if (vtime_accounting_enabled_this_cpu())
		vtime_user_enter(current);
}

/* Whether the kernel command line has "oracle". */
extern bool oracle_is_active;

void oracle_exited(void);
void oracle_dead(struct task_struct *tsk);

#endif /* _LINUX_ORACLE_H */
