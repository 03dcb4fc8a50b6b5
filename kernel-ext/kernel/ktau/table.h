/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the table of an owner.
 */
#ifndef _KERNEL_KTAU_TABLE_H
#define _KERNEL_KTAU_TABLE_H

#include "arch.h"
#include "types.h"

struct ktau_cell *ktau_cell(struct ktau_state *state, unsigned int id);
bool ktau_table_flat(struct ktau_state *state);
void ktau_table_longest(struct ktau_state *state, unsigned int id, u64 ticks);
bool ktau_table_fill(struct ktau_state *state, unsigned int nr_ids);
unsigned int ktau_table_merge(struct ktau_state *to, struct ktau_state *from);
void ktau_table_free(struct ktau_state *state);
unsigned int ktau_table_cells(const struct ktau_state *state);
struct ktau_chunk *ktau_chunk_at(const struct ktau_state *state,
				 unsigned int nr);
struct ktau_chunk *ktau_chunk_next(const struct ktau_state *state,
				   unsigned int *next);

void ktau_table_account(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			bool outermost);
void ktau_cell_add(struct ktau_cell *to, const struct ktau_cell *from,
		   unsigned int kind);

/* The chunk of event @id; NULL if there is none, or if @id has flags above the id. */
static __always_inline struct ktau_chunk *ktau_chunk_here(const struct ktau_state *state,
							  u32 id)
{
	unsigned int nr = id >> KTAU_CHUNK_SHIFT;
	const struct ktau_chunk *dir;

	if (likely(nr < KTAU_NR_DIRECT))
		return state->chunk[nr];
	if (unlikely(nr >= KTAU_NR_CHUNKS))
		return NULL;
	nr -= KTAU_NR_DIRECT;
	dir = state->dir[nr >> KTAU_DIR_SHIFT];
	return dir ? dir->chunk[nr & (KTAU_DIR_CHUNKS - 1)] : NULL;
}

static __always_inline void ktau_cell_account(struct ktau_cell *cell, u64 incl,
					      u64 excl, bool outermost)
{
	ktau_add(&cell->count, 1);
	if (outermost) {
		ktau_add(&cell->v[0], incl);
		ktau_raise(&cell->v[2], incl);
	}
	barrier();	/* readers rely on the exclusive time being last */
	ktau_add(&cell->v[1], excl);
}

/* An outermost activation, without its exclusive time; interrupts disabled. */
static __always_inline void ktau_cell_add_incl(struct ktau_cell *cell, u64 incl)
{
	ktau_add(&cell->count, 1);
	ktau_add(&cell->v[0], incl);
	if (unlikely(data_race(cell->v[2]) < incl))	/* no other CPU writes it */
		ktau_write(&cell->v[2], incl);
}

#endif /* _KERNEL_KTAU_TABLE_H */
