/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the table of an owner.
 */
#ifndef _KERNEL_KTAU_TABLE_H
#define _KERNEL_KTAU_TABLE_H

#include <linux/static_call_types.h>

#include "base/arch.h"
#include "base/types.h"

extern struct ktau_chunk ktau_no_chunk;
extern struct ktau_chunk ktau_no_dir;

struct ktau_cell *ktau_cell(struct ktau_state *state, unsigned int id);
void ktau_table_construct(void *memory);
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
/* Replaced once programs have regions; see regions/region.c. */
DECLARE_STATIC_CALL(ktau_divert_account, ktau_table_account);

void ktau_cell_add(struct ktau_cell *to, const struct ktau_cell *from,
		   unsigned int kind);

/*
 * For each chunk a table has the address that the cell of id 0 would have: so the first id
 * of the chunk need not be subtracted from an id. But kmemleak only recognises pointers
 * into a chunk.
 */
#define KTAU_FIRST_CELL(nr)						\
	(IS_ENABLED(CONFIG_DEBUG_KMEMLEAK) ? 0 : (nr) << KTAU_CHUNK_SHIFT)

static inline struct ktau_cell *ktau_base_of(struct ktau_chunk *chunk, unsigned int nr)
{
	return (struct ktau_cell *)((unsigned long)chunk -
				    KTAU_FIRST_CELL(nr) * sizeof(struct ktau_cell));
}

static inline struct ktau_chunk *ktau_based(struct ktau_cell *base, unsigned int nr)
{
	return (struct ktau_chunk *)(base + KTAU_FIRST_CELL(nr));
}

/* The cell of event @id below KTAU_ID_INDIRECT; one of ktau_no_chunk if it has no chunk. */
static __always_inline struct ktau_cell *ktau_direct_cell(const struct ktau_state *state,
							  unsigned int id)
{
	struct ktau_cell *base = state->base[id >> KTAU_CHUNK_SHIFT];

	if (IS_ENABLED(CONFIG_DEBUG_KMEMLEAK))
		return base + (id & (KTAU_CHUNK_CELLS - 1));
	return base + id;
}

/* The same for the ids above. */
static __always_inline struct ktau_cell *ktau_indirect_cell(const struct ktau_state *state,
							    unsigned int id)
{
	unsigned int nr = (id >> KTAU_CHUNK_SHIFT) - KTAU_NR_DIRECT;
	struct ktau_chunk *dir = state->dir[nr >> KTAU_DIR_SHIFT];

	return &dir->chunk[nr & (KTAU_DIR_CHUNKS - 1)]->cell[id & (KTAU_CHUNK_CELLS - 1)];
}

/* The same for a hooked function: all of these are in one directory. */
static __always_inline struct ktau_cell *ktau_function_cell(const struct ktau_state *state,
							    unsigned int id)
{
	const unsigned int nr = (KTAU_ID_FUNCTION >> KTAU_CHUNK_SHIFT) - KTAU_NR_DIRECT;
	struct ktau_chunk *dir = state->dir[nr >> KTAU_DIR_SHIFT];

	BUILD_BUG_ON(nr & (KTAU_DIR_CHUNKS - 1) ||
		     KTAU_NR_IDS - KTAU_ID_FUNCTION > KTAU_DIR_CHUNKS * KTAU_CHUNK_CELLS);
	return &dir->chunk[(id >> KTAU_CHUNK_SHIFT) & (KTAU_DIR_CHUNKS - 1)]
			->cell[id & (KTAU_CHUNK_CELLS - 1)];
}

/* The same for any event. */
static __always_inline struct ktau_cell *ktau_cell_here(const struct ktau_state *state,
							unsigned int id)
{
	if (likely(id < KTAU_ID_INDIRECT))
		return ktau_direct_cell(state, id);
	return ktau_indirect_cell(state, id);
}

/* Whether @cell is one of ktau_no_chunk. */
static __always_inline bool ktau_cell_is_missing(const struct ktau_cell *cell)
{
	return (unsigned long)cell - (unsigned long)&ktau_no_chunk < sizeof(ktau_no_chunk);
}

/*
 * Whether an outermost activation of @incl ticks is longer than all before, as any is for a
 * cell of ktau_no_chunk. If not, ktau_cell_end() adds it.
 */
static __always_inline bool ktau_is_longest(const struct ktau_cell *cell, u64 incl)
{
	return ktau_below(&cell->v[2], incl);
}

static __always_inline void ktau_cell_account(struct ktau_cell *cell, u64 incl,
					      u64 excl, bool outermost)
{
	ktau_add(&cell->count, 1);
	if (outermost) {
		ktau_add(&cell->v[0], incl);
		ktau_raise(&cell->v[2], incl);
	}
	ktau_wmb();	/* readers rely on the exclusive time being last */
	ktau_add(&cell->v[1], excl);
}

/* An outermost activation that is not the longest one. */
static __always_inline void ktau_cell_end(struct ktau_cell *cell, u64 incl, u64 excl)
{
	ktau_add(&cell->count, 1);
	ktau_add(&cell->v[0], incl);
	ktau_wmb();	/* as above */
	ktau_add(&cell->v[1], excl);
}

/* An outermost activation that has been accounted lasts @more ticks longer, @incl in all. */
static __always_inline void ktau_cell_extend(struct ktau_cell *cell, u64 more, u64 incl)
{
	ktau_add(&cell->v[0], more);
	ktau_raise(&cell->v[2], incl);
	ktau_wmb();	/* as above */
	ktau_add(&cell->v[1], more);
}

/*
 * Prolong, by @more ticks of exclusive time to @incl, an outermost activation that
 * ktau_table_account() has accounted with interrupts disabled since. @cell: its cell or NULL.
 */
static __always_inline void ktau_table_extend(struct ktau_state *state, struct ktau_cell *cell,
					      u64 more, u64 incl)
{
	/* A chunk that was refused to ktau_table_account() may have been granted since. */
	if (likely(cell && cell->count))
		ktau_cell_extend(cell, more, incl);
	else
		ktau_add(&state->refused_ticks, more);
}

/* Add @value to a counter; interrupts disabled. */
static __always_inline void ktau_cell_count(struct ktau_cell *cell, u64 value)
{
	if (!cell->count || value < cell->v[1])
		cell->v[1] = value;
	if (value > cell->v[2])
		cell->v[2] = value;
	cell->v[0] += value;
	cell->count++;
}

#endif /* _KERNEL_KTAU_TABLE_H */
