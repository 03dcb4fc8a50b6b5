/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: making pages inaccessible, and accessible again.
 */
#ifndef _KERNEL_KTAU_PTE_H
#define _KERNEL_KTAU_PTE_H

#include <linux/mm.h>
#include <linux/userfaultfd_k.h>

#include "base/compat.h"

struct vm_fault;

/**
 * struct ktau_pte - a PTE that is locked
 * @vma: its mapping
 * @addr: the address that it maps
 * @p: where it is
 * @lock: the lock of its page table
 */
struct ktau_pte {
	struct vm_area_struct	*vma;
	unsigned long		addr;
	pte_t			*p;
	spinlock_t		*lock;	/* of the page table */
};

/* What a walk over PTEs leaves out. */
typedef bool ktau_pte_filter(void *arg, unsigned long page);

/* Whether the references to a mapping can be recorded. */
static inline bool ktau_pte_can(struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP | VM_IO | VM_HUGETLB |
				  KTAU_VM_SHADOW_STACK)) && !userfaultfd_armed(vma);
}

bool ktau_pte_lock(struct ktau_pte *pte, struct mm_struct *mm, unsigned long page);
void ktau_pte_unlock(struct ktau_pte *pte);
bool ktau_pte_is_accessible(const struct ktau_pte *pte);
pte_t ktau_pte_disabled(pte_t pte, struct vm_area_struct *vma);
bool ktau_pte_disable(struct ktau_pte *pte);
bool ktau_pte_enable(struct vm_fault *vmf, bool may_write);
void ktau_pte_write_protect(struct ktau_pte *pte);
bool ktau_pte_forget_access(struct ktau_pte *pte);
void ktau_pte_disable_all(struct mm_struct *mm, unsigned long first, unsigned long end,
			  ktau_pte_filter *leave, void *arg);
unsigned long ktau_pte_count_accessible(struct mm_struct *mm, unsigned long first,
					unsigned long end, ktau_pte_filter *leave, void *arg);

#endif /* _KERNEL_KTAU_PTE_H */
