// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: how much a reader may see of the tasks that read/select.c lets it see.
 *
 *	kernel.ktau_paranoid	a reader without CAP_PERFMON gets
 *	 3			nothing
 *	 2			its own profile: task context, interrupts as one
 *				row, times rounded to 1 us; no trace
 *	 1			its own profile, exact
 *	 0			its own trace, without other users' serials, names
 *				and network addresses
 *
 * A descriptor keeps the access that its opener had, reduced when the level is raised
 * later. Which tasks are a reader's own is decided in read/select.c.
 */
#include <linux/capability.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/user_namespace.h>

#include "access.h"
#include "compat.h"

#define LEVEL_MIN	0
#define LEVEL_MAX	3

int ktau_paranoid __read_mostly = CONFIG_KTAU_PARANOID;

static int level_min = LEVEL_MIN, level_max = LEVEL_MAX;

static struct ctl_table paranoid_table[] = {
	{
		.procname	= "ktau_paranoid",
		.data		= &ktau_paranoid,
		.maxlen		= sizeof(ktau_paranoid),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &level_min,
		.extra2		= &level_max,
	},
	{ }
};

static int __init paranoid_init(void)
{
	ktau_sysctl_register(paranoid_table);
	return 0;
}
late_initcall(paranoid_init);

static int __init boot_paranoid(char *value)
{
	int level;

	if (!kstrtoint(value, 10, &level) && level >= LEVEL_MIN &&
	    level <= LEVEL_MAX)
		ktau_paranoid = level;
	else
		pr_warn("ktau: ktau_paranoid=%s: must be 0 to 3\n", value);
	return 1;
}
__setup("ktau_paranoid=", boot_paranoid);

/**
 * ktau_privileged() - whether the current credentials may see all tasks
 *
 * Context: Task.
 * Return: Whether they have CAP_PERFMON, or CAP_SYS_ADMIN, in the initial user
 * namespace.
 */
bool ktau_privileged(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/**
 * ktau_access_at() - the access that a level allows
 * @level: kernel.ktau_paranoid
 * @privileged: ktau_privileged() of the reader
 *
 * Context: Any.
 * Return: KTAU_ACCESS_*, without kernel addresses.
 */
u32 ktau_access_at(int level, bool privileged)
{
	u32 access = 0;

	if (privileged)
		return KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT |
		       KTAU_ACCESS_TRACE | KTAU_ACCESS_SERIALS |
		       KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME;
	if (level <= 2)
		access |= KTAU_ACCESS_PROFILE;
	if (level <= 1)
		access |= KTAU_ACCESS_EXACT;
	if (level <= 0)
		access |= KTAU_ACCESS_TRACE;
	return access;
}

/**
 * ktau_access() - the access that the current credentials have now
 *
 * The LSMs are asked the same questions as perf asks them. A reader that they deny kernel
 * profiling still gets rounded profiles. A locked-down kernel shows nothing to anybody,
 * like tracefs.
 *
 * Context: Task.
 * Return: KTAU_ACCESS_*, 0 for nothing.
 */
u32 ktau_access(void)
{
	u32 access = ktau_access_at(READ_ONCE(ktau_paranoid), ktau_privileged());

	if (!access || security_locked_down(LOCKDOWN_PERF) ||
	    ktau_lsm_perf(PERF_SECURITY_OPEN))
		return 0;
	if ((access & KTAU_ACCESS_EXACT) && ktau_lsm_perf(PERF_SECURITY_KERNEL))
		access &= KTAU_ACCESS_PROFILE;
	if ((access & KTAU_ACCESS_TRACE) && ktau_lsm_perf(PERF_SECURITY_TRACEPOINT))
		access &= ~(KTAU_ACCESS_TRACE | KTAU_ACCESS_SERIALS |
			    KTAU_ACCESS_CONSUME);
	if ((access & KTAU_ACCESS_ALL) && ktau_lsm_perf(PERF_SECURITY_CPU))
		access &= ~(KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME);
	if (kallsyms_show_value(current_cred()))
		access |= KTAU_ACCESS_ADDRESSES;
	return access;
}
