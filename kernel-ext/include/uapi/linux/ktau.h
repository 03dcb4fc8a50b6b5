/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KTAU: the binary interface of /proc/ktau/profile and /proc/ktau/trace.
 *
 * A reader opens one of the two files, optionally selects what it wants with
 * KTAU_IOC_SELECT, and reads until read() returns 0. The result is one stream:
 *
 *	STREAM  (EVENT | CGROUP | OWNER | PROFILE | REGION | TRACE | GONE)...  END
 *
 * Rules:
 *
 *  - The byte order is that of the machine that wrote the stream; the magic number in
 *    STREAM reveals it. The layout is the same for 32-bit and 64-bit kernels and
 *    programs: types have fixed widths, 64-bit fields are on 8-byte boundaries, and the
 *    size of every record is a multiple of 8 bytes.
 *  - A structure only grows at its end. Each record gives the length of its fixed part
 *    (@head), and each array of structures or serials the length of its elements. A
 *    reader uses the fields it knows, takes missing ones as zero, and skips the rest. It
 *    also skips record types, slot types, entry kinds, owner kinds and groups that it
 *    does not know; none of these is an error.
 *  - A structure passed to ioctl() begins with its size. If it is shorter than the
 *    kernel's, the missing fields are taken as zero. If it is longer, the part that the
 *    kernel does not know must be zero; otherwise the call fails with E2BIG.
 *  - Records refer to each other by number. EVENT describes an event id, OWNER a serial
 *    and CGROUP a control group; each comes before the first record of the stream that
 *    refers to it. EVENT and CGROUP come once per stream for each id.
 *  - Times are ticks of the CPU's cycle counter (rdtsc, the time base) unless the name
 *    ends in _ns.
 *
 * Terms used here and in /proc/ktau/stats:
 *
 *	refused	KTAU had no room: an activation, a task, an id or a descriptor was not
 *		recorded
 *	lost	trace slots that can no longer be read
 *	denied	tasks left out because the reader may not see them
 *	evicted	exited tasks that are kept only as part of a sum
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

/**
 * struct ktau_rec - header of every record
 * @size: bytes of the whole record, this header included; a multiple of 8
 * @type: KTAU_REC_*
 * @head: bytes of the fixed part, this header included; arrays and strings follow it
 */
