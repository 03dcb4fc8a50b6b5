/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: writing the slots of a session.
 */
#ifndef _KERNEL_KTAU_SLOTS_H
#define _KERNEL_KTAU_SLOTS_H

#include "session.h"

struct inode;
struct vm_area_struct;

void ktau_slot_reference(struct ktau_space *space, u8 type, u8 flags, unsigned long page);
void ktau_slot_counted(struct ktau_space *space);
void ktau_slot_unmap(struct ktau_space *space, unsigned long page, unsigned long end);
void ktau_slot_move(struct ktau_space *space, unsigned long page, unsigned long to,
		    unsigned long pages);
void ktau_slot_map(struct ktau_space *space, struct vm_area_struct *vma);
void ktau_slot_skip_all(struct ktau_space *space);
void ktau_slot_space(struct ktau_space *space, u32 parent, u32 reason);
void ktau_slot_thread(struct ktau_space *space);
void ktau_slot_file(struct ktau_space *space, const struct inode *inode, u64 pos, u64 bytes,
		    u32 op);
void ktau_slot_truncate(struct ktau_space *space, const struct inode *inode, u64 size);
void ktau_slot_phase(struct ktau_session *session, bool armed);

#endif /* _KERNEL_KTAU_SLOTS_H */
