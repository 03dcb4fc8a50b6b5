// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the table of one owner: cells by event id, in chunks that come when an
 * id in them is first hit. What goes into it is said in profile.c.
 */
#include <linux/export.h>
#include <linux/irqflags.h>

#include "ktau.h"

static noinline struct ktau_cell *cell_create(struct ktau_task *state,
					      unsigned int id)
{
	struct ktau_chunk **place = &state->chunk[id >> KTAU_CHUNK_SHIFT];
	struct ktau_chunk *chunk;
	unsigned long flags;

	/* An interrupt may want the same chunk. */
	raw_local_irq_save(flags);
	chunk = *place;
	if (!chunk) {
		chunk = ktau_chunk_take(state->user);
		if (chunk) {
			atomic_long_add(sizeof(*chunk), &state->bytes);
			__set_bit(id >> KTAU_CHUNK_SHIFT, state->used);
			/* Pairs with the reader's in snapshot.c. */
			smp_store_release(place, chunk);
		}
	}
	raw_local_irq_restore(flags);
	return chunk ? &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)] : NULL;
}

/**
 * ktau_cell() - find an event in a table, with a chunk for it if need be
 * @state: whose table
 * @id: event
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 * Return: The cell, or NULL if there was no memory.
 */
struct ktau_cell *ktau_cell(struct ktau_task *state, unsigned int id)
{
	struct ktau_chunk *chunk = state->chunk[id >> KTAU_CHUNK_SHIFT];

	if (unlikely(!chunk))
		return cell_create(state, id);
	return &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)];
}

/**
 * ktau_book() - add one activation to a table
 * @state: whose table
 * @id: event
 * @incl: its duration
 * @excl: its exclusive time
 * @outermost: whether no other activation of the event is around it
 *
 * Context: Any but NMI, on the CPU that runs the owner, between an increment of
 * @state->begin and one of @state->end.
 */
void ktau_book(struct ktau_task *state, unsigned int id, u64 incl, u64 excl,
	       bool outermost)
{
	struct ktau_cell *cell = ktau_cell(state, id);

	if (likely(cell)) {
		ktau_book_cell(cell, incl, excl, outermost);
	} else {
		ktau_add(&state->refused, 1);
		ktau_add(&state->refused_ticks, excl);
	}
}

/* Extremes take a comparison and a store: no single instruction does that. */
static void count_value(struct ktau_task *state, unsigned int id, u64 value)
{
	struct ktau_cell *cell = ktau_cell(state, id);
	unsigned long flags;

	if (unlikely(!cell)) {
		ktau_add(&state->refused, 1);
		return;
	}
	raw_local_irq_save(flags);
	if (!cell->count || value < cell->v[1])
		cell->v[1] = value;
	if (value > cell->v[2])
		cell->v[2] = value;
	cell->v[0] += value;
	cell->count++;
	raw_local_irq_restore(flags);
}

/**
 * ktau_cell_add() - add one cell to another
 * @to: sum so far
 * @from: what is added
 * @kind: KTAU_KIND_*
 *
 * Context: Any; nobody else writes @to.
 */
void ktau_cell_add(struct ktau_cell *to, const struct ktau_cell *from,
		   unsigned int kind)
{
	if (!from->count && !from->v[1])
		return;
	to->v[0] += from->v[0];
	if (kind == KTAU_KIND_TIMER) {
		to->v[1] += from->v[1];
	} else {
		if (!to->count || from->v[1] < to->v[1])
			to->v[1] = from->v[1];
		if (from->v[2] > to->v[2])
			to->v[2] = from->v[2];
	}
	to->count += from->count;
}

/**
 * __ktau_count() - add a value to a counter of the current task
 * @point: the counter
 * @value: the value
 *
 * Context: Any but NMI. The current task has the counter's group on.
 */
void __ktau_count(struct ktau_point *point, u64 value)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_task *state = ref->state;
	unsigned int id = ktau_point_id(point);
	u32 mask = READ_ONCE(ref->mask);

	if (unlikely(id == KTAU_ID_NONE))
		return;
	if (mask & KTAU_MODE_TRACE)
		ktau_trace(state, 0, KTAU_TRACE_COUNT, id, value);
	if (mask & KTAU_MODE_PROFILE) {
		ktau_add(&state->begin, 1);
		barrier();
		count_value(state, id, value);
		barrier();
		ktau_add(&state->end, 1);
	}
}
EXPORT_SYMBOL_GPL(__ktau_count);
