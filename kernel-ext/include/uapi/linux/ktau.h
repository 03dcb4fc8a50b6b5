/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KTAU: per-task profiles and traces of kernel routines, the binary interface.
 *
 * Reading /proc/ktau/profile or /proc/ktau/trace gives a byte stream of
 * records. Every record starts with struct ktau_rec. One stream is
 *
 *	KTAU_REC_STREAM, then KTAU_REC_PROFILE or KTAU_REC_TRACE, one or more
 *	for each owner selected, then KTAU_REC_END.
 *
 * How it grows:
 *  - Structures grow at their end only and fields never change their meaning.
 *    @head in the record says how long the writer's fixed part is: a reader
 *    takes what it knows, treats what is missing as zero, and finds the
 *    arrays behind @head bytes. Elements of arrays carry their size too.
 *  - A reader skips a record whose type it does not know.
 *  - KTAU_ABI_VERSION changes only when an old reader would go wrong.
 *
 * Everything is in the byte order of the machine that wrote it; the magic
 * number of KTAU_REC_STREAM tells which one that is. The layout is the same
 * for 32- and 64-bit programs and kernels: fixed-width types, 64-bit fields
 * on 8-byte boundaries, every record a multiple of 8 bytes.
 *
 * Times are ticks of the CPU's cycle counter (rdtsc, the time base) unless
 * the name ends in _ns.
 */
#ifndef _UAPI_LINUX_KTAU_H
#define _UAPI_LINUX_KTAU_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KTAU_ABI_VERSION	1
#define KTAU_MAGIC		0x5541544bU	/* "KTAU" on little endian */

/* Groups: what can be enabled. The first nine bits are the original's. */
#define KTAU_GROUP_SYSCALL	(1U << 0)
#define KTAU_GROUP_IRQ		(1U << 1)
#define KTAU_GROUP_BH		(1U << 2)
#define KTAU_GROUP_SCHED	(1U << 3)
#define KTAU_GROUP_EXCEPTION	(1U << 4)
#define KTAU_GROUP_SIGNAL	(1U << 5)
#define KTAU_GROUP_SOCKET	(1U << 6)
#define KTAU_GROUP_TCP		(1U << 7)
#define KTAU_GROUP_ICMP		(1U << 8)
#define KTAU_GROUP_WAIT		(1U << 9)	/* functions in which tasks sleep or spin */
#define KTAU_GROUP_FUNC		(1U << 10)	/* functions hooked at run time */
#define KTAU_GROUP_USER		(1U << 11)	/* regions of programs */
#define KTAU_GROUP_KVM		(1U << 12)	/* guest mode */
#define KTAU_GROUP_ACCOUNT	(1U << 13)	/* user-to-kernel transitions */
#define KTAU_NR_GROUPS		14
#define KTAU_GROUP_ALL		((1U << KTAU_NR_GROUPS) - 1)

/* Modes, independent of each other. */
#define KTAU_MODE_PROFILE	(1U << 30)
#define KTAU_MODE_TRACE		(1U << 31)

/*
 * Event ids index a table of KTAU_NR_IDS. System calls of the native ABI have
 * their own number; then come the points known when the kernel is built; the
 * rest is given out in the order of first execution and kept until reboot.
 */
#define KTAU_ID_SYSCALL		0
#define KTAU_ID_STATIC		512
#define KTAU_ID_DYNAMIC		640
#define KTAU_NR_IDS		1024

/* Kinds of events. */
#define KTAU_KIND_TIMER		0	/* enter and exit */
#define KTAU_KIND_COUNTER	1	/* values: count, sum, minimum, maximum */

/* Record types. Files of user space use types from KTAU_REC_USER on. */
#define KTAU_REC_STREAM		1
#define KTAU_REC_PROFILE	2
#define KTAU_REC_TRACE		3
#define KTAU_REC_END		4
#define KTAU_REC_USER		0x8000

/**
 * struct ktau_rec - what every record starts with
 * @size: bytes of the whole record, this header included; a multiple of 8
 * @type: KTAU_REC_*
 * @head: bytes of the fixed part, this header included; arrays follow it
 */
