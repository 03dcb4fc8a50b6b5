// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle that KTAU's account is compared with: the precise CPU accounting
 * of VIRT_CPU_ACCOUNTING_GEN, task by task, exact to the nanosecond. Only the
 * kernel x86_64-distro has it.
 *
 * On the kernel command line, "oracle" makes context tracking active on all
 * CPUs; without it, this is an ordinary kernel. /proc/oracle then has a line
 * for each kernel thread that is not running, and for each task that has
 * exited since the file was last written to:
 *
 *	tid utime stime gtime runtime transitions switches
 *
 * Times are nanoseconds of sched_clock() up to the last switch, like KTAU's.
 * utime excludes gtime. task_cputime() is not usable: it omits the time that
 * vtime holds back until it makes a tick.
 */
#include <linux/context_tracking.h>
#include <linux/list.h>
#include <linux/oracle.h>
#include <linux/proc_fs.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

struct oracle_task {
	struct list_head	link;
	pid_t			tid;
	u64			utime;
	u64			stime;
	u64			gtime;
	u64			runtime;
	u64			transitions;
	unsigned long		switches;
};

static DEFINE_RAW_SPINLOCK(exited_lock);
static LIST_HEAD(exited);	/* under exited_lock */
bool oracle_is_active;

static int __init oracle_setup(char *word)
{
	int cpu;

	for_each_possible_cpu(cpu)
		ct_cpu_track_user(cpu);
	oracle_is_active = true;
	return 1;
}
__setup("oracle", oracle_setup);

/**
 * oracle_exited() - make room for the times of the current task, which is exiting
 *
 * Context: Task, directly before KTAU takes its measurements.
 */
void oracle_exited(void)
{
	if (!oracle_is_active)
		return;
	current->vtime.oracle = kmalloc(sizeof(*current->vtime.oracle), GFP_KERNEL);
	WARN_ON(!current->vtime.oracle);
}

/**
 * oracle_dead() - keep the times of a task that was switched out for the last time
 * @tsk: the task; vtime has accounted this switch
 *
 * Context: Interrupts disabled, the lock of the run queue held.
 */
void oracle_dead(struct task_struct *tsk)
{
	const struct vtime *vtime = &tsk->vtime;
	struct oracle_task *task = vtime->oracle;

	if (!task)
		return;
	task->tid = tsk->pid;
	task->gtime = tsk->gtime + vtime->gtime;
	task->utime = tsk->utime - tsk->gtime + vtime->utime;
	task->stime = tsk->stime + vtime->stime;
	task->runtime = tsk->se.sum_exec_runtime;
	task->transitions = vtime->transitions;
	task->switches = tsk->nvcsw + tsk->nivcsw;
	raw_spin_lock(&exited_lock);
	list_add_tail(&task->link, &exited);
	raw_spin_unlock(&exited_lock);
}

static void show(struct seq_file *m, const struct oracle_task *task)
{
	seq_printf(m, "%d %llu %llu %llu %llu %llu %lu\n", task->tid,
		   task->utime, task->stime, task->gtime, task->runtime,
		   task->transitions, task->switches);
}

static void show_thread(struct seq_file *m, struct task_struct *p)
{
	struct oracle_task task = {
		.tid = p->pid,
		.stime = p->stime + p->vtime.stime,
		.runtime = p->se.sum_exec_runtime,
		.switches = p->nvcsw + p->nivcsw,
	};

	show(m, &task);
}

static int oracle_show(struct seq_file *m, void *v)
{
	struct oracle_task *task;
	struct task_struct *p;

	rcu_read_lock();
	for_each_process(p)
		if ((p->flags & PF_KTHREAD) && p->pid)
			show_thread(m, p);
	rcu_read_unlock();
	raw_spin_lock(&exited_lock);
	list_for_each_entry(task, &exited, link)
		show(m, task);
	raw_spin_unlock(&exited_lock);
	return 0;
}

static int oracle_open(struct inode *inode, struct file *file)
{
	return single_open(file, oracle_show, NULL);
}

static ssize_t oracle_write(struct file *file, const char __user *buffer,
			    size_t count, loff_t *pos)
{
	struct oracle_task *task, *next;
	LIST_HEAD(read);

	raw_spin_lock(&exited_lock);
	list_splice_init(&exited, &read);
	raw_spin_unlock(&exited_lock);
	list_for_each_entry_safe(task, next, &read, link)
		kfree(task);
	return count;
}

static const struct proc_ops oracle_ops = {
	.proc_open	= oracle_open,
	.proc_read	= seq_read,
	.proc_write	= oracle_write,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static int __init oracle_init(void)
{
	if (oracle_is_active && !proc_create("oracle", 0600, NULL, &oracle_ops))
		return -ENOMEM;
	return 0;
}
late_initcall(oracle_init);
