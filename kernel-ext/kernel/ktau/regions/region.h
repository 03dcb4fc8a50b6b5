/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: regions of programs.
 */
#ifndef _KERNEL_KTAU_REGION_H
#define _KERNEL_KTAU_REGION_H

#include <linux/compiler.h>
#include <linux/preempt.h>

#include "base/types.h"
#include "measure/area.h"
#include "measure/table.h"

void ktau_region_change(struct ktau_state *state, u32 region);
struct ktau_cell *ktau_region_cell(struct ktau_state *state, unsigned int id);
void ktau_region_count(struct ktau_ref *ref, unsigned int id, u64 value);
void ktau_region_account(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			 bool outermost);

/* Read the region of the current task, whose state this is, at its entry from user mode. */
static __always_inline void ktau_region_read(struct ktau_state *state)
{
	u32 region = READ_ONCE(*state->region_word);

	if (unlikely(region != state->region))
		ktau_region_change(state, region);
}

/*
 * Whether an interrupt or softirq is running. What happens there may be work for other
 * users, so user space does not read its cells.
 */
static __always_inline bool ktau_region_in_interrupt(void)
{
	return (preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) ||
	       raw_cpu_read(ktau_cpu_top);
}

/*
 * The cell of event @id below KTAU_ID_INDIRECT, in task context; one of ktau_no_chunk if it
 * has no chunk.
 */
static __always_inline struct ktau_cell *
ktau_region_direct(const struct ktau_region_table *table, unsigned int id)
{
	struct ktau_cell *base = table->base[id >> KTAU_CHUNK_SHIFT];

	if (IS_ENABLED(CONFIG_DEBUG_KMEMLEAK))
		return base + (id & (KTAU_CHUNK_CELLS - 1));
	return base + id;
}

#define KTAU_REGION_DIR_SHIFT	(KTAU_CHUNK_SHIFT + KTAU_DIR_SHIFT)

static_assert(KTAU_DIR_CHUNKS << KTAU_REGION_DIR_SHIFT >= KTAU_NR_IDS);

/* The cell of event @id that user space does not read, or NULL. */
static __always_inline struct ktau_cell *
ktau_region_other(const struct ktau_region_table *table, unsigned int id)
{
	struct ktau_chunk *chunk = table->root;

	if (likely(chunk))
		chunk = chunk->chunk[id >> KTAU_REGION_DIR_SHIFT];
	if (likely(chunk))
		chunk = chunk->chunk[(id >> KTAU_CHUNK_SHIFT) & (KTAU_DIR_CHUNKS - 1)];
	return likely(chunk) ? &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)] : NULL;
}

/* Whether user space reads the cell of event @id if it happens in this context. */
static __always_inline bool ktau_region_is_direct(unsigned int id)
{
	return id < KTAU_ID_INDIRECT && !ktau_region_in_interrupt();
}

/* The cell of event @id in this context, or NULL if it has no chunk. */
static __always_inline struct ktau_cell *
ktau_region_find(const struct ktau_region_table *table, unsigned int id)
{
	struct ktau_cell *cell;

	if (!ktau_region_is_direct(id))
		return ktau_region_other(table, id);
	cell = ktau_region_direct(table, id);
	return unlikely(ktau_cell_is_missing(cell)) ? NULL : cell;
}

#endif /* _KERNEL_KTAU_REGION_H */
