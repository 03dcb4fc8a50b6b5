// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: address spaces that are traced.
 *
 * mm->ktau points to what an address space has. It changes with mmap_lock held for writing, or
 * when no task uses the address space, so a fault may use it without a reference. Those who
 * come without mmap_lock, through the mappings of a page, use it under RCU.
 *
 * Order of locks: mmap_lock, the lock of a page table, @lock of the space, that of the queue.
 * Nobody takes two locks of page tables. The lock of a session is taken inside of mmap_lock.
 *
 * An address space that is not traced any more may keep inaccessible PTEs. Each of them is
 * one more fault, in which do_numa_page() makes the page accessible.
 */
#include <linux/jump_label.h>
#include <linux/ktau_references.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "base/core.h"
#include "base/memory.h"
#include "pte.h"
#include "slots.h"
#include "space.h"

DEFINE_STATIC_KEY_FALSE(ktau_references_key);

static size_t space_bytes(const struct ktau_session *session)
{
	return sizeof(struct ktau_space) + ktau_window_bytes(session->request.window);
}

static void free_space(struct work_struct *work)
{
	struct ktau_space *space = container_of(to_rcu_work(work), struct ktau_space, free_work);
	struct ktau_session *session = space->session;

	ktau_free(session->user, space, space_bytes(session));
	ktau_session_put(session);
}

static struct ktau_space *create(struct mm_struct *mm, struct ktau_session *session)
{
	struct ktau_space *space = ktau_alloc(session->user, space_bytes(session),
					      GFP_KERNEL_ACCOUNT);

	if (!space)
		return NULL;
	*space = (struct ktau_space) { .session = session, .mm = mm };
	INIT_RCU_WORK(&space->free_work, free_space);
	INIT_LIST_HEAD(&space->node);
	spin_lock_init(&space->lock);
	ktau_window_init(&space->window, space + 1, session->request.window,
			 session->request.first,
			 session->request.policy == KTAU_REFERENCES_CLOCK);
	return space;
}

/* Make @space, which @reason begins, one of its session. Return: false if that has ended. */
static bool enter(struct ktau_space *space, u32 reason)
{
	struct ktau_session *session = space->session;
	bool ended;

	spin_lock(&session->lock);
	ended = session->ended;
	if (!ended) {
		refcount_inc(&session->ref);
		list_add_tail(&space->node, &session->spaces);
		session->nr_spaces++;
		space->number = atomic_inc_return(&session->last_space);
		if (reason == KTAU_SPACE_EXEC)
			space->armed = session->armed;
	}
	spin_unlock(&session->lock);
	return !ended;
}

static void leave(struct ktau_space *space)
{
	struct ktau_session *session = space->session;

	spin_lock(&session->lock);
	list_del_init(&space->node);
	session->nr_spaces--;
	spin_unlock(&session->lock);
	wake_up_all(&session->queue.readers);
}

/* Write a slot for each mapping, when no fault is in progress in it. */
static void describe(struct mm_struct *mm, struct ktau_space *space)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	for_each_vma(vmi, vma) {
		ktau_vma_start_write(vma);
		ktau_slot_map(space, vma);
	}
}

/**
 * ktau_space_attach() - begin to trace an address space
 * @mm: the address space
 * @origin: where it comes from
 *
 * References are recorded from ktau_spaces_arm() on. If the session is armed, those to an
 * address space that has no pages yet are recorded at once.
 *
 * Context: mmap_lock is held for writing. May sleep.
 * Return: 0, -EBUSY if it is traced already or other hardware uses its page tables, -ENOMEM,
 * or -ESRCH if the session has ended.
 */
int ktau_space_attach(struct mm_struct *mm, struct ktau_session *session,
		      const struct ktau_origin *origin)
{
	const struct ktau_space *parent = origin->copied;
	const u32 reason = origin->reason;
	struct ktau_space *space;

	if (ktau_space_locked(mm) || mm_has_notifiers(mm))
		return -EBUSY;
	space = create(mm, session);
	if (!space)
		return -ENOMEM;
	if (reason == KTAU_SPACE_START)
		space->waiting = session->request.flags & KTAU_REFERENCES_ON_EXEC;
	if (parent) {
		space->waiting = parent->waiting;
		space->armed = parent->armed;
	}
	if (!enter(space, reason)) {
		ktau_free(session->user, space, space_bytes(session));
		return -ESRCH;
	}
	ktau_slot_space(space, origin->parent, reason);
	if (reason != KTAU_SPACE_FORK)
		describe(mm, space);
	rcu_assign_pointer(mm->ktau.space, space);
	return 0;
}

/* Whether a page may be accessible. Pages that are to be recorded must be in the window. */
static bool may_be_accessible(void *arg, unsigned long page)
{
	struct ktau_space *space = arg;
	bool has;

	spin_lock(&space->lock);
	has = ktau_window_is_accessible(&space->window, page);
	spin_unlock(&space->lock);
	return has;
}

