/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what its own files share.
 */
#ifndef _KERNEL_KTAU_H
#define _KERNEL_KTAU_H

#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/ktau.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "arch.h"
#include "ring.h"

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

DECLARE_PER_CPU(unsigned long [KTAU_NR_LOSSES], ktau_losses);

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

extern struct ktau_user ktau_system;

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

DECLARE_PER_CPU(struct ktau_cpu, ktau_cpu);

/*
 * A CPU on its way down no longer runs what is queued on it; left there, that
 * would keep it from running anybody's work when it is back.
 */
static inline void ktau_irq_work(struct irq_work *work)
{
	if (likely(cpu_online(raw_smp_processor_id())))
		irq_work_queue(work);
}

/* The configuration but for the filter, guarded by ktau_mutex. */
struct ktau_config {
	u32	groups;		/* KTAU_GROUP_* that are on */
	u32	task_groups;	/* KTAU_GROUP_* that some task had for itself */
	u32	modes;		/* KTAU_MODE_* */
	bool	tags;		/* some task had a tag */
	bool	inherit;	/* children of selected tasks are selected */
	u32	ring_slots;	/* size that rings grow to */
	u32	watermark_slots; /* fill that wakes a poller */
	u64	memory_limit_bytes; /* bound of all memory */
	u64	exited_limit_bytes; /* bound of the exited tasks' part of it */
};

extern struct ktau_config ktau_config;
extern struct mutex ktau_mutex;

/* table.c */
struct ktau_cell *ktau_cell(struct ktau_task *state, unsigned int id);
bool ktau_table_fill(struct ktau_task *state, unsigned int nr_ids);
unsigned int ktau_table_merge(struct ktau_task *to, struct ktau_task *from);
void ktau_table_free(struct ktau_task *state);
unsigned int ktau_table_cells(const struct ktau_task *state);
struct ktau_chunk *ktau_chunk_at(const struct ktau_task *state,
				 unsigned int nr);
struct ktau_chunk *ktau_chunk_next(const struct ktau_task *state,
				   unsigned int *next);

void ktau_book(struct ktau_task *state, unsigned int id, u64 incl, u64 excl,
	       bool outermost);
void ktau_cell_add(struct ktau_cell *to, const struct ktau_cell *from,
		   unsigned int kind);

static __always_inline void ktau_book_cell(struct ktau_cell *cell, u64 incl,
					   u64 excl, bool outermost)
{
	ktau_add(&cell->count, 1);
	if (outermost) {
		ktau_add(&cell->v[0], incl);
		ktau_raise(&cell->v[2], incl);
	}
	ktau_add(&cell->v[1], excl);
}

/* times.c */
struct ktau_times ktau_times(const struct ktau_task *state);
void ktau_times_copy(struct ktau_rec_profile *rec,
		     const struct ktau_task *state);
unsigned int ktau_times_merge(struct ktau_task *to, struct ktau_task *from);
bool ktau_times_of_all(struct ktau_task *state);
void ktau_times_free(struct ktau_task *state);

/* sched.c */
static inline bool ktau_is_voluntary(unsigned int id)
{
	return id >= KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE &&
	       id <= KTAU_ID_SCHEDULE_VOL_STOPPED;
}

struct ktau_times ktau_times_at(const struct ktau_task *state,
				const struct task_struct *task, u64 ticks);

/* profile.c */
void ktau_internal_error(const char *what);

/* root.c */
void ktau_root_resume(struct ktau_ref *ref);
void ktau_root_trace(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		     u64 arg);

/* account.c */
void ktau_account_switch(const struct task_struct *prev, u64 now);
bool ktau_account_copy(struct ktau_rec_profile *rec, const struct ktau_task *state,
		       const struct task_struct *task,
		       const struct ktau_frame *outermost, u64 outermost_ticks);

/* oops.c */
void ktau_end_frames(void);

/* trace.c */
void ktau_trace(struct ktau_task *state, u64 ticks, unsigned int type,
		unsigned int small, u64 arg);
u64 ktau_trace_frame(struct ktau_task *state, u32 what, u64 arg,
		     const u64 *sum, u64 *before);
void ktau_trace_more(struct ktau_task *state, u32 what, u64 arg,
		     const struct ktau_slot_more *more, unsigned int nr);
void ktau_trace_woken(struct ktau_task *state, u64 ticks, u64 waking_ticks);
void ktau_ring_rearm(struct ktau_ring *ring);

