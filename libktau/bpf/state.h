/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the BPF programs and the code that reads their maps share: the profile of a task and of a
 * CPU. Times are CLOCK_MONOTONIC in ns; a "tick" of the BPF source is a nanosecond.
 *
 * A task is measured by code in three contexts that interrupt each other: the task itself,
 * softirqs, and interrupts. Each field is written in only one of them, so no update is lost. The
 * contexts have a clock each, which stops while the context is interrupted:
 *
 *	interrupt	the clock
 *	softirq		the clock - the CPU's @hard_ns
 *	task		the clock - the task's @stolen_ns
 *
 * where @hard_ns is the exclusive time of all interrupts so far, and @stolen_ns that of interrupts
 * and softirqs. The latter two both add to @stolen_ns, each with one instruction. By the clock of
 * its context, the exclusive times of frames add up to the durations of the outermost ones.
 * compose.c adds the interrupts, and so gets the identity of <linux/ktau.h>.
 *
 * A context increments its element of @seq before and after each update, so a copy is consistent if
 * all elements are even and have the same value before and after it.
 */
#ifndef KTAU_BPF_STATE_H
#define KTAU_BPF_STATE_H

/* Event ids, in the ranges that the patched kernel uses. */
#define KB_ID_SYSCALLS		512	/* native system calls are below */
#define KB_ID_PAGE_FAULT_USER	512
#define KB_ID_SCHEDULE		515
#define KB_ID_SCHEDULE_WAIT 516 /* only in traces */
#define KB_ID_SCHEDULE_VOL_INTERRUPTIBLE 517
#define KB_ID_SCHEDULE_VOL_UNINTERRUPTIBLE 518
#define KB_ID_SCHEDULE_VOL_IO	519
#define KB_ID_SCHEDULE_VOL_IDLE	520
#define KB_ID_SCHEDULE_VOL_STOPPED 521
#define KB_ID_OTHER_IRQ		531
#define KB_ID_OTHER_COMPAT	532
#define KB_ID_SOFTIRQ		541
#define KB_NR_SOFTIRQS		10
#define KB_ID_NONE		560	/* system calls of numbers that do not exist */
#define KB_ID_SIGNAL_GENERATE	561
#define KB_ID_SIGNAL_DELIVER	562
#define KB_ID_TCP_SENDMSG	563
#define KB_ID_TCP_RECVMSG	564
#define KB_ID_GUEST		565	/* a virtual CPU is in its guest */
#define KB_NR_TASK_IDS		576	/* ids of events in the task's own context */
/*
 * The outermost frame of a task until its first event tells in which mode it was before. These
 * frames end without a cell, and the reader does not see them.
 */
#define KB_ID_BEFORE		576	/* user mode or a call: not known yet */
#define KB_ID_BEFORE_KERNEL	577	/* in the kernel: a new task, or a kernel thread */
#define KB_ID_NO_CALL		578	/* in place of a system call: none */
#define KB_ID_NEW		579	/* of init_state(): it waits for its first CPU */
#define KB_ID_VECTOR		640	/* and one more for each enum kb_vector */
#define KB_ID_IRQ		1536	/* + line */
#define KB_ID_ANY 0xffff	/* a slot without an event */

enum kb_vector {
	KB_LOCAL_TIMER,
	KB_RESCHEDULE,
	KB_CALL_FUNCTION,
	KB_CALL_FUNCTION_SINGLE,
	KB_IRQ_WORK,
	KB_NR_VECTORS
};

/*
 * A state is in a slot of an array, or in task storage if both slots for the task are taken. The
 * lookup in an array is inlined; in task storage it is a call that executes 130 instructions. A
 * slot is claimed for a new task by task_newtask, and for an existing one before any other program
 * is attached, so no two programs claim slots for the same task. It is released once the task can
 * no longer run. The number of slots does not limit the number of tasks.
 */
#define KB_MIN_SLOTS		1024	/* powers of two */
#define KB_MAX_SLOTS		8192
#define KB_SLOT_FREE		0
#define KB_SLOT_BUSY		1	/* it is being cleared; keys are multiples of 8 */

