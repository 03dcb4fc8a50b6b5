/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the records of a stream, except for the snapshots.
 */
#ifndef _KERNEL_KTAU_COMPOSE_H
#define _KERNEL_KTAU_COMPOSE_H

struct ktau_stream;

int ktau_compose_begin(struct ktau_stream *stream);
int ktau_compose_front(struct ktau_stream *stream);
int ktau_compose_gone(struct ktau_stream *stream);
int ktau_compose_end(struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_COMPOSE_H */
