// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: regions of programs: accounting activations to the region that caused them.
 *
 * A thread stores the number of its current region, a function for instance, in a page
 * that it shares with the kernel (area.c). When it enters the kernel, the outermost frame
 * reads the number. Until the return to user mode everything that is accounted to the
 * thread is also accounted to that region, interrupts and waits included. Region 0 is what
 * happens outside of all others.
 *
 * The thread can read the cells of what happened in task context. It reads them in user
 * mode, so no update is in progress. An interrupt may come between two reads, so the thread
 * reads until it gets the same figures twice in a row, which are then consistent.
 *
 * region_frame.c has the frames of threads in regions.
 *
 * An activation is accounted to a region only if it is also accounted to the profile, and in
 * the same update. So a consistent copy never has more in the regions than in the profile.
 *
 * The number comes from user space and is only used to select a table of the thread
 * itself: other threads of the process, and children that still share the page, can make
 * the kernel account to the wrong one of these tables, and nothing else.
 */
#include <linux/irqflags.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/event.h"
#include "base/memory.h"
#include "measure/area.h"
#include "measure/grow.h"
#include "measure/table.h"
#include "region.h"

/**
 * ktau_region_change() - the current task is in another region
 * @region: the number that user space has stored
 *
 * Context: Any but NMI.
 */
void ktau_region_change(struct ktau_state *state, u32 region)
{
	struct ktau_area *area = state->area;
	unsigned long flags;
	u32 nr = region;

	raw_local_irq_save(flags);
	state->region = region;
	if (region >= area->nr) {
		ktau_add(&area->refused, 1);
		ktau_loss_of(state->user, KTAU_LOSS_REGION, 1);
		nr = 0;
	}
	state->region_table = &area->table[array_index_nospec(nr, area->nr)];
	raw_local_irq_restore(flags);
}

/* Request more pages if there may be too few for the next chunks. */
static void ask(struct ktau_state *state)
{
	if (!ktau_area_is_low(state->area))
		return;
	state->area->growing = true;
	if (!ktau_grow_request(state))
		state->area->growing = false;
}

/* Give a table its array, and publish its index to user space. Return: whether it has one. */
static bool need_base(struct ktau_area *area, struct ktau_region_table *table)
{
	struct ktau_cell **base;
	u32 nr;

	if (table->base != ktau_no_base)
		return true;
	base = ktau_area_base(area, &nr);
	if (!base)
		return false;
	WRITE_ONCE(area->header->region[table - area->table].index, nr);
	/* Pairs with direct_chunk() on another CPU. */
	smp_store_release(&table->base, base);
	return true;
}

static struct ktau_chunk *chunk_of_area(const struct ktau_area *area, u32 nr)
{
	return (struct ktau_chunk *)area->chunks.page[nr / KTAU_CHUNKS_PER_PAGE] +
	       nr % KTAU_CHUNKS_PER_PAGE;
}

/* Create the chunk of event @id that user space reads. */
static struct ktau_chunk *create_direct(struct ktau_area *area,
					struct ktau_region_table *table, unsigned int id)
{
	const unsigned int i = id >> KTAU_CHUNK_SHIFT;
	struct ktau_area_index *index;
	struct ktau_chunk *chunk;
	u32 nr;

	if (!need_base(area, table))
		return NULL;
	chunk = ktau_based(table->base[i], i);
	if (chunk != &ktau_no_chunk)
		return chunk;
	chunk = ktau_area_chunk(area, &nr);
	if (!chunk)
		return NULL;
	index = (void *)chunk_of_area(area, area->header->region[table - area->table].index);
	WRITE_ONCE(index->block[i], nr);
	/* Pairs with direct_chunk() on another CPU. */
	smp_store_release(&table->base[i], ktau_base_of(chunk, i));
	return chunk;
}

/* Create the chunk that @link should point to, unless it exists. */
static struct ktau_chunk *need_chunk(struct ktau_state *state, struct ktau_chunk **link)
{
	struct ktau_area *area = state->area;
	struct ktau_chunk *chunk = *link;

