/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the records of a stream except for the snapshots, and descriptions of owners.
 */
#ifndef _KERNEL_KTAU_COMPOSE_H
#define _KERNEL_KTAU_COMPOSE_H

#include "base/types.h"

struct ktau_stream;

void ktau_describe_task(const struct ktau_stream *stream, struct ktau_owner *owner,
			struct task_struct *task);
void ktau_describe_exited(const struct ktau_stream *stream,
			  struct ktau_owner *owner, const struct ktau_state *state);
bool ktau_is_in_reach(const struct ktau_stream *stream,
		      const struct ktau_state *state);
unsigned long ktau_serial_bits(struct ktau_stream *stream, u64 serial);
bool ktau_named_visible(struct ktau_stream *stream, u64 serial);
char *ktau_describe_path(struct task_struct *task, const struct ktau_state *state);

int ktau_compose_begin(struct ktau_stream *stream);
int ktau_compose_front(struct ktau_stream *stream);
int ktau_compose_gone(struct ktau_stream *stream);
int ktau_compose_end(struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_COMPOSE_H */
