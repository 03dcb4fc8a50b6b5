/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the structures that most files use. The comment of a field states which lock or
 * rule guards it. A structure that belongs to one file is in the header of that file.
 */
#ifndef _KERNEL_KTAU_TYPES_H
#define _KERNEL_KTAU_TYPES_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/ktau.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * A table consists of chunks, each allocated when one of its ids is first hit. Ids below
 * KTAU_ID_INDIRECT index an array of chunks; ids above go through a directory, which is a
 * chunk too. Until then ktau_no_chunk and ktau_no_dir are in their places; see table.c.
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
#define KTAU_REF_YIELD		BIT(0)	/* sched_yield() causes the next switch */
#define KTAU_REF_NEW		BIT(1)	/* has not run yet */
#define KTAU_REF_RENEWED	BIT(2)	/* the current exec has ended its profile */
#define KTAU_REF_SENT		BIT(3)	/* sendmsg() has counted its bytes already */
#define KTAU_REF_OFF		BIT(4)	/* is off the CPU */
#define KTAU_REF_INSIDE		BIT(5)	/* KTAU calls another part of the kernel */
#define KTAU_REF_DYING		BIT(6)	/* is being switched out for the last time */

/* Bits of @changed in struct ktau_state. */
#define KTAU_CHANGED_COMM	0
#define KTAU_CHANGED_CGROUP	1

/* Flags in @info of a frame. */
#define KTAU_FRAME_REGION	0x100000U	/* it is also accounted to a region */
#define KTAU_FRAME_KEEPS_NAME	0x200000U	/* a root frame that no event names any more */

/* The innermost frame of a task that leaves user mode, until its root frame is complete. */
#define KTAU_FRAME_OPENING	((struct ktau_frame *)1UL)

/* The groups and modes in a mask. */
#define KTAU_MASK_PUBLIC	(~(KTAU_MASK_GONE | KTAU_MASK_HANDLED))

/**
 * struct ktau_cell - one event in a table
 * @count: activations that have ended, or values
 * @v: timer: inclusive, exclusive ticks, duration of the longest activation; counter:
 *	sum, minimum, maximum
 */
struct ktau_cell {
	u64 count;
	u64 v[3];
};

#define KTAU_EXTRA_EVENTS	9

/**
 * struct ktau_extra - times asleep, runnable and in interrupts for some events of a task
 * @next: the rest of the list; all of those are full
 * @nr: number of events here
 * @id: ids of the events
 * @times: for each event, the times inside its outermost activations
 */
struct ktau_extra {
	struct ktau_extra	*next;
	u32			nr;
	u16			id[KTAU_EXTRA_EVENTS];
	struct ktau_times	times[KTAU_EXTRA_EVENTS];
};

/*
 * A block of cells, a directory, or a block of times. 32-bit kernels leave half of a
 * directory unused.
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
 * struct ktau_look - when readers last looked at a task; see ktau_look()
 * @switches: how often the task had been switched out by then
 * @last: highest number of a stream that has looked
 * @changed: streams with a lower number have not seen the last change
 */
struct ktau_look {
	u64 switches;
	u64 last;
	u64 changed;
};

/*
 * The owner of a table or ring: the contents of struct ktau_rec_owner, with times and ids
 * as the initial namespaces have them.
 * @has_own_parent: the parent belongs to the same user, so readers of the task may see
 *	it.
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
	u64	exited_seq;
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

/* A user namespace of an exited task; see origin.c. */
struct ktau_user_level {
	unsigned int	inum;
	kuid_t		owner;
};

/*
 * The credentials of a task that access to it depends on, under the names used in
 * struct cred. For an exited task outside the initial user namespace, @level identifies
 * its namespaces and @user_ns is NULL.
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

/* Identifies a pid namespace; see origin.c. */
struct ktau_ns_id {
	u64		start_ns;
	unsigned int	inum;
};

/* The ids of an exited task in one pid namespace. */
struct ktau_ids {
	struct ktau_ns_id	ns;
	pid_t			tid, tgid, ppid;
};

/* Why something was refused or lost. proc.c has their names. */
enum ktau_loss {
	KTAU_LOSS_MEMORY_LIMIT,	/* allocation beyond the memory limit */
	KTAU_LOSS_USER_LIMIT,	/* allocation beyond the user's share of it */
	KTAU_LOSS_NO_MEMORY,	/* allocation that failed */
	KTAU_LOSS_NO_CHUNK,	/* no chunk for the table of a task */
	KTAU_LOSS_NO_ID,	/* activation of an event without an id */
	KTAU_LOSS_NO_STATE,	/* task without a profile for lack of memory */
	KTAU_LOSS_DESCRIPTORS,	/* stream beyond the number that a user may open */
	KTAU_LOSS_NO_RING,	/* slot of a traced task without a ring: cannot happen */
	KTAU_LOSS_NO_ROOM,	/* slot without room in the ring */
	KTAU_LOSS_RESIZED,	/* unread slot of a ring that was resized */
	KTAU_LOSS_UNREAD,	/* unread slot of a task that was folded or evicted */
	KTAU_LOSS_EVICTED,	/* exited task that was added to the evicted sum */
	KTAU_LOSS_REGION,	/* change to a region that the task does not have */
	KTAU_LOSS_FUNCTION,	/* activation of a hooked function where no frame may be */
	KTAU_LOSS_CLAMPED,	/* duration shorter than the frames inside it */
	KTAU_LOSS_INTERNAL,	/* internal error: KTAU disables itself */
	KTAU_NR_LOSSES
};