/* changes.c */
void ktau_trace_comm(struct ktau_task *state, unsigned int type);
void ktau_trace_changes(struct ktau_task *state);

/* ring.c */
struct ktau_ring *ktau_ring_create(struct ktau_user *user, u32 slots, gfp_t gfp);
u32 ktau_ring_full_slots(const struct task_struct *task);
u32 ktau_ring_start_slots(const struct task_struct *task);
size_t ktau_ring_bytes(u32 slots);
void ktau_ring_make_ready(struct ktau_ring *ring);
int ktau_ring_grow(struct ktau_task *state);
void ktau_ring_ask(struct ktau_ring *ring, u64 head);
void ktau_ring_nudge(struct ktau_ring *ring);
void ktau_ring_lose(const struct ktau_ring *ring, enum ktau_loss reason);
void ktau_ring_free(struct ktau_ring *ring);

/* event.c */

/**
 * struct ktau_event - what an id stands for
 * @key: by @source, as in struct ktau_rec_event of the binary interface
 * @name: what it is called; NULL if ktau_event_name() makes it from the number
 * @group: KTAU_GROUP_*
 * @kind: KTAU_KIND_*
 * @source: KTAU_SOURCE_*
 */
struct ktau_event {
	unsigned long	key;
	const char	*name;
	u32		group;
	u8		kind;
	u8		source;
};

#define KTAU_EVENT_NAME		(KSYM_NAME_LEN + 16)

extern const struct ktau_id_range ktau_id_ranges[KTAU_NR_SOURCES];
const struct ktau_event *ktau_event(unsigned int id);
unsigned int ktau_event_kind(unsigned int id);
unsigned long ktau_event_address(unsigned int id);
void ktau_event_name(unsigned int id, char name[KTAU_EVENT_NAME]);
unsigned int ktau_ids_used(const struct ktau_id_range *range);
void ktau_event_init(void);

/* ids.c */
extern struct ktau_point __start_ktau_points[], __stop_ktau_points[];

unsigned int ktau_point_id(struct ktau_point *point);
unsigned int ktau_call_id(enum ktau_call call, void *fn);
unsigned int ktau_call_lookup(enum ktau_call call, void *fn);
unsigned int ktau_irq_id(unsigned int irq);
unsigned int ktau_compat_id(unsigned int nr);
void ktau_ids_forget(bool (*gone)(unsigned long fn, const void *data),
		     const void *data);
void ktau_ids_init(void);

/* memory.c */

/* Whether @at is to come within a second: what is further has gone by long ago. */
static inline bool ktau_is_soon(unsigned long at, unsigned long now)
{
	return at - now - 1 < HZ;
}

void *ktau_alloc(struct ktau_user *user, size_t bytes, gfp_t gfp);
void ktau_free(struct ktau_user *user, void *p, size_t bytes);
struct ktau_task *ktau_state_alloc(struct ktau_user *user, gfp_t gfp);
void ktau_state_free(struct ktau_task *state);
struct ktau_chunk *ktau_chunk_alloc(struct ktau_user *user);
struct ktau_chunk *ktau_chunk_take(struct ktau_user *user);
void ktau_chunk_free(struct ktau_user *user, struct ktau_chunk *chunk);
void ktau_reserve_fill(void);
int ktau_reserve_start(void);
u64 ktau_memory_bytes(void);
bool ktau_has_room(size_t bytes);
void ktau_memory_init(void);

/* user.c */
static inline struct ktau_user *ktau_user_get(struct ktau_user *user)
{
	refcount_inc(&user->ref);
	return user;
}

kuid_t ktau_user_uid(const struct cred *cred);
struct ktau_user *ktau_user_find(kuid_t uid);
struct ktau_user *ktau_user_of(struct task_struct *task);
void ktau_user_put(struct ktau_user *user);
bool ktau_user_charge(struct ktau_user *user, size_t bytes, unsigned long limit);
u64 ktau_user_share(const struct ktau_user *user, u64 limit);
void ktau_user_uncharge(struct ktau_user *user, size_t bytes);
u64 ktau_user_limit(const struct ktau_user *user);
struct ktau_user *ktau_user_open(size_t bytes);
void ktau_user_close(struct ktau_user *user, size_t bytes);
void ktau_loss(enum ktau_loss reason);
void ktau_loss_of(struct ktau_user *user, enum ktau_loss reason,
		  unsigned long nr);
