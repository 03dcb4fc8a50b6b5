/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: address spaces that are traced.
 */
#ifndef _KERNEL_KTAU_SPACE_H
#define _KERNEL_KTAU_SPACE_H

#include <linux/mm_types.h>

#include "session.h"

/**
 * struct ktau_origin - where an address space comes from
 * @reason: KTAU_SPACE_*
 * @parent: number of the space that it is a copy of, or that it replaces; 0: none
 * @copied: FORK: the space that it is a copy of, whose mmap_lock is held for writing
 */
struct ktau_origin {
	u32			reason;
	u32			parent;
	const struct ktau_space	*copied;
};

/* The space of @mm, whose mmap_lock is held. */
static inline struct ktau_space *ktau_space_locked(const struct mm_struct *mm)
{
	return rcu_dereference_protected(mm->ktau.space, lockdep_is_held(&mm->mmap_lock));
}

/* The space of @mm, under RCU. */
static inline struct ktau_space *ktau_space_rcu(const struct mm_struct *mm)
{
	return rcu_dereference(mm->ktau.space);
}

/* Whether references to a page are recorded, if it has a PTE of the usual kind. */
static inline bool ktau_space_has(const struct ktau_space *space, unsigned long page)
{
	return READ_ONCE(space->armed) && page >= space->session->first_page &&
	       page < space->session->end_page;
}

int ktau_space_attach(struct mm_struct *mm, struct ktau_session *session,
		      const struct ktau_origin *origin);
void ktau_space_detach(struct mm_struct *mm);
void ktau_space_check(struct mm_struct *mm);
void ktau_spaces_arm(struct ktau_session *session, bool arm);
void ktau_spaces_end(struct ktau_session *session);
void ktau_spaces_enable(void);

#endif /* _KERNEL_KTAU_SPACE_H */
