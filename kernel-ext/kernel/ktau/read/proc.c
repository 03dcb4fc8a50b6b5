// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the text files of /proc/ktau, and /proc/PID/ktau.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base/access.h"
#include "base/arch.h"
#include "base/core.h"
#include "base/event.h"
#include "base/memory.h"
#include "base/user.h"
#include "measure/clock.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "tasks/snapshot.h"
#include "extend/handler.h"
#include "extend/hook.h"
#include "file.h"
#include "proc.h"
#include "record.h"
#include "select.h"

static const char *group_name(u32 group)
{
	return ktau_group_names[__ffs(group)];
}

/* events: "id group kind address name" for each id in use */

static void *events_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= KTAU_NR_IDS ? pos : NULL;
}

static void *events_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return events_start(m, pos);
}

static void events_stop(struct seq_file *m, void *v)
{
}

static int events_show(struct seq_file *m, void *v)
{
	unsigned int id = *(loff_t *)v - 1;
	const struct ktau_event *event;
	char name[KTAU_EVENT_NAME];
	unsigned long address = 0;

	if (!*(loff_t *)v) {
		seq_puts(m, "# id group kind address name\n");
		return 0;
	}
	event = ktau_event_find(id);
	if (!event)
		return 0;
	if (kallsyms_show_value(m->file->f_cred))
		address = ktau_event_address(id);
	ktau_event_format_name(id, name);
	seq_printf(m, "%u %s %s %lx %s\n", id, group_name(event->group),
		   event->kind == KTAU_KIND_TIMER ? "timer" : "counter",
		   address, name);
	return 0;
}

static const struct seq_operations events_ops = {
	.start	= events_start,
	.next	= events_next,
	.stop	= events_stop,
	.show	= events_show,
};

/* hooks: "name id state" for each function, see hook.c */

static int hooks_show(struct seq_file *m, void *v)
{
	return ktau_hooks_show(m);
}

/* stats: losses by reason, memory in use, tasks */

static const char * const loss_names[] = {
	[KTAU_LOSS_MEMORY_LIMIT] = "refused_memory_limit",
	[KTAU_LOSS_USER_LIMIT] = "refused_user_limit",
	[KTAU_LOSS_NO_MEMORY] = "refused_no_memory",
	[KTAU_LOSS_NO_CHUNK] = "refused_no_chunk",
	[KTAU_LOSS_NO_ID] = "refused_no_id",
	[KTAU_LOSS_NO_STATE] = "refused_no_state",
	[KTAU_LOSS_DESCRIPTORS] = "refused_descriptors",
	[KTAU_LOSS_NO_RING] = "lost_no_ring",
	[KTAU_LOSS_NO_ROOM] = "lost_no_room",
	[KTAU_LOSS_RESIZED] = "lost_resized",
	[KTAU_LOSS_UNREAD] = "lost_evicted",
	[KTAU_LOSS_EVICTED] = "evicted",
	[KTAU_LOSS_REGION] = "refused_regions",
	[KTAU_LOSS_FUNCTION] = "refused_functions",
	[KTAU_LOSS_CLAMPED] = "clamped",
	[KTAU_LOSS_INTERNAL] = "internal_errors",
};

static_assert(ARRAY_SIZE(loss_names) == KTAU_NR_LOSSES);

/* A reader in a container does not see the losses of the whole machine. */
static bool is_contained(const struct seq_file *m)
{
	return m->file->f_cred->user_ns != &init_user_ns ||
	       task_active_pid_ns(current) != &init_pid_ns;
}

static bool sees_nothing(const struct seq_file *m)
{
	const struct cred *saved = override_creds(m->file->f_cred);
	bool nothing = !ktau_access();

	revert_creds(saved);
	return nothing;
}

static void show_own_losses(struct seq_file *m)
{
	u64 losses[KTAU_NR_LOSSES];
	unsigned int i;

	ktau_user_losses(ktau_user_uid(m->file->f_cred), losses);
	for (i = 0; i < KTAU_NR_LOSSES; i++)
		seq_printf(m, "%s %llu\n", loss_names[i], losses[i]);
}

static void show_clock(struct seq_file *m)
{
	seq_printf(m, "clock_hz %llu\n", ktau_clock_hz());
	seq_printf(m, "clock_stable %d\n", ktau_arch_stable());
	seq_printf(m, "profile_pair_mticks %llu\n", ktau_profile_pair_mticks);
	seq_printf(m, "trace_pair_mticks %llu\n", ktau_trace_pair_mticks);
	seq_printf(m, "cpu_pair_mticks %llu\n", ktau_cpu_pair_mticks);
	seq_printf(m, "call_pair_mticks %llu\n", ktau_call_pair_mticks);
	seq_printf(m, "switch_mticks %llu\n", ktau_switch_mticks);
}

static int stats_show(struct seq_file *m, void *v)
{
	unsigned int i;

	if (sees_nothing(m))
		return -EACCES;
	if (is_contained(m)) {
		show_own_losses(m);
		show_clock(m);
		return 0;
	}
	for (i = 0; i < KTAU_NR_LOSSES; i++)
		seq_printf(m, "%s %llu\n", loss_names[i], ktau_loss_total(i));
	seq_printf(m, "memory_bytes %llu\n", ktau_memory_bytes());
	seq_printf(m, "memory_limit_bytes %llu\n",
		   ktau_config.memory_limit_bytes);
	ktau_exited_stats(m);
	seq_printf(m, "states %u\n", ktau_nr_states());
	seq_printf(m, "handler_nested %llu\n", ktau_handler_nested());
	show_clock(m);
	return 0;
}

