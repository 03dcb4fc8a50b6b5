/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks of generic_handle_irq_desc(), and what they need. They are separate from
 * linux/ktau.h because linux/irqdesc.h, which nearly every file includes, must include
 * them. So a change to linux/ktau.h only recompiles the files with hooks.
 */
#ifndef _LINUX_KTAU_IRQ_H
#define _LINUX_KTAU_IRQ_H

#include <linux/ktau_types.h>

#ifdef CONFIG_KTAU

#include <linux/jump_label.h>
#include <linux/percpu.h>

/* Ticks in which a task did not run its own code; see kernel/ktau/measure/times.c. */
struct ktau_times {
	u64 asleep;
	u64 runq;
	u64 irq;
};

/**
 * struct ktau_frame - one activation of a timer, on the kernel stack
 * @prev: the enclosing frame
 * @start: cycle counter at entry; 0 until it has been read
 * @child: ticks of the frames directly inside that have ended; KTAU_CHILD_TIMED if @base
 *	is set
 * @info: event id and KTAU_FRAME_*, which record what was enabled at entry and so decide
 *	what the exit does
 * @base: sums of the task before the first wait or interrupt inside the frame
 */
struct ktau_frame {
	struct ktau_frame	*prev;
	u64			start;
	u64			child;
	u32			info;
	struct ktau_times	base;
};

/**
 * struct ktau_cpu_frame - one activation of a timer that is also accounted to the CPU
 * @frame: the frame of the task; only @start and @info are used if the task takes none
 * @outer: the enclosing frame of the CPU. Frames of the task alone may be in between
 * @child: ticks of the CPU's frames directly inside that have ended
 */
struct ktau_cpu_frame {
	struct ktau_frame	frame;
	struct ktau_cpu_frame	*outer;
	u64			child;
};

/* The CPU's innermost frame; written with interrupts disabled. */
DECLARE_PER_CPU(struct ktau_cpu_frame *, ktau_cpu_top);

/* The position of each group's bit, which is also the index of its static key. */
enum ktau_group {
#define KTAU_GROUP(symbol, name, bit) KTAU_BIT_##symbol = (bit),
#include <uapi/linux/ktau_groups.h>
};

extern struct static_key_false ktau_keys[];
extern struct static_key_false ktau_exit_key;

#define KTAU_ON(g)							\
	(IS_ENABLED(CONFIG_KTAU_##g) &&					\
	 static_branch_unlikely(&ktau_keys[KTAU_BIT_##g]))

void __ktau_cpu_enter_irq(struct ktau_cpu_frame *frame, unsigned int irq);
void __ktau_cpu_exit(struct ktau_cpu_frame *frame);
void __ktau_irq_exit(struct ktau_cpu_frame *frame);

static __always_inline bool ktau_cpu_entered(const struct ktau_cpu_frame *frame)
{
	return static_branch_unlikely(&ktau_exit_key) &&
	       raw_cpu_read(ktau_cpu_top) == frame;
}

/* Close a frame that is also accounted to the CPU. */
static __always_inline void ktau_cpu_exit(struct ktau_cpu_frame *frame)
{
	if (ktau_cpu_entered(frame))
		__ktau_cpu_exit(frame);
}

/* The same for an interrupt, with interrupts disabled. */
static __always_inline void ktau_irq_exit(struct ktau_cpu_frame *frame)
{
	if (ktau_cpu_entered(frame))
		__ktau_irq_exit(frame);
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

#define ktau_irq_exit(frame)			((void)(frame))
#define ktau_irq_enter(frame, irq)		((void)(frame))

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_IRQ_H */
