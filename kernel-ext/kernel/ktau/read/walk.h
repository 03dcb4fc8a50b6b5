/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the walk of a stream over the owners.
 */
#ifndef _KERNEL_KTAU_WALK_H
#define _KERNEL_KTAU_WALK_H

struct ktau_stream;

int ktau_stream_step(struct ktau_stream *stream);
void ktau_stream_forget_threads(struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_WALK_H */
