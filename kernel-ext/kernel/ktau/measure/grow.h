/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: letting a ring grow.
 */
#ifndef _KERNEL_KTAU_GROW_H
#define _KERNEL_KTAU_GROW_H

#include "base/types.h"
#include "ring.h"

int ktau_ring_grow(struct ktau_state *state);
void ktau_ring_relieve(struct ktau_state *state);
void ktau_ring_ask(struct ktau_ring *ring, u64 head);
bool ktau_grow_request(struct ktau_state *state);
void ktau_ring_nudge(struct ktau_ring *ring);
void ktau_ring_ask_early(struct ktau_ring *ring);

#endif /* _KERNEL_KTAU_GROW_H */
