/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU's part of mm_struct, and what a task has for references to pages.
 */
#ifndef _LINUX_KTAU_SPACE_H
#define _LINUX_KTAU_SPACE_H

#include <linux/types.h>

#ifdef CONFIG_KTAU_REFERENCES

struct ktau_space;

/**
 * struct ktau_space_ref - an address space's reference to the trace of its pages
 * @space: NULL unless it is traced. Changed with mmap_lock held for writing, or when no task
 *	uses the address space; read with mmap_lock held, or under RCU
 */
struct ktau_space_ref {
	struct ktau_space __rcu	*space;
};

/**
 * struct ktau_thread_ref - a thread's place in the session that traces its references to pages
 * @session: the id of that session; 0: none
 * @thread: the thread's number there
 *
 * Both are used only by the task itself.
 */
struct ktau_thread_ref {
	u64			session;
	u32			thread;
};

#else

struct ktau_space_ref { };
struct ktau_thread_ref { };

#endif /* CONFIG_KTAU_REFERENCES */

#endif /* _LINUX_KTAU_SPACE_H */
