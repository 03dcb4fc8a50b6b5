/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the structures that most files work on. Which file may write a field, and under
 * which lock, is said with the field. A structure that only one module and its users need
 * is in that module's header.
 */
#ifndef _KERNEL_KTAU_TYPES_H
#define _KERNEL_KTAU_TYPES_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/ktau.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * A table is made of chunks that come when an id in them is first hit. Those of ids
 * below KTAU_ID_INDIRECT are found directly, the others through directories, which
 * are chunks too.
 */
#define KTAU_CHUNK_SHIFT	3
#define KTAU_CHUNK_CELLS	BIT(KTAU_CHUNK_SHIFT)
#define KTAU_NR_CHUNKS		(KTAU_NR_IDS >> KTAU_CHUNK_SHIFT)
#define KTAU_ID_INDIRECT	KTAU_ID_FOREIGN
#define KTAU_NR_DIRECT		(KTAU_ID_INDIRECT >> KTAU_CHUNK_SHIFT)
#define KTAU_DIR_SHIFT		5
#define KTAU_DIR_CHUNKS		BIT(KTAU_DIR_SHIFT)
#define KTAU_NR_DIRS		((KTAU_NR_CHUNKS - KTAU_NR_DIRECT) >> KTAU_DIR_SHIFT)

/* Flags of struct ktau_ref. */
#define KTAU_REF_YIELD		BIT(0)	/* the next switch is by sched_yield() */
#define KTAU_REF_NEW		BIT(1)	/* has not yet run */
#define KTAU_REF_RENEWED	BIT(2)	/* the exec going on has ended its profile */
#define KTAU_REF_SENT		BIT(3)	/* has counted what it sent through a socket */
#define KTAU_REF_OFF		BIT(4)	/* has left the CPU */

/* Bits of @changed in struct ktau_task. */
#define KTAU_CHANGED_COMM	0
#define KTAU_CHANGED_CGROUP	1

/* In a task's mask: it has been harvested, and nothing is measured any more. */
#define KTAU_MASK_GONE		BIT(29)

/**
 * struct ktau_cell - one event in a table
 * @count: activations ended, or values
 * @v: timer: inclusive, exclusive ticks, duration of the longest activation;
 *	counter: sum, minimum, maximum
 */
struct ktau_cell {
	u64 count;
	u64 v[3];
};

#define KTAU_EXTRA_EVENTS	9

/**
 * struct ktau_extra - times inside some of the events of a task
 * @next: further ones; all of those are full
 * @nr: number of events here
 * @id: their ids
 * @times: of each the times inside its outermost activations
 */
struct ktau_extra {
	struct ktau_extra	*next;
	u32			nr;
	u16			id[KTAU_EXTRA_EVENTS];
	struct ktau_times	times[KTAU_EXTRA_EVENTS];
};

/*
 * A block of cells, or a directory, or times; 32-bit kernels leave half of a directory
 * unused.
 */
struct ktau_chunk {
	union {
		struct ktau_cell	cell[KTAU_CHUNK_CELLS];
		struct ktau_chunk	*chunk[KTAU_DIR_CHUNKS];
		struct ktau_extra	extra;
	};
};

static_assert(sizeof(struct ktau_extra) <=
	      KTAU_CHUNK_CELLS * sizeof(struct ktau_cell));

static_assert(KTAU_DIR_CHUNKS * sizeof(void *) <=
	      KTAU_CHUNK_CELLS * sizeof(struct ktau_cell));
static_assert(KTAU_NR_DIRECT + KTAU_NR_DIRS * KTAU_DIR_CHUNKS == KTAU_NR_CHUNKS);

/**
 * struct ktau_look - when readers saw a task, see look.c
 * @switches: how often it had left the CPU by then
 * @last: highest number of a stream that looked
 * @changed: of streams below it, none has seen the last change
 */
struct ktau_look {
	u64 switches;
	u64 last;
	u64 changed;
};

