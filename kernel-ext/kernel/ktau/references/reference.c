// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: references to pages, as page faults.
 *
 * All pages of a traced address space are inaccessible except for those in its window. An
 * access to another page faults. The fault makes that page accessible, puts it into the
 * window and writes a slot, and then makes the page that leaves the window inaccessible.
 * Accesses inside the window cost nothing. A page in the window is read-only until its first
 * store, which is a second fault and slot.
 *
 * What is inaccessible for the task itself, because of its mappings, never gets here.
 *
 *	handle_pte_fault()	__ktau_reference_enable(): the page was inaccessible
 *	end of every fault	__ktau_reference_faulted(): a page is accessible now, for any
 *				reason; a store to a read-only page of the window
 *	copy on write		__ktau_reference_cow(): the page leaves the window, so that
 *				the store counts as one to the copy, after it
 *	migration, swapoff,	__ktau_reference_pte(): a PTE is set without an access. It
 *	fork, KSM		remains, or becomes, inaccessible
 *	mprotect()		__ktau_reference_protect(): likewise
 *
 * A page enters the window with the lock of its page table held. It leaves the window first,
 * and is then made inaccessible with that lock held, unless another thread has put it back.
 * So an accessible page is in the window, or about to be made inaccessible.
 */
#include <linux/ktau_references.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>

#include "pte.h"
#include "slots.h"
#include "space.h"

static u8 flags_of(const struct vm_fault *vmf)
{
	return (vmf->flags & FAULT_FLAG_USER ? 0 : KTAU_REFERENCE_KERNEL) |
	       (vmf->flags & FAULT_FLAG_REMOTE ? KTAU_REFERENCE_REMOTE : 0) |
	       (vmf->flags & FAULT_FLAG_INSTRUCTION ? KTAU_REFERENCE_FETCH : 0);
}

static unsigned long page_of(const struct vm_fault *vmf)
{
	return vmf->address >> PAGE_SHIFT;
}

/* Whether first stores are of interest. */
static bool has_stores(const struct ktau_space *space)
{
	return !(space->session->request.flags & KTAU_REFERENCES_READS_ONLY);
}

/* The page has been accessed; the lock of its page table is held. */
static void record(struct ktau_space *space, const struct vm_fault *vmf, bool store)
{
	u8 flags = flags_of(vmf) | (store ? KTAU_REFERENCE_WRITE : 0);
	enum ktau_touch touch;

	spin_lock(&space->lock);
	touch = ktau_window_touch(&space->window, page_of(vmf), store);
	if (touch == KTAU_TOUCH_STORE)
		flags |= KTAU_REFERENCE_FIRST_STORE;
	if (touch == KTAU_TOUCH_ENTERED || (touch == KTAU_TOUCH_STORE && has_stores(space)))
		ktau_slot_reference(space, KTAU_TRACE_REFERENCE, flags, page_of(vmf));
	spin_unlock(&space->lock);
}

/* The page is accessible and read-only now. The store that follows will be recorded. */
static void expect_store(struct ktau_space *space, const struct vm_fault *vmf)
{
	spin_lock(&space->lock);
	ktau_window_expect(&space->window, page_of(vmf));
	spin_unlock(&space->lock);
}

/**
 * __ktau_reference_enable() - a fault on an inaccessible PTE in an accessible mapping
 * @vmf: the fault; its PTE is mapped, and not locked
 *
 * Context: mmap_lock is held.
 * Return: Whether the PTE was inaccessible because of a session. Then vmf->orig_pte is what it is
 * now, unless another task has changed it meanwhile.
 */
bool __ktau_reference_enable(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct ktau_space *space = ktau_space_locked(vma->vm_mm);
	bool store = vmf->flags & FAULT_FLAG_WRITE, unshare = vmf->flags & FAULT_FLAG_UNSHARE;

	if (!ktau_pte_can(vma) || !ktau_space_has(space, page_of(vmf)))
		return false;
	ktau_fault_lock(vmf);
	spin_lock(vmf->ptl);
	if (pte_same(ptep_get(vmf->pte), vmf->orig_pte)) {
		if (ktau_pte_enable(vmf, store || !has_stores(space)) || !(store || unshare))
			record(space, vmf, store);
		else
			expect_store(space, vmf);	/* do_wp_page() comes next */
	}
	spin_unlock(vmf->ptl);
	return true;
}