/*
 * A value of task storage must fit into an allocation of 8 KiB with its header, or Linux 7 does
 * not create it. The first chunk of a task is smaller, because most tasks need no more.
 */
#define KB_FIRST_BYTES		4000
#define KB_MORE_BYTES		8000
#define KB_NR_FRAMES		8	/* a power of two */
#define KB_NR_LINES		6	/* lines in a task's table, besides "irq:other" */
#define KB_NR_CPU_LINES		256	/* lines in a CPU's table, besides "irq:other" */

enum { KB_TASK, KB_SOFT, KB_HARD, KB_NR_CONTEXTS };

/* In place of a context: the waker of a task, which may be any other task or interrupt. */
#define KB_WAKER	KB_NR_CONTEXTS

/*
 * Nothing is measured until all programs are attached. Then the iterator gives each task a state,
 * so a profile has all events since its start. After that, a task without a state gets one at its
 * next event.
 */
enum kb_phase { KB_ATTACHING, KB_ACTIVATING, KB_MEASURING };

/* In @exited, 0 before: the task's last record is being made; it is in the buffer, or lost. */
#define KB_EXITING		1
#define KB_EXITED		2

/* In place of a time in @off_since */
#define KB_ON_UNKNOWN		0	/* no switch has been seen */
#define KB_ON_CPU		1

/* An event of a task. For a counter: @incl is the sum, @excl the minimum, @longest the maximum. */
struct kb_cell {
	__u64 count;
	__u64 incl;
	__u64 excl;
	__u64 longest;
	__u64 asleep;
	__u64 runq;
	__u64 irq;
	__u32 id;
	__u32 counter;
};

/* An interrupt or a softirq. */
struct kb_irq_cell {
	__u64 count;
	__u64 incl;
	__u64 excl;
	__u64 longest;
};

/*
 * The interrupts in progress on a CPU. Interrupts that have ended during the softirq are in the
 * task's stolen time already.
 */
struct kb_in_progress {
	__u64 hard_ns;		/* interrupts that have ended */
	__u64 hard_start;	/* of the interrupt in progress, 0 if there is none */
	__u64 soft_start;	/* of the softirq in progress, 0 if there is none */
	__u64 soft_own_start;	/* the same without the interrupts before */
	__u32 hard_cell;	/* numbers of their cells in the CPU's table */
	__u32 soft_cell;
};

struct kb_frame {
	__u64 start;		/* by the clock */
	__u64 own_start;	/* by the task's own clock */
	__u64 child;		/* by the task's own clock, like the fields of sums */
	__u64 asleep;		/* so far, except in open frames inside */
	__u64 runq;		/* so far, except in open frames inside */
	__u32 id;
	__u32 was_off;		/* it has been off the CPU: @asleep and @runq are valid */
};

/*
 * What OWNER needs; filled in when a task is read, or when it exits. Until then, a trace needs in
 * @cgroup the control group at @css_set of the state, and in @comm the last new name.
 */
struct kb_owner {
	__u64 start_ns;
	__u64 exec_ns;
	__u64 exit_ns;
	__u64 utime_ns;
	__u64 stime_ns;
	__u64 nvcsw;
	__u64 nivcsw;
	__u64 migrations;
	__u64 cgroup;
	__s32 tid;
	__s32 tgid;
	__s32 ppid;
	__u32 cpu;
	__u32 uid;
	__u32 gid;
	__s32 prio;
	__u32 policy;
	__s32 exit_code;
	__u32 kthread;
	__u32 pid_ns;
	__u32 net_ns;
	char comm[16];
};

enum kb_record_type { KB_RECORD_LIVE = 1, KB_RECORD_EXITED, KB_RECORD_MORE };

#define KB_IRQ_CELLS (KB_NR_SOFTIRQS + KB_NR_VECTORS + KB_NR_LINES + 1)

/*
 * The first chunk. A record of a task is this structure up to the last cell in use; @more follows
 * in a record of its own. @index maps the id of an event to its cell, 0 if it has none.
 */
