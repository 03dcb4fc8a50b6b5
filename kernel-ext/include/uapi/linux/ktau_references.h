/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KTAU: references to pages: what a session records, and its slots.
 *
 * A session is a descriptor of /proc/ktau/references. KTAU_IOC_REFERENCES starts it; read()
 * waits for slots, and returns 0 when the session has been stopped and all have been read.
 * Closing the descriptor ends the session.
 *
 * A session traces the references of any number of address spaces. It has one ring, whose
 * slots are in TRACE records as in <linux/ktau.h>; the owner of the ring is the session. Slots
 * are in the order in which they were reserved. Within a space that is the order of the
 * references. Between spaces no slot comes before its cause (a fork, an exec, a write to a
 * pipe).
 *
 * Spaces and threads have numbers, which begin at 1 and are not reused within a session. SPACE
 * and THREAD announce them before the first slot that refers to them. Pages are numbers: the
 * address divided by the size of a page, which PHASE states.
 */
#ifndef _UAPI_LINUX_KTAU_REFERENCES_H
#define _UAPI_LINUX_KTAU_REFERENCES_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KTAU_IOC_REFERENCES	_IO(0xbd, 4)

/* @op of struct ktau_references */
#define KTAU_REFERENCES_START	1	/* trace events of address spaces */
#define KTAU_REFERENCES_ARM	2	/* record their references, too */
#define KTAU_REFERENCES_DISARM	3	/* no longer */
#define KTAU_REFERENCES_STOP	4	/* end the session, except for what has not been read */

/* @flags of struct ktau_references */
#define KTAU_REFERENCES_ON_EXEC		(1U << 0)	/* ARM takes effect at an exec */
#define KTAU_REFERENCES_READS_ONLY	(1U << 1)	/* without first stores */
#define KTAU_REFERENCES_EVICTIONS	(1U << 2)	/* with EVICT slots */
#define KTAU_REFERENCES_ALL		(1U << 3)	/* all processes */
#define KTAU_REFERENCES_COUNT		(1U << 4)	/* count references, with COUNTED slots */

/* @policy of struct ktau_references: which page leaves the window */
#define KTAU_REFERENCES_FIFO	0	/* the one that has been in it longest */
#define KTAU_REFERENCES_CLOCK	1	/* of those not accessed since the hand passed them */

/* @when_full of struct ktau_references */
#define KTAU_REFERENCES_WAIT	0	/* a task waits for the reader, for a second */
#define KTAU_REFERENCES_LOSE	1	/* slots are lost */

#define KTAU_REFERENCES_WINDOW_MIN	16
#define KTAU_REFERENCES_WINDOW_MAX	65536
#define KTAU_REFERENCES_FIRST_MIN	8
#define KTAU_REFERENCES_RING_MIN	4096
#define KTAU_REFERENCES_RING_MAX	(1 << 24)
#define KTAU_REFERENCES_PIDS_MAX	4096

/**
 * struct ktau_references - argument of KTAU_IOC_REFERENCES
 * @size: size of this structure
 * @op: KTAU_REFERENCES_START and so on; the other fields are used by START only
 * @flags: KTAU_REFERENCES_ON_EXEC and so on
 * @policy: KTAU_REFERENCES_FIFO or KTAU_REFERENCES_CLOCK
 * @window: size of the window in pages; 0: 512
 * @first: pages of its first part, a FIFO, which a page passes before it is a candidate of
 *	@policy; at most half of @window. 0: 8
 * @ring_slots: size of the ring in units of 32 bytes, rounded up to a power of two; 0: 1 Mi
 * @when_full: KTAU_REFERENCES_WAIT or KTAU_REFERENCES_LOSE
 * @nr_pids: number of processes; 0 with @cgroup or KTAU_REFERENCES_ALL
 * @reserved: 0
 * @pids: address of their process ids, an array of __s32
 * @lo: first address of which references are recorded, a multiple of the page size
 * @hi: the address after the last one, likewise; 0: all
 * @cgroup: id of a control group whose processes are traced, those of its descendants included;
 *	0: none
 *
 * Children and executed programs of the processes are traced, too. A process that moves to
 * @cgroup later is not. A process that begins to run a virtual machine is not traced from then on.
 *
 * @cgroup and KTAU_REFERENCES_ALL require CAP_PERFMON. They leave out the process that starts the
 * session, and processes that another session traces or that run virtual machines; START
 * returns the number of the latter.
 *
 * With KTAU_REFERENCES_COUNT, there are only PHASE, SPACE, THREAD and COUNTED slots. To count
 * again, DISARM and ARM.
 */
