/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KTAU: the binary interface of /proc/ktau/profile and /proc/ktau/trace.
 *
 * docs/dev/abi.md describes it: the order of records, the meaning of each field, the calls
 * and their errors. Here is the layout, with the units and bounds of the fields. A unit test
 * compares the two. Rules for whoever changes it:
 *
 *  - Types have fixed widths, 64-bit fields are on 8-byte boundaries, and the size of every
 *    record is a multiple of 8 bytes, so 32-bit and 64-bit programs see one layout.
 *  - A structure only grows at its end, and a field never changes its meaning. Readers take
 *    missing fields as zero and skip fields, types and numbers that they do not know.
 *  - The byte order is the writer's. @reserved fields are 0.
 *  - Times are ticks of the CPU's cycle counter unless the name ends in _ns.
 *  - Ids of users and processes are those in the opener's namespaces.
 *  - The argument of an ioctl() begins with its size. The kernel takes missing fields as zero,
 *    and the fields that it does not know must be zero (E2BIG).
 */
#ifndef _UAPI_LINUX_KTAU_H
#define _UAPI_LINUX_KTAU_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KTAU_ABI_VERSION	2
#define KTAU_MAGIC		0x5541544bU	/* "KTAU" on little endian */

/* Groups: what can be enabled. KTAU_GROUP_* is the bit of a group in a mask. */
enum ktau_groups {
#define KTAU_GROUP(symbol, name, bit) KTAU_GROUP_##symbol = 1 << (bit),
#include <linux/ktau_groups.h>
};

/* The number of each group is the position of its bit. The last one has the highest. */
enum ktau_group_numbers {
#define KTAU_GROUP(symbol, name, bit) KTAU_GROUP_NR_##symbol = (bit),
#include <linux/ktau_groups.h>
	KTAU_NR_GROUPS
};

/* The bits of all groups of the list. */
enum ktau_listed_groups {
	KTAU_GROUPS_LISTED = 0
#define KTAU_GROUP(symbol, name, bit) | 1 << (bit)
#include <linux/ktau_groups.h>
};

#define KTAU_GROUP_MODULE	(1U << 16)	/* the first of the modules' groups */
#define KTAU_NR_MODULE_GROUPS	12
#define KTAU_GROUP_ALL		(KTAU_GROUPS_LISTED | \
				 ((1U << KTAU_NR_MODULE_GROUPS) - 1) * KTAU_GROUP_MODULE)

/* Modes, independent of each other, in the same word as the groups. */
#define KTAU_MODE_PROFILE	(1U << 30)
#define KTAU_MODE_TRACE		(1U << 31)

/* Event ids are 16 bits wide. KTAU_IOC_INFO returns the ids of each source. */
#define KTAU_ID_NONE		65535

/*
 * The source of an event and, after the semicolon, its @key in struct ktau_rec_event.
 */
#define KTAU_SOURCE_SYSCALL	0	/* native system call; its number, which is its id */
#define KTAU_SOURCE_STATIC	1	/* known at build time; 0 */
#define KTAU_SOURCE_POINT	2	/* hook in a function; the function's address */
#define KTAU_SOURCE_FOREIGN	3	/* system call of another ABI; its number there */
#define KTAU_SOURCE_IRQ		4	/* interrupt line; its number */
#define KTAU_SOURCE_TASKLET	5	/* callback; its address */
#define KTAU_SOURCE_WORK	6	/* callback; its address */
#define KTAU_SOURCE_TIMER	7	/* callback; its address */
#define KTAU_SOURCE_HRTIMER	8	/* callback; its address */
#define KTAU_SOURCE_KTHREAD	9	/* function of a kernel thread; its address */
#define KTAU_SOURCE_TASK_WORK	10	/* callback on return to user mode; its address */
#define KTAU_SOURCE_NAPI	11	/* NAPI poll function; its address */
#define KTAU_SOURCE_RCU		12	/* RCU callback; its address */
#define KTAU_SOURCE_MODULE	13	/* registered by a module; 0 */
#define KTAU_SOURCE_FUNCTION	14	/* function hooked at run time; its address */
#define KTAU_NR_SOURCES		15

/* Kinds of events. */
#define KTAU_KIND_TIMER		0	/* enter and exit */
#define KTAU_KIND_COUNTER	1	/* values: count, sum, minimum, maximum */