/*
 * Whose a table or a ring is: what struct ktau_rec_owner says of it, with times
 * without offsets and the ids of the initial namespaces. @dead_seq is @exited_seq.
 * @has_own_parent: the parent belongs to the same user, so readers of the task may see it.
 */
struct ktau_owner {
	u64	serial;
	u64	parent_serial;
	u64	leader_serial;
	u32	kind;
	u32	flags;
	pid_t	tid;
	pid_t	tgid;
	pid_t	ppid;
	u32	cpu;
	u32	uid;
	u32	gid;
	int	prio;
	u32	policy;
	int	exit_code;
	u32	tag;
	u64	start_ns;
	u64	exec_ns;
	u64	exit_ns;
	u64	dead_seq;
	u64	nr_tasks;
	u64	utime_ns;
	u64	stime_ns;
	u64	nvcsw;
	u64	nivcsw;
	u64	migrations;
	u64	cgroup;
	u32	pid_ns;
	u32	net_ns;
	bool	has_own_parent;
	char	comm[TASK_COMM_LEN];
};

/* A user namespace that an exited task was in, see origin.c. */
struct ktau_user_level {
	unsigned int	inum;
	kuid_t		owner;
};

/*
 * What of a task's credentials says who may see it; as they name it. If it has exited
 * and was not in the initial user namespace, @level says where it was, not @user_ns.
 */
struct ktau_rights {
	kuid_t			uid, euid, suid;
	kgid_t			gid, egid, sgid;
	kernel_cap_t		permitted;
	struct user_namespace	*user_ns;
	u32			secid;
	struct ktau_user_level	*level;
	unsigned int		nr_levels;
};

/* A pid namespace, see origin.c. */
struct ktau_ns_id {
	u64		start_ns;
	unsigned int	inum;
};

/* The ids of an exited task in one. */
struct ktau_ids {
	struct ktau_ns_id	ns;
	pid_t			tid, tgid, ppid;
};

/* Reasons for refusing or losing something; their names are in proc.c. */
enum ktau_loss {
	KTAU_LOSS_MEMORY_LIMIT,	/* allocation over the limit */
	KTAU_LOSS_USER_LIMIT,	/* allocation over the user's share of it */
	KTAU_LOSS_NO_MEMORY,	/* allocation that failed */
	KTAU_LOSS_NO_CHUNK,	/* activation that got no chunk */
	KTAU_LOSS_NO_ID,	/* activation that got no id */
	KTAU_LOSS_NO_STATE,	/* task that could not be given a profile */
	KTAU_LOSS_DESCRIPTORS,	/* stream over the user's number of them */
	KTAU_LOSS_NO_RING,	/* slot without a ring, or room in it, to go to */
	KTAU_LOSS_RESIZED,	/* unread slot of a ring that was resized */
	KTAU_LOSS_UNREAD,	/* unread slot of a task that was folded or evicted */
	KTAU_LOSS_EVICTED,	/* exited task that is kept only in the sum */
	KTAU_LOSS_CLAMPED,	/* negative duration set to 0 */
	KTAU_LOSS_INTERNAL,	/* contradiction: KTAU switches itself off */
	KTAU_NR_LOSSES
};

/**
 * struct ktau_user - the account of a user, see user.c
 * @node: in the hash
 * @uid: whose it is
 * @ref: states, rings and streams that it is charged for
 * @bytes: memory charged to it
 * @nr_states: states charged to it
 * @nr_streams: streams that it has open
 * @losses: what it was refused or lost, by reason
 * @exited: its exited tasks, the oldest first; under the lock of exited.c, as is
 *	what follows
 * @foldable: those of them that can be folded into another one
 * @exited_node: in the list of the users that have some
 * @exited_bytes: memory of those
 * @watches: of streams of this user, see struct ktau_watch
 */
