/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: a session: what a descriptor of /proc/ktau/references traces.
 */
#ifndef _KERNEL_KTAU_SESSION_H
#define _KERNEL_KTAU_SESSION_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/ktau_references.h>

#include "queue.h"
#include "window.h"

struct ktau_user;
struct mm_struct;
struct pid_namespace;

/**
 * struct ktau_session - a session
 * @ref: its descriptor, and its spaces
 * @id: never reused in this boot
 * @serial: serial of its traces
 * @user: charged for its memory
 * @ns: pid namespace of its opener
 * @privileged: the opener may trace everything
 * @request: what was requested, with defaults filled in
 * @first_page: first page whose references are recorded
 * @end_page: the page after the last one
 * @last_space: number of its last space
 * @last_thread: number of its last thread
 * @queue: its slots
 * @lock: the following fields
 * @spaces: those traced now
 * @nr_spaces: their number
 * @armed: references are recorded
 * @ended: nothing more can be traced
 */
struct ktau_session {
	refcount_t		ref;
	u64			id;
	u64			serial;
	struct ktau_user	*user;
	struct pid_namespace	*ns;
	bool			privileged;
	struct ktau_references	request;
	unsigned long		first_page;
	unsigned long		end_page;
	atomic_t		last_space;
	atomic_t		last_thread;
	struct ktau_queue	queue;
	spinlock_t		lock;	/* all further fields */
	struct list_head	spaces;
	unsigned int		nr_spaces;
	bool			armed;
	bool			ended;
};

/**
 * struct ktau_space - an address space that is traced
 * @free_work: frees it after a grace period
 * @session: its session
 * @mm: the address space, which is alive as long as this is in @node
 * @number: its number in the session
 * @waiting: references are recorded only after an exec, in the new space
 * @armed: references are recorded; written with mmap_lock held for writing
 * @node: in spaces of @session, under its lock
 * @lock: the following fields; taken inside of the locks of page tables
 * @nr_pages: references counted since it was armed
 * @nr_stores: those that were stores
 * @window: the pages that it can access; its memory follows
 */
struct ktau_space {
	struct rcu_work		free_work;
	struct ktau_session	*session;
	struct mm_struct	*mm;
	u32			number;
	bool			waiting;
	bool			armed;
	struct list_head	node;
	spinlock_t		lock;	/* all further fields */
	u64			nr_pages;
	u64			nr_stores;
	struct ktau_window	window;
};

/* Whether references are counted instead of being written. */
static inline bool ktau_session_counts(const struct ktau_session *session)
{
	return session->request.flags & KTAU_REFERENCES_COUNT;
}

struct ktau_session *ktau_session_create(const struct ktau_references *request,
					 struct pid_namespace *ns, bool privileged);
void ktau_session_put(struct ktau_session *session);

#endif /* _KERNEL_KTAU_SESSION_H */
