/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of linux/ktau_api.h under the names of the Generic Kernel Profiling API, which
 * the original KTAU planned. Unlike in that plan, only get_fid() takes the name of an event,
 * and the caller provides the frame.
 */
#ifndef _LINUX_KTAU_GENERIC_H
#define _LINUX_KTAU_GENERIC_H

#include <linux/ktau_api.h>

#define get_fid(group, kind, name)	ktau_get_fid(group, kind, name)
#define start_timer(frame, fid)		ktau_start(frame, fid)
#define stop_timer(frame)		ktau_stop(frame)
#define start_prof(frame, fid)		ktau_start(frame, fid)
#define stop_prof(frame)		ktau_stop(frame)
#define event_prof(fid, data)		ktau_event(fid, data)
#define register_handler(handler)	ktau_register_handler(handler)
#define unregister_handler(handler)	ktau_unregister_handler(handler)

#endif /* _LINUX_KTAU_GENERIC_H */