struct ktau_rec {
	__u32 size;
	__u16 type;
	__u16 head;
};

/* @clock_flags of struct ktau_rec_stream */
#define KTAU_CLOCK_STABLE	(1U << 0)	/* constant rate, in step on all CPUs */

/**
 * struct ktau_rec_stream - first record of a stream
 * @rec: type KTAU_REC_STREAM
 * @magic: KTAU_MAGIC; reads as 0x4b544155 where the byte order is the other one
 * @version: KTAU_ABI_VERSION
 * @word_bits: 32 or 64, the kernel's
 * @pad: 0
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE, what the stream is made of
 * @target: KTAU_TARGET_* bits that were asked for
 * @groups: groups on system-wide when the stream began
 * @modes: KTAU_MODE_* bits on system-wide
 * @clock_hz: ticks a second; 0 where the kernel does not know
 * @clock_flags: KTAU_CLOCK_*
 * @nr_cpus: number of possible CPUs
 * @ticks: cycle counter when the stream began
 * @realtime_ns: CLOCK_REALTIME of the same moment
 * @monotonic_ns: CLOCK_MONOTONIC of the same moment
 * @boot_ticks: cycle counter when KTAU started in this boot
 * @boot_realtime_ns: CLOCK_REALTIME of that moment
 * @boot_monotonic_ns: CLOCK_MONOTONIC of that moment
 * @stext: address of _stext in this boot; 0 to a reader who may not see it
 * @profile_pair_mticks: cost of profiling one enter + exit, 1/1000 tick,
 *	measured at boot
 * @trace_pair_mticks: the same with profile and trace
 * @dead_next: number that the next task to die will get (see @dead_seq)
 */
struct ktau_rec_stream {
	struct ktau_rec rec;
	__u32 magic;
	__u16 version;
	__u8 word_bits;
	__u8 pad;
	__u32 content;
	__u32 target;
	__u32 groups;
	__u32 modes;
	__aligned_u64 clock_hz;
	__u32 clock_flags;
	__u32 nr_cpus;
	__aligned_u64 ticks;
	__aligned_u64 realtime_ns;
	__aligned_u64 monotonic_ns;
	__aligned_u64 boot_ticks;
	__aligned_u64 boot_realtime_ns;
	__aligned_u64 boot_monotonic_ns;
	__aligned_u64 stext;
	__aligned_u64 profile_pair_mticks;
	__aligned_u64 trace_pair_mticks;
	__aligned_u64 dead_next;
};

/* Owners: whose table or ring a record shows. */
#define KTAU_OWNER_TASK		0	/* a live task; each CPU's idle task has tid 0 */
#define KTAU_OWNER_DEAD		1	/* a task that has exited */
#define KTAU_OWNER_CPU		2	/* a CPU: interrupts and softirqs by line */
#define KTAU_OWNER_REAPED	3	/* sum of the dead that were dropped */

/* @flags of struct ktau_owner */
#define KTAU_OWNER_IDLE		(1U << 0)	/* an idle task */
#define KTAU_OWNER_KTHREAD	(1U << 1)	/* a kernel thread */

/**
 * struct ktau_owner - whose data follows
 * @serial: unique in this boot for each task, never used again; 0 for
 *	KTAU_OWNER_CPU and KTAU_OWNER_REAPED
 * @kind: KTAU_OWNER_TASK and so on
 * @flags: KTAU_OWNER_IDLE, KTAU_OWNER_KTHREAD
 * @tid: thread id in the reader's pid namespace, 0 where it has none there
 * @tgid: process id, likewise
 * @ppid: process id of the parent, likewise
 * @cpu: the CPU for KTAU_OWNER_CPU and idle tasks, else the CPU last run on
 * @uid: real user id in the reader's user namespace
 * @exit_code: as wait(2) gives it, for KTAU_OWNER_DEAD
 * @start_ns: CLOCK_BOOTTIME when the task was created
 * @exit_ns: CLOCK_BOOTTIME when it exited, for KTAU_OWNER_DEAD, else 0
 * @dead_seq: how many tasks had died before it, for KTAU_OWNER_DEAD; for
 *	KTAU_OWNER_REAPED all dead below this number have been summed up
 * @utime_ns: CPU time in user mode
 * @stime_ns: CPU time in the kernel
 * @comm: name of the task, zero-terminated
 */
