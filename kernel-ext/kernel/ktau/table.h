/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the table of an owner.
 */
#ifndef _KERNEL_KTAU_TABLE_H
#define _KERNEL_KTAU_TABLE_H

#include "arch.h"
#include "types.h"

struct ktau_cell *ktau_cell(struct ktau_state *state, unsigned int id);
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

static __always_inline void ktau_cell_account(struct ktau_cell *cell, u64 incl,
					      u64 excl, bool outermost)
{
	ktau_add(&cell->count, 1);
	if (outermost) {
		ktau_add(&cell->v[0], incl);
		ktau_raise(&cell->v[2], incl);
	}
	ktau_add(&cell->v[1], excl);
}

#endif /* _KERNEL_KTAU_TABLE_H */
