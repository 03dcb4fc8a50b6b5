// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: making pages inaccessible, and accessible again. Only this file knows page tables.
 *
 * An inaccessible page has a PTE like those of NUMA balancing: present, but without any
 * permission. So zapping, fork, rmap, swap, migration and get_user_pages() cope with it, and
 * if nobody is interested in it any more, do_numa_page() makes it accessible at the next
 * access. It keeps its write permission meanwhile, so a store to it needs one fault.
 *
 * The TLBs are flushed before the lock of the page table is released, as the lock is what
 * others rely on: reclaim does not flush for an inaccessible PTE.
 */
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagewalk.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <asm/tlbflush.h>

#include "pte.h"

static pmd_t *find_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none_or_clear_bad(pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none_or_clear_bad(p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud) || !pud_present(*pud) || pud_leaf(*pud))
		return NULL;
	pmd = pmd_offset(pud, addr);
	return pmd_none(*pmd) || !pmd_present(*pmd) || pmd_leaf(*pmd) ? NULL : pmd;
}

static bool is_in(const struct vm_area_struct *vma, unsigned long addr)
{
	return vma && addr >= vma->vm_start && addr < vma->vm_end;
}

/**
 * ktau_pte_lock() - find and lock the PTE of a page
 * @pte: receives it; its @vma is a mapping in which the page may be, or NULL
 * @mm: the address space
 * @page: number of the page
 *
 * Context: mmap_lock is held, no lock of a page table.
 * Return: Whether there is one, in a mapping whose references can be recorded. Then it is
 * locked; it may be none, or not present.
 */
bool ktau_pte_lock(struct ktau_pte *pte, struct mm_struct *mm, unsigned long page)
{
	pmd_t *pmd;

	pte->addr = page << PAGE_SHIFT;
	if (!is_in(pte->vma, pte->addr))
		pte->vma = vma_lookup(mm, pte->addr);
	if (!pte->vma || !ktau_pte_can(pte->vma))
		return false;
	pmd = find_pmd(mm, pte->addr);
	if (!pmd)
		return false;
	pte->p = pte_offset_map_lock(mm, pmd, pte->addr, &pte->lock);
	return pte->p;
}

/**
 * ktau_pte_unlock() - undo ktau_pte_lock()
 *
 * Context: The PTE is locked.
 */
void ktau_pte_unlock(struct ktau_pte *pte)
{
	pte_unmap_unlock(pte->p, pte->lock);
}

static bool is_accessible(pte_t pte)
{
	return pte_present(pte) && !pte_protnone(pte);
}

/**
 * ktau_pte_is_accessible() - whether a page can be accessed without a fault
 *
 * Context: The PTE is locked.
 * Return: Whether it can be read.
 */
bool ktau_pte_is_accessible(const struct ktau_pte *pte)
{
	return is_accessible(ptep_get(pte->p));
}

/**
 * ktau_pte_disabled() - the inaccessible form of a PTE
 * @pte: a present PTE
 * @vma: the mapping that it belongs to
 *
 * Context: Any.
 * Return: The PTE to set instead. It remembers whether it was writable.
 */
pte_t ktau_pte_disabled(pte_t pte, struct vm_area_struct *vma)
{
	bool write = pte_write(pte);

	pte = pte_modify(pte, PAGE_NONE);
	return write ? ktau_pte_mkwrite(pte, vma) : pte;
}

static void disable(struct vm_area_struct *vma, unsigned long addr, pte_t *p)
{
	pte_t old = ptep_modify_prot_start(vma, addr, p);

	ptep_modify_prot_commit(vma, addr, p, old, ktau_pte_disabled(old, vma));
}

/**
 * ktau_pte_disable() - make a page inaccessible on all CPUs
 *
 * Context: The PTE is locked, and ktau_pte_is_accessible().
 * Return: Whether the page has been accessed since ktau_pte_forget_access().
 */
bool ktau_pte_disable(struct ktau_pte *pte)
{
	bool young = pte_young(ptep_get(pte->p));

	disable(pte->vma, pte->addr, pte->p);
	flush_tlb_page(pte->vma, pte->addr);
	return young;
}

/**
 * ktau_pte_enable() - make a page accessible
 * @vmf: a fault on its PTE, which is inaccessible; vmf->ptl is held
 * @may_write: also for stores, if the PTE was writable
 *
 * Context: The PTE is locked.
 * Return: Whether it was writable. vmf->orig_pte is what it is now.
 */