struct ktau_owner {
	__aligned_u64 serial;
	__u32 kind;
	__u32 flags;
	__s32 tid;
	__s32 tgid;
	__s32 ppid;
	__u32 cpu;
	__u32 uid;
	__s32 exit_code;
	__aligned_u64 start_ns;
	__aligned_u64 exit_ns;
	__aligned_u64 dead_seq;
	__aligned_u64 utime_ns;
	__aligned_u64 stime_ns;
	char comm[16];
};

/**
 * struct ktau_entry - one event of a profile
 * @id: event id
 * @kind: KTAU_KIND_*
 * @count: timer: activations ended; counter: values
 * @incl: timer: inclusive ticks, outermost activations only
 * @excl: timer: exclusive ticks of all activations
 * @sum: counter: sum of the values
 * @min: counter: smallest value
 * @max: counter: largest value; timer: 0
 */
struct ktau_entry {
	__u32 id;
	__u32 kind;
	__aligned_u64 count;
	union {
		__aligned_u64 incl;
		__aligned_u64 sum;
	};
	union {
		__aligned_u64 excl;
		__aligned_u64 min;
	};
	__aligned_u64 max;
};

/**
 * struct ktau_open - one frame in flight
 * @id: event id
 * @flags: 0
 * @start_ticks: when it was entered
 * @child_ticks: duration of the frames directly inside that have ended
 */
struct ktau_open {
	__u32 id;
	__u32 flags;
	__aligned_u64 start_ticks;
	__aligned_u64 child_ticks;
};

/**
 * struct ktau_rec_profile - a snapshot: the profile of one owner
 * @rec: type KTAU_REC_PROFILE
 * @owner: whose
 * @ticks: when the copy was made
 * @outer_ticks: sum of the durations of all outermost frames that have ended
 * @open_child_ticks: sum of child_ticks over all frames in flight, those that
 *	are not listed included
 * @refused: activations that found no room in the table
 * @refused_ticks: their exclusive time
 * @clamped: durations that came out negative and were set to 0
 * @groups: groups and modes that are on for this task
 * @nr_entries: number of struct ktau_entry behind the fixed part
 * @entry_size: bytes of one of them
 * @nr_open: number of struct ktau_open behind the entries, innermost first
 * @open_size: bytes of one of them
 * @depth: number of frames in flight; more than @nr_open where the list was cut
 *
 * In every snapshot, whatever happens while it is taken:
 *
 *	sum of excl + refused_ticks = outer_ticks + open_child_ticks
 *
 * The frames of a CPU nest in those of tasks and theirs in its own: its
 * @outer_ticks are the durations of all of them, without what lies directly
 * inside of each.
 */
struct ktau_rec_profile {
	struct ktau_rec rec;
	struct ktau_owner owner;
	__aligned_u64 ticks;
	__aligned_u64 outer_ticks;
	__aligned_u64 open_child_ticks;
	__aligned_u64 refused;
	__aligned_u64 refused_ticks;
	__aligned_u64 clamped;
	__u32 groups;
	__u32 nr_entries;
	__u32 entry_size;
	__u32 nr_open;
	__u32 open_size;
	__u32 depth;
};