struct kb_state {
	__u32 type;		/* enum kb_record_type */
	__u32 nr_cells;		/* in use, here and in the next chunk */
	__u64 serial;
	__u64 task;		/* KB_SLOT_* or the key of the task that has this slot */
	__u64 seq[KB_NR_CONTEXTS + 1];
	__u64 start;		/* of the profile */
	__u64 now;		/* when the record was made */
	__u64 stolen_ns;
	__u64 outer_ns;		/* outermost frames that have ended, by the task's clock */
	__u64 asleep_ns;
	__u64 runq_ns;
	__u64 before_ns;	/* in the kernel before the first event, by the task's clock */
	struct kb_in_progress irqs_now; /* in a copy, if it is on a CPU */
	__u64 unused_words[4];	/* release_slot() clears several words at once */
	__u64 off_since;	/* when it left the CPU, or KB_ON_* */
	__u64 off_own;		/* the same by the task's clock */
	__u64 woken;		/* when it was woken last */
	__u32 off_asleep;	/* it left the CPU to sleep */
	__u32 depth;		/* open frames */
	/*
	 * If it was off the CPU when the profile began: the call in which it waits, or
	 * KB_ID_NO_CALL, and the event of the switch. Written by the iterator.
	 */
	__u32 seed_call;
	__u32 seed_switch;
	__u32 unsettled;	/* the outermost frame is KB_ID_BEFORE */
	__u32 waker_ctx;    /* in which context it was woken last: KB_TASK and so on */
	__u64 waker_serial; /* by which task, or during which */
	__u64 traced;	    /* slots written */
	__u64 guest_ns;	    /* ended frames of KB_ID_GUEST, by the task's clock */
	/* Of a virtual CPU, in a trace: its guest's clock as written last; ratio 0: none */
	__u64 kvm_ratio;
	__u64 kvm_offset;
	__u64 kvm_written;  /* when that was */
	__u64 kvm_checked;  /* when it was compared with the timekeeper */
	__u64 kvm_tsc_offset; /* KVM's offset then */
	__u64 css_set;	/* its control groups when it had the CPU last; 0: look for changes */
	__u32 renamed;	/* by another task, to @owner.comm */
	__u32 unused;
	__u32 torn;		/* the record is not consistent */
	__u32 exited;		/* KB_EXIT* */
	__u64 refused;		/* activations without a cell ... */
	__u64 refused_ns;	/* ... and their exclusive time */
	__u64 clamped;
	__u64 unbalanced;	/* frames whose exit was missed */
	__u64 parent_serial;
	__u64 leader_serial;
	struct kb_owner owner;
	struct kb_frame frames[KB_NR_FRAMES];
	struct kb_irq_cell irqs[KB_IRQ_CELLS];
	__u32 lines[KB_NR_LINES + 2];	/* interrupt line + 1 of each cell, 0 if unused */
#define KB_NR_FIRST 28
/* The first cells are those of switches, which end while another task is current. */
#define KB_NR_FIXED (KB_ID_SCHEDULE_VOL_STOPPED - KB_ID_SCHEDULE + 1)
	struct kb_cell cells[KB_NR_FIRST];
	__u8 index[KB_NR_TASK_IDS];
};

#define KB_NR_MORE 120

struct kb_more {
	__u32 type;
	__u32 unused;
	__u64 serial;
	struct kb_cell cells[KB_NR_MORE];
};

/* A CPU. Interrupts are counted here, and once more for the task that they hit. */
struct kb_cpu {
	__u64 seq[KB_NR_CONTEXTS];
	struct kb_in_progress now;
	__u64 soft_ns;
	__u64 since;		/* last switch, or @start, by the clock of tasks */
	__u64 busy_ns;		/* running tasks, without interrupts */
	__u64 idle_ns;		/* running the idle task, without interrupts */
	__u64 idle;		/* it runs now */
	__u64 start;		/* the first event after the programs were attached, or 0 */
	struct kb_irq_cell irqs[KB_NR_SOFTIRQS + KB_NR_VECTORS + KB_NR_CPU_LINES + 1];
};