/* Record types. Files of user space use types from KTAU_REC_USER on. */
#define KTAU_REC_STREAM		1	/* a stream begins */
#define KTAU_REC_PROFILE	2	/* the profile of one owner */
#define KTAU_REC_TRACE		3	/* slots of one owner's ring */
#define KTAU_REC_END		4	/* a stream ends */
#define KTAU_REC_OWNER		5	/* the owner of the records that follow */
#define KTAU_REC_EVENT		6	/* description of an event id */
#define KTAU_REC_CGROUP		7	/* description of a control group's id */
#define KTAU_REC_GONE		8	/* owners that are now part of others */
#define KTAU_REC_REGION		9	/* one region's part of the profile before it */
#define KTAU_REC_USER		0x8000

/* Header of every record. */
struct ktau_rec {
	__u32 size;			/* bytes of the whole record, a multiple of 8 */
	__u16 type;			/* KTAU_REC_* */
	__u16 head;			/* bytes of the fixed part; arrays and strings follow it */
};

/* @origin of struct ktau_rec_stream: what did the measuring */
#define KTAU_ORIGIN_KERNEL	0	/* the patched kernel */
#define KTAU_ORIGIN_BPF		1	/* BPF programs, on a kernel without KTAU */
#define KTAU_ORIGIN_LTTNG	2	/* a trace of LTTng, by ktau import */

/* @clock_flags of struct ktau_rec_stream */
#define KTAU_CLOCK_STABLE	(1U << 0)	/* constant rate, in step on all CPUs */

/*
 * @access of struct ktau_rec_stream and struct ktau_info: what the opener of the
 * descriptor may see at the current level of kernel.ktau_paranoid.
 */
#define KTAU_ACCESS_PROFILE	(1U << 0)	/* profiles of its own tasks */
#define KTAU_ACCESS_EXACT	(1U << 1)	/* exact, with each interrupt */
#define KTAU_ACCESS_TRACE	(1U << 2)	/* traces of its own tasks */
#define KTAU_ACCESS_SERIALS	(1U << 3)	/* serials of other users' tasks in them */
#define KTAU_ACCESS_ALL		(1U << 4)	/* everything, of all tasks and CPUs */
#define KTAU_ACCESS_CONSUME	(1U << 5)	/* KTAU_SELECT_CONSUME */
#define KTAU_ACCESS_ADDRESSES	(1U << 6)	/* kernel addresses */

/* First record of a stream. */
struct ktau_rec_stream {
	struct ktau_rec rec;
	__u32 magic;			/* KTAU_MAGIC; 0x4b544155 in the other byte order */
	__u16 version;			/* KTAU_ABI_VERSION */
	__u8 word_bits;			/* the kernel's: 32 or 64 */
	__u8 origin;			/* KTAU_ORIGIN_* */
	__u32 content;			/* KTAU_REC_PROFILE or KTAU_REC_TRACE */
	__u32 target;			/* KTAU_TARGET_* */
	__u32 flags;			/* KTAU_SELECT_* */
	__u32 access;			/* KTAU_ACCESS_* of the reader */
	__u32 groups;			/* enabled when the stream began */
	__u32 groups_built;		/* groups that this kernel has */
	__u32 modes;			/* KTAU_MODE_* */
	__u32 round_ns;			/* times of PROFILE are multiples of this; 0: exact */
	__aligned_u64 clock_hz;		/* ticks per second; 0: unknown */
	__u32 clock_flags;		/* KTAU_CLOCK_* */
	__u32 nr_cpus;			/* possible CPUs */
	__aligned_u64 ticks;		/* at the moment of the four clocks below */
	__aligned_u64 realtime_ns;
	__aligned_u64 monotonic_ns;
	__aligned_u64 boottime_ns;
	__aligned_u64 tai_ns;
	__aligned_u64 boot_ticks;	/* at the moment of the next two */
	__aligned_u64 boot_realtime_ns;
	__aligned_u64 boot_monotonic_ns;
	__aligned_u64 since_ticks;	/* of struct ktau_select */
	__aligned_u64 exited_next;	/* the next @exited_seq to be assigned */
	__aligned_u64 stext;		/* address of _stext; 0 without KTAU_ACCESS_ADDRESSES */
	__aligned_u64 profile_pair_mticks;	/* cost of an enter and its exit, 1/1000 tick */
	__aligned_u64 trace_pair_mticks;	/* with the trace, too */
	__u8 boot_id[16];
	char nodename[72];		/* uname(2) */
	char release[72];
	char machine[24];
	__aligned_u64 cpu_pair_mticks;	/* of an interrupt or softirq */
	__aligned_u64 call_pair_mticks;	/* of an event in the second level of the table */
	__aligned_u64 switch_mticks;	/* of a context switch with its wakeup */
	__aligned_u64 exited_since;	/* of struct ktau_select */
};

