// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: what traced tasks do to the cached pages of files with system calls. */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/ktau_references.h>
#include <linux/mm.h>

#include "slots.h"
#include "space.h"

/**
 * __ktau_reference_file() - the current task has read or written cached pages
 * @end: offset of the byte after the last one
 * @bytes: their number, at least 1
 * @op: KTAU_FILE_*
 *
 * Context: Task.
 */
void __ktau_reference_file(struct file *file, loff_t end, ssize_t bytes, u32 op)
{
	struct ktau_space *space;

	rcu_read_lock();
	space = ktau_space_rcu(current->mm);
	if (space && READ_ONCE(space->armed))
		ktau_slot_file(space, file_inode(file), end - bytes, bytes, op);
	rcu_read_unlock();
}

/**
 * __ktau_reference_truncate() - the current task has truncated a file
 * @size: its new size
 *
 * Context: Task.
 */
void __ktau_reference_truncate(struct dentry *dentry, loff_t size)
{
	struct ktau_space *space;

	rcu_read_lock();
	space = ktau_space_rcu(current->mm);
	if (space)
		ktau_slot_truncate(space, d_real_inode(dentry), size);
	rcu_read_unlock();
}