/*
 * A trace is written to a ring of slots for each CPU, which always overwrites. A slot at position P
 * is at P modulo the size of the ring; @commit is P + 1 once the slot is complete. The slots of a
 * task are numbered, so a reader knows for each task what it has missed.
 */
enum kb_slot_type {
	KB_SLOT_ENTER = 1,
	KB_SLOT_ENTER_ADDRESS, /* address */
	KB_SLOT_EXIT,
	KB_SLOT_EXIT_RESULT, /* result */
	KB_SLOT_COUNT,	     /* value */
	KB_SLOT_IRQ_ENTER,   /* @id is the cell in the CPU's table */
	KB_SLOT_IRQ_EXIT,
	KB_SLOT_OFF,	  /* leaves the CPU: serial of the next task, both priorities */
	KB_SLOT_BACK,	  /* has the CPU again: time and serial of its waker, or 0 */
	KB_SLOT_WAKING,	  /* serial, priority */
	KB_SLOT_FORK,	  /* serial, that of the leader */
	KB_SLOT_EXEC,	  /* the new name */
	KB_SLOT_TASK_EXIT, /* exit code */
	KB_SLOT_KVM_ENTER, /* number of the virtual CPU */
	KB_SLOT_KVM_EXIT,  /* the same, and in the upper half the reason */
	KB_SLOT_KVM_CLOCK, /* offset and ratio of the guest's clock; KB_KVM_FRAC_BITS */
	KB_SLOT_COMM,	   /* the new name */
	KB_SLOT_CGROUP	   /* id of the new control group */
};

#define KB_OFF_CPU 1 /* the task was off the CPU at this time */

/* Fractional bits of the ratio: a guest's counter is exact after years of uptime. */
#define KB_KVM_FRAC_BITS 60

/*
 * @more: ENTER: KB_OFF_CPU or 0; OFF: the state in which the task waits; BACK: the waker's context;
 * WAKING: the CPU; KVM_CLOCK: the number of the virtual CPU
 */
#define KB_SLOT(type, id, context, more) \
	((__u64)(more) << 32 | (__u64)(context) << 24 | (__u64)(type) << 16 | (__u64)(id))
#define KB_SLOT_ID(what) ((__u32)(what)&0xffff)
#define KB_SLOT_TYPE(what) ((__u32)(what) >> 16 & 0xff)
#define KB_SLOT_CONTEXT(what) ((__u32)(what) >> 24)
#define KB_SLOT_MORE(what) ((__u32)((what) >> 32))

struct kb_slot {
	__u64 commit; /* 0 while it is written */
	__u64 serial; /* of the task that it belongs to */
	__u64 number; /* of the slot among those of the task */
	__u64 ticks;
	__u64 what; /* KB_SLOT() */
	__u64 arg[2];
	__u64 unused;
};

struct kb_ring {
	__u64 head;	   /* position of the next slot */
	__u32 base;	   /* its first slot in the map; set before the programs are attached */
	__u32 mask;	   /* its size - 1 */
	__u64 idle_serial; /* the CPU's idle task, which has no state ... */
	__u64 idle_traced; /* ... and how many slots it has written */
	__u64 unused[4];
};

/* Counts of what could not be recorded, since the programs were loaded. */
struct kb_losses {
	__u64 no_state;		/* events of tasks without a state */
	__u64 no_cell;		/* activations without a cell */
	__u64 lost_exited;	/* exited tasks for which the buffer had no room */
	__u64 nested;		/* interrupts within interrupts */
	__u64 unbalanced;
	__u64 clamped;
};

#define KB_ASSERT(condition) _Static_assert(condition, #condition)
KB_ASSERT(sizeof(struct kb_state) <= KB_FIRST_BYTES);
KB_ASSERT(sizeof(struct kb_more) <= KB_MORE_BYTES);
KB_ASSERT(KB_NR_FIRST + KB_NR_MORE < 256);
KB_ASSERT(sizeof(struct kb_slot) == 64);
KB_ASSERT(sizeof(struct kb_ring) == 64);

#endif /* KTAU_BPF_STATE_H */