/**
 * ktau_space_check() - look for pages that are accessible and not in the window
 * @mm: an address space that is traced
 *
 * Context: mmap_lock is held.
 */
void ktau_space_check(struct mm_struct *mm)
{
	struct ktau_space *space = ktau_space_locked(mm);
	const struct ktau_session *session = space->session;
	unsigned long nr;

	if (!IS_ENABLED(CONFIG_KTAU_REFERENCES_CHECK) || !space->armed)
		return;
	nr = ktau_pte_count_accessible(mm, session->first_page, session->end_page,
				       may_be_accessible, space);
	if (nr || space->window.nr_overrun)
		pr_warn("ktau: internal error: %lu pages accessible, %u dropped\n", nr,
			space->window.nr_overrun);
}

static void finish_count(struct ktau_space *space)
{
	if (space->armed && ktau_session_counts(space->session))
		ktau_slot_counted(space);
}

/**
 * ktau_space_detach() - trace an address space no longer
 * @mm: the address space
 *
 * Context: mmap_lock is held for writing. May sleep.
 */
void ktau_space_detach(struct mm_struct *mm)
{
	struct ktau_space *space = ktau_space_locked(mm);

	ktau_space_check(mm);
	finish_count(space);
	ktau_slot_space(space, 0, KTAU_SPACE_END);
	RCU_INIT_POINTER(mm->ktau.space, NULL);
	leave(space);
	queue_rcu_work(system_unbound_wq, &space->free_work);
}

/* Begin to record the references to @mm. */
static void arm(struct mm_struct *mm, struct ktau_space *space)
{
	const struct ktau_session *session = space->session;

	spin_lock(&space->lock);
	ktau_window_clear(&space->window);
	spin_unlock(&space->lock);
	/* A PTE that is set from now on is inaccessible. */
	WRITE_ONCE(space->armed, true);
	ktau_pte_disable_all(mm, session->first_page, session->end_page, may_be_accessible, space);
}

/* What ktau_spaces_arm() and ktau_spaces_end() do about each space. */
enum change { ARM, DISARM, DETACH };

static bool is_due(const struct ktau_space *space, enum change change)
{
	return change == DETACH || (!space->waiting && space->armed != (change == ARM));
}

/* Find an address space that is to be changed. Return: it, with a reference, or NULL. */
static struct mm_struct *next_due(struct ktau_session *session, enum change change)
{
	struct ktau_space *space;
	struct mm_struct *mm = NULL;

	spin_lock(&session->lock);
	list_for_each_entry(space, &session->spaces, node)
		/* One that no task uses is about to be detached. */
		if (is_due(space, change) && mmget_not_zero(space->mm)) {
			mm = space->mm;
			break;
		}
	spin_unlock(&session->lock);
	return mm;
}

static void change_one(struct mm_struct *mm, struct ktau_space *space, enum change change)
{
	switch (change) {
	case ARM:
		arm(mm, space);
		break;
	case DISARM:
		ktau_space_check(mm);
		finish_count(space);
		WRITE_ONCE(space->armed, false);
		break;
	case DETACH:
		ktau_space_detach(mm);
		break;
	}
}

static void change_all(struct ktau_session *session, enum change change)
{
	struct ktau_space *space;
	struct mm_struct *mm;

	while ((mm = next_due(session, change))) {
		mmap_write_lock(mm);
		space = ktau_space_locked(mm);
		if (space && space->session == session && is_due(space, change))
			change_one(mm, space, change);
		mmap_write_unlock(mm);
		mmput(mm);
		cond_resched();
	}
}

/**
 * ktau_spaces_arm() - begin to record references, or pause
 * @arm: begin
 *
 * Context: May sleep. One call at a time for each session.
 */
void ktau_spaces_arm(struct ktau_session *session, bool arm)
{
	if (session->armed == arm)
		return;
	if (arm)
		ktau_slot_phase(session, true);
	spin_lock(&session->lock);
	session->armed = arm;
	spin_unlock(&session->lock);
	change_all(session, arm ? ARM : DISARM);
	if (!arm)
		ktau_slot_phase(session, false);
}

/**
 * ktau_spaces_end() - trace nothing any more
 *
 * Context: May sleep.
 */
void ktau_spaces_end(struct ktau_session *session)
{
	spin_lock(&session->lock);
	session->ended = true;
	spin_unlock(&session->lock);
	change_all(session, DETACH);
}

static void enable_key(struct work_struct *work)
{
	static_branch_enable(&ktau_references_key);
}

static DECLARE_WORK(key_work, enable_key);

/**
 * ktau_spaces_enable() - let the hooks look for traced address spaces
 *
 * They do so until the next boot. A worker changes the code, because the current task may lose
 * its CPU while it holds locks that others need.
 *
 * Context: May sleep.
 */
void ktau_spaces_enable(void)
{
	if (static_key_enabled(&ktau_references_key))
		return;
	schedule_work(&key_work);
	flush_work(&key_work);
}