bool ktau_pte_enable(struct vm_fault *vmf, bool may_write)
{
	struct vm_area_struct *vma = vmf->vma;
	pte_t old = ptep_modify_prot_start(vma, vmf->address, vmf->pte);
	pte_t pte = pte_mkyoung(pte_modify(old, vma->vm_page_prot));
	bool writable = pte_write(old);

	pte = writable && may_write ? ktau_pte_mkwrite(pte, vma) : pte_wrprotect(pte);
	if (writable && (vmf->flags & FAULT_FLAG_WRITE))
		pte = pte_mkdirty(pte);
	ptep_modify_prot_commit(vma, vmf->address, vmf->pte, old, pte);
	update_mmu_cache(vma, vmf->address, vmf->pte);
	vmf->orig_pte = pte;
	return writable;
}

/**
 * ktau_pte_write_protect() - make the next store to a page fault
 *
 * Context: The PTE is locked, and ktau_pte_is_accessible().
 */
void ktau_pte_write_protect(struct ktau_pte *pte)
{
	if (!pte_write(ptep_get(pte->p)))
		return;
	ptep_set_wrprotect(pte->vma->vm_mm, pte->addr, pte->p);
	flush_tlb_page(pte->vma, pte->addr);
}

/**
 * ktau_pte_forget_access() - let the next access to a page set its accessed bit
 *
 * Context: The PTE is locked.
 * Return: Whether it was set.
 */
bool ktau_pte_forget_access(struct ktau_pte *pte)
{
	if (!is_accessible(ptep_get(pte->p)) ||
	    !ptep_test_and_clear_young(pte->vma, pte->addr, pte->p))
		return false;
	flush_tlb_page(pte->vma, pte->addr);
	return true;
}

struct walk {
	ktau_pte_filter	*leave;
	void		*arg;
	bool		count;	/* do not change anything */
	unsigned long	nr;
};

static int walk_pmd(pmd_t *pmd, unsigned long addr, unsigned long end, struct mm_walk *mm_walk)
{
	struct walk *walk = mm_walk->private;
	spinlock_t *lock;	/* of the page table */
	pte_t *first, *p;

	if (!walk->count)
		split_huge_pmd(mm_walk->vma, pmd, addr);
	if (pmd_none(*pmd) || !pmd_present(*pmd))
		return 0;
	if (pmd_leaf(*pmd)) {
		walk->nr++;
		return 0;
	}
	first = pte_offset_map_lock(mm_walk->mm, pmd, addr, &lock);
	if (!first)
		return 0;
	for (p = first; addr < end; p++, addr += PAGE_SIZE) {
		if (!is_accessible(ptep_get(p)) || walk->leave(walk->arg, addr >> PAGE_SHIFT))
			continue;
		walk->nr++;
		if (!walk->count)
			disable(mm_walk->vma, addr, p);
	}
	pte_unmap_unlock(first, lock);
	cond_resched();
	return 0;
}

static int skip(unsigned long addr, unsigned long end, struct mm_walk *mm_walk)
{
	return !ktau_pte_can(mm_walk->vma);
}

static const struct mm_walk_ops walk_ops = {
	.pmd_entry	= walk_pmd,
	.test_walk	= skip,
};

static void walk_range(struct mm_struct *mm, unsigned long first, unsigned long end,
		       struct walk *walk)
{
	end = min(end, mm->task_size >> PAGE_SHIFT);
	walk_page_range(mm, first << PAGE_SHIFT, end << PAGE_SHIFT, &walk_ops, walk);
}

/**
 * ktau_pte_disable_all() - make a range inaccessible
 * @mm: the address space
 * @first: the first page
 * @end: the page after the last one
 * @leave: pages that are left as they are
 * @arg: argument of @leave, which is called with the lock of a page table held
 *
 * Huge pages in the range are split.
 *
 * Context: mmap_lock is held for writing.
 */
void ktau_pte_disable_all(struct mm_struct *mm, unsigned long first, unsigned long end,
			  ktau_pte_filter *leave, void *arg)
{
	struct walk walk = { .leave = leave, .arg = arg };

	/* Until the flush, reclaim must not rely on inaccessible PTEs not being in a TLB. */
	inc_tlb_flush_pending(mm);
	walk_range(mm, first, end, &walk);
	flush_tlb_mm(mm);
	dec_tlb_flush_pending(mm);
}

/**
 * ktau_pte_count_accessible() - count the pages in a range that can be accessed
 * @mm: the address space
 * @first: the first page
 * @end: the page after the last one
 * @leave: pages that are not counted
 * @arg: argument of @leave, which is called with the lock of a page table held
 *
 * Context: mmap_lock is held.
 * Return: Their number; a huge page counts as one.
 */
unsigned long ktau_pte_count_accessible(struct mm_struct *mm, unsigned long first,
					unsigned long end, ktau_pte_filter *leave, void *arg)
{
	struct walk walk = { .leave = leave, .arg = arg, .count = true };

	walk_range(mm, first, end, &walk);
	return walk.nr;
}