struct ktau_references {
	__u32 size;
	__u32 op;
	__u32 flags;
	__u32 policy;
	__u32 window;
	__u32 first;
	__u32 ring_slots;
	__u32 when_full;
	__u32 nr_pids;
	__u32 reserved;
	__aligned_u64 pids;
	__aligned_u64 lo;
	__aligned_u64 hi;
	__aligned_u64 cgroup;
};

#define KTAU_REFERENCES_SIZE_VER0	72

/* Types of slots; the payload of each is described below. */
#define KTAU_TRACE_REFERENCE	32	/* a page has entered the window, or its first store */
#define KTAU_TRACE_COW		33	/* a page became a copy of its own */
#define KTAU_TRACE_UNMAP	34	/* the contents of anonymous pages are gone */
#define KTAU_TRACE_MOVE		35	/* mremap(2), or the stack of an exec */
#define KTAU_TRACE_MAP		36	/* what a range of pages maps from now on */
#define KTAU_TRACE_SPACE	37	/* an address space begins or ends */
#define KTAU_TRACE_THREAD	38	/* a thread runs in a space */
#define KTAU_TRACE_FILE		39	/* read(2) or write(2) of cached pages of a file */
#define KTAU_TRACE_TRUNCATE	40	/* a file has been shortened */
#define KTAU_TRACE_SKIPPED	41	/* a range whose references are not recorded */
#define KTAU_TRACE_PHASE	42	/* recording of references begins or pauses */
#define KTAU_TRACE_EVICT	43	/* a page has left the window */
#define KTAU_TRACE_COUNTED	44	/* how many pages a space has referenced */

/* @flags of REFERENCE, COW and EVICT slots, in @flags of struct ktau_slot */
#define KTAU_REFERENCE_WRITE		(1U << 0)	/* a store */
#define KTAU_REFERENCE_FIRST_STORE	(1U << 1)	/* the page was in the window */
#define KTAU_REFERENCE_KERNEL		(1U << 2)	/* by the kernel for the task */
#define KTAU_REFERENCE_REMOTE		(1U << 3)	/* by a task of another space */
#define KTAU_REFERENCE_FETCH		(1U << 4)	/* an instruction */
#define KTAU_REFERENCE_ZERO		(1U << 5)	/* COW: of the zero page */
#define KTAU_REFERENCE_AGAIN		(1U << 6)	/* EVICT: was accessed again */

/* @vm_flags of struct ktau_slot_map, as in /proc/PID/maps */
#define KTAU_MAP_READ		(1U << 0)
#define KTAU_MAP_WRITE		(1U << 1)
#define KTAU_MAP_EXEC		(1U << 2)
#define KTAU_MAP_SHARED		(1U << 3)

/* Why a range is SKIPPED, in @vm_flags; without any of them it is the kernel's, such as vvar */
#define KTAU_SKIPPED_HUGETLB		(1U << 8)	/* pages of hugetlbfs */
#define KTAU_SKIPPED_USERFAULTFD	(1U << 9)	/* under userfaultfd(2) */
#define KTAU_SKIPPED_DEVICE		(1U << 10)	/* memory of a device */
#define KTAU_SKIPPED_SHADOW_STACK	(1U << 11)	/* return addresses */
#define KTAU_SKIPPED_SHARED		(1U << 12)	/* all: others have page tables for them */

/* @reason of struct ktau_slot_space */
#define KTAU_SPACE_START	0	/* traced from here on */
#define KTAU_SPACE_FORK		1	/* a copy of @parent */
#define KTAU_SPACE_EXEC		2	/* a new program, empty */
#define KTAU_SPACE_END		3	/* not traced any more */

/* @op of struct ktau_slot_file */
#define KTAU_FILE_READ		0
#define KTAU_FILE_WRITE		1

/**
 * struct ktau_slot_reference - payload of REFERENCE, COW and EVICT
 * @page: the page
 * @space: its space
 * @thread: the thread that accessed it, 0 if it is not traced
 */
struct ktau_slot_reference {
	__aligned_u64 page;
	__u32 space;
	__u32 thread;
};

/**
 * struct ktau_slot_unmap - payload of UNMAP
 * @page: the first page
 * @pages: number of pages
 * @space: their space
 * @thread: the thread that did it, 0 if it is not traced
 *
 * Also written for madvise(MADV_DONTNEED), so the mapping itself may remain.
 */
struct ktau_slot_unmap {
	__aligned_u64 page;
	__aligned_u64 pages;
	__u32 space;
	__u32 thread;
};

/**
 * struct ktau_slot_move - payload of MOVE
 * @page: the first page
 * @to: its new place
 * @pages: number of pages
 * @space: their space
 * @thread: the thread that moved them, 0 if it is not traced
 */
struct ktau_slot_move {
	__aligned_u64 page;
	__aligned_u64 to;
	__aligned_u64 pages;
	__u32 space;
	__u32 thread;
};