u64 ktau_loss_total(enum ktau_loss reason);
void ktau_user_losses(kuid_t uid, u64 losses[KTAU_NR_LOSSES]);

/* switch.c */
void ktau_tasks_update(void);
void ktau_tasks_resize(void);
void ktau_cpus_update(u32 groups);
struct task_struct *ktau_next_task(int *nr);
int ktau_task_select(struct task_struct *task, u32 selection);
int ktau_task_set_groups(struct task_struct *task, u32 groups);
int ktau_task_set_tag(struct task_struct *task, u32 tag);
void ktau_task_inherit(struct task_struct *task);
void ktau_task_reconsider(void);
struct ktau_task *ktau_task_successor(const struct ktau_task *old,
				      const struct cred *cred);
u32 ktau_groups_throughout(const struct ktau_task *state, u32 mask,
			   u64 since_ticks);

/* task.c */
int ktau_tasks_start(void);
u64 ktau_serial_next(void);
u64 ktau_task_serial(struct task_struct *task);
struct ktau_task *ktau_task_create(struct ktau_user *user, gfp_t gfp);
struct ktau_task *ktau_task_get(struct task_struct *task);
void ktau_task_put(struct ktau_task *state);
unsigned int ktau_nr_states(void);

/* origin.c */
struct ktau_ns_id ktau_ns_id(const struct pid_namespace *ns);
void ktau_origin_record(struct ktau_task *state);
void ktau_origin_free(struct ktau_task *state);
bool ktau_origin_ids(struct ktau_owner *owner, const struct ktau_task *state,
		     const struct ktau_ns_id *ns);
int ktau_origin_level(const struct ktau_rights *rights,
		      const struct user_namespace *ns);

/* exited.c */

/**
 * struct ktau_watch - what a stream has shown of tasks that may leave the exited queue
 * @node: in @watches of a user or of all; under the lock of exited.c, as is what
 *	follows, except that only the stream adds serials
 * @known: serials that have been shown; marked once they are gone, see gone.c
 * @nr_gone: how many are marked
 * @from: exited tasks below this number have been read, or are not to be
 * @missed: evicted tasks that were not below it, nor known
 * @sums: the stream has the evicted sum
 * @wide: it may show tasks of any user
 */
struct ktau_watch {
	struct list_head	node;
	struct xarray		known;
	u32			nr_gone;
	u64			from;
	u64			missed;
	bool			sums;
	bool			wide;
};

/**
 * struct ktau_settle - the end of reading exited tasks, all at one moment
 * @exited: exited tasks have been read; before @next
 * @next: becomes the number that the next task to exit will get
 * @watch: what the stream has shown, or NULL
 * @gone: gets the serials of those in @watch that are gone
 * @room: how many fit
 * @nr: how many there are
 * @nr_folded: how many of them were folded; they come first
 * @missed: becomes that of @watch
 * @evicted: gets the evicted sum, unless NULL
 * @bytes: its room
 * @owner: gets its description
 */
struct ktau_settle {
	bool			exited;
	u64			next;
	struct ktau_watch	*watch;
	u64			*gone;
	u32			room;
	u32			nr;
	u32			nr_folded;
	u64			missed;
	struct ktau_rec_profile	*evicted;
	size_t			bytes;
	struct ktau_owner	*owner;
};

int ktau_exited_start(void);
void ktau_exited_add(struct ktau_task *state);
struct ktau_task *ktau_exited_get(u64 *seq);
u64 ktau_exited_next(void);
u64 ktau_exited_first(void);
void ktau_exited_trim(void);
void ktau_exited_owner(struct ktau_owner *owner, const struct ktau_task *state);
bool ktau_exited_show(struct ktau_watch *watch, struct ktau_task *state);
int ktau_exited_settle(struct ktau_settle *settle);
void ktau_exited_settled(struct ktau_watch *watch, const struct ktau_settle *settle);
void ktau_exited_watch(struct ktau_watch *watch, struct ktau_user *user, bool sums);
void ktau_exited_unwatch(struct ktau_watch *watch);
void ktau_exited_stats(struct seq_file *m);

/* gone.c */
int ktau_gone_know(struct ktau_watch *watch, u64 serial);
void ktau_gone_note(struct list_head *watches, const struct ktau_task *state,
		    bool evicted);
void ktau_gone_take(struct ktau_settle *settle);
void ktau_gone_taken(struct ktau_watch *watch, const struct ktau_settle *settle);

