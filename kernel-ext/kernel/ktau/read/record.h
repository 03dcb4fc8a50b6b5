/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the record of one owner.
 */
#ifndef _KERNEL_KTAU_RECORD_H
#define _KERNEL_KTAU_RECORD_H

#include <linux/ktau.h>
#include <linux/types.h>

#include "base/types.h"

struct ktau_state;
struct ktau_stream;
struct ktau_watch;
struct task_struct;

bool ktau_is_interrupt(unsigned int id);
void ktau_redact_region(struct ktau_rec_region *rec, u64 hz);
void ktau_redact_profile(struct ktau_rec_profile *rec, u64 hz);
void ktau_redact_trace(struct ktau_stream *stream);

void ktau_record_put_body(struct ktau_stream *stream,
			  const struct ktau_owner *owner, char *path);
int ktau_record_put(struct ktau_stream *stream, struct ktau_state *state,
		    struct task_struct *task, const struct ktau_owner *owner);

bool ktau_admit_sum(const struct ktau_stream *stream);
void ktau_admit_begin(struct ktau_stream *stream);
struct ktau_watch *ktau_admit_watched(struct ktau_stream *stream);
int ktau_admit_task(struct ktau_stream *stream, struct task_struct *task);
int ktau_admit_exited(struct ktau_stream *stream, struct ktau_state *state);

#endif /* _KERNEL_KTAU_RECORD_H */