struct ktau_user {
	struct hlist_node	node;
	kuid_t			uid;
	refcount_t		ref;
	atomic_long_t		bytes;
	atomic_t		nr_states;
	atomic_t		nr_streams;
	atomic_long_t		losses[KTAU_NR_LOSSES];
	struct list_head	exited;
	struct list_head	foldable;
	struct list_head	exited_node;
	u64			exited_bytes;
	struct list_head	watches;
};

/**
 * struct ktau_off - a task that is off the CPU
 * @next: the one that got the CPU, as SWITCH has it
 * @shown: what the task waits in, likewise
 * @sleeps: it waits for something, rather than only for a CPU
 */
struct ktau_off {
	u64	next;
	u16	shown;
	bool	sleeps;
};

/**
 * struct ktau_waker - what woke a task
 * @serial: of the task that did, or that was interrupted
 * @cpu: whose run queue the woken task entered
 * @context: KTAU_CTX_*
 */
struct ktau_waker {
	u64	serial;
	u16	cpu;
	u8	context;
};

/**
 * struct ktau_task - profile and trace of one owner: a task or a CPU
 * @begin: updates begun; only the CPU that runs the owner
 * @end: updates ended, likewise. A copy made while both were equal and stayed
 *	so is whole; interrupts may nest one update in another.
 * @outer_ticks: durations of the outermost frames that have ended
 * @user_ticks: time in user mode; while the task is there, minus the time at which
 *	it went there: negative, because a task is never longer in user mode than
 *	the clock has run
 * @root: the root frame, see root.c
 * @guest: the frame of a task in guest mode
 * @guest_ticks: time in guest mode
 * @kernel_ticks: of a CPU: time in tasks
 * @is_cpu: it is a CPU's
 * @refused: activations that found no chunk
 * @refused_ticks: their exclusive time
 * @clamped: negative durations
 * @lost: slots that found no ring, or no room while an interrupt wrote much
 *	more than the ring holds inside another write
 * @chunk: the table, up to KTAU_ID_INDIRECT
 * @dir: its directories, above that
 * @used: chunks in use, by number: id >> KTAU_CHUNK_SHIFT. They and these two are
 *	written by the CPU that runs the owner, interrupts off; read at any time
 * @ring: the trace, or NULL: never while a mask has the trace, or a frame;
 *	replaced under @read_lock, by the task itself or under ktau_mutex; in the
 *	latter case freed after a grace period
 * @changed: KTAU_CHANGED_* of what others have changed about the task, and its trace
 *	does not yet say
 * @asleep_ticks: time asleep, of waits that have ended; this and the next two only by
 *	the CPU that runs the owner
 * @runq_ticks: time runnable without a CPU, likewise
 * @irq_ticks: time in interrupts that have ended
 * @extra: those inside events
 * @extra_by_id: or all of them by their ids, for the sum of the evicted tasks
 * @times_refused: some did not find room in @extra
 * @sched: the frame of a task that is off the CPU
 * @off: what more there is to say of that; written under the lock of the run queue
 * @waker: what woke the task; written under its pi_lock
 * @switched_ticks: when the task got the CPU last, for the end of the switch to it
 * @selected: the selection, see struct ktau_filter, that the task is part of by its
 *	tid; under ktau_mutex, or by the parent before the task first runs
 * @task_groups: groups of this task alone in place of the system-wide ones, 0 if
 *	it has none; under ktau_mutex
 * @profiled: groups whose activations go to the table now; under @mask_lock
 * @mask_lock: serialises updates of the task's mask and of what depends on it
 * @start_ticks: when the profile began; under @mask_lock, or by the parent before
 *	the task first runs
 * @end_ticks: when it ended, 0 before; only the task itself
 * @account_until: when the account was last disabled; under @mask_lock
 * @group_since: for each group in @profiled since when it has been there without a
 *	break; under @mask_lock
 * @read_lock: serialises readers of the ring, and lookers
 * @look: when readers saw its profile; under @read_lock
 * @ref: readers and the task or queue that it belongs to
 * @bytes: memory accounted for it
 * @user: the account that all of it is charged to
 * @exited_bytes: what of @bytes the exited queue counts: a ring may still come or go,
 *	where somebody took the state while the task lived
 * @serial: see struct ktau_owner
 * @owner: describes a task that has exited; written then, and under the lock of
 *	exited.c when others are folded into it
 * @exited_node: in the order of the exited tasks; under the lock of exited.c, as is
 *	what follows up to @process_node
 * @of_user: in @exited of @user
 * @foldable: in @foldable of @user, if there is @next_thread
 * @next_thread: the next one of its process to exit
 * @process_node: in the hash of the newest ones, if there is none
 * @exited_rcu: once this grace period is over, no reader finds the task alive
 * @ids: its ids in pid namespaces below the initial one, at exit; or NULL
 * @nr_ids: in how many
 * @rights: who may see it, at exit
 * @dumpable: whether it let itself be dumped, at exit
 * @exec_ns: CLOCK_BOOTTIME of its last exec, 0 if there was none
 * @path: path of its program, at exit; NULL if unknown
 * @path_bytes: bytes of it, its zero included
 * @taken: a reader has had all slots that were left at exit
 * @growing: @grow is queued; only the task itself
 * @grow: gives it a larger ring
 * @rcu: frees it
 */
