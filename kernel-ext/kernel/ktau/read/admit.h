/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: whether the record of an owner is put into a stream.
 */
#ifndef _KERNEL_KTAU_ADMIT_H
#define _KERNEL_KTAU_ADMIT_H

#include <linux/types.h>

struct ktau_stream;
struct ktau_state;
struct ktau_watch;
struct task_struct;

bool ktau_admit_sum(const struct ktau_stream *stream);
void ktau_admit_begin(struct ktau_stream *stream);
struct ktau_watch *ktau_admit_watched(struct ktau_stream *stream);
int ktau_admit_task(struct ktau_stream *stream, struct task_struct *task);
int ktau_admit_exited(struct ktau_stream *stream, struct ktau_state *state);

#endif /* _KERNEL_KTAU_ADMIT_H */
