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
 * Times are nanoseconds of sched_clock() up to the point at which KTAU takes
 * the measurements of the task. utime excludes gtime. task_cputime() is not
 * usable: it omits the time that vtime holds back until it makes a tick.
 */
#include <linux/context_tracking.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/oracle.h>
#include <linux/proc_fs.h>
#include <linux/sched/clock.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

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

static DEFINE_MUTEX(exited_lock);
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

/* The task runs in the kernel: the time since vtime's last reading is stime. */
static void read_vtime(struct oracle_task *task)
{
	struct vtime *vtime = &current->vtime;
	unsigned long flags;

	local_irq_save(flags);
	task->gtime = current->gtime + vtime->gtime;
	task->utime = current->utime - current->gtime + vtime->utime;
	task->stime = current->stime + vtime->stime;
	task->transitions = vtime->transitions;
	task->stime += sched_clock() - vtime->starttime;
	local_irq_restore(flags);
}

/**
 * oracle_exited() - keep the times of the current task, which is exiting
 *
 * Context: Task, directly before KTAU takes its measurements.
 */
void oracle_exited(void)
{
	struct oracle_task *task;

	if (!oracle_is_active)
		return;
	task = kmalloc(sizeof(*task), GFP_KERNEL);
	if (WARN_ON(!task))
		return;
	task->tid = current->pid;
	task->switches = current->nvcsw + current->nivcsw;
	mutex_lock(&exited_lock);
	list_add_tail(&task->link, &exited);
	task->runtime = task_sched_runtime(current);
	read_vtime(task);
	mutex_unlock(&exited_lock);
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
	mutex_lock(&exited_lock);
	list_for_each_entry(task, &exited, link)
		show(m, task);
	mutex_unlock(&exited_lock);
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

	mutex_lock(&exited_lock);
	list_for_each_entry_safe(task, next, &exited, link) {
		list_del(&task->link);
		kfree(task);
	}
	mutex_unlock(&exited_lock);
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
