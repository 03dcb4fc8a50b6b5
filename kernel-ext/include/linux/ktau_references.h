/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: references to pages: what the memory management calls. See
 * kernel/ktau/references/reference.c.
 *
 * Until a session has been opened, a hook is a nop. After that it is one load for an address
 * space that is not traced.
 */
#ifndef _LINUX_KTAU_REFERENCES_H
#define _LINUX_KTAU_REFERENCES_H

#include <linux/mm.h>
#include <uapi/linux/ktau_references.h>

struct dentry;
struct file;
struct linux_binprm;
struct vm_fault;
struct zap_details;

#ifdef CONFIG_KTAU_REFERENCES

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(ktau_references_key);

bool __ktau_reference_enable(struct vm_fault *vmf);
vm_fault_t __ktau_reference_faulted(struct mm_struct *mm, struct vm_fault *vmf, vm_fault_t ret);
void __ktau_reference_cow(struct vm_fault *vmf);
pte_t __ktau_reference_pte(struct vm_area_struct *vma, unsigned long addr, pte_t pte);
pte_t __ktau_reference_protect(struct vm_area_struct *vma, unsigned long addr, pte_t old,
			       pte_t pte);
void __ktau_reference_unmap(struct vm_area_struct *vma, unsigned long start, unsigned long end,
			    const struct zap_details *details);
void __ktau_reference_moved(struct vm_area_struct *vma, unsigned long from, unsigned long to,
			    unsigned long bytes);
void __ktau_reference_mapped(struct vm_area_struct *vma);
void __ktau_reference_userfaultfd(struct vm_area_struct *vma);
void __ktau_reference_shared(struct mm_struct *mm);
void __ktau_reference_fork(struct mm_struct *mm, struct mm_struct *oldmm);
void __ktau_reference_exec(struct linux_binprm *bprm);
void __ktau_reference_exec_begin(struct linux_binprm *bprm);
void __ktau_reference_exit(struct mm_struct *mm);
void __ktau_reference_file(struct file *file, loff_t end, ssize_t bytes, u32 op);
void __ktau_reference_truncate(struct dentry *dentry, loff_t size);

/* Whether the address space is traced; then nothing but the page that faults may be mapped. */
static __always_inline bool ktau_reference_traced(const struct mm_struct *mm)
{
	return static_branch_unlikely(&ktau_references_key) &&
	       rcu_access_pointer(mm->ktau.space);
}

/*
 * Make the inaccessible page of a fault accessible, unless NUMA balancing has made it inaccessible.
 * The fault goes on then, as one on the new PTE.
 */
static __always_inline bool ktau_reference_enable(struct vm_fault *vmf)
{
	return ktau_reference_traced(vmf->vma->vm_mm) && __ktau_reference_enable(vmf);
}

/* The end of a fault, with its result @ret. vmf->vma may be gone after VM_FAULT_COMPLETED. */
static __always_inline vm_fault_t ktau_reference_faulted(struct mm_struct *mm,
							 struct vm_fault *vmf, vm_fault_t ret)
{
	return ktau_reference_traced(mm) ? __ktau_reference_faulted(mm, vmf, ret) : ret;
}

/* The page at vmf->address is about to be replaced by a private copy. */
static __always_inline void ktau_reference_cow(struct vm_fault *vmf)
{
	if (ktau_reference_traced(vmf->vma->vm_mm))
		__ktau_reference_cow(vmf);
}

/* Whether get_user_pages() must not follow an inaccessible PTE, but cause a fault. */
static __always_inline bool ktau_reference_hides(struct vm_area_struct *vma)
{
	return ktau_reference_traced(vma->vm_mm) && vma_is_accessible(vma);
}

/* A PTE is set without an access to its page. Return: the PTE to set. */
static __always_inline pte_t ktau_reference_pte(struct vm_area_struct *vma, unsigned long addr,
						pte_t pte)
{
	return ktau_reference_traced(vma->vm_mm) ? __ktau_reference_pte(vma, addr, pte) : pte;
}

/* mprotect() changes @old to @pte. Return: the PTE to set. */
static __always_inline pte_t ktau_reference_protect(struct vm_area_struct *vma,
						    unsigned long addr, pte_t old, pte_t pte)
{
	return ktau_reference_traced(vma->vm_mm) ?
	       __ktau_reference_protect(vma, addr, old, pte) : pte;
}

/* The pages of a range are about to be unmapped; private copies stay if @details says so. */
static __always_inline void ktau_reference_unmap(struct vm_area_struct *vma, unsigned long start,
						 unsigned long end,
						 const struct zap_details *details)
{
	if (ktau_reference_traced(vma->vm_mm))
		__ktau_reference_unmap(vma, start, end, details);
}

