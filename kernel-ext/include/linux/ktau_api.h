/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU's interface to modules: they measure their own code.
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

#ifdef CONFIG_KTAU

int ktau_get_fid(u32 group, unsigned int kind, const char *name);
void ktau_start(struct ktau_frame *frame, int fid);
void ktau_event(int fid, u64 value);

/*
 * Close @frame if ktau_start() has opened it. Frames nest: those opened after @frame have
 * been closed. Call it in the function that called ktau_start(), on every return.
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

#endif /* CONFIG_KTAU */

#endif /* _LINUX_KTAU_API_H */
