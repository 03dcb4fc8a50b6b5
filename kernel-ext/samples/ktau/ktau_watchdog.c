// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report each activation that takes longer than a limit, with the stack from which it
 * returns, in /proc/ktau_watchdog. The last 64 are kept.
 *
 *	# insmod ktau_watchdog.ko groups=0x1 limit=50000000
 *
 * The limit is in ticks; clock_hz in /proc/ktau/stats is the number of ticks in a second.
 * A handler must not print, so it stores what it finds and the reader prints it.
 */
#include <linux/atomic.h>
#include <linux/ktau_api.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#define NR_REPORTS	64
#define NR_ENTRIES	16

static unsigned int groups = KTAU_GROUP_SYSCALL;
module_param(groups, uint, 0444);
MODULE_PARM_DESC(groups, "groups to listen to, a mask of KTAU_GROUP_*");

static ulong limit;
module_param(limit, ulong, 0444);
MODULE_PARM_DESC(limit, "longest duration that is not reported, in ticks");

/**
 * struct report - an activation that took too long
 * @seq: for report number N, counted from 1: 2 * N while it is written, then 2 * N + 1
 * @hit: its end
 * @pid: task
 * @comm: its name
 * @entry: the stack
 * @nr_entries: number of @entry
 */
struct report {
	unsigned long	seq;
	struct ktau_hit	hit;
	pid_t		pid;
	char		comm[TASK_COMM_LEN];
	unsigned long	entry[NR_ENTRIES];
	unsigned int	nr_entries;
};

static struct report reports[NR_REPORTS];
static atomic_long_t nr_reports;

static void check_hit(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	struct report *report;
	unsigned long nr;

	if (hit->incl <= limit)
		return;
	nr = atomic_long_inc_return(&nr_reports);
	report = &reports[nr % NR_REPORTS];
	WRITE_ONCE(report->seq, 2 * nr);
	smp_wmb();	/* pairs with copy_report() */
	report->hit = *hit;
	report->pid = current->pid;
	memcpy(report->comm, current->comm, sizeof(report->comm));
	report->nr_entries = stack_trace_save(report->entry, NR_ENTRIES, 1);
	smp_wmb();	/* likewise */
	WRITE_ONCE(report->seq, 2 * nr + 1);
}

static struct ktau_handler handler = {
	.types = BIT(KTAU_HIT_STOP),
	.fn = check_hit,
};

/* Return: whether @copy is report number @nr, complete. */
static bool copy_report(struct report *copy, unsigned long nr)
{
	const struct report *report = &reports[nr % NR_REPORTS];
	unsigned long seq = READ_ONCE(report->seq);

	smp_rmb();	/* pairs with check_hit() */
	*copy = data_race(*report);	/* compared afterwards */
	smp_rmb();	/* likewise */
	return seq == 2 * nr + 1 && READ_ONCE(report->seq) == seq;
}

static void show_report(struct seq_file *m, const struct report *report)
{
	char name[128];
	unsigned int i;

	if (ktau_fid_name(report->hit.fid, name, sizeof(name)))
		return;
	seq_printf(m, "%s %llu ticks, %.*s[%d]\n", name, report->hit.incl,
		   TASK_COMM_LEN, report->comm, report->pid);
	for (i = 0; i < report->nr_entries; i++)
		seq_printf(m, "  %pS\n", (void *)report->entry[i]);
}

static int watchdog_show(struct seq_file *m, void *v)
{
	unsigned long last = atomic_long_read(&nr_reports), nr;
	struct report copy;

	for (nr = last > NR_REPORTS ? last - NR_REPORTS + 1 : 1; nr <= last; nr++)
		if (copy_report(&copy, nr))
			show_report(m, &copy);
	return 0;
}

static int __init watchdog_init(void)
{
	int err;

	handler.groups = groups;
	err = ktau_register_handler(&handler);
	if (err)
		return err;
	if (proc_create_single("ktau_watchdog", 0400, NULL, watchdog_show))
		return 0;
	ktau_unregister_handler(&handler);
	return -ENOMEM;
}

static void __exit watchdog_exit(void)
{
	remove_proc_entry("ktau_watchdog", NULL);
	ktau_unregister_handler(&handler);
}

module_init(watchdog_init);
module_exit(watchdog_exit);
MODULE_DESCRIPTION("Sample: kernel routines that take too long");
MODULE_LICENSE("GPL");