/* Page tables have been moved. */
static __always_inline void ktau_reference_moved(struct vm_area_struct *vma, unsigned long from,
						 unsigned long to, unsigned long bytes)
{
	if (bytes && ktau_reference_traced(vma->vm_mm))
		__ktau_reference_moved(vma, from, to, bytes);
}

/* A mapping has been created, has grown or has another protection. */
static __always_inline void ktau_reference_mapped(struct vm_area_struct *vma)
{
	if (ktau_reference_traced(vma->vm_mm))
		__ktau_reference_mapped(vma);
}

/* A mapping has been registered with userfaultfd(2), or is not any more. */
static __always_inline void ktau_reference_userfaultfd(struct vm_area_struct *vma)
{
	if (ktau_reference_traced(vma->vm_mm))
		__ktau_reference_userfaultfd(vma);
}

/* A virtual machine or a device is about to have page tables of its own for @mm. */
static __always_inline void ktau_reference_shared(struct mm_struct *mm)
{
	if (ktau_reference_traced(mm))
		__ktau_reference_shared(mm);
}

/* @mm is new, possibly a copy of another one. */
static __always_inline void ktau_reference_init(struct mm_struct *mm)
{
	RCU_INIT_POINTER(mm->ktau.space, NULL);
}

/* @mm, which is still empty, becomes a copy of @oldmm; both are locked. */
static __always_inline void ktau_reference_fork(struct mm_struct *mm, struct mm_struct *oldmm)
{
	if (ktau_reference_traced(oldmm))
		__ktau_reference_fork(mm, oldmm);
}

/* The address space of a new program, with an empty stack. */
static __always_inline void ktau_reference_exec(struct linux_binprm *bprm)
{
	if (current->mm && ktau_reference_traced(current->mm))
		__ktau_reference_exec(bprm);
}

/* The new program, whose address space is @mm, is about to run; its credentials are known. */
static __always_inline void ktau_reference_exec_begin(struct mm_struct *mm,
						      struct linux_binprm *bprm)
{
	if (ktau_reference_traced(mm))
		__ktau_reference_exec_begin(bprm);
}

/* No task uses @mm any more. */
static __always_inline void ktau_reference_exit(struct mm_struct *mm)
{
	if (ktau_reference_traced(mm))
		__ktau_reference_exit(mm);
}

/* @bytes bytes of a file, which end at @end, have been copied from or to its cached pages. */
static __always_inline void ktau_reference_file(struct file *file, loff_t end, ssize_t bytes,
						u32 op)
{
	if (bytes > 0 && current->mm && ktau_reference_traced(current->mm))
		__ktau_reference_file(file, end, bytes, op);
}

/* A file has been truncated to @size; @error: it has not. */
static __always_inline void ktau_reference_truncate(struct dentry *dentry, loff_t size, int error)
{
	if (!error && current->mm && ktau_reference_traced(current->mm))
		__ktau_reference_truncate(dentry, size);
}

#else

static inline bool ktau_reference_traced(const struct mm_struct *mm) { return false; }
static inline bool ktau_reference_enable(struct vm_fault *vmf) { return false; }
static inline vm_fault_t ktau_reference_faulted(struct mm_struct *mm, struct vm_fault *vmf,
						vm_fault_t ret) { return ret; }
static inline void ktau_reference_cow(struct vm_fault *vmf) { }
static inline bool ktau_reference_hides(struct vm_area_struct *vma) { return false; }
static inline pte_t ktau_reference_pte(struct vm_area_struct *vma, unsigned long addr,
				       pte_t pte) { return pte; }
static inline pte_t ktau_reference_protect(struct vm_area_struct *vma, unsigned long addr,
					   pte_t old, pte_t pte) { return pte; }
static inline void ktau_reference_unmap(struct vm_area_struct *vma, unsigned long start,
					unsigned long end,
					const struct zap_details *details) { }
static inline void ktau_reference_moved(struct vm_area_struct *vma, unsigned long from,
					unsigned long to, unsigned long bytes) { }
static inline void ktau_reference_mapped(struct vm_area_struct *vma) { }
static inline void ktau_reference_userfaultfd(struct vm_area_struct *vma) { }
static inline void ktau_reference_shared(struct mm_struct *mm) { }
static inline void ktau_reference_init(struct mm_struct *mm) { }
static inline void ktau_reference_fork(struct mm_struct *mm, struct mm_struct *oldmm) { }
static inline void ktau_reference_exec(struct linux_binprm *bprm) { }
static inline void ktau_reference_exec_begin(struct mm_struct *mm,
					     struct linux_binprm *bprm) { }
static inline void ktau_reference_exit(struct mm_struct *mm) { }
static inline void ktau_reference_file(struct file *file, loff_t end, ssize_t bytes, u32 op) { }
static inline void ktau_reference_truncate(struct dentry *dentry, loff_t size, int error) { }

#endif /* CONFIG_KTAU_REFERENCES */

#endif /* _LINUX_KTAU_REFERENCES_H */
