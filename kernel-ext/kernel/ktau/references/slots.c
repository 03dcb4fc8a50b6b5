// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: writing the slots of a session. */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>

#include "measure/state.h"
#include "pte.h"
#include "slots.h"

static void announce(struct ktau_space *space, u32 thread)
{
	struct ktau_session *session = space->session;
	struct ktau_slot_thread slot = {
		.thread = thread,
		.space = space->number,
		.serial = ktau_task_serial(current),
		.tid = task_pid_nr_ns(current, session->ns),
		.tgid = task_tgid_nr_ns(current, session->ns),
	};

	ktau_queue_put(&session->queue, KTAU_TRACE_THREAD, 0, &slot, sizeof(slot));
}

/*
 * The number of the current thread in the session of @space. The first time that it does
 * something there it is announced. Return: 0 if it is not one of its threads.
 */
static u32 thread_of(struct ktau_space *space)
{
	struct ktau_session *session = space->session;
	struct ktau_thread_ref *ref = &current->ktau.references;

	if (ref->session == session->id)
		return ref->thread;
	if (current->mm != space->mm || (current->flags & PF_KTHREAD))
		return 0;
	ref->session = session->id;
	ref->thread = atomic_inc_return(&session->last_thread);
	announce(space, ref->thread);
	return ref->thread;
}

/* Write a slot, unless the session only counts. */
static void put(struct ktau_session *session, u8 type, const void *payload, size_t bytes)
{
	if (!ktau_session_counts(session))
		ktau_queue_put(&session->queue, type, 0, payload, bytes);
}

static void count(struct ktau_space *space, u8 type, u8 flags)
{
	if (type != KTAU_TRACE_REFERENCE)
		return;
	space->nr_pages += !(flags & KTAU_REFERENCE_FIRST_STORE);
	space->nr_stores += !!(flags & KTAU_REFERENCE_WRITE);
}

/**
 * ktau_slot_reference() - write REFERENCE, COW or EVICT, or count it
 * @type: KTAU_TRACE_*
 * @flags: KTAU_REFERENCE_*
 *
 * Context: The lock of the space is held, except for EVICT.
 */
void ktau_slot_reference(struct ktau_space *space, u8 type, u8 flags, unsigned long page)
{
	struct ktau_slot_reference slot = {
		.page = page,
		.space = space->number,
		.thread = thread_of(space),
	};

	if (ktau_session_counts(space->session))
		count(space, type, flags);
	else
		ktau_queue_put(&space->session->queue, type, flags, &slot, sizeof(slot));
}

/**
 * ktau_slot_counted() - write COUNTED, and count from 0
 *
 * Context: mmap_lock is held for writing.
 */
void ktau_slot_counted(struct ktau_space *space)
{
	struct ktau_slot_counted slot = {
		.space = space->number,
		.thread = thread_of(space),
	};

	spin_lock(&space->lock);
	slot.pages = space->nr_pages;
	slot.stores = space->nr_stores;
	space->nr_pages = 0;
	space->nr_stores = 0;
	spin_unlock(&space->lock);
	ktau_queue_put(&space->session->queue, KTAU_TRACE_COUNTED, 0, &slot, sizeof(slot));
}

/**
 * ktau_slot_unmap() - write UNMAP
 * @page: the first page
 * @end: the page after the last one
 *
 * Context: Any lock of the space may be held.
 */
void ktau_slot_unmap(struct ktau_space *space, unsigned long page, unsigned long end)
{
	struct ktau_slot_unmap slot = {
		.page = page,
		.pages = end - page,
		.space = space->number,
		.thread = thread_of(space),
	};

	put(space->session, KTAU_TRACE_UNMAP, &slot, sizeof(slot));
}

/**
 * ktau_slot_move() - write MOVE
 * @page: the first page
 * @to: its new place
 *
 * Context: Any lock of the space may be held.
 */
void ktau_slot_move(struct ktau_space *space, unsigned long page, unsigned long to,
		    unsigned long pages)
{
	struct ktau_slot_move slot = {
		.page = page,
		.to = to,
		.pages = pages,
		.space = space->number,
		.thread = thread_of(space),
	};

	put(space->session, KTAU_TRACE_MOVE, &slot, sizeof(slot));
}

static u32 map_flags(unsigned long vm_flags)
{
	return (vm_flags & VM_READ ? KTAU_MAP_READ : 0) |
	       (vm_flags & VM_WRITE ? KTAU_MAP_WRITE : 0) |
	       (vm_flags & VM_EXEC ? KTAU_MAP_EXEC : 0) |
	       (vm_flags & VM_SHARED ? KTAU_MAP_SHARED : 0);
}