/**
 * struct ktau_user - the account of a user; see user.c
 * @node: in the hash table of user.c
 * @uid: the user
 * @ref: counts the states, rings and streams charged to the account
 * @bytes: memory charged
 * @nr_states: states charged
 * @nr_streams: open streams
 * @losses: what the user was refused or has lost, by reason
 * @exited: exited tasks of the user, the oldest first; this and all further fields are
 *	guarded by the lock of exited.c
 * @foldable: those that can be folded into another one
 * @exited_node: in the list of users with exited tasks
 * @exited_bytes: memory of the exited tasks
 * @watches: watches of the user's streams; see struct ktau_watch
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
 * @next: the task that got the CPU, in the form of a SWITCH slot, if the frame is traced
 * @shown: the state in which the task waits, in the form of a SWITCH slot, if the frame is traced
 * @sleeps: the task sleeps; otherwise it only waits for a CPU
 */
struct ktau_off {
	u64	next;
	u16	shown;
	bool	sleeps;
};

/**
 * struct ktau_waker - the waker of a task
 * @serial: of the waking task, or of the task that the waking interrupt hit
 * @cpu: CPU whose run queue the woken task entered
 * @count: its preempt_count(), which contains the context
 */
struct ktau_waker {
	u64	serial;
	u16	cpu;
	u32	count;
};

/**
 * struct ktau_state - what is measured about one owner: a task, a CPU or the evicted sum
 * @root: the root frame; see root.c
 * @begin: updates begun, except for those of interrupts and switches; written only by the
 *	CPU that runs the owner, or under the lock of exited.c once the task has exited
 * @end: updates ended; written like @begin. Interrupts may nest one update inside another;
 *	see snapshot.c
 * @outer_ticks: sum of the durations of outermost frames that have ended
 * @user_ticks: time in user mode. While the task is in user mode the time of its entry
 *	has been subtracted, so the value is negative: no task has been in user mode
 *	for longer than the clock has run
 * @root_since: start of the root frame if it was opened at the beginning of the account, for
 *	frames that were open already; else 0
 * @root_outer: @outer_ticks at that moment
 * @guest: the frame of a task in guest mode
 * @guest_ticks: time in guest mode
 * @tsc_offset: offset in the last KVM_CLOCK slot; written by the task
 * @tsc_ratio: ratio in it; 0 if the next KVM_ENTER slot needs another one before it. Readers
 *	and ktau_ring_ask() set it to 0
 * @kernel_ticks: of a CPU: time running tasks
 * @irq_until: of a CPU: @irq_ticks when interrupts were last disabled as groups
 * @irq_skipped: of a CPU: how much @irq_ticks has grown while they were
 * @is_cpu: the owner is a CPU
 * @refused: activations that got no chunk
 * @refused_ticks: their exclusive time
 * @clamped: durations shorter than the frames inside, set to the sum of those
 * @no_room: slots that were lost because an interrupt that hit an unfinished write wrote more
 *	than the ring holds
 * @cells: the table of a CPU, indexed by id; NULL if there are chunks instead
 * @ring: the trace; NULL only while neither the task's mask nor an open frame has
 *	tracing enabled. Replaced under @ring_lock, by the task itself or under
 *	ktau_mutex; readers take a reference
 * @changed: KTAU_CHANGED_* bits of changes by other tasks that are not in the trace yet
 * @asleep_ticks: time asleep, in waits that have ended; this and the next two are
 *	written only by the CPU that runs the owner
 * @runq_ticks: time runnable without a CPU, in waits that have ended
 * @irq_ticks: time in interrupts that have ended
 * @extra: the three times inside events
 * @extra_by_id: the same, indexed by id, for the evicted sum
 * @times_refused: no memory for some of them
 * @sched: the frame of a task that is off the CPU
 * @off: details of the switch; written under the lock of the run queue
 * @waker: waker of the task; written under the task's pi_lock
 * @switched_ticks: when the task last got the CPU, for the end of the switch
 * @area: the area with the tables of the task's regions, or NULL; this and the next three
 *	are written by the task, with interrupts disabled
 * @region_word: where the task stores the number of its region; NULL unless it has regions
 * @region_table: the table of the region at the last entry from user mode; set whenever a
 *	frame has KTAU_FRAME_REGION
 * @region: the number that @region_word had at that time
 * @selected: the selection (see struct ktau_filter) that includes the task by its tid;
 *	written under ktau_mutex, or by the parent before the task first runs
 * @profiled: groups whose activations are being added to the table; under @mask_lock
 * @mask_lock: serialises updates of the task's mask and of the fields that depend on it, and
 *	users of @look
 * @start_ticks: when the profile began; under @mask_lock, or by the parent before the
 *	task first runs
 * @end_ticks: when the profile ended, 0 before that; written only by the task
 * @group_since: for each group in @profiled, since when it has been there without
 *	interruption; 0 if since the profile began; under @mask_lock
 * @ring_lock: guards replacing @ring, and how far it has been consumed. Not held while the
 *	ring is read, because others would wait for a reader that has lost its CPU
 * @look: when readers last looked at the profile; under @mask_lock
 * @ref: counts readers, and the task or queue that the state belongs to
 * @bytes: memory of the state and of everything that belongs to it
 * @user: account to which that memory is charged
 * @exited_bytes: @bytes as counted by the exited queue. @bytes may still change there,
 *	because a caller that took the state while the task lived may add or replace a
 *	ring
 * @serial: identifies the owner; see struct ktau_owner
 * @owner: describes an exited task; written at exit, and under the lock of exited.c when
 *	other tasks are folded into it
 * @exited_node: in the tree of exited tasks; this and the next fields up to
 *	@process_node are guarded by the lock of exited.c
 * @of_user: in @exited of @user
 * @foldable: in @foldable of @user, if @next_thread is set
 * @next_thread: the next thread of the process to exit
 * @process_node: in the hash of newest records, if @next_thread is NULL
 * @exited_rcu: after this grace period no reader can find the task alive any more
 * @exited_jiffies: when it was put into the queue
 * @ids: the ids at exit in pid namespaces below the initial one, or NULL
 * @nr_ids: number of @ids
 * @rights: credentials at exit, which decide which readers may see the exited task
 * @dumpable: whether the task was dumpable when it exited
 * @exec_ns: CLOCK_BOOTTIME of the last exec, 0 if there was none
 * @path: path of the program at exit, NULL if unknown
 * @path_bytes: size of @path, including the final NUL
 * @taken: a reader has consumed all slots that were left at exit
 * @growing: growth is requested, and @grow has not run yet
 * @grow: task work that replaces the ring by a larger one
 * @rcu: frees the state
 * @base: the chunks of the table, for ids below KTAU_ID_INDIRECT; see ktau_base_of()
 * @dir: directories, for the ids above
 * @used: bitmap of the chunks in use, by number: id >> KTAU_CHUNK_SHIFT. @base, @dir
 *	and @used are written by the CPU that runs the owner, with interrupts disabled,
 *	or under the lock of exited.c once the task has exited. They may be read at any
 *	time
 */