/* An event id; the name follows, padded to 8 bytes. */
struct ktau_rec_event {
	struct ktau_rec rec;
	__u16 id;
	__u8 kind;			/* KTAU_KIND_* */
	__u8 source;			/* KTAU_SOURCE_* */
	__u32 group;			/* KTAU_GROUP_*, one bit */
	__aligned_u64 address;		/* the function's; 0: none, or hidden */
	__aligned_u64 key;		/* see KTAU_SOURCE_*; 0: an address that is hidden */
	__u32 name_bytes;		/* with the final NUL, at most 528 */
	__u32 reserved;
};

/* A control group's id; its path follows, padded to 8 bytes. */
struct ktau_rec_cgroup {
	struct ktau_rec rec;
	__aligned_u64 id;		/* in the default hierarchy */
	__u32 path_bytes;		/* with the final NUL; 1: the group has been removed */
	__u32 reserved;
};

/* Kinds of owners of a table or ring. */
#define KTAU_OWNER_TASK		0	/* a live task; each CPU's idle task has tid 0 */
#define KTAU_OWNER_EXITED	1	/* a task that has exited */
#define KTAU_OWNER_CPU		2	/* a CPU: interrupts and softirqs by line */
#define KTAU_OWNER_EVICTED	3	/* sum of the evicted tasks */

/* @flags of struct ktau_rec_owner */
#define KTAU_OWNER_IDLE		(1U << 0)	/* an idle task */
#define KTAU_OWNER_KTHREAD	(1U << 1)	/* a kernel thread */
#define KTAU_OWNER_FOLDED	(1U << 2)	/* includes exited threads of the process */
#define KTAU_OWNER_NAMED	(1U << 3)	/* only referred to by slots */

/*
 * The owner of the records that follow, or a task that a slot refers to; the path of its
 * program follows, padded to 8 bytes.
 */
struct ktau_rec_owner {
	struct ktau_rec rec;
	__aligned_u64 serial;		/* unique in this boot, never reused */
	__aligned_u64 parent_serial;	/* the parent process's leader's; 0: none, or hidden */
	__aligned_u64 leader_serial;	/* the thread group's leader's; 0: none */
	__u32 kind;			/* KTAU_OWNER_TASK and so on */
	__u32 flags;			/* KTAU_OWNER_IDLE and so on */
	__s32 tid;			/* 0: none in this pid namespace */
	__s32 tgid;
	__s32 ppid;
	__u32 cpu;			/* the CPU last run on */
	__u32 uid;
	__u32 gid;
	__s32 prio;			/* -1 deadline, 0 to 99 real-time, 100 to 139 normal */
	__u32 policy;			/* SCHED_* */
	__s32 exit_code;		/* as from wait(2); 0 unless KTAU_OWNER_EXITED */
	__u32 tag;			/* set through /proc/ktau/control; 0: none */
	__aligned_u64 start_ns;		/* CLOCK_BOOTTIME, as the next two */
	__aligned_u64 exec_ns;		/* last exec since KTAU was enabled; 0: none */
	__aligned_u64 exit_ns;		/* 0 unless KTAU_OWNER_EXITED */
	__aligned_u64 exited_seq;	/* grows with every exit; EVICTED: the first that is kept */
	__aligned_u64 nr_tasks;		/* tasks in this record; more than 1 if FOLDED, EVICTED */
	__aligned_u64 utime_ns;
	__aligned_u64 stime_ns;
	__aligned_u64 nvcsw;
	__aligned_u64 nivcsw;
	__aligned_u64 migrations;
	__aligned_u64 cgroup;		/* 0: unknown */
	__u32 pid_ns;			/* inode number */
	__u32 net_ns;			/* inode number; 0: it has left it */
	char comm[16];
	__u32 path_bytes;		/* with the final NUL; 0: unknown */
	__u32 reserved;
};