/* Types of trace slots. */
#define KTAU_TRACE_ENTER	1	/* @arg: 0 */
#define KTAU_TRACE_EXIT		2	/* @arg: 0 */
#define KTAU_TRACE_COUNT	3	/* @arg: the value */
#define KTAU_TRACE_SWITCH	4	/* @arg: next tid | state of the owner << 32 */
#define KTAU_TRACE_WAKEUP	5	/* @arg: tid woken | its CPU << 32 */
#define KTAU_TRACE_FORK		6	/* @arg: tid of the child | its tgid << 32 */
#define KTAU_TRACE_EXEC		7	/* 1 more slot: the new name */
#define KTAU_TRACE_TASK_EXIT	8	/* @arg: exit code */
#define KTAU_TRACE_NET_SEND	9	/* 2 more slots: struct ktau_trace_net */
#define KTAU_TRACE_NET_RECV	10	/* 2 more slots: struct ktau_trace_net */
#define KTAU_TRACE_MORE		255	/* continues the slot before it */

/* Context that a slot was written in. */
#define KTAU_CTX_TASK		0
#define KTAU_CTX_SOFTIRQ	1
#define KTAU_CTX_HARDIRQ	2
#define KTAU_CTX_NMI		3	/* not written: nothing is measured there */

/**
 * struct ktau_slot - one place of the ring
 * @ticks: when
 * @arg: by type, above
 * @id: event id for ENTER, EXIT and COUNT, else 0
 * @type: KTAU_TRACE_*
 * @ctx: KTAU_CTX_*
 * @cpu: where
 * @more: how many KTAU_TRACE_MORE slots belong to this one and follow it
 */
struct ktau_slot {
	__aligned_u64 ticks;
	__aligned_u64 arg;
	__u16 id;
	__u8 type;
	__u8 ctx;
	__u16 cpu;
	__u16 more;
};

/**
 * struct ktau_slot_more - a place that continues the one before it
 * @data: two words; their meaning is that of the leading slot's type
 * @small: 16 more bits
 * @type: KTAU_TRACE_MORE
 * @index: 1 for the first one behind the leading slot
 * @small2: 32 more bits
 *
 * EXEC: @data is the name, 16 bytes, zero-terminated.
 * NET_SEND, NET_RECV: the leading slot's @arg is the TCP sequence number |
 * length of the payload in bytes << 32. The first further slot has the local
 * address in @data, the second one the remote address: 16 bytes in network
 * order, IPv4 as ::ffff:a.b.c.d. @small is the port of that end in host order.
 */
struct ktau_slot_more {
	__aligned_u64 data[2];
	__u16 small;
	__u8 type;
	__u8 index;
	__u32 small2;
};

/**
 * struct ktau_rec_trace - slots of one owner's ring, oldest first
 * @rec: type KTAU_REC_TRACE
 * @owner: whose
 * @first: number of the first slot here, counted from the ring's first write
 * @lost: slots overwritten before they were read, directly before @first
 * @lost_from_ticks: those are not older than this
 * @lost_to_ticks: and not newer than this
 * @written: slots ever written to the ring
 * @ring_slots: size of the ring
 * @groups: groups and modes that are on for this task
 * @nr_slots: number of struct ktau_slot behind the fixed part
 * @slot_size: bytes of one of them
 *
 * A ring too large for one record comes in several, in order.
 */
struct ktau_rec_trace {
	struct ktau_rec rec;
	struct ktau_owner owner;
	__aligned_u64 first;
	__aligned_u64 lost;
	__aligned_u64 lost_from_ticks;
	__aligned_u64 lost_to_ticks;
	__aligned_u64 written;
	__u32 ring_slots;
	__u32 groups;
	__u32 nr_slots;
	__u32 slot_size;
};

/**
 * struct ktau_rec_end - last record of a stream
 * @rec: type KTAU_REC_END
 * @nr_records: records of owners in this stream
 * @refused: tasks left out because the reader may not see them
 * @vanished: tasks of a list that were not found
 * @busy: tasks left out because they were in the middle of an exec
 * @torn: tasks left out because no quiet moment was found to copy them
 * @cut_ticks: the common cut: from this time on all rings of this stream are
 *	complete
 * @dead_next: what to give as @dead_since to see only tasks that die later
 * @lost_reaped: slots, in this boot, of tasks that were summed up or forgotten
 *	before any reader had taken them
 */
