/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: describing owners for a reader.
 */
#ifndef _KERNEL_KTAU_DESCRIBE_H
#define _KERNEL_KTAU_DESCRIBE_H

#include "base/types.h"

struct ktau_stream;

void ktau_describe_task(const struct ktau_stream *stream, struct ktau_owner *owner,
			struct task_struct *task);
void ktau_describe_exited(const struct ktau_stream *stream,
			  struct ktau_owner *owner, const struct ktau_state *state);
bool ktau_is_in_reach(const struct ktau_stream *stream,
		      const struct ktau_state *state);
unsigned long ktau_serial_bits(struct ktau_stream *stream, u64 serial);
int ktau_serial_mark(struct ktau_stream *stream, u64 serial, unsigned long bits);
bool ktau_named_visible(struct ktau_stream *stream, u64 serial);
char *ktau_describe_path(struct task_struct *task, const struct ktau_state *state);
int ktau_named_describe(struct ktau_stream *stream, u64 serial,
			struct ktau_owner *owner, char **path);

#endif /* _KERNEL_KTAU_DESCRIBE_H */