/* Owners that are now part of others; their serials follow. */
struct ktau_rec_gone {
	struct ktau_rec rec;
	__u32 nr_serials;
	__u32 serial_bytes;		/* 8 */
	__u32 nr_folded;		/* the first ones were folded, the others evicted */
	__u32 reserved;
};

/* @flags of struct ktau_entry: which of the last four fields are measured */
#define KTAU_ENTRY_LONGEST	(1U << 0)
#define KTAU_ENTRY_ASLEEP	(1U << 1)
#define KTAU_ENTRY_RUNQ		(1U << 2)
#define KTAU_ENTRY_IRQ		(1U << 3)

/* One event of a profile; its times are those of outermost activations. */
struct ktau_entry {
	__u16 id;
	__u8 kind;			/* KTAU_KIND_* */
	__u8 flags;			/* KTAU_ENTRY_* */
	__u32 reserved;
	__aligned_u64 count;		/* activations that have ended, or values */
	union {
		__aligned_u64 incl;	/* KTAU_KIND_TIMER: ticks */
		__aligned_u64 sum;	/* KTAU_KIND_COUNTER */
	};
	union {
		__aligned_u64 excl;	/* of all activations */
		__aligned_u64 min;
	};
	union {
		__aligned_u64 longest;
		__aligned_u64 max;
	};
	__aligned_u64 asleep;
	__aligned_u64 runq;		/* runnable without a CPU */
	__aligned_u64 irq;		/* in interrupts */
};

/* One open frame. */
struct ktau_open {
	__u32 id;
	__u32 flags;			/* 0 */
	__aligned_u64 start_ticks;	/* when it was entered */
	__aligned_u64 child_ticks;	/* of frames directly inside that have ended */
	__aligned_u64 asleep_ticks;	/* as those of struct ktau_entry, so far */
	__aligned_u64 runq_ticks;
	__aligned_u64 irq_ticks;
};

/*
 * A snapshot: the profile of one owner; struct ktau_entry in the order of their ids follow, then
 * struct ktau_open from the innermost one on.
 *
 * In every snapshot, whatever happens while it is taken:
 *
 *	sum of excl + refused_ticks = outer_ticks + open_child_ticks
 */
struct ktau_rec_profile {
	struct ktau_rec rec;
	__aligned_u64 serial;
	__aligned_u64 ticks;		/* when the copy was made; the exit of an exited task */
	__aligned_u64 outer_ticks;	/* durations of the outermost frames that have ended */
	__aligned_u64 open_child_ticks;	/* child_ticks of all open frames */
	__aligned_u64 refused;		/* activations without room in the table */
	__aligned_u64 refused_ticks;	/* their exclusive time */
	__aligned_u64 clamped;		/* durations raised to the sum of the frames inside */
	__aligned_u64 start_ticks;	/* when the profile began; 0 for the evicted sum */
	__u32 groups;			/* enabled for the owner now, with modes */
	__u32 groups_throughout;	/* since @start_ticks or @since_ticks of the stream */
	__u32 nr_entries;
	__u32 entry_size;		/* bytes */
	__u32 nr_open;			/* at most 32 */
	__u32 open_size;		/* bytes */
	__u32 depth;			/* open frames, listed or not */
	__u32 reserved;
	__aligned_u64 user_ticks;	/* the account: parts of @ticks - @start_ticks */
	__aligned_u64 kernel_ticks;
	__aligned_u64 irq_ticks;	/* and in softirqs at the end of one */
	__aligned_u64 runq_ticks;	/* runnable without a CPU */
	__aligned_u64 asleep_ticks;	/* of a CPU: idle */
	__aligned_u64 guest_ticks;	/* in guest mode */
};

/* One region's part of the profile before it; struct ktau_entry follow. */
struct ktau_rec_region {
	struct ktau_rec rec;
	__aligned_u64 serial;		/* that of the PROFILE */
	__u32 region;			/* as stored by the thread; 0: only @refused */
	__u32 nr_entries;
	__u32 entry_size;		/* bytes */
	__u32 reserved;
	__aligned_u64 refused;		/* activations without room; region 0: unknown numbers */
};