	if (chunk || area->nr_others == KTAU_REGION_CHUNKS)
		return chunk;
	chunk = ktau_chunk_take_spare(state->user);
	if (!chunk)
		return NULL;
	atomic_long_add(sizeof(*chunk), &state->bytes);
	WRITE_ONCE(area->nr_others, area->nr_others + 1);
	/* Pairs with chunk_of() on another CPU. */
	smp_store_release(link, chunk);
	return chunk;
}

static struct ktau_chunk *create_other(struct ktau_state *state,
				       struct ktau_region_table *table, unsigned int id)
{
	struct ktau_chunk *chunk = need_chunk(state, &table->root);

	if (chunk)
		chunk = need_chunk(state, &chunk->chunk[id >> KTAU_REGION_DIR_SHIFT]);
	if (chunk)
		chunk = need_chunk(state, &chunk->chunk[(id >> KTAU_CHUNK_SHIFT) &
							(KTAU_DIR_CHUNKS - 1)]);
	return chunk;
}

/* Interrupts are disabled here, because one could create the same chunk. */
static noinline struct ktau_cell *create_cell(struct ktau_state *state, unsigned int id)
{
	struct ktau_region_table *table = state->region_table;
	struct ktau_area_region *shown;
	struct ktau_chunk *chunk;
	unsigned long flags;

	raw_local_irq_save(flags);
	if (ktau_region_is_direct(id)) {
		chunk = create_direct(state->area, table, id);
		ask(state);
	} else {
		chunk = create_other(state, table, id);
	}
	if (!chunk) {
		shown = &state->area->header->region[table - state->area->table];
		WRITE_ONCE(shown->refused, shown->refused + 1);
		ktau_add(&table->refused, 1);
	}
	raw_local_irq_restore(flags);
	return chunk ? &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)] : NULL;
}

/**
 * ktau_region_cell() - find the cell of an event, allocating its chunk if necessary
 * @state: the owner, which has regions
 * @id: event
 *
 * Context: As ktau_region_account().
 * Return: The cell, or NULL if there was no room; this is counted.
 */
struct ktau_cell *ktau_region_cell(struct ktau_state *state, unsigned int id)
{
	struct ktau_cell *cell = ktau_region_find(state->region_table, id);

	return likely(cell) ? cell : create_cell(state, id);
}

/**
 * ktau_region_account() - account one activation in a table, and to the region
 * @state: the owner of the table
 * @id: event
 * @incl: its duration, in ticks
 * @excl: its exclusive time, in ticks
 * @outermost: whether it is not nested in another activation of the same event
 *
 * Context: As ktau_table_account().
 */
void ktau_region_account(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			 bool outermost)
{
	struct ktau_cell *cell = state->region_word ? ktau_cell(state, id) : NULL;

	if (!cell) {
		ktau_table_account(state, id, incl, excl, outermost);
		return;
	}
	ktau_cell_account(cell, incl, excl, outermost);
	cell = ktau_region_find(state->region_table, id);
	if (unlikely(!cell))
		cell = create_cell(state, id);
	if (cell)
		ktau_cell_account(cell, incl, excl, outermost);
}

/**
 * ktau_region_count() - account a value of a counter to the region
 * @ref: @ktau of the current task
 * @id: event id of the counter
 * @value: added to the counter
 *
 * Context: As ktau_region_account().
 */
void ktau_region_count(struct ktau_ref *ref, unsigned int id, u64 value)
{
	struct ktau_state *state = ref->state;
	struct ktau_cell *cell;
	unsigned long flags;

	if (!state->region_word)
		return;
	if (!ref->top)
		ktau_region_read(state);
	cell = ktau_region_cell(state, id);
	if (!cell)
		return;
	raw_local_irq_save(flags);
	ktau_cell_count(cell, value);
	raw_local_irq_restore(flags);
}