/* owner.c */
void ktau_task_identify(struct ktau_owner *owner, struct task_struct *task);
u32 ktau_net_ns_of(struct task_struct *task);
char *ktau_path_of(struct task_struct *task, char *buffer);
void ktau_path_keep(struct ktau_task *state);
void ktau_path_drop(struct ktau_task *state);

/* clock.c */
struct ktau_clock {
	u64 ticks;
	u64 realtime_ns;
	u64 monotonic_ns;
	u64 boottime_ns;
	u64 tai_ns;
};

extern struct ktau_clock ktau_clock_boot;
extern u64 ktau_profile_pair_mticks;
extern u64 ktau_trace_pair_mticks;
extern u64 ktau_cpu_pair_mticks;
extern u64 ktau_call_pair_mticks;
extern u64 ktau_switch_mticks;
void ktau_clock_read(struct ktau_clock *clock);
u64 ktau_clock_hz(void);
void ktau_clock_measure(void);

/* control.c */
int ktau_control_show(struct seq_file *m, bool all);
int ktau_control_write(char *words);
void ktau_switch_off(void);

/* words.c */
extern const char * const ktau_group_names[KTAU_NR_GROUPS];
extern const u32 ktau_groups_built;

/* snapshot.c */
#define KTAU_SNAPSHOT_OPEN	32	/* frames in flight that are listed */
#define KTAU_SNAPSHOT_BYTES						\
	(sizeof(struct ktau_rec_profile) +				\
	 KTAU_NR_IDS * sizeof(struct ktau_entry) +			\
	 KTAU_SNAPSHOT_OPEN * sizeof(struct ktau_open))

size_t ktau_snapshot_bytes(const struct ktau_task *state);
int ktau_snapshot_into(struct ktau_rec_profile *rec, size_t bytes,
		       struct ktau_task *state, struct task_struct *task);

/* Into a room that is always large enough. */
static inline int ktau_snapshot(struct ktau_rec_profile *rec,
				struct ktau_task *state, struct task_struct *task)
{
	return ktau_snapshot_into(rec, KTAU_SNAPSHOT_BYTES, state, task);
}

/* snapshot_trace.c */

/* The longest slot in a stream. */
#define KTAU_SLOT_MAX_BYTES						\
	(sizeof(struct ktau_slot) + sizeof(struct ktau_slot_net))

/**
 * struct ktau_reach - how far a stream has read the ring of one owner
 * @ring: serial of the ring, 0 if there was none yet
 * @next: the place to go on with, where reading does not consume
 * @until: places written when the stream came to it; later ones are for later
 * @ticks: time of the last slot read, 0 if there was none
 * @since_ticks: older slots are left out, and are not lost
 * @consume: reading consumes
 */
struct ktau_reach {
	u64 ring;
	u64 next;
	u64 until;
	u64 ticks;
	u64 since_ticks;
	bool consume;
};

size_t ktau_snapshot_trace_bytes(struct ktau_task *state);
int ktau_snapshot_trace(struct ktau_rec_trace *rec, u32 max_bytes,
			struct ktau_task *state, struct task_struct *task,
			struct ktau_reach *reach);

/* look.c */
u64 ktau_look_number(void);
bool ktau_look(struct ktau_task *state, struct task_struct *task, u64 number,
	       u64 since);
void ktau_look_again(struct ktau_task *state);

/* rights.c */
void ktau_rights_of(struct ktau_rights *rights, const struct cred *cred);
bool ktau_rights_equal(const struct ktau_rights *a, const struct ktau_rights *b);
bool ktau_may_read(const struct ktau_rights *rights);
bool ktau_may_read_task(struct task_struct *task);
bool ktau_may_read_exited(const struct ktau_task *state);
int ktau_task_lock(struct task_struct *task, u32 access);
void ktau_task_unlock(struct task_struct *task, u32 access);

/* access.c */
extern int ktau_paranoid;
bool ktau_privileged(void);
u32 ktau_access(void);
u32 ktau_access_at(int level, bool privileged);

/* redact.c */
bool ktau_is_interrupt(unsigned int id);
void ktau_redact_profile(struct ktau_rec_profile *rec, u64 hz);

/* poll.c */
extern wait_queue_head_t ktau_trace_wait;
extern atomic_t ktau_trace_fills;
void ktau_poll_wake(void);

/* stream.c */
extern const struct proc_ops ktau_profile_ops;
extern const struct proc_ops ktau_trace_ops;

#endif /* _KERNEL_KTAU_H */