/* Types of trace slots; the payload of each is described below. */
#define KTAU_TRACE_ENTER	1
#define KTAU_TRACE_EXIT		2
#define KTAU_TRACE_COUNT	3
#define KTAU_TRACE_SWITCH	4
#define KTAU_TRACE_WAKING	5	/* in the waker's ring */
#define KTAU_TRACE_WOKEN	6	/* in the woken task's ring */
#define KTAU_TRACE_FORK		7
#define KTAU_TRACE_EXEC		8
#define KTAU_TRACE_TASK_EXIT	9
#define KTAU_TRACE_COMM		10
#define KTAU_TRACE_CGROUP	11
#define KTAU_TRACE_NET_SEND	12
#define KTAU_TRACE_NET_RECV	13
#define KTAU_TRACE_KVM_ENTER	14
#define KTAU_TRACE_KVM_EXIT	15
#define KTAU_TRACE_GROUPS	16	/* other groups from here on */
#define KTAU_TRACE_KVM_CLOCK	17

/* Context in which a slot was written. */
#define KTAU_CTX_TASK		0
#define KTAU_CTX_SOFTIRQ	1
#define KTAU_CTX_HARDIRQ	2
#define KTAU_CTX_NMI		3	/* not written: NMIs are not traced */

/* ktau_slot.flags */
#define KTAU_SLOT_OFF_CPU	1	/* ENTER: of a task that had no CPU at this time */

/* One event of a trace; @words - 2 words of payload follow. */
struct ktau_slot {
	__aligned_u64 ticks;
	__u16 id;			/* of ENTER, EXIT and COUNT, else KTAU_ID_NONE */
	__u8 type;			/* KTAU_TRACE_* */
	__u8 words;			/* of 8 bytes, with these 16 bytes */
	__u16 cpu;
	__u8 ctx;			/* KTAU_CTX_* */
	__u8 flags;			/* KTAU_SLOT_*, or those of <linux/ktau_references.h> */
};

/*
 * Payloads that are no structure. ENTER: none, or the faulting address of a page fault. EXIT:
 * none, or the result of a system call, signed. COUNT: the value. TASK_EXIT: the exit code as
 * from wait(2). COMM: the new name in 16 bytes. EXEC: the same, and the serial of the profile
 * that begins, or 0. CGROUP: the id of the new control group. GROUPS: the groups that are traced
 * from here on.
 */

/* Payload of SWITCH: the owner leaves the CPU. */
struct ktau_slot_switch {
	__aligned_u64 next_serial;	/* of the task that gets it; 0: none, or hidden */
	__u32 state;			/* TASK_*, as the bits in /proc/PID/stat */
	__s16 prio;			/* as in struct ktau_rec_owner */
	__s16 next_prio;		/* -1 if hidden */
};

/* Payload of WAKING: the owner makes a task runnable. */
struct ktau_slot_waking {
	__aligned_u64 serial;		/* the task's; 0: none, or hidden */
	__u32 target_cpu;		/* whose run queue it enters */
	__s32 prio;			/* -1 if hidden */
};

/* Payload of WOKEN: the owner runs after it was woken. */
struct ktau_slot_woken {
	__aligned_u64 waker_serial;	/* or that of the interrupted task; 0: none, or hidden */
	__aligned_u64 waking_ticks;	/* when it was woken */
	__u32 target_cpu;
	__u8 waker_ctx;			/* KTAU_CTX_* */
	__u8 reserved[3];
};

/* Payload of FORK: the owner has created a task. */
struct ktau_slot_fork {
	__aligned_u64 serial;		/* the new task's */
	__aligned_u64 leader_serial;	/* its own if it is a process */
};

/* @net_flags of struct ktau_slot_net */
#define KTAU_NET_RETRANSMIT	(1U << 0)	/* NET_SEND: sent before */