/* The page has left the window. */
static void disable(struct ktau_space *space, struct vm_area_struct *hint, unsigned long page)
{
	struct ktau_pte pte = { .vma = hint };
	bool back, again;

	if (!ktau_pte_lock(&pte, space->mm, page))
		return;
	spin_lock(&space->lock);
	back = ktau_window_is_accessible(&space->window, page);
	spin_unlock(&space->lock);
	if (!back && ktau_pte_is_accessible(&pte)) {
		again = ktau_pte_disable(&pte);
		if (space->session->request.flags & KTAU_REFERENCES_EVICTIONS)
			ktau_slot_reference(space, KTAU_TRACE_EVICT,
					    again ? KTAU_REFERENCE_AGAIN : 0, page);
	}
	ktau_pte_unlock(&pte);
}

/* Whether the page has been accessed since the last call. */
static bool forget_access(struct ktau_space *space, struct vm_area_struct *hint,
			  unsigned long page)
{
	struct ktau_pte pte = { .vma = hint };
	bool young;

	if (!ktau_pte_lock(&pte, space->mm, page))
		return false;
	young = ktau_pte_forget_access(&pte);
	ktau_pte_unlock(&pte);
	return young;
}

/* Whether it matters if pages in the second segment are accessed again. */
static bool has_accesses(const struct ktau_space *space)
{
	return space->window.clock ||
	       (space->session->request.flags & KTAU_REFERENCES_EVICTIONS);
}

static void take_step(struct ktau_space *space, struct vm_area_struct *hint,
		      enum ktau_window_step step, unsigned long page)
{
	bool accessed;

	switch (step) {
	case KTAU_WINDOW_DONE:
		break;
	case KTAU_WINDOW_PASSED:
		forget_access(space, hint, page);
		break;
	case KTAU_WINDOW_TEST:
		accessed = forget_access(space, hint, page);
		spin_lock(&space->lock);
		ktau_window_tested(&space->window, page, accessed);
		spin_unlock(&space->lock);
		break;
	case KTAU_WINDOW_LEFT:
		disable(space, hint, page);
		break;
	}
}

/*
 * Take pages out of the window until it is not too full any more. They are probably in the
 * mapping @hint. mmap_lock is held.
 */
static void shrink(struct ktau_space *space, struct vm_area_struct *hint)
{
	enum ktau_window_step step;
	unsigned long page = 0;
	bool is_over;

	do {
		spin_lock(&space->lock);
		do {
			step = ktau_window_step(&space->window, &page);
		} while (step == KTAU_WINDOW_PASSED && !has_accesses(space));
		is_over = ktau_window_is_over(&space->window);
		spin_unlock(&space->lock);
		take_step(space, hint, step, page);
	} while (is_over);
}

/* The page is accessible, and the access was one outside of the window; the PTE is locked. */
static void enter(struct ktau_space *space, const struct vm_fault *vmf, struct ktau_pte *pte)
{
	bool store = vmf->flags & FAULT_FLAG_WRITE;

	/* A debugger may write what the task itself may not. */
	if (store && !pte_write(ptep_get(pte->p)) && (pte->vma->vm_flags & VM_WRITE)) {
		expect_store(space, vmf);
		return;
	}
	if (!store && has_stores(space))
		ktau_pte_write_protect(pte);
	record(space, vmf, store);
}

/*
 * Record the access of a fault if it was one outside of the window. @vma is its mapping, or NULL
 * if that may be gone. mmap_lock is held.
 */
static void settle(struct ktau_space *space, const struct vm_fault *vmf,
		   struct vm_area_struct *vma)
{
	bool store = vmf->flags & FAULT_FLAG_WRITE, has, is_over;
	/* A load may have mapped a page of the window for stores, too, such as a swapped one. */
	bool may_write = has_stores(space) &&
			 (!pte_present(vmf->orig_pte) || pte_write(vmf->orig_pte));
	struct ktau_pte pte = { .vma = vma };

	spin_lock(&space->lock);
	has = ktau_window_has(&space->window, page_of(vmf), store || may_write);
	is_over = ktau_window_is_over(&space->window);
	spin_unlock(&space->lock);
	if (!has && ktau_pte_lock(&pte, space->mm, page_of(vmf))) {
		is_over = ktau_pte_is_accessible(&pte);
		if (is_over)
			enter(space, vmf, &pte);
		ktau_pte_unlock(&pte);
	}
	if (is_over)
		shrink(space, vma);
}