struct ktau_state {
	struct ktau_frame	root;	/* first: its address is that of the state */
	u64			begin;
	u64			end;
	u64			outer_ticks;
	u64			user_ticks;
	u64			root_since;
	u64			root_outer;
	struct ktau_frame	guest;
	u64			guest_ticks;
	u64			tsc_offset;
	u64			tsc_ratio;
	u64			kernel_ticks;
	u64			irq_until;
	u64			irq_skipped;
	u64			refused;
	u64			refused_ticks;
	u64			clamped;
	u64			no_room;
	struct ktau_cell	*cells;
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
	u32			profiled;
	spinlock_t		mask_lock;	/* the task's mask, @profiled, @look */
	u64			start_ticks;
	u64			end_ticks;
	u64			group_since[KTAU_NR_GROUPS];
	u64			exec_ns;
	char			*path;
	u32			path_bytes;
	bool			is_cpu;
	bool			dumpable;
	bool			taken;
	bool			growing;
	raw_spinlock_t		ring_lock;	/* replacing @ring, and its tail */
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
	struct ktau_state	*next_thread;
	struct hlist_node	process_node;
	unsigned long		exited_rcu;
	unsigned long		exited_jiffies;
	struct ktau_ids		*ids;
	unsigned int		nr_ids;
	struct ktau_rights	rights;
	union {
		struct callback_head	grow;
		struct rcu_head		rcu;
	};
	struct ktau_area	*area;
	const u32		*region_word;
	struct ktau_region_table *region_table;
	u32			region;
	/* Empty in each state that is free, so creating a state need not clear them. */
	struct ktau_cell	*base[KTAU_NR_DIRECT];
	struct ktau_chunk	*dir[KTAU_NR_DIRS];
	DECLARE_BITMAP(used, KTAU_NR_CHUNKS);
};

/* Per-CPU data. */
struct ktau_cpu {
	struct ktau_state	*state;	/* interrupts and softirqs of this CPU */
	struct ktau_frame	*irq;	/* the outermost frame of an interrupt */
	u64			nmi_ticks;	/* start of the outermost NMI */
	unsigned int		nmi_depth;	/* nesting depth of NMIs */
};

#endif /* _KERNEL_KTAU_TYPES_H */
