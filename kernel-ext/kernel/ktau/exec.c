// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: an exec after which other readers may see the task.
 *
 * A set-uid program that drops its rights and execs becomes a program of the user's,
 * whose profile the user may read. What was counted under the rights before must not
 * be in it. So such an exec ends the profile: it goes to the exited tasks with the
 * credentials that it was gathered under, and the task begins another one.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "arch.h"
#include "core.h"
#include "exited.h"
#include "oops.h"
#include "owner.h"
#include "rights.h"
#include "ring.h"
#include "switch.h"
#include "table.h"
#include "times.h"
#include "trace.h"

/*
 * Whether an exec with @new credentials opens the task to readers that were not allowed
 * to see it before. Where the new ids are not all the same, only capabilities open
 * the task, and they did before.
 */
static bool has_new_readers(const struct cred *old, const struct cred *new,
			    bool dumpable)
{
	struct ktau_rights a, b;

	ktau_rights_of(&a, old);
	ktau_rights_of(&b, new);
	if (!uid_eq(b.uid, b.euid) || !uid_eq(b.uid, b.suid) ||
	    !gid_eq(b.gid, b.egid) || !gid_eq(b.gid, b.sgid))
		return false;
	return !dumpable || !uid_eq(a.uid, b.uid) || !uid_eq(a.euid, b.uid) ||
	       !uid_eq(a.suid, b.uid) || !gid_eq(a.gid, b.gid) ||
	       !gid_eq(a.egid, b.gid) || !gid_eq(a.sgid, b.gid) ||
	       a.user_ns != b.user_ns || a.secid != b.secid ||
	       !cap_issubset(a.permitted, b.permitted);
}

/*
 * Have the open frames begin now; @inside gets the time of those inside that have ended.
 * Return: What the open ones have had for themselves.
 */
static u64 restart_frames(struct ktau_ref *ref, u64 now, u64 *inside)
{
	struct ktau_frame *frame;
	u64 start = now;

	*inside = 0;
	for (frame = ref->top; frame; frame = frame->prev) {
		if (!(frame->info & KTAU_FRAME_TRACE_ONLY))
			start = frame->start;
		*inside += ktau_child_ticks(frame->child);
		ktau_write(&frame->child, 0);
		ktau_write(&frame->start, now);
	}
	return now - start > *inside ? now - start - *inside : 0;
}

/* The root frame goes along. */
static void move_root(struct ktau_ref *ref, struct ktau_task *old,
		      struct ktau_task *next)
{
	struct ktau_frame **link = &ref->top;

	next->root = old->root;
	while (*link && *link != &old->root)
		link = &(*link)->prev;
	if (*link)
		*link = &next->root;
}

/*
 * The frames in flight, execve() among them, go on in @next, and begin there now. What
 * of their time until now is not in the profile before yet goes to its "kernel": in
 * both profiles the times add up, and none is in both. The frames have no base for the
 * times inside them any more: @old has counted those.
 */
static void move_frames(struct ktau_ref *ref, struct ktau_task *old,
			struct ktau_task *next)
{
	unsigned long flags;
	u64 now, inside, own;

	raw_local_irq_save(flags);
	now = ktau_ticks();
	ktau_add(&old->begin, 1);
	barrier();
	own = restart_frames(ref, now, &inside);
	if (own)
		ktau_book(old, KTAU_ID_KERNEL, own, own, true);
	ktau_add(&old->outer_ticks, inside + own);
	move_root(ref, old, next);
	ktau_write(&old->end_ticks, now);
	ktau_write(&next->start_ticks, now);
	barrier();	/* a copy made meanwhile is found out */
	ktau_add(&old->end, 1);
	ktau_write(&ref->serial, next->serial);
	smp_store_release(&ref->state, next);	/* it is complete */
	ref->flags |= KTAU_REF_RENEWED;
	raw_local_irq_restore(flags);
}

/* Say in @old that it ends with this exec, and what comes after it. */
static void trace_end(struct ktau_task *old, const struct ktau_task *next,
		      const struct linux_binprm *bprm)
{
	struct ktau_slot_more more = { };
	const char *name = kbasename(bprm->filename);

	rcu_read_lock();
	if (bprm->fdpath)
		/* Pairs with __d_alloc(). */
		name = smp_load_acquire(&bprm->file->f_path.dentry->d_name.name);
	strscpy_pad((char *)more.data, name, sizeof(more.data));
	rcu_read_unlock();
	ktau_trace_more(old, KTAU_WHAT(0, KTAU_TRACE_EXEC, 0),
			next ? next->serial : 0, &more, 1);
}

/* Give @old, which the current task has let go of, to the exited tasks. */
static void retire(struct ktau_task *old, bool dumpable)
{
	struct ktau_owner *owner = &old->owner;

	if (!old->end_ticks)
		ktau_write(&old->end_ticks, ktau_ticks());
	old->dumpable = dumpable;
	owner->net_ns = ktau_net_ns_of(current);
	ktau_path_keep(old);
	ktau_task_identify(owner, current);
	owner->serial = old->serial;
	owner->leader_serial = old->serial;	/* other threads are gone by now */
	owner->kind = KTAU_OWNER_EXITED;
	owner->exec_ns = old->exec_ns;
	owner->exit_ns = ktime_get_boottime_ns();
	ktau_exited_add(old);
}

/**
 * __ktau_task_exec_begin() - the current task is about to run another program
 * @bprm: the program, with the credentials to come
 *
 * Context: Task, with its old credentials and address space; may sleep.
 */
void __ktau_task_exec_begin(const struct linux_binprm *bprm)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_task *old = ref->state, *next;
	struct mm_struct *mm = current->mm;
	bool dumpable = !mm || get_dumpable(mm) == SUID_DUMP_USER;

	if (!has_new_readers(current_cred(), bprm->cred, dumpable))
		return;
	mutex_lock(&ktau_mutex);
	next = ktau_task_successor(old, bprm->cred);
	if (ref->mask & KTAU_MODE_TRACE)
		trace_end(old, next, bprm);
	if (next) {
		move_frames(ref, old, next);
	} else {	/* counted: it is no longer measured */
		ktau_end_frames();
		WRITE_ONCE(ref->state, NULL);
	}
	mutex_unlock(&ktau_mutex);
	retire(old, dumpable);
}
