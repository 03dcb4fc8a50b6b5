// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: what happens to a traced address space: fork, exec, exit and changes of its mappings. */
#include <linux/binfmts.h>
#include <linux/ktau_references.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "base/compat.h"
#include "pte.h"
#include "slots.h"
#include "space.h"

/**
 * __ktau_reference_fork() - an address space becomes a copy of a traced one
 * @mm: the copy, still empty
 * @oldmm: the traced one
 *
 * Without memory, the copy is not traced.
 *
 * Context: mmap_lock of both is held for writing. May sleep.
 */
void __ktau_reference_fork(struct mm_struct *mm, struct mm_struct *oldmm)
{
	const struct ktau_space *parent = ktau_space_locked(oldmm);
	struct ktau_origin origin = {
		.reason = KTAU_SPACE_FORK,
		.parent = parent->number,
		.copied = parent,
	};

	ktau_space_attach(mm, parent->session, &origin);
}

/* The session of the current task's space, with a reference, and that space's number. */
static struct ktau_session *get_session(u32 *number)
{
	struct ktau_session *session = NULL;
	struct ktau_space *space;

	rcu_read_lock();
	space = ktau_space_rcu(current->mm);
	if (space && refcount_inc_not_zero(&space->session->ref)) {
		session = space->session;
		*number = space->number;
	}
	rcu_read_unlock();
	return session;
}

/**
 * __ktau_reference_exec() - a traced task is about to copy the arguments of a new program
 * @bprm: the program; its address space only has a mapping for the stack
 *
 * Context: May sleep.
 */
void __ktau_reference_exec(struct linux_binprm *bprm)
{
	struct ktau_origin origin = { .reason = KTAU_SPACE_EXEC };
	struct ktau_session *session = get_session(&origin.parent);

	if (!session)
		return;
	mmap_write_lock(bprm->mm);
	ktau_space_attach(bprm->mm, session, &origin);
	mmap_write_unlock(bprm->mm);
	ktau_session_put(session);
}

/**
 * __ktau_reference_exec_begin() - a new program is about to run
 * @bprm: the program, whose credentials are known
 *
 * A program that its user may not trace with ptrace(2) is not traced, unless the opener of the
 * session may trace everything.
 *
 * Context: May sleep.
 */
void __ktau_reference_exec_begin(struct linux_binprm *bprm)
{
	bool secret = bprm->secureexec || (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP);
	struct ktau_space *space;

	mmap_write_lock(bprm->mm);
	space = ktau_space_locked(bprm->mm);
	if (space && secret && !space->session->privileged)
		ktau_space_detach(bprm->mm);
	else if (space)
		ktau_slot_thread(space);
	mmap_write_unlock(bprm->mm);
}

/**
 * __ktau_reference_exit() - no task uses an address space any more
 * @mm: the address space
 *
 * Context: May sleep.
 */
void __ktau_reference_exit(struct mm_struct *mm)
{
	mmap_write_lock(mm);
	if (ktau_space_locked(mm))
		ktau_space_detach(mm);
	mmap_write_unlock(mm);
}

/**
 * __ktau_reference_mapped() - a mapping is new, or has changed
 *
 * Context: mmap_lock is held.
 */
void __ktau_reference_mapped(struct vm_area_struct *vma)
{
	ktau_slot_map(ktau_space_locked(vma->vm_mm), vma);
}

/**
 * __ktau_reference_shared() - trace an address space no longer, because others access its pages
 *
 * Other page tables, such as those of a virtual machine, do not take part in what makes pages
 * inaccessible.
 *
 * Context: mmap_lock is held for writing. May sleep.
 */
void __ktau_reference_shared(struct mm_struct *mm)
{
	ktau_slot_skip_all(ktau_space_locked(mm));
	ktau_space_detach(mm);
}

/**
 * __ktau_reference_unmap() - pages are about to be unmapped
 * @start: the first address
 * @end: the address after the last one
 * @details: whether private copies of the pages of a file remain
 *
 * Context: Task. mmap_lock may not be held.
 */
void __ktau_reference_unmap(struct vm_area_struct *vma, unsigned long start, unsigned long end,
			    const struct zap_details *details)
{
	unsigned long page = start >> PAGE_SHIFT, end_page = end >> PAGE_SHIFT;
	struct ktau_space *space;

	rcu_read_lock();
	space = ktau_space_rcu(vma->vm_mm);
	if (space) {
		spin_lock(&space->lock);
		ktau_window_unmap(&space->window, page, end_page);
		if (!details || ktau_zaps_cows(details))
			ktau_slot_unmap(space, page, end_page);
		spin_unlock(&space->lock);
	}
	rcu_read_unlock();
}

/* Whether a page may be accessible. */
static bool is_in_window(void *arg, unsigned long page)
{
	struct ktau_space *space = arg;
	bool is;

	spin_lock(&space->lock);
	is = ktau_window_is_accessible(&space->window, page);
	spin_unlock(&space->lock);
	return is;
}

/**
 * __ktau_reference_userfaultfd() - a mapping is, or was, registered with userfaultfd
 *
 * While it was, its pages were accessible. A fork calls this for mappings that do not exist yet.
 *
 * Context: mmap_lock is held for writing. May sleep.
 */
void __ktau_reference_userfaultfd(struct vm_area_struct *vma)
{
	struct ktau_space *space = ktau_space_locked(vma->vm_mm);
	const struct ktau_session *session = space->session;

	if (vma_lookup(vma->vm_mm, vma->vm_start) != vma)
		return;
	ktau_slot_map(space, vma);
	if (space->armed)
		ktau_pte_disable_all(vma->vm_mm,
				     max(vma->vm_start >> PAGE_SHIFT, session->first_page),
				     min(vma->vm_end >> PAGE_SHIFT, session->end_page),
				     is_in_window, space);
}

/**
 * __ktau_reference_moved() - page tables have been moved
 * @vma: the new mapping
 * @from: the old first address
 * @to: the new one
 * @bytes: how much
 *
 * The pages keep their places in the window. Those that were not recorded at the old place, and
 * are at the new one, may have been accessible.
 *
 * Context: mmap_lock is held for writing. May sleep.
 */
void __ktau_reference_moved(struct vm_area_struct *vma, unsigned long from, unsigned long to,
			    unsigned long bytes)
{
	struct ktau_space *space = ktau_space_locked(vma->vm_mm);
	unsigned long page = from >> PAGE_SHIFT, to_page = to >> PAGE_SHIFT;
	unsigned long pages = bytes >> PAGE_SHIFT;

	spin_lock(&space->lock);
	ktau_window_move(&space->window, page, page + pages, to_page);
	ktau_slot_move(space, page, to_page, pages);
	spin_unlock(&space->lock);
	/* It may be longer than what has moved. */
	ktau_slot_map(space, vma);
	if (space->armed &&
	    !(ktau_space_has(space, page) && ktau_space_has(space, page + pages - 1)))
		ktau_pte_disable_all(vma->vm_mm, max(to_page, space->session->first_page),
				     min(to_page + pages, space->session->end_page),
				     is_in_window, space);
}
