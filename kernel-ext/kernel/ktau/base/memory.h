/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: memory, charged to users within one limit.
 */
#ifndef _KERNEL_KTAU_MEMORY_H
#define _KERNEL_KTAU_MEMORY_H

#include "types.h"

/* Slots of a ring when it is created. */
#define KTAU_NEW_RING_BYTES	2048

bool ktau_charge(struct ktau_user *user, size_t bytes);
bool ktau_charge_move(struct ktau_user *from, struct ktau_user *to, size_t bytes);
void ktau_uncharge(struct ktau_user *user, size_t bytes);
void *ktau_alloc(struct ktau_user *user, size_t bytes, gfp_t gfp);
void ktau_free(struct ktau_user *user, void *p, size_t bytes);
void *ktau_page_alloc(struct ktau_user *user);
void ktau_page_free(struct ktau_user *user, void *p);
struct ktau_state *ktau_state_alloc(struct ktau_user *user, gfp_t gfp);
void ktau_state_free(struct ktau_state *state);
void *ktau_slots_alloc(struct ktau_user *user, size_t bytes, gfp_t gfp);
void ktau_slots_free(struct ktau_user *user, void *slots, size_t bytes);
struct ktau_chunk *ktau_chunk_alloc(struct ktau_user *user);
struct ktau_chunk *ktau_chunk_take(struct ktau_user *user);
struct ktau_chunk *ktau_chunk_take_spare(struct ktau_user *user);
void ktau_chunk_free(struct ktau_user *user, struct ktau_chunk *chunk);
bool ktau_reserve_add(void);
void ktau_reserve_fill(void);
void ktau_reserve_fill_up(void);
int ktau_reserve_start(void);
u64 ktau_memory_bytes(void);
bool ktau_has_room(size_t bytes);
void ktau_memory_init(void (*construct_state)(void *state));

#endif /* _KERNEL_KTAU_MEMORY_H */