static u32 why_skipped(struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_HUGETLB)
		return KTAU_SKIPPED_HUGETLB;
	if (userfaultfd_armed(vma))
		return KTAU_SKIPPED_USERFAULTFD;
	if (vma->vm_flags & KTAU_VM_SHADOW_STACK)
		return KTAU_SKIPPED_SHADOW_STACK;
	return vma->vm_file ? KTAU_SKIPPED_DEVICE : 0;
}

/**
 * ktau_slot_map() - write MAP, or SKIPPED if references to the mapping cannot be recorded
 *
 * Context: mmap_lock is held.
 */
void ktau_slot_map(struct ktau_space *space, struct vm_area_struct *vma)
{
	u8 type = ktau_pte_can(vma) ? KTAU_TRACE_MAP : KTAU_TRACE_SKIPPED;
	struct ktau_slot_map slot = {
		.page = vma->vm_start >> PAGE_SHIFT,
		.pages = vma_pages(vma),
		.space = space->number,
		.vm_flags = map_flags(vma->vm_flags),
	};

	if (type == KTAU_TRACE_SKIPPED)
		slot.vm_flags |= why_skipped(vma);
	if (vma->vm_file) {
		const struct inode *inode = file_inode(vma->vm_file);

		slot.pgoff = vma->vm_pgoff;
		slot.inode = inode->i_ino;
		slot.dev = new_encode_dev(inode->i_sb->s_dev);
		slot.generation = inode->i_generation;
	}
	put(space->session, type, &slot, sizeof(slot));
}

/**
 * ktau_slot_skip_all() - write SKIPPED for all pages of a space, which others have page tables for
 *
 * Context: mmap_lock is held.
 */
void ktau_slot_skip_all(struct ktau_space *space)
{
	struct ktau_slot_map slot = {
		.pages = space->mm->task_size >> PAGE_SHIFT,
		.space = space->number,
		.vm_flags = KTAU_SKIPPED_SHARED,
	};

	put(space->session, KTAU_TRACE_SKIPPED, &slot, sizeof(slot));
}

/**
 * ktau_slot_space() - write SPACE
 * @parent: the number of another space, as @reason requires
 * @reason: KTAU_SPACE_*
 *
 * Context: Task.
 */
void ktau_slot_space(struct ktau_space *space, u32 parent, u32 reason)
{
	const struct ktau_thread_ref *ref = &current->ktau.references;
	struct ktau_slot_space slot = {
		.space = space->number,
		.parent = parent,
		.reason = reason,
		.thread = ref->session == space->session->id ? ref->thread : 0,
	};

	ktau_queue_put(&space->session->queue, KTAU_TRACE_SPACE, 0, &slot, sizeof(slot));
}

/**
 * ktau_slot_thread() - write THREAD if the current thread is known: it runs in another space
 *
 * Context: Task.
 */
void ktau_slot_thread(struct ktau_space *space)
{
	const struct ktau_thread_ref *ref = &current->ktau.references;

	if (ref->session == space->session->id)
		announce(space, ref->thread);
}

/**
 * ktau_slot_file() - write FILE
 * @space: the space of the current task
 * @pos: offset of the first byte
 * @bytes: number of bytes
 * @op: KTAU_FILE_*
 *
 * Context: Task.
 */
void ktau_slot_file(struct ktau_space *space, const struct inode *inode, u64 pos, u64 bytes,
		    u32 op)
{
	struct ktau_slot_file slot = {
		.inode = inode->i_ino,
		.pos = pos,
		.bytes = bytes,
		.size = i_size_read(inode),
		.dev = new_encode_dev(inode->i_sb->s_dev),
		.generation = inode->i_generation,
		.thread = thread_of(space),
		.op = op,
	};

	put(space->session, KTAU_TRACE_FILE, &slot, sizeof(slot));
}

/**
 * ktau_slot_truncate() - write TRUNCATE
 * @space: the space of the current task
 * @size: its new size in bytes
 *
 * Context: Task.
 */
void ktau_slot_truncate(struct ktau_space *space, const struct inode *inode, u64 size)
{
	struct ktau_slot_truncate slot = {
		.inode = inode->i_ino,
		.size = size,
		.dev = new_encode_dev(inode->i_sb->s_dev),
		.generation = inode->i_generation,
	};

	put(space->session, KTAU_TRACE_TRUNCATE, &slot, sizeof(slot));
}

/**
 * ktau_slot_phase() - write PHASE
 * @armed: references are recorded from now on
 *
 * Context: Task.
 */
void ktau_slot_phase(struct ktau_session *session, bool armed)
{
	struct ktau_slot_phase slot = {
		.armed = armed,
		.spaces = READ_ONCE(session->nr_spaces),
		.page_bytes = PAGE_SIZE,
		.window = session->request.window,
	};

	ktau_queue_put(&session->queue, KTAU_TRACE_PHASE, 0, &slot, sizeof(slot));
}