struct ktau_rec {
	__u32 size;
	__u16 type;
	__u16 head;
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

/**
 * struct ktau_rec_stream - first record of a stream
 * @rec: type KTAU_REC_STREAM
 * @magic: KTAU_MAGIC; reads as 0x4b544155 in the other byte order
 * @version: KTAU_ABI_VERSION
 * @word_bits: word size of the kernel, 32 or 64
 * @origin: KTAU_ORIGIN_*
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE: the contents of the stream
 * @target: requested KTAU_TARGET_* bits
 * @flags: requested KTAU_SELECT_* bits
 * @access: KTAU_ACCESS_* of the reader
 * @groups: groups enabled system-wide when the stream began
 * @groups_built: groups that this kernel has
 * @modes: KTAU_MODE_* bits enabled system-wide
 * @round_ns: times of PROFILE are rounded down to multiples of this; 0 if exact
 * @clock_hz: ticks per second; 0 if the kernel does not know
 * @clock_flags: KTAU_CLOCK_*
 * @nr_cpus: number of possible CPUs
 * @ticks: cycle counter when the stream began
 * @realtime_ns: CLOCK_REALTIME of the same moment
 * @monotonic_ns: CLOCK_MONOTONIC of the same moment
 * @boottime_ns: CLOCK_BOOTTIME of the same moment
 * @tai_ns: CLOCK_TAI of the same moment
 * @boot_ticks: cycle counter when KTAU started in this boot
 * @boot_realtime_ns: CLOCK_REALTIME of that moment
 * @boot_monotonic_ns: CLOCK_MONOTONIC of that moment
 * @since_ticks: @since_ticks of struct ktau_select
 * @exited_next: the next @exited_seq to be assigned
 * @stext: address of _stext in this boot; 0 without KTAU_ACCESS_ADDRESSES
 * @profile_pair_mticks: cost of profiling one enter and exit in 1/1000 tick, measured at
 *	boot
 * @trace_pair_mticks: the same with profile and trace
 * @boot_id: /proc/sys/kernel/random/boot_id as 16 bytes
 * @nodename: as reported by uname(2) in the opener's UTS namespace
 * @release: the kernel's release, likewise
 * @machine: the machine, likewise
 * @cpu_pair_mticks: like @profile_pair_mticks, for an interrupt or softirq
 * @call_pair_mticks: likewise for a callback, or another event in the second level of
 *	the table
 * @switch_mticks: likewise for a context switch with its wakeup
 * @exited_since: @exited_since of struct ktau_select
 *
 * Clocks are those of the initial time namespace, except that @monotonic_ns, @boottime_ns
 * and @boot_monotonic_ns include the offsets of the opener's time namespace.
 */
struct ktau_rec_stream {
	struct ktau_rec rec;
	__u32 magic;
	__u16 version;
	__u8 word_bits;
	__u8 origin;
	__u32 content;
	__u32 target;
	__u32 flags;
	__u32 access;
	__u32 groups;
	__u32 groups_built;
	__u32 modes;
	__u32 round_ns;
	__aligned_u64 clock_hz;
	__u32 clock_flags;
	__u32 nr_cpus;
	__aligned_u64 ticks;
	__aligned_u64 realtime_ns;
	__aligned_u64 monotonic_ns;
	__aligned_u64 boottime_ns;
	__aligned_u64 tai_ns;
	__aligned_u64 boot_ticks;
	__aligned_u64 boot_realtime_ns;
	__aligned_u64 boot_monotonic_ns;
	__aligned_u64 since_ticks;
	__aligned_u64 exited_next;
	__aligned_u64 stext;
	__aligned_u64 profile_pair_mticks;
	__aligned_u64 trace_pair_mticks;
	__u8 boot_id[16];
	char nodename[72];
	char release[72];
	char machine[24];
	__aligned_u64 cpu_pair_mticks;
	__aligned_u64 call_pair_mticks;
	__aligned_u64 switch_mticks;
	__aligned_u64 exited_since;
};

/**
 * struct ktau_rec_event - description of an event id
 * @rec: type KTAU_REC_EVENT
 * @id: event id
 * @kind: KTAU_KIND_*
 * @source: KTAU_SOURCE_*
 * @group: KTAU_GROUP_*, one bit
 * @address: address of the function, 0 if there is none or without KTAU_ACCESS_ADDRESSES
 * @key: depends on @source; 0 if it is an address that the reader may not see
 * @name_bytes: size of the name in bytes, including the final NUL
 * @reserved: 0
 *
 * The name follows, terminated by NUL and padded with zeros to a multiple of 8 bytes. It
 * was resolved when the id was assigned. The name of an interrupt line is
 * irq:LINE:HANDLER.
 */
struct ktau_rec_event {
	struct ktau_rec rec;
	__u16 id;
	__u8 kind;
	__u8 source;
	__u32 group;
	__aligned_u64 address;
	__aligned_u64 key;
	__u32 name_bytes;
	__u32 reserved;
};

/**
 * struct ktau_rec_cgroup - description of a control group's id
 * @rec: type KTAU_REC_CGROUP
 * @id: its id in the default hierarchy
 * @path_bytes: size of the path in bytes, including the final NUL
 * @reserved: 0
 *
 * The path in the opener's cgroup namespace follows, terminated by NUL and padded with
 * zeros to a multiple of 8 bytes. It is empty if the group has been removed.
 */
struct ktau_rec_cgroup {
	struct ktau_rec rec;
	__aligned_u64 id;
	__u32 path_bytes;
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

/**
 * struct ktau_rec_owner - the owner of the records that follow, or a task that a slot
 * refers to
 * @rec: type KTAU_REC_OWNER
 * @serial: unique in this boot for each owner, never reused
 * @parent_serial: serial of the leader of its parent process, 0 if that has none, or
 *	belongs to another real user and the reader lacks KTAU_ACCESS_ALL
 * @leader_serial: serial of the leader of its thread group, 0 if that has none
 * @kind: KTAU_OWNER_TASK and so on
 * @flags: KTAU_OWNER_IDLE and so on
 * @tid: thread id in the opener's pid namespace, 0 if it has none there
 * @tgid: process id, likewise
 * @ppid: process id of the parent, likewise
 * @cpu: the CPU for KTAU_OWNER_CPU and idle tasks, else the CPU last run on
 * @uid: real user id in the opener's user namespace
 * @gid: real group id, likewise
 * @prio: priority as used by the scheduler: -1 deadline, 0 to 99 real-time, 100 to 139
 *	normal
 * @policy: SCHED_*
 * @exit_code: as returned by wait(2), for KTAU_OWNER_EXITED; 0 if an exec ended the
 *	profile
 * @tag: set through /proc/ktau/control and inherited at fork; 0 means none
 * @start_ns: CLOCK_BOOTTIME when the task was created, with the offset of the opener's
 *	time namespace
 * @exec_ns: likewise for its last exec since KTAU was enabled, 0 if there was none
 * @exit_ns: likewise for its exit, or for the exec that ended the profile; 0 unless
 *	KTAU_OWNER_EXITED
 * @exited_seq: for KTAU_OWNER_EXITED: a number that grows with every exit; a record that
 *	a thread is folded into gets a new one. For KTAU_OWNER_EVICTED: no exited task
 *	below this number is kept
 * @nr_tasks: number of tasks in this record: 1 for a task, 1 and the folded threads with
 *	KTAU_OWNER_FOLDED, the number of evicted tasks for KTAU_OWNER_EVICTED
 * @utime_ns: CPU time in user mode, as in /proc/PID/stat
 * @stime_ns: CPU time in the kernel, likewise
 * @nvcsw: voluntary context switches
 * @nivcsw: involuntary context switches
 * @migrations: number of migrations between CPUs
 * @cgroup: id of its control group in the default hierarchy, 0 if unknown
 * @pid_ns: inode number of its pid namespace
 * @net_ns: inode number of its network namespace, 0 if it has left it
 * @comm: name of the task, terminated by NUL
 * @path_bytes: size of the program's path in bytes, including the final NUL; 0 if
 *	unknown
 * @reserved: 0
 *
 * The path of the program follows, terminated by NUL and padded with zeros to a multiple
 * of 8 bytes.
 */
struct ktau_rec_owner {
	struct ktau_rec rec;
	__aligned_u64 serial;
	__aligned_u64 parent_serial;
	__aligned_u64 leader_serial;
	__u32 kind;
	__u32 flags;
	__s32 tid;
	__s32 tgid;
	__s32 ppid;
	__u32 cpu;
	__u32 uid;
	__u32 gid;
	__s32 prio;
	__u32 policy;
	__s32 exit_code;
	__u32 tag;
	__aligned_u64 start_ns;
	__aligned_u64 exec_ns;
	__aligned_u64 exit_ns;
	__aligned_u64 exited_seq;
	__aligned_u64 nr_tasks;
	__aligned_u64 utime_ns;
	__aligned_u64 stime_ns;
	__aligned_u64 nvcsw;
	__aligned_u64 nivcsw;
	__aligned_u64 migrations;
	__aligned_u64 cgroup;
	__u32 pid_ns;
	__u32 net_ns;
	char comm[16];
	__u32 path_bytes;
	__u32 reserved;
};

/**
 * struct ktau_rec_gone - owners that are now part of others
 * @rec: type KTAU_REC_GONE
 * @nr_serials: number of serials after the fixed part
 * @serial_bytes: size of each in bytes: 8
 * @nr_folded: the first @nr_folded were folded, the others were evicted
 * @reserved: 0
 *
 * Serials of tasks that this stream or earlier ones of the descriptor have shown, and
 * that have since exited and been folded or evicted. Their counts are part of a
 * KTAU_OWNER_FOLDED record or of the evicted sum in this stream, so a reader that adds up
 * owners must drop them. The record follows the exited tasks and the evicted sum, if
 * there are any. A stream without the evicted sum does not list evicted tasks.
 */
struct ktau_rec_gone {
	struct ktau_rec rec;
	__u32 nr_serials;
	__u32 serial_bytes;
	__u32 nr_folded;
	__u32 reserved;
};

/* @flags of struct ktau_entry: which of the last four fields are measured */
#define KTAU_ENTRY_LONGEST	(1U << 0)
#define KTAU_ENTRY_ASLEEP	(1U << 1)
#define KTAU_ENTRY_RUNQ		(1U << 2)
#define KTAU_ENTRY_IRQ		(1U << 3)

/**
 * struct ktau_entry - one event of a profile
 * @id: event id
 * @kind: KTAU_KIND_*
 * @flags: KTAU_ENTRY_*
 * @reserved: 0
 * @count: timer: activations that have ended; counter: values
 * @incl: timer: inclusive ticks, outermost activations only
 * @excl: timer: exclusive ticks of all activations
 * @longest: timer: duration of the longest activation
 * @sum: counter: sum of the values
 * @min: counter: smallest value
 * @max: counter: largest value
 * @asleep: timer: ticks asleep inside its activations
 * @runq: timer: ticks runnable without a CPU inside its activations
 * @irq: timer: ticks in interrupts inside its activations
 */
struct ktau_entry {
	__u16 id;
	__u8 kind;
	__u8 flags;
	__u32 reserved;
	__aligned_u64 count;
	union {
		__aligned_u64 incl;
		__aligned_u64 sum;
	};
	union {
		__aligned_u64 excl;
		__aligned_u64 min;
	};
	union {
		__aligned_u64 longest;
		__aligned_u64 max;
	};
	__aligned_u64 asleep;
	__aligned_u64 runq;
	__aligned_u64 irq;
};

/**
 * struct ktau_open - one open frame
 * @id: event id
 * @flags: 0
 * @start_ticks: when it was entered
 * @child_ticks: duration of the frames directly inside that have ended
 * @asleep_ticks: ticks asleep inside it so far, like @asleep of struct ktau_entry for
 *	frames that have ended
 * @runq_ticks: likewise, runnable without a CPU
 * @irq_ticks: likewise, in interrupts
 */
struct ktau_open {
	__u32 id;
	__u32 flags;
	__aligned_u64 start_ticks;
	__aligned_u64 child_ticks;
	__aligned_u64 asleep_ticks;
	__aligned_u64 runq_ticks;
	__aligned_u64 irq_ticks;
};

/**
 * struct ktau_rec_profile - a snapshot: the profile of one owner
 * @rec: type KTAU_REC_PROFILE
 * @serial: serial of the owner
 * @ticks: when the copy was made
 * @outer_ticks: sum of the durations of all outermost frames that have ended
 * @open_child_ticks: sum of child_ticks over all open frames, including those that are
 *	not listed
 * @refused: activations for which the table had no room
 * @refused_ticks: their exclusive time
 * @clamped: durations shorter than the frames inside, set to the sum of those
 * @start_ticks: when the profile began: at fork, when KTAU gave the task a profile, or
 *	at an exec that ended the previous one
 * @groups: groups and modes enabled for the owner now
 * @groups_throughout: groups that have been enabled for the owner without interruption
 *	since @start_ticks or @since_ticks of the stream, whichever is later
 * @nr_entries: number of struct ktau_entry after the fixed part, in ascending order of
 *	their ids
 * @entry_size: size of each in bytes
 * @nr_open: number of struct ktau_open after the entries, innermost first
 * @open_size: size of each in bytes
 * @depth: number of open frames; more than @nr_open if the list was cut
 * @reserved: 0
 * @user_ticks: in user mode
 * @kernel_ticks: in the kernel, without the other five. For a CPU: running tasks other
 *	than the idle task
 * @irq_ticks: in interrupts, and in softirqs at the end of one
 * @runq_ticks: runnable without a CPU
 * @asleep_ticks: waiting for something. For a CPU: idle
 * @guest_ticks: in guest mode
 *
 * The account: the last six fields are parts of the owner's lifetime, from @start_ticks
 * to @ticks. Each is measured independently and includes what is in progress at @ticks. The
 * difference between @ticks - @start_ticks and their sum was not measured. A part is
 * measured only while its groups are enabled: KTAU_GROUP_ACCOUNT for @user_ticks and
 * @kernel_ticks, KTAU_GROUP_SCHED for @runq_ticks and @asleep_ticks, KTAU_GROUP_IRQ and
 * KTAU_GROUP_BH for @irq_ticks, KTAU_GROUP_KVM for @guest_ticks. If one of them is not in
 * @groups_throughout, its parts and @kernel_ticks do not cover the whole lifetime. For an
 * exited task, @ticks is the time of its exit. The record of folded tasks has the sums of
 * all of them, but @start_ticks and @ticks of only one. The evicted sum has the sums of
 * its tasks, but no lifetime: @start_ticks is 0.
 *
 * In every snapshot, whatever happens while it is taken:
 *
 *	sum of excl + refused_ticks = outer_ticks + open_child_ticks
 *
 * A CPU accounts only the frames of interrupts, softirqs and their callbacks; other
 * frames inside them are part of their exclusive time. If times are rounded, the identity
 * holds for the rounded values.
 */
struct ktau_rec_profile {
	struct ktau_rec rec;
	__aligned_u64 serial;
	__aligned_u64 ticks;
	__aligned_u64 outer_ticks;
	__aligned_u64 open_child_ticks;
	__aligned_u64 refused;
	__aligned_u64 refused_ticks;
	__aligned_u64 clamped;
	__aligned_u64 start_ticks;
	__u32 groups;
	__u32 groups_throughout;
	__u32 nr_entries;
	__u32 entry_size;
	__u32 nr_open;
	__u32 open_size;
	__u32 depth;
	__u32 reserved;
	__aligned_u64 user_ticks;
	__aligned_u64 kernel_ticks;
	__aligned_u64 irq_ticks;
	__aligned_u64 runq_ticks;
	__aligned_u64 asleep_ticks;
	__aligned_u64 guest_ticks;
};

/**
 * struct ktau_rec_region - what the kernel did for one region of a program
 * @rec: type KTAU_REC_REGION
 * @serial: the owner's, that of the PROFILE before
 * @region: number that the thread had stored in its page; 0: see @refused
 * @nr_entries: number of struct ktau_entry after the fixed part, in the order of their
 *	ids; of their times only @incl, @excl and @longest are measured
 * @entry_size: size of each in bytes
 * @reserved: 0
 * @refused: activations of the region for which there was no room. In region 0: changes
 *	to a number that the thread does not have
 *
 * The PROFILE includes all of it. What the PROFILE has beyond the sum of its regions
 * happened outside of all of them.
 */
struct ktau_rec_region {
	struct ktau_rec rec;
	__aligned_u64 serial;
	__u32 region;
	__u32 nr_entries;
	__u32 entry_size;
	__u32 reserved;
	__aligned_u64 refused;
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

/* Context in which a slot was written. */
#define KTAU_CTX_TASK		0
#define KTAU_CTX_SOFTIRQ	1
#define KTAU_CTX_HARDIRQ	2
#define KTAU_CTX_NMI		3	/* not written: NMIs are not traced */

/**
 * struct ktau_slot - one event of a trace
 * @ticks: when
 * @id: event id for ENTER, EXIT and COUNT, else KTAU_ID_NONE
 * @type: KTAU_TRACE_*
 * @words: size of this slot in units of 8 bytes, including these 16 bytes
 * @cpu: CPU
 * @ctx: KTAU_CTX_*
 * @flags: 0
 *
 * @words - 2 words of payload follow. Missing words are zero; readers skip further words
 * that they do not know.
 */
struct ktau_slot {
	__aligned_u64 ticks;
	__u16 id;
	__u8 type;
	__u8 words;
	__u16 cpu;
	__u8 ctx;
	__u8 flags;
};

/*
 * Payloads. ENTER: none, or the faulting address of a page fault as one word. EXIT: none,
 * or the result of a system call as one signed word. CALL: the duration in ticks, then like
 * EXIT; @ticks is the time of the enter. COUNT: the value. TASK_EXIT: the exit code as
 * returned by wait(2). COMM: the new name in 16 bytes. EXEC: likewise, followed by the
 * serial of the new profile if the exec ended the previous one, else 0. CGROUP: the id of
 * the new control group. GROUPS: the groups that are traced from now on.
 */

/**
 * struct ktau_slot_switch - payload of SWITCH: the owner leaves the CPU
 * @next_serial: serial of the task that gets the CPU, 0 if it has none or is hidden
 * @state: state in which the owner waits, as the TASK_* bits shown in /proc/PID/stat: 0
 *	running, 1 interruptible, 2 uninterruptible, 4 stopped, 8 traced, 16 dead, 32
 *	zombie, 64 parked, 128 idle
 * @prio: priority of the owner, as in struct ktau_rec_owner
 * @next_prio: priority of the other task, -1 if hidden
 */
struct ktau_slot_switch {
	__aligned_u64 next_serial;
	__u32 state;
	__s16 prio;
	__s16 next_prio;
};

/**
 * struct ktau_slot_waking - payload of WAKING: the owner makes a task runnable
 * @serial: serial of the task, 0 if it has none or is hidden
 * @target_cpu: CPU whose run queue it enters
 * @prio: its priority, -1 if hidden
 */
struct ktau_slot_waking {
	__aligned_u64 serial;
	__u32 target_cpu;
	__s32 prio;
};

/**
 * struct ktau_slot_woken - payload of WOKEN: the owner runs after it was woken
 * @waker_serial: serial of the waking task, or of the task interrupted by the waker; 0
 *	if it has none or is hidden
 * @waking_ticks: time of the wakeup
 * @target_cpu: CPU whose run queue it entered
 * @waker_ctx: KTAU_CTX_* of the waker
 * @reserved: 0
 */
struct ktau_slot_woken {
	__aligned_u64 waker_serial;
	__aligned_u64 waking_ticks;
	__u32 target_cpu;
	__u8 waker_ctx;
	__u8 reserved[3];
};

/**
 * struct ktau_slot_fork - payload of FORK: the owner has created a task
 * @serial: serial of the new task
 * @leader_serial: serial of the leader of its thread group: its own for a process
 */
struct ktau_slot_fork {
	__aligned_u64 serial;
	__aligned_u64 leader_serial;
};

/* @net_flags of struct ktau_slot_net */
#define KTAU_NET_RETRANSMIT	(1U << 0)	/* NET_SEND: sent before */

/**
 * struct ktau_slot_net - payload of NET_SEND and NET_RECV: a TCP segment
 * @local: address of the local end in network order, IPv4 as ::ffff:a.b.c.d
 * @remote: address of the remote end, likewise
 * @local_port: port of the local end, a number in the byte order of the stream
 * @remote_port: port of the remote end, likewise
 * @seq: TCP sequence number
 * @bytes: bytes of payload
 * @nr_segments: number of segments on the wire that this one represents
 * @tcp_flags: the flags of the TCP header, FIN 1, SYN 2, RST 4, PSH 8, ACK 16 ...
 * @net_flags: KTAU_NET_*
 * @net_ns: inode number of the network namespace
 * @ack: acknowledged sequence number; 0: not recorded
 */
struct ktau_slot_net {
	__u8 local[16];
	__u8 remote[16];
	__u16 local_port;
	__u16 remote_port;
	__u32 seq;
	__u32 bytes;
	__u16 nr_segments;
	__u8 tcp_flags;
	__u8 net_flags;
	__u32 net_ns;
	__u32 ack;
};

/**
 * struct ktau_slot_kvm - payload of KVM_ENTER and KVM_EXIT
 * @vcpu: number of the virtual CPU
 * @reason: KVM_EXIT: reason of the exit, as numbered by the architecture
 */
struct ktau_slot_kvm {
	__u32 vcpu;
	__u32 reason;
};

/**
 * struct ktau_rec_trace - slots of one owner's ring, oldest first
 * @rec: type KTAU_REC_TRACE
 * @serial: serial of the owner
 * @first: position of the first slot in this record
 * @next: position after the last slot in this record
 * @lost: positions overwritten before they were read, directly before @first
 * @lost_from_ticks: the lost slots are not older than this
 * @lost_to_ticks: the lost slots are not newer than this
 * @written: position after the newest slot of the ring
 * @ring_slots: size of the ring, in the units of a position
 * @groups: groups and modes enabled for the owner
 * @nr_slots: number of struct ktau_slot after the fixed part
 * @slots_bytes: total size of the slots in bytes, including payloads
 * @no_room: slots of the owner that found no room in its ring so far; they have no position, so
 *	each may be missing anywhere before @next
 *
 * Positions count units of 32 bytes since the first write to the ring; a slot takes one
 * or more units. A ring that is too large for one record is split into several, in order.
 */
struct ktau_rec_trace {
	struct ktau_rec rec;
	__aligned_u64 serial;
	__aligned_u64 first;
	__aligned_u64 next;
	__aligned_u64 lost;
	__aligned_u64 lost_from_ticks;
	__aligned_u64 lost_to_ticks;
	__aligned_u64 written;
	__u32 ring_slots;
	__u32 groups;
	__u32 nr_slots;
	__u32 slots_bytes;
	__aligned_u64 no_room;
};

/**
 * struct ktau_rec_end - last record of a stream
 * @rec: type KTAU_REC_END
 * @nr_records: PROFILE and TRACE records in this stream
 * @denied: tasks left out because the reader may not see them
 * @vanished: listed tasks that do not exist
 * @stateless: listed tasks that exist but have no profile or ring
 * @busy: tasks left out because they were in an exec
 * @torn: owners left out because no consistent copy could be made
 * @cut_ticks: the common start: from this time on all rings of this stream are complete
 * @exited_next: @exited_since for a stream with only the tasks that exit or are folded
 *	later
 * @exited_first: @exited_seq of the oldest exited task that is kept
 * @losses_own: 1 if the counts below cover only the reader's own tasks, 0 if they cover
 *	the whole machine
 * @refused_memory_limit: allocations refused because of memory_limit
 * @refused_user_limit: allocations refused because of the user's share of it
 * @refused_no_memory: allocations that failed
 * @refused_no_chunk: activations refused because there was no chunk for their cell
 * @refused_no_id: activations refused because there was no id
 * @refused_no_state: tasks without a profile for lack of memory
 * @refused_descriptors: descriptors refused
 * @lost_no_ring: slots lost because a traced task had no ring, which is an error of KTAU
 * @lost_resized: unread slots of rings that were resized
 * @lost_evicted: unread slots of tasks that were folded or evicted
 * @evicted: tasks that were evicted
 * @clamped: durations shorter than the frames inside, set to the sum of those
 * @internal_errors: internal errors, after which KTAU disables itself
 * @missed: tasks that exited and were evicted since the END of the descriptor's stream
 *	of exited tasks before this one, without having been in any of its streams
 * @refused_gone: upper bound of the serials that GONE lacks because there was no room to
 *	remember them. If it is not 0, a reader that sums owners must start again
 * @refused_regions: changes to a region that the thread does not have
 * @refused_functions: activations of hooked functions where no frame can be opened
 * @lost_no_room: slots lost because an interrupt filled the ring during an unfinished write;
 *	@no_room of TRACE has those of one owner
 *
 * From @refused_memory_limit to @internal_errors, and from @refused_regions on, counts are
 * since boot, under the names that they have in /proc/ktau/stats.
 */
struct ktau_rec_end {
	struct ktau_rec rec;
	__aligned_u64 nr_records;
	__aligned_u64 denied;
	__aligned_u64 vanished;
	__aligned_u64 stateless;
	__aligned_u64 busy;
	__aligned_u64 torn;
	__aligned_u64 cut_ticks;
	__aligned_u64 exited_next;
	__aligned_u64 exited_first;
	__aligned_u64 losses_own;
	__aligned_u64 refused_memory_limit;
	__aligned_u64 refused_user_limit;
	__aligned_u64 refused_no_memory;
	__aligned_u64 refused_no_chunk;
	__aligned_u64 refused_no_id;
	__aligned_u64 refused_no_state;
	__aligned_u64 refused_descriptors;
	__aligned_u64 lost_no_ring;
	__aligned_u64 lost_resized;
	__aligned_u64 lost_evicted;
	__aligned_u64 evicted;
	__aligned_u64 clamped;
	__aligned_u64 internal_errors;
	__aligned_u64 missed;
	__aligned_u64 refused_gone;
	__aligned_u64 refused_regions;
	__aligned_u64 refused_functions;
	__aligned_u64 lost_no_room;
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

/**
 * struct ktau_select - argument of KTAU_IOC_SELECT
 * @size: sizeof(struct ktau_select) of the caller, at least KTAU_SELECT_SIZE_VER0
 * @target: KTAU_TARGET_*
 * @flags: KTAU_SELECT_*
 * @nr_pids: number of @pids, at most KTAU_MAX_PIDS; 0 unless KTAU_TARGET_LIST
 * @pids: address of @nr_pids __s32, in any order, in the opener's pid namespace;
 *	duplicate tids give one record
 * @exited_since: exited tasks with a lower @exited_seq are left out; @exited_next from
 *	END of an earlier stream, or 0
 * @since_ticks: trace: slots before the first one that is not older than this are left
 *	out; profile: see @groups_throughout of struct ktau_rec_profile
 * @cgroup: id of a control group with KTAU_SELECT_CGROUP, else 0
 * @uid: user id in the opener's user namespace with KTAU_SELECT_UID, else 0
 * @tag: tag of the tasks with KTAU_SELECT_TAG, else 0
 *
 * Selects what read() returns, and starts a new stream. Without it the first read()
 * starts a stream of everything: ALL, EXITED, EVICTED and CPU. read() returns 0 after
 * END; KTAU_IOC_SELECT or lseek() to 0 starts the next stream. The buffer may have any
 * size; a record may be split between two reads.
 *
 * Tasks that do not pass the filters are not counted as left out. The tables of CPUs and
 * the evicted sum are not filtered. Reading consumes nothing unless KTAU_SELECT_CONSUME
 * is set, which requires KTAU_ACCESS_CONSUME (EPERM).
 *
 * Errors: E2BIG (non-zero fields that this kernel does not know, too many pids), EINVAL
 * (size, target, flags, combination), EPERM, EACCES (the current level forbids it),
 * EFAULT, ENOMEM, EINTR. A failed call changes nothing.
 */
struct ktau_select {
	__u32 size;
	__u32 target;
	__u32 flags;
	__u32 nr_pids;
	__aligned_u64 pids;
	__aligned_u64 exited_since;
	__aligned_u64 since_ticks;
	__aligned_u64 cgroup;
	__u32 uid;
	__u32 tag;
};

#define KTAU_SELECT_SIZE_VER0	56

/**
 * struct ktau_id_range - ids of one source
 * @source: KTAU_SOURCE_*
 * @first: lowest id
 * @count: number of ids; 0 if this kernel has none
 * @used: number of ids in use
 */
struct ktau_id_range {
	__u32 source;
	__u32 first;
	__u32 count;
	__u32 used;
};

/* @features of struct ktau_info */
#define KTAU_FEATURE_CGROUP	(1ULL << 0)	/* owners have control groups */
#define KTAU_FEATURE_PARANOID	(1ULL << 1)	/* kernel.ktau_paranoid */
#define KTAU_FEATURE_GROWING	(1ULL << 2)	/* rings start small and grow */
#define KTAU_FEATURE_REGIONS	(1ULL << 3)	/* KTAU_IOC_REGIONS */
#define KTAU_FEATURE_REFERENCES	(1ULL << 4)	/* KTAU_IOC_REFERENCES */

#define KTAU_INFO_RANGES	16

/**
 * struct ktau_info - argument of KTAU_IOC_INFO
 * @size: in: sizeof(struct ktau_info) of the caller, at least KTAU_INFO_SIZE_VER0; out:
 *	that of the kernel
 * @version: KTAU_ABI_VERSION
 * @features: KTAU_FEATURE_*
 * @groups_built: groups that this kernel has
 * @groups: groups and modes enabled system-wide
 * @paranoid: the current level, 0 to 3
 * @access: KTAU_ACCESS_* of this descriptor's opener
 * @ring_slots: size to which rings grow
 * @nr_ranges: number of @range
 * @boot_id: /proc/sys/kernel/random/boot_id as 16 bytes
 * @memory_limit_bytes: the memory limit; 0 without KTAU_ACCESS_ALL
 * @memory_bytes: memory in use, likewise
 * @user_limit_bytes: the opener's share
 * @user_bytes: memory charged to the opener
 * @range: the ids of each source
 *
 * The kernel fills in the fields that fit into the caller's structure.
 */
struct ktau_info {
	__u32 size;
	__u32 version;
	__aligned_u64 features;
	__u32 groups_built;
	__u32 groups;
	__s32 paranoid;
	__u32 access;
	__u32 ring_slots;
	__u32 nr_ranges;
	__u8 boot_id[16];
	__aligned_u64 memory_limit_bytes;
	__aligned_u64 memory_bytes;
	__aligned_u64 user_limit_bytes;
	__aligned_u64 user_bytes;
	struct ktau_id_range range[KTAU_INFO_RANGES];
};

#define KTAU_INFO_SIZE_VER0	344

/**
 * struct ktau_regions - argument of KTAU_IOC_REGIONS
 * @size: sizeof(struct ktau_regions) of the caller, at least KTAU_REGIONS_SIZE_VER0
 * @flags: 0
 * @nr_regions: in: how many regions are wanted, region 0 included; 0 for
 *	KTAU_REGIONS_DEFAULT; out: how many there are
 * @reserved: 0
 * @serial: out: the calling thread's serial
 *
 * Lets the calling thread tell the kernel which region of the program it is in. Returns
 * a descriptor; the thread maps one page of it, MAP_SHARED and readable and writable,
 * and stores the number of its region in the first __u32 of the page. Region 0 is outside
 * of all regions. The kernel reads the number when the thread enters the kernel.
 *
 * This lasts until the thread exits or executes another program. Once the descriptor has
 * been closed and the page unmapped, the thread is in region 0.
 *
 * Errors: EFAULT, EINVAL (size, flags), E2BIG (non-zero fields that this kernel does not
 * know, too many regions), EACCES (neither KTAU_ACCESS_EXACT nor a level that gives it),
 * ENODATA (the thread has no profile), EEXIST (it has a descriptor already), EMFILE,
 * ENFILE, ENOMEM.
 */
struct ktau_regions {
	__u32 size;
	__u32 flags;
	__u32 nr_regions;
	__u32 reserved;
	__aligned_u64 serial;
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
_Static_assert(sizeof(struct ktau_rec_trace) == 88, "ktau_rec_trace");
_Static_assert(sizeof(struct ktau_rec_end) == 232, "ktau_rec_end");
_Static_assert(sizeof(struct ktau_select) == KTAU_SELECT_SIZE_VER0, "ktau_select");
_Static_assert(sizeof(struct ktau_id_range) == 16, "ktau_id_range");
_Static_assert(sizeof(struct ktau_rec_region) == 40, "ktau_rec_region");
_Static_assert(sizeof(struct ktau_regions) == KTAU_REGIONS_SIZE_VER0, "ktau_regions");
_Static_assert(sizeof(struct ktau_info) == KTAU_INFO_SIZE_VER0, "ktau_info");
#endif

#endif /* _UAPI_LINUX_KTAU_H */