/* Payload of NET_SEND and NET_RECV: a TCP segment. */
struct ktau_slot_net {
	__u8 local[16];			/* network order; IPv4 as ::ffff:a.b.c.d */
	__u8 remote[16];
	__u16 local_port;		/* a number in the byte order of the stream */
	__u16 remote_port;
	__u32 seq;
	__u32 bytes;			/* of payload */
	__u16 nr_segments;		/* on the wire */
	__u8 tcp_flags;			/* FIN 1, SYN 2, RST 4, PSH 8, ACK 16 ... */
	__u8 net_flags;			/* KTAU_NET_* */
	__u32 net_ns;			/* inode number */
	__u32 ack;			/* 0: not recorded */
};

/* Payload of KVM_ENTER and KVM_EXIT. */
struct ktau_slot_kvm {
	__u32 vcpu;			/* number of the virtual CPU */
	__u32 reason;			/* KVM_EXIT: as numbered by the architecture */
};

/*
 * Payload of KVM_CLOCK: the clock of the guest that is entered next. The guest's counter is the
 * host's counter * @tsc_ratio + @tsc_offset, modulo 2^64.
 */
struct ktau_slot_kvm_clock {
	__u32 vcpu;
	__u32 frac_bits;		/* of @tsc_ratio */
	__aligned_u64 tsc_offset;
	__aligned_u64 tsc_ratio;	/* a fixed-point number */
};

/*
 * Slots of one owner's ring, oldest first; struct ktau_slot follow.
 *
 * Positions count units of 32 bytes since the first write to the ring; a slot takes one or
 * more.
 */
struct ktau_rec_trace {
	struct ktau_rec rec;
	__aligned_u64 serial;
	__aligned_u64 first;		/* position of the first slot here */
	__aligned_u64 next;		/* position after the last slot here */
	__aligned_u64 lost;		/* positions overwritten directly before @first */
	__aligned_u64 lost_from_ticks;	/* the lost slots are not older, */
	__aligned_u64 lost_to_ticks;	/* and not newer */
	__aligned_u64 written;		/* position after the newest slot of the ring */
	__u32 ring_slots;		/* size of the ring, in units of a position */
	__u32 groups;			/* enabled for the owner, with modes */
	__u32 nr_slots;
	__u32 slots_bytes;		/* of all slots with their payloads, at most 64 KiB */
	__aligned_u64 no_room;		/* slots without room and position, so far */
};

/*
 * Last record of a stream.
 *
 * From @refused_memory_limit to @internal_errors, and from @refused_regions on, counts are
 * since boot, under the names that they have in /proc/ktau/stats.
 */
struct ktau_rec_end {
	struct ktau_rec rec;
	__aligned_u64 nr_records;	/* PROFILE and TRACE records */
	__aligned_u64 denied;		/* tasks that the reader may not see */
	__aligned_u64 vanished;		/* listed tasks that do not exist */
	__aligned_u64 stateless;	/* listed tasks without a profile or ring */
	__aligned_u64 busy;		/* tasks in an exec or at the end of their exit */
	__aligned_u64 torn;		/* owners without a consistent copy */
	__aligned_u64 cut_ticks;	/* from here on all rings are complete */
	__aligned_u64 exited_next;	/* @exited_since for those that exit later */
	__aligned_u64 exited_first;	/* @exited_seq of the oldest that is kept */
	__aligned_u64 losses_own;	/* 1: counts of the reader's own tasks; 0: of all */
	__aligned_u64 refused_memory_limit;	/* allocations */
	__aligned_u64 refused_user_limit;	/* allocations */
	__aligned_u64 refused_no_memory;	/* allocations */
	__aligned_u64 refused_no_chunk;	/* activations */
	__aligned_u64 refused_no_id;	/* activations */
	__aligned_u64 refused_no_state;	/* tasks */
	__aligned_u64 refused_descriptors;
	__aligned_u64 lost_no_ring;	/* slots: an error of KTAU */
	__aligned_u64 lost_resized;	/* slots */
	__aligned_u64 lost_evicted;	/* slots */
	__aligned_u64 evicted;		/* tasks */
	__aligned_u64 clamped;		/* durations */
	__aligned_u64 internal_errors;	/* after one, KTAU disables itself */
	__aligned_u64 missed;		/* tasks evicted without having been shown */
	__aligned_u64 refused_gone;	/* serials that GONE lacks, an upper bound */
	__aligned_u64 refused_regions;	/* changes to a region that does not exist */
	__aligned_u64 refused_functions;	/* activations of hooked functions */
	__aligned_u64 lost_no_room;	/* slots */
};

