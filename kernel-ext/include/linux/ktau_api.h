/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU's interface for modules: they can measure their own code, and register functions
 * that are called for events of the whole kernel. Documentation: docs/dev/kernel-api.md of
 * KTAU.
 *
 *	static int fid;
 *
 *	fid = ktau_get_fid(KTAU_GROUP_MODULE, KTAU_KIND_TIMER, "mydrv_submit");
 *
 *	struct ktau_frame frame;
 *
 *	ktau_start(&frame, fid);
 *	...
 *	ktau_stop(&frame);
 *
 * Without CONFIG_KTAU, ktau_get_fid() fails and the rest does nothing. A negative @fid is
 * never measured, so a module need not check it.
 */
#ifndef _LINUX_KTAU_API_H
#define _LINUX_KTAU_API_H

#include <linux/errno.h>
#include <linux/ktau.h>
#include <linux/types.h>

/* Types of hits. */
enum ktau_hit_type {
	KTAU_HIT_START,		/* a frame was opened */
	KTAU_HIT_STOP,		/* a frame was closed */
	KTAU_HIT_EVENT,		/* a counter got a value */
};

/**
 * struct ktau_hit - what a handler is called for
 * @fid: event
 * @type: KTAU_HIT_*
 * @ctx: KTAU_CTX_*
 * @group: KTAU_GROUP_* of the event
 * @ticks: time, in ticks of KTAU's clock
 * @data: EVENT: the value. START of a page fault: the address. Otherwise 0
 * @incl: STOP: duration of the frame
 * @excl: STOP: the same without the frames directly inside
 */
struct ktau_hit {
	u16	fid;
	u8	type;
	u8	ctx;
	u32	group;
	u64	ticks;
	u64	data;
	u64	incl;
	u64	excl;
};

#define KTAU_NR_HANDLERS	8

/**
 * struct ktau_handler - a function that is called for each hit of some groups
 * @groups: KTAU_GROUP_* bits
 * @types: bits of the types of hits: BIT(KTAU_HIT_STOP) ...
 * @fn: the function. It is called from the hook, in any context except NMI, with preemption
 *	disabled and possibly with interrupts disabled or a run queue locked. So it must not
 *	sleep, wake a task, print, or allocate memory. An interrupt may call it while it runs
 *
 * The caller must not change the fields while the handler is registered.
 */
struct ktau_handler {
	u32	groups;
	u32	types;
	void	(*fn)(struct ktau_handler *handler, const struct ktau_hit *hit);
};

#ifdef CONFIG_KTAU

int ktau_get_fid(u32 group, unsigned int kind, const char *name);
void ktau_start(struct ktau_frame *frame, int fid);
void ktau_event(int fid, u64 value);
int ktau_fid_name(int fid, char *name, size_t size);
int ktau_register_handler(struct ktau_handler *handler);
void ktau_unregister_handler(struct ktau_handler *handler);

/*
 * Close @frame if ktau_start() has opened it. Frames nest: those opened after @frame must
 * be closed before it. Call it in the function that called ktau_start(), on every return.
 */
static __always_inline void ktau_stop(struct ktau_frame *frame)
{
	ktau_exit(frame);
}

#else /* !CONFIG_KTAU */

static inline int ktau_get_fid(u32 group, unsigned int kind, const char *name)
{
	return -EOPNOTSUPP;
}

static inline void ktau_start(struct ktau_frame *frame, int fid) { }
static inline void ktau_stop(struct ktau_frame *frame) { }
static inline void ktau_event(int fid, u64 value) { }

static inline int ktau_fid_name(int fid, char *name, size_t size)
{
	return -ENOENT;
}

static inline int ktau_register_handler(struct ktau_handler *handler)
{
	return -EOPNOTSUPP;
}

static inline void ktau_unregister_handler(struct ktau_handler *handler) { }

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_API_H */