/* /proc/PID/ktau: for humans */

static u64 to_us(u64 ticks, u64 hz)
{
	return mul_u64_u64_div_u64(ticks, USEC_PER_SEC, max(hz, 1ULL));
}

static void show_entry(struct seq_file *m, const struct ktau_entry *entry,
		       u64 hz)
{
	char name[KTAU_EVENT_NAME];

	ktau_event_format_name(entry->id, name);
	if (entry->kind == KTAU_KIND_TIMER)
		seq_printf(m, "%12llu %14llu %14llu  %s\n", entry->count,
			   to_us(entry->incl, hz), to_us(entry->excl, hz), name);
	else
		seq_printf(m, "%12llu %14llu %14s  %s (sum; %llu to %llu)\n",
			   entry->count, entry->sum, "-", name, entry->min,
			   entry->max);
}

static void show_profile(struct seq_file *m, const struct ktau_rec_profile *rec)
{
	const struct ktau_entry *entry = (const void *)(rec + 1);
	const struct ktau_open *open = (const void *)(entry + rec->nr_entries);
	u64 hz = ktau_clock_hz(), inside = 0;
	char name[KTAU_EVENT_NAME];
	u32 i;

	seq_printf(m, "%12s %14s %14s  %s\n", "count", "inclusive_us",
		   "exclusive_us", "event");
	for (i = 0; i < rec->nr_entries; i++)
		show_entry(m, &entry[i], hz);
	for (i = 0; i < rec->nr_open; i++) {
		u64 incl = max_t(s64, rec->ticks - open[i].start_ticks, 0);
		u64 excl = max_t(s64, incl - open[i].child_ticks - inside, 0);

		ktau_event_format_name(open[i].id, name);
		seq_printf(m, "%12s %14llu %14llu  %s\n", "in flight",
			   to_us(incl, hz), to_us(excl, hz), name);
		inside = incl;
	}
	if (rec->refused)
		seq_printf(m, "refused %llu, %llu us\n", rec->refused,
			   to_us(rec->refused_ticks, hz));
}

/* Copy the profile of @task, whose table may grow meanwhile. */
static int copy_profile(struct ktau_rec_profile **rec, struct ktau_state *state,
			struct task_struct *task)
{
	size_t bytes = ktau_snapshot_bytes(state);
	int err;

	do {
		*rec = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
		if (!*rec)
			return -ENOMEM;
		/* ktau_redact_profile() moves the open frames by this much. */
		err = ktau_snapshot_into(*rec, bytes - 2 *
					 sizeof(struct ktau_entry), state, task);
		if (!err)
			return 0;
		kvfree(*rec);
		bytes *= 2;
	} while (err == -ENOSPC);
	return err;
}

/* Show the profile of @task, if the reader may see it. */
static int show_task(struct seq_file *m, struct task_struct *task, u32 access)
{
	int err = ktau_task_check(task, access);
	struct ktau_state *state = err ? NULL : ktau_state_get(task);
	struct ktau_rec_profile *rec;

	if (!state)
		return err;
	err = copy_profile(&rec, state, task);
	if (err)
		goto out;
	err = ktau_task_recheck(task, state, access);
	if (!err && !(access & KTAU_ACCESS_EXACT))
		ktau_redact_profile(rec, ktau_clock_hz());
	if (!err)
		show_profile(m, rec);
	kvfree(rec);
out:
	ktau_state_put(state);
	return err;
}

/**
 * ktau_proc_pid_show() - contents of /proc/PID/ktau
 * @m: the file /proc/PID/ktau
 * @ns: pid namespace of the mount
 * @pid: PID, of the task
 * @task: the task, held by the caller
 *
 * Context: May sleep.
 * Return: 0 or -errno: -EACCES if the reader may not see the task, -EBUSY if the task is
 * in an exec.
 */
int ktau_proc_pid_show(struct seq_file *m, struct pid_namespace *ns,
		       struct pid *pid, struct task_struct *task)
{
	const struct cred *saved = override_creds(m->file->f_cred);
	u32 access = ktau_access();
	int err = -EACCES;

	if (access & KTAU_ACCESS_PROFILE)
		err = show_task(m, task, access);
	revert_creds(saved);
	return err;
}

/**
 * ktau_proc_create() - create /proc/ktau, with the files that only show something
 *
 * Context: Boot.
 * Return: The folder, or NULL if there is no memory.
 */
struct proc_dir_entry * __init ktau_proc_create(void)
{
	struct proc_dir_entry *dir = proc_mkdir("ktau", NULL);

	if (dir &&
	    proc_create("profile", 0444, dir, &ktau_profile_ops) &&
	    proc_create("trace", 0444, dir, &ktau_trace_ops) &&
	    proc_create_seq("events", 0444, dir, &events_ops) &&
	    (!IS_ENABLED(CONFIG_KTAU_FUNC) ||
	     proc_create_single("hooks", 0400, dir, hooks_show)) &&
	    proc_create_single("stats", 0444, dir, stats_show))
		return dir;
	return NULL;
}