/*
 * @target: at most one of SELF, LIST, ALL and CHANGED; the others may be added.
 * CHANGED is ALL without the tasks that have not run since this descriptor's last
 * stream of ALL or CHANGED that was read to its END: a sleeping task whose switch
 * count is unchanged has an unchanged profile. For a trace it is the same as ALL.
 */
#define KTAU_TARGET_SELF	(1U << 0)	/* the thread that calls read() */
#define KTAU_TARGET_LIST	(1U << 1)	/* tids in @pids */
#define KTAU_TARGET_ALL		(1U << 2)	/* every live task */
#define KTAU_TARGET_EXITED	(1U << 3)	/* exited tasks */
#define KTAU_TARGET_EVICTED	(1U << 4)	/* the evicted sum; profile only */
#define KTAU_TARGET_CPU		(1U << 5)	/* tables of the CPUs; profile only */
#define KTAU_TARGET_CHANGED	(1U << 6)	/* live tasks that have run since */
#define KTAU_TARGET_VALID	((1U << 7) - 1)

/* @flags of struct ktau_select */
#define KTAU_SELECT_THREADS	(1U << 0)	/* SELF, LIST: all threads of the process */
#define KTAU_SELECT_CONSUME	(1U << 1)	/* trace: slots are consumed when read */
#define KTAU_SELECT_CGROUP	(1U << 2)	/* only tasks in @cgroup or below it */
#define KTAU_SELECT_UID		(1U << 3)	/* only tasks whose real user is @uid */
#define KTAU_SELECT_TAG		(1U << 4)	/* only tasks whose tag is @tag */
#define KTAU_SELECT_VALID	((1U << 5) - 1)

#define KTAU_MAX_PIDS		65536

/* Argument of KTAU_IOC_SELECT: what read() returns. */
struct ktau_select {
	__u32 size;			/* at least KTAU_SELECT_SIZE_VER0 */
	__u32 target;			/* KTAU_TARGET_* */
	__u32 flags;			/* KTAU_SELECT_* */
	__u32 nr_pids;			/* at most KTAU_MAX_PIDS; 0 unless KTAU_TARGET_LIST */
	__aligned_u64 pids;		/* address of @nr_pids __s32 */
	__aligned_u64 exited_since;	/* @exited_next of an earlier END, or 0 */
	__aligned_u64 since_ticks;	/* trace: older slots are left out */
	__aligned_u64 cgroup;		/* 0 unless KTAU_SELECT_CGROUP */
	__u32 uid;			/* 0 unless KTAU_SELECT_UID */
	__u32 tag;			/* 0 unless KTAU_SELECT_TAG */
};

#define KTAU_SELECT_SIZE_VER0	56

/* Ids of one source. */
struct ktau_id_range {
	__u32 source;			/* KTAU_SOURCE_* */
	__u32 first;			/* the lowest */
	__u32 count;			/* 0: this kernel has none */
	__u32 used;
};

/* @features of struct ktau_info */
#define KTAU_FEATURE_CGROUP	(1ULL << 0)	/* owners have control groups */
#define KTAU_FEATURE_PARANOID	(1ULL << 1)	/* kernel.ktau_paranoid */
#define KTAU_FEATURE_GROWING	(1ULL << 2)	/* rings start small and grow */
#define KTAU_FEATURE_REGIONS	(1ULL << 3)	/* KTAU_IOC_REGIONS */
#define KTAU_FEATURE_REFERENCES	(1ULL << 4)	/* KTAU_IOC_REFERENCES */

#define KTAU_INFO_RANGES	16