struct ktau_rec_end {
	struct ktau_rec rec;
	__aligned_u64 nr_records;
	__aligned_u64 refused;
	__aligned_u64 vanished;
	__aligned_u64 busy;
	__aligned_u64 torn;
	__aligned_u64 cut_ticks;
	__aligned_u64 dead_next;
	__aligned_u64 lost_reaped;
};

/*
 * @target: at most one of SELF, LIST, ALL and CHANGED; the others may be added.
 * CHANGED is ALL without the tasks that have not run since this descriptor's last
 * stream of ALL or CHANGED that was read to its END: their profiles are as they
 * were. Of a trace, which has what is new anyway, it is the same as ALL.
 */
#define KTAU_TARGET_SELF	(1U << 0)	/* the calling thread */
#define KTAU_TARGET_LIST	(1U << 1)	/* tids in @pids */
#define KTAU_TARGET_ALL		(1U << 2)	/* every live task */
#define KTAU_TARGET_DEAD	(1U << 3)	/* the queue of the dead */
#define KTAU_TARGET_REAPED	(1U << 4)	/* sum of the dead dropped from it */
#define KTAU_TARGET_CPU		(1U << 5)	/* tables of the CPUs */
#define KTAU_TARGET_CHANGED	(1U << 6)	/* every live task that has run since */
#define KTAU_TARGET_VALID	((1U << 7) - 1)

/* @flags of struct ktau_select */
#define KTAU_SELECT_THREADS	(1U << 0)	/* @pids, SELF: all threads of the process */
#define KTAU_SELECT_PEEK	(1U << 1)	/* trace: do not consume what is read */
#define KTAU_SELECT_VALID	((1U << 2) - 1)

#define KTAU_MAX_PIDS		65536

/**
 * struct ktau_select - argument of KTAU_IOC_SELECT
 * @size: sizeof(struct ktau_select) of the caller
 * @version: KTAU_ABI_VERSION
 * @target: KTAU_TARGET_*
 * @flags: KTAU_SELECT_*
 * @pids: address of @nr_pids __s32, any order, in the caller's pid namespace
 * @nr_pids: at most KTAU_MAX_PIDS; 0 unless KTAU_TARGET_LIST
 * @reserved: 0
 * @dead_since: of the dead, only those whose @dead_seq is not below this
 *
 * Chooses what read() gives and starts a new stream. Without it, a first
 * read() gives everything: ALL, DEAD, REAPED and CPU. read() returns 0 behind
 * KTAU_REC_END; the next stream is started by KTAU_IOC_SELECT or by lseek() to 0.
 * Any size of buffer does; records are cut where the buffer ends.
 *
 * Errors: E2BIG (fields unknown to this kernel are not zero, too many pids),
 * EINVAL (size, version, target, flags, reserved), EFAULT, ENOMEM.
 */
struct ktau_select {
	__u32 size;
	__u32 version;
	__u32 target;
	__u32 flags;
	__aligned_u64 pids;
	__u32 nr_pids;
	__u32 reserved;
	__aligned_u64 dead_since;
};

#define KTAU_IOC_SELECT		_IOW(0xbd, 1, struct ktau_select)

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct ktau_rec) == 8, "ktau_rec");
_Static_assert(sizeof(struct ktau_rec_stream) == 128, "ktau_rec_stream");
_Static_assert(sizeof(struct ktau_owner) == 96, "ktau_owner");
_Static_assert(sizeof(struct ktau_entry) == 40, "ktau_entry");
_Static_assert(sizeof(struct ktau_open) == 24, "ktau_open");
_Static_assert(sizeof(struct ktau_rec_profile) == 176, "ktau_rec_profile");
_Static_assert(sizeof(struct ktau_slot) == 24, "ktau_slot");
_Static_assert(sizeof(struct ktau_slot_more) == 24, "ktau_slot_more");
_Static_assert(sizeof(struct ktau_rec_trace) == 160, "ktau_rec_trace");
_Static_assert(sizeof(struct ktau_rec_end) == 72, "ktau_rec_end");
_Static_assert(sizeof(struct ktau_select) == 40, "ktau_select");
#endif

#endif /* _UAPI_LINUX_KTAU_H */
