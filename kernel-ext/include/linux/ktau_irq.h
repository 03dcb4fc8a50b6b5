/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks of generic_handle_irq_desc(), and what they need. They are apart from
 * linux/ktau.h because linux/irqdesc.h, which nearly every file includes, has to
 * include them: a change of linux/ktau.h then recompiles only the files with hooks.
 */
#ifndef _LINUX_KTAU_IRQ_H
#define _LINUX_KTAU_IRQ_H

#include <linux/ktau_types.h>

#ifdef CONFIG_KTAU

#include <linux/jump_label.h>

/* Ticks in which a task did not run its own code: see kernel/ktau/times.c. */
struct ktau_times {
	u64 asleep;
	u64 runq;
	u64 irq;
};

/**
 * struct ktau_frame - one activation of a timer, on the kernel stack
 * @prev: the frame around it
 * @start: cycle counter at entry; 0 while the entry is being written
 * @child: ticks of the frames directly inside that have ended; KTAU_CHILD_TIMED
 *	says that @base is set
 * @info: event id, and KTAU_FRAME_* for what was on at entry: that decides what
 *	the exit does
 * @base: sums of the task before the first wait, or interrupt, inside the frame
 */
struct ktau_frame {
	struct ktau_frame	*prev;
	u64			start;
	u64			child;
	u32			info;
	struct ktau_times	base;
};

/**
 * struct ktau_cpu_frame - one activation of a timer that is accounted to the CPU too
 * @frame: what the task, or the CPU in its place, has
 * @before: ticks accounted to the CPU at the entry. All that comes on top until the
 *	exit is time of CPU frames inside
 */
struct ktau_cpu_frame {
	struct ktau_frame	frame;
	u64			before;
};

/* The position of each group's bit, which is the index of its static key. */
enum ktau_group {
	KTAU_BIT_SYSCALL,
	KTAU_BIT_IRQ,
	KTAU_BIT_BH,
	KTAU_BIT_SCHED,
	KTAU_BIT_EXCEPTION,
	KTAU_BIT_SIGNAL,
	KTAU_BIT_SOCKET,
	KTAU_BIT_TCP,
	KTAU_BIT_ICMP,
	KTAU_BIT_WAIT,
	KTAU_BIT_FUNC,
	KTAU_BIT_USER,
	KTAU_BIT_KVM,
	KTAU_BIT_ACCOUNT,
};

extern struct static_key_false ktau_keys[];
extern struct static_key_false ktau_exit_key;

#define KTAU_ON(g)							\
	(IS_ENABLED(CONFIG_KTAU_##g) &&					\
	 static_branch_unlikely(&ktau_keys[KTAU_BIT_##g]))

void __ktau_cpu_enter_irq(struct ktau_cpu_frame *frame, unsigned int irq);
void __ktau_cpu_exit(struct ktau_cpu_frame *frame);

/* Leave a frame that is accounted to the CPU as well. */
static __always_inline void ktau_cpu_exit(struct ktau_cpu_frame *frame)
{
	if (static_branch_unlikely(&ktau_exit_key))
		__ktau_cpu_exit(frame);
}

static __always_inline void ktau_irq_enter(struct ktau_cpu_frame *frame,
					   unsigned int irq)
{
	if (KTAU_ON(IRQ))
		__ktau_cpu_enter_irq(frame, irq);
}

#else /* !CONFIG_KTAU */

struct ktau_frame { };
struct ktau_cpu_frame { };

#define ktau_cpu_exit(frame)			((void)(frame))
#define ktau_irq_enter(frame, irq)		((void)(frame))

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_IRQ_H */