/**
 * struct ktau_slot_map - payload of MAP and SKIPPED
 * @page: the first page
 * @pages: number of pages
 * @pgoff: offset in the file, in pages
 * @inode: inode number of the file
 * @dev: device of its file system (s_dev), 0 for anonymous memory
 * @generation: generation of the inode
 * @space: the space
 * @vm_flags: KTAU_MAP_*; SKIPPED: and KTAU_SKIPPED_*
 *
 * A MAP replaces earlier ones of the same pages. What was SKIPPED may be recorded later: then a MAP
 * says so.
 */
struct ktau_slot_map {
	__aligned_u64 page;
	__aligned_u64 pages;
	__aligned_u64 pgoff;
	__aligned_u64 inode;
	__u32 dev;
	__u32 generation;
	__u32 space;
	__u32 vm_flags;
};

/**
 * struct ktau_slot_space - payload of SPACE
 * @space: the space
 * @parent: FORK: the space that was copied; EXEC: the previous space of the thread; else 0
 * @reason: KTAU_SPACE_*
 * @thread: the thread that caused it, 0 if it is not traced
 */
struct ktau_slot_space {
	__u32 space;
	__u32 parent;
	__u32 reason;
	__u32 thread;
};

/**
 * struct ktau_slot_thread - payload of THREAD
 * @thread: the thread
 * @space: the space in which it runs from now on
 * @serial: its serial
 * @tid: its thread id in the pid namespace of the session's opener, 0 if it has none there
 * @tgid: its process id, likewise
 */
struct ktau_slot_thread {
	__u32 thread;
	__u32 space;
	__aligned_u64 serial;
	__s32 tid;
	__s32 tgid;
};

/**
 * struct ktau_slot_file - payload of FILE
 * @inode: inode number of the file
 * @pos: offset of the first byte
 * @bytes: number of bytes that were copied
 * @size: size of the file afterwards
 * @dev: device of its file system
 * @generation: generation of the inode
 * @thread: the thread, 0 if it is not traced
 * @op: KTAU_FILE_*
 */
struct ktau_slot_file {
	__aligned_u64 inode;
	__aligned_u64 pos;
	__aligned_u64 bytes;
	__aligned_u64 size;
	__u32 dev;
	__u32 generation;
	__u32 thread;
	__u32 op;
};

/**
 * struct ktau_slot_truncate - payload of TRUNCATE
 * @inode: inode number of the file
 * @size: its new size in bytes
 * @dev: device of its file system
 * @generation: generation of the inode
 */
struct ktau_slot_truncate {
	__aligned_u64 inode;
	__aligned_u64 size;
	__u32 dev;
	__u32 generation;
};

/**
 * struct ktau_slot_counted - payload of COUNTED
 * @pages: references since ARM; if the window has not been full, the number of pages
 * @stores: how many of them were stores, first stores in the window included
 * @space: the space
 * @thread: the thread that caused this slot, 0 if it is not traced
 *
 * Written at DISARM, at the end of the space and at STOP.
 */
struct ktau_slot_counted {
	__aligned_u64 pages;
	__aligned_u64 stores;
	__u32 space;
	__u32 thread;
};

/**
 * struct ktau_slot_phase - payload of PHASE
 * @armed: 1 if references are recorded from now on, 0 if only the other slots are
 * @spaces: number of spaces in the session
 * @page_bytes: size of a page in bytes, a power of two
 * @window: size of the window in pages
 */
struct ktau_slot_phase {
	__u32 armed;
	__u32 spaces;
	__u32 page_bytes;
	__u32 window;
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct ktau_references) == 72, "ktau_references");
_Static_assert(sizeof(struct ktau_slot_reference) == 16, "ktau_slot_reference");
_Static_assert(sizeof(struct ktau_slot_unmap) == 24, "ktau_slot_unmap");
_Static_assert(sizeof(struct ktau_slot_move) == 32, "ktau_slot_move");
_Static_assert(sizeof(struct ktau_slot_map) == 48, "ktau_slot_map");
_Static_assert(sizeof(struct ktau_slot_space) == 16, "ktau_slot_space");
_Static_assert(sizeof(struct ktau_slot_thread) == 24, "ktau_slot_thread");
_Static_assert(sizeof(struct ktau_slot_file) == 48, "ktau_slot_file");
_Static_assert(sizeof(struct ktau_slot_truncate) == 24, "ktau_slot_truncate");
_Static_assert(sizeof(struct ktau_slot_counted) == 24, "ktau_slot_counted");
_Static_assert(sizeof(struct ktau_slot_phase) == 16, "ktau_slot_phase");
#endif

#endif /* _UAPI_LINUX_KTAU_REFERENCES_H */
