/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: removing from a record what its reader may not see.
 */
#ifndef _KERNEL_KTAU_REDACT_H
#define _KERNEL_KTAU_REDACT_H

#include <linux/ktau.h>

struct ktau_stream;

bool ktau_is_interrupt(unsigned int id);
void ktau_redact_region(struct ktau_rec_region *rec, u64 hz);
void ktau_redact_profile(struct ktau_rec_profile *rec, u64 hz);
void ktau_redact_trace(struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_REDACT_H */