struct ktau_task {
	u64			begin;
	u64			end;
	u64			outer_ticks;
	u64			user_ticks;
	struct ktau_frame	root;
	struct ktau_frame	guest;
	u64			guest_ticks;
	u64			kernel_ticks;
	u64			refused;
	u64			refused_ticks;
	u64			clamped;
	u64			lost;
	struct ktau_chunk	*chunk[KTAU_NR_DIRECT];
	struct ktau_chunk	*dir[KTAU_NR_DIRS];
	DECLARE_BITMAP(used, KTAU_NR_CHUNKS);
	struct ktau_ring	*ring;
	unsigned long		changed;
	u64			asleep_ticks;
	u64			runq_ticks;
	u64			irq_ticks;
	struct ktau_extra	*extra;
	struct ktau_times	*extra_by_id;
	bool			times_refused;
	struct ktau_frame	sched;
	struct ktau_off		off;
	struct ktau_waker	waker;
	u64			switched_ticks;
	u32			selected;
	u32			task_groups;
	u32			profiled;
	spinlock_t		mask_lock;	/* the task's mask, @profiled */
	u64			start_ticks;
	u64			end_ticks;
	u64			account_until;
	u64			group_since[KTAU_NR_GROUPS];
	u64			exec_ns;
	char			*path;
	u32			path_bytes;
	bool			is_cpu;
	bool			dumpable;
	bool			taken;
	bool			growing;
	struct mutex		read_lock;	/* readers of the ring, @look */
	struct ktau_look	look;
	refcount_t		ref;
	atomic_long_t		bytes;
	struct ktau_user	*user;
	u64			exited_bytes;
	u64			serial;
	struct ktau_owner	owner;
	struct rb_node		exited_node;
	struct list_head	of_user;
	struct list_head	foldable;
	struct ktau_task	*next_thread;
	struct hlist_node	process_node;
	unsigned long		exited_rcu;
	struct ktau_ids		*ids;
	unsigned int		nr_ids;
	struct ktau_rights	rights;
	union {
		struct callback_head	grow;
		struct rcu_head		rcu;
	};
};

/* What a CPU has of its own. */
struct ktau_cpu {
	struct ktau_task	*state;	/* interrupts and softirqs by line */
	struct ktau_frame	*top;	/* frames on tasks that are not selected */
	struct ktau_frame	*irq;	/* the outermost one of an interrupt */
	u64			nmi_ticks;	/* when the outermost NMI came */
	unsigned int		nmi_depth;	/* those that have come and not ended */
};

#endif /* _KERNEL_KTAU_TYPES_H */