/* Wait for the reader, if it is slow and mmap_lock may be released. Return: whether it was. */
static bool wait_for_reader(struct ktau_space *space, const struct vm_fault *vmf)
{
	struct ktau_session *session = space->session;

	if (session->request.when_full != KTAU_REFERENCES_WAIT ||
	    !ktau_queue_is_tight(&session->queue) || !fault_flag_allow_retry_first(vmf->flags) ||
	    (vmf->flags & FAULT_FLAG_RETRY_NOWAIT))
		return false;
	refcount_inc(&session->ref);
	mmap_read_unlock(space->mm);
	ktau_queue_wait(&session->queue);
	ktau_session_put(session);
	return true;
}

/**
 * __ktau_reference_faulted() - the end of a fault
 * @mm: the address space
 * @vmf: the fault; its PTE is neither mapped nor locked
 * @ret: result of the fault; with VM_FAULT_COMPLETED mmap_lock has been released
 *
 * Context: mmap_lock is held, except as above. May sleep.
 * Return: @ret, with VM_FAULT_COMPLETED if mmap_lock has been released.
 */
vm_fault_t __ktau_reference_faulted(struct mm_struct *mm, struct vm_fault *vmf, vm_fault_t ret)
{
	bool completed = ret & VM_FAULT_COMPLETED;
	struct ktau_space *space;

	if (ret & (VM_FAULT_ERROR | VM_FAULT_RETRY))
		return ret;
	if (completed)
		mmap_read_lock(mm);
	space = ktau_space_locked(mm);
	if (space && ktau_space_has(space, page_of(vmf))) {
		settle(space, vmf, completed ? NULL : vmf->vma);
		if (wait_for_reader(space, vmf))
			return ret | VM_FAULT_COMPLETED;
	}
	if (completed)
		mmap_read_unlock(mm);
	return ret;
}

/**
 * __ktau_reference_cow() - a private copy is about to replace a page
 * @vmf: a fault at the page, whose PTE is locked
 *
 * Context: mmap_lock is held.
 */
void __ktau_reference_cow(struct vm_fault *vmf)
{
	struct ktau_space *space = ktau_space_locked(vmf->vma->vm_mm);
	bool zero = is_zero_pfn(pte_pfn(vmf->orig_pte));

	if (!ktau_pte_can(vmf->vma) || !ktau_space_has(space, page_of(vmf)))
		return;
	spin_lock(&space->lock);
	ktau_window_remove(&space->window, page_of(vmf));
	ktau_slot_reference(space, KTAU_TRACE_COW,
			    flags_of(vmf) | (zero ? KTAU_REFERENCE_ZERO : 0), page_of(vmf));
	spin_unlock(&space->lock);
}

/**
 * __ktau_reference_pte() - a PTE is about to be set without an access to its page
 *
 * Context: The lock of its page table is held.
 * Return: The PTE to set.
 */
pte_t __ktau_reference_pte(struct vm_area_struct *vma, unsigned long addr, pte_t pte)
{
	unsigned long page = addr >> PAGE_SHIFT;
	struct ktau_space *space;

	if (!pte_present(pte) || !ktau_pte_can(vma))
		return pte;
	rcu_read_lock();
	space = ktau_space_rcu(vma->vm_mm);
	if (space && ktau_space_has(space, page)) {
		spin_lock(&space->lock);
		if (!ktau_window_is_accessible(&space->window, page))
			pte = ktau_pte_disabled(pte, vma);
		else if (has_stores(space) && !ktau_window_has(&space->window, page, true))
			pte = pte_wrprotect(pte);
		spin_unlock(&space->lock);
	}
	rcu_read_unlock();
	return pte;
}

/**
 * __ktau_reference_protect() - mprotect() is about to change a PTE
 * @old: the PTE as it was
 * @pte: the PTE as it should be
 *
 * Context: mmap_lock is held for writing, or for reading by NUMA balancing; the lock of the
 * page table is held.
 * Return: The PTE to set.
 */
pte_t __ktau_reference_protect(struct vm_area_struct *vma, unsigned long addr, pte_t old,
			       pte_t pte)
{
	struct ktau_space *space = ktau_space_locked(vma->vm_mm);

	if (!ktau_pte_can(vma) || !ktau_space_has(space, addr >> PAGE_SHIFT))
		return pte;
	if (pte_protnone(old))
		return ktau_pte_disabled(pte, vma);
	return has_stores(space) && !pte_write(old) ? pte_wrprotect(pte) : pte;
}