/* Argument of KTAU_IOC_INFO; the kernel fills in the fields that fit. */
struct ktau_info {
	__u32 size;			/* in: at least KTAU_INFO_SIZE_VER0; out: the kernel's */
	__u32 version;			/* KTAU_ABI_VERSION */
	__aligned_u64 features;		/* KTAU_FEATURE_* */
	__u32 groups_built;		/* groups that this kernel has */
	__u32 groups;			/* enabled system-wide, with modes */
	__s32 paranoid;			/* the current level, 0 to 3 */
	__u32 access;			/* KTAU_ACCESS_* of the opener */
	__u32 ring_slots;		/* to which rings grow */
	__u32 nr_ranges;
	__u8 boot_id[16];
	__aligned_u64 memory_limit_bytes;	/* 0 without KTAU_ACCESS_ALL */
	__aligned_u64 memory_bytes;	/* 0 without KTAU_ACCESS_ALL */
	__aligned_u64 user_limit_bytes;	/* the opener's share */
	__aligned_u64 user_bytes;
	struct ktau_id_range range[KTAU_INFO_RANGES];
};

#define KTAU_INFO_SIZE_VER0	344

/*
 * Argument of KTAU_IOC_REGIONS, which returns a descriptor: the calling thread maps
 * one page of it, and stores the number of its region in the first __u32.
 */
struct ktau_regions {
	__u32 size;			/* at least KTAU_REGIONS_SIZE_VER0 */
	__u32 flags;			/* 0 */
	__u32 nr_regions;		/* in: wanted, or 0; out: there are, with region 0 */
	__u32 reserved;
	__aligned_u64 serial;		/* out: the calling thread's */
};

#define KTAU_REGIONS_SIZE_VER0	24
#define KTAU_REGIONS_DEFAULT	64
#define KTAU_REGIONS_MAX	256

/* The numbers do not contain a size, because the structures begin with theirs. */
#define KTAU_IOC_SELECT		_IO(0xbd, 1)	/* const struct ktau_select * */
#define KTAU_IOC_INFO		_IO(0xbd, 2)	/* struct ktau_info * */
#define KTAU_IOC_REGIONS	_IO(0xbd, 3)	/* struct ktau_regions * */

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(KTAU_NR_GROUPS <= 16, "the modules' groups follow");
_Static_assert(sizeof(struct ktau_rec) == 8, "ktau_rec");
_Static_assert(sizeof(struct ktau_rec_stream) == 384, "ktau_rec_stream");
_Static_assert(sizeof(struct ktau_rec_event) == 40, "ktau_rec_event");
_Static_assert(sizeof(struct ktau_rec_cgroup) == 24, "ktau_rec_cgroup");
_Static_assert(sizeof(struct ktau_rec_owner) == 200, "ktau_rec_owner");
_Static_assert(sizeof(struct ktau_rec_gone) == 24, "ktau_rec_gone");
_Static_assert(sizeof(struct ktau_entry) == 64, "ktau_entry");
_Static_assert(sizeof(struct ktau_open) == 48, "ktau_open");
_Static_assert(sizeof(struct ktau_rec_profile) == 152, "ktau_rec_profile");
_Static_assert(sizeof(struct ktau_slot) == 16, "ktau_slot");
_Static_assert(sizeof(struct ktau_slot_switch) == 16, "ktau_slot_switch");
_Static_assert(sizeof(struct ktau_slot_waking) == 16, "ktau_slot_waking");
_Static_assert(sizeof(struct ktau_slot_woken) == 24, "ktau_slot_woken");
_Static_assert(sizeof(struct ktau_slot_fork) == 16, "ktau_slot_fork");
_Static_assert(sizeof(struct ktau_slot_net) == 56, "ktau_slot_net");
_Static_assert(sizeof(struct ktau_slot_kvm) == 8, "ktau_slot_kvm");
_Static_assert(sizeof(struct ktau_slot_kvm_clock) == 24, "ktau_slot_kvm_clock");
_Static_assert(sizeof(struct ktau_rec_trace) == 88, "ktau_rec_trace");
_Static_assert(sizeof(struct ktau_rec_end) == 232, "ktau_rec_end");
_Static_assert(sizeof(struct ktau_select) == KTAU_SELECT_SIZE_VER0, "ktau_select");
_Static_assert(sizeof(struct ktau_id_range) == 16, "ktau_id_range");
_Static_assert(sizeof(struct ktau_rec_region) == 40, "ktau_rec_region");
_Static_assert(sizeof(struct ktau_regions) == KTAU_REGIONS_SIZE_VER0, "ktau_regions");
_Static_assert(sizeof(struct ktau_info) == KTAU_INFO_SIZE_VER0, "ktau_info");
#endif

#endif /* _UAPI_LINUX_KTAU_H */
