// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: an exec that makes the task visible to other readers.
 *
 * When a set-uid program drops its privileges and execs, its user may read the profile of
 * the new program. That must not contain what was counted under the old privileges. So
 * such an exec ends the profile: it is queued with the exited tasks, with the credentials
 * under which it was collected, and the task begins a new one.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "base/arch.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/owner.h"
#include "base/rights.h"
#include "measure/area.h"
#include "measure/frame.h"
#include "measure/grow.h"
#include "measure/oops.h"
#include "measure/ring.h"
#include "measure/state.h"
#include "measure/table.h"
#include "measure/times.h"
#include "measure/trace.h"
#include "exited.h"
#include "switch.h"

/*
 * Whether an exec with @new credentials makes the task visible to readers that could not
 * see it before. If the new ids are not all the same, only readers with capabilities see
 * the task, and they could see it before.
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
 * Set the start of the open frames to @now. @inside receives the time of the frames inside
 * that have ended.
 * Return: the exclusive time of the open frames.
 */
static u64 restart_frames(struct ktau_ref *ref, u64 now, u64 *inside)
{
	struct ktau_frame *frame;
	u64 lasted = 0;

	*inside = 0;
	for (frame = ref->top; frame; frame = frame->prev) {
		lasted = ktau_frame_lasted(frame, lasted, now);
		*inside += ktau_child_ticks(frame->child);
		ktau_write(&frame->child, frame->child & KTAU_CHILD_STOPPED);
		ktau_write(&frame->start, now);
	}
	return lasted > *inside ? lasted - *inside : 0;
}

/* Move the root frame, which is part of the state. */
static void move_root(struct ktau_ref *ref, struct ktau_state *old,
		      struct ktau_state *next)
{
	struct ktau_frame **link = &ref->top;

	next->root = old->root;
	while (*link && *link != &old->root)
		link = &(*link)->prev;
	if (*link)
		*link = &next->root;
}

/*
 * The open frames, execve() among them, continue in @next and begin there now. The part
 * of their time that is not yet in the old profile is accounted there to "kernel". So the
 * times of each profile add up, and no time is in both. The bases of the frames are
 * dropped, because @old has counted the times inside them.
 */
static void move_frames(struct ktau_ref *ref, struct ktau_state *old,
			struct ktau_state *next)
{
	unsigned long flags;
	u64 now, inside, own;

	raw_local_irq_save(flags);
	now = ktau_ticks();
	ktau_add(&old->begin, 1);
	ktau_wmb();
	own = restart_frames(ref, now, &inside);
	if (own)
		ktau_table_account(old, KTAU_ID_KERNEL, own, own, true);
	ktau_add(&old->outer_ticks, inside + own);
	move_root(ref, old, next);
	ktau_write(&old->end_ticks, now);
	ktau_write(&next->start_ticks, now);
	ktau_wmb();	/* a copy made meanwhile is detected */
	ktau_add(&old->end, 1);
	ktau_write(&ref->serial, next->serial);
	smp_store_release(&ref->state, next);	/* it is complete */
	ref->flags |= KTAU_REF_RENEWED;
	raw_local_irq_restore(flags);
}

/* Trace in @old that it ends with this exec, and which state follows it. */
static void trace_end(struct ktau_state *old, const struct ktau_state *next,
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

/* Queue @old, which is no longer the current task's, with the exited tasks. */
static void retire(struct ktau_state *old, bool dumpable)
{
	struct ktau_owner *owner = &old->owner;

	if (!old->end_ticks)
		ktau_write(&old->end_ticks, ktau_ticks());
	old->dumpable = dumpable;
	owner->net_ns = ktau_net_ns_of(current);
	ktau_path_keep(old);
	ktau_task_identify(owner, current);
	owner->serial = old->serial;
	owner->leader_serial = old->serial;	/* other threads have exited by now */
	owner->kind = KTAU_OWNER_EXITED;
	owner->exec_ns = old->exec_ns;
	owner->exit_ns = ktime_get_boottime_ns();
	ktau_exited_add(old);
}

/*
 * Let @next replace @old. Return: whether it has; not if @old has got a ring meanwhile that
 * @next lacks.
 */
static bool succeed(struct ktau_ref *ref, struct ktau_state *old, struct ktau_state *next,
		    const struct linux_binprm *bprm)
{
	bool ready;

	spin_lock(&old->mask_lock);
	ready = ktau_task_succeed(next, old);
	if (ready) {
		if (ref->mask & KTAU_MODE_TRACE)
			trace_end(old, next, bprm);
		move_frames(ref, old, next);
	}
	spin_unlock(&old->mask_lock);
	return ready;
}

/* Create a state for the new program, and let it replace @old. Return: false without memory. */
static bool renew(struct ktau_ref *ref, struct ktau_state *old, const struct linux_binprm *bprm)
{
	struct ktau_state *next = ktau_task_successor(old, bprm->cred);

	if (!next)
		return false;
	do {
		if (!ktau_task_successor_ring(next, old)) {
			ktau_state_put(next);
			return false;
		}
	} while (!succeed(ref, old, next, bprm));
	smp_mb();	/* a write to control sees the new state, or its changes are seen below */
	ktau_task_refresh();
	return true;
}

/*
 * There is no memory, which is counted: the task is no longer measured. A write to control may
 * create a state; KTAU_MASK_GONE keeps it empty.
 */
static void stop(struct ktau_ref *ref, struct ktau_state *old, const struct linux_binprm *bprm)
{
	spin_lock(&old->mask_lock);
	if (ref->mask & KTAU_MODE_TRACE)
		trace_end(old, NULL, bprm);
	ktau_end_frames();
	ktau_write(&ref->serial, ktau_serial_next());
	smp_store_release(&ref->state, NULL);	/* pairs with make_state() in switch.c */
	spin_unlock(&old->mask_lock);
}

/**
 * __ktau_task_exec_begin() - the current task is about to run another program
 * @bprm: the program, with the new credentials
 *
 * An exec waits neither for a write to control nor for a reader, because a task that has lost
 * its CPU may be in the middle of one.
 *
 * Context: Task, with its old credentials and address space; may sleep.
 */
void __ktau_task_exec_begin(const struct linux_binprm *bprm)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_state *old = ref->state;
	bool dumpable = ktau_is_dumpable();

	ktau_ring_relieve(old);
	if (!has_new_readers(current_cred(), bprm->cred, dumpable))
		return;
	ktau_area_detach(old);	/* the new program is in none of its regions */
	if (!renew(ref, old, bprm))
		stop(ref, old, bprm);
	retire(old, dumpable);
}
