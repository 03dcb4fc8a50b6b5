/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the record of one owner.
 */
#ifndef _KERNEL_KTAU_RECORD_H
#define _KERNEL_KTAU_RECORD_H

#include "base/types.h"

struct ktau_stream;

void ktau_record_put_body(struct ktau_stream *stream,
			  const struct ktau_owner *owner, char *path);
void ktau_record_drop(struct ktau_stream *stream);
int ktau_record_put(struct ktau_stream *stream, struct ktau_state *state,
		    struct task_struct *task, const struct ktau_owner *owner);

#endif /* _KERNEL_KTAU_RECORD_H */
