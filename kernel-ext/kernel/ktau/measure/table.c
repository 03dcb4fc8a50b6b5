// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the table of one owner: cells by event id, in chunks that are allocated when one
 * of their ids is first hit. profile.c describes what is accounted in a cell.
 *
 * Ids below KTAU_ID_INDIRECT, where most tasks spend most of their time, index an array
 * of pointers to chunks. Ids above go through a directory, allocated with its first
 * chunk, so a task without such events pays only a few words for them.
 *
 * A CPU has all cells in one array: its cells are found without a test.
 */
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "base/arch.h"
#include "base/event.h"
#include "base/memory.h"
#include "table.h"
#include "times.h"

/*
 * In place of each chunk that does not exist, and of each directory. An exit compares the
 * duration with the longest activation anyway; here, any duration is longer. So one
 * comparison finds a missing chunk and a new longest activation. Nothing is ever added.
 */
struct ktau_chunk ktau_no_chunk __ro_after_init = {
	.cell[0 ... KTAU_CHUNK_CELLS - 1].v[2] = -1ULL,
};

struct ktau_chunk ktau_no_dir __ro_after_init = {
	.chunk[0 ... KTAU_DIR_CHUNKS - 1] = &ktau_no_chunk,
};

/* Where the pointer to chunk @nr, of the second level, is. */
static struct ktau_chunk **chunk_link(struct ktau_state *state, unsigned int nr)
{
	nr -= KTAU_NR_DIRECT;
	return &state->dir[nr >> KTAU_DIR_SHIFT]->chunk[nr & (KTAU_DIR_CHUNKS - 1)];
}

/* Whether chunk @nr needs no directory, or has it. */
static bool has_dir(const struct ktau_state *state, unsigned int nr)
{
	return nr < KTAU_NR_DIRECT ||
	       state->dir[(nr - KTAU_NR_DIRECT) >> KTAU_DIR_SHIFT] != &ktau_no_dir;
}

static void set_chunk(struct ktau_state *state, unsigned int nr, struct ktau_chunk *chunk)
{
	if (nr < KTAU_NR_DIRECT) /* pairs with ktau_chunk_at() on another CPU */
		smp_store_release(&state->base[nr], ktau_base_of(chunk, nr));
	else /* pairs with ktau_chunk_at() too */
		smp_store_release(chunk_link(state, nr), chunk);
}

static void set_used(struct ktau_state *state, unsigned int nr)
{
	unsigned long *word = &state->used[BIT_WORD(nr)];

	WRITE_ONCE(*word, *word | BIT_MASK(nr));
}

static void add_chunk(struct ktau_state *state, unsigned int nr, struct ktau_chunk *chunk)
{
	atomic_long_add(sizeof(*chunk), &state->bytes);
	set_chunk(state, nr, chunk);
	set_used(state, nr);
}

/* @dir is an empty chunk that becomes the directory of chunk @nr. */
static void add_dir(struct ktau_state *state, unsigned int nr, struct ktau_chunk *dir)
{
	unsigned int i;

	for (i = 0; i < KTAU_DIR_CHUNKS; i++)
		dir->chunk[i] = &ktau_no_chunk;
	atomic_long_add(sizeof(*dir), &state->bytes);
	/* Pairs with ktau_chunk_at() on another CPU. */
	smp_store_release(&state->dir[(nr - KTAU_NR_DIRECT) >> KTAU_DIR_SHIFT], dir);
}

/* Interrupts are disabled, because one could create the same chunk. */
static struct ktau_chunk *chunk_create(struct ktau_state *state, unsigned int nr)
{
	struct ktau_chunk *chunk;

	if (!has_dir(state, nr)) {
		chunk = ktau_chunk_take(state->user);
		if (!chunk)
			return NULL;
		add_dir(state, nr, chunk);
	}
	chunk = ktau_chunk_at(state, nr);
	if (chunk)
		return chunk;
	chunk = ktau_chunk_take(state->user);
	if (chunk)
		add_chunk(state, nr, chunk);
	return chunk;
}

static noinline struct ktau_cell *cell_create(struct ktau_state *state,
					      unsigned int id)
{
	struct ktau_chunk *chunk;
	unsigned long flags;

	raw_local_irq_save(flags);
	chunk = chunk_create(state, id >> KTAU_CHUNK_SHIFT);
	raw_local_irq_restore(flags);
	return chunk ? &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)] : NULL;
}

/**
 * ktau_cell() - find the cell of an event, allocating its chunk if necessary
 * @state: the owner of the table, which has chunks
 * @id: event
 *
 * Context: Any but NMI, on the CPU that runs the owner.
 * Return: The cell, or NULL if there was no memory.
 */
struct ktau_cell *ktau_cell(struct ktau_state *state, unsigned int id)
{
	struct ktau_cell *cell = ktau_cell_here(state, id);

	return likely(!ktau_cell_is_missing(cell)) ? cell : cell_create(state, id);
}

/**
 * ktau_chunk_at() - find a chunk of any table
 * @nr: number of the chunk
 *
 * Context: Any.
 * Return: The chunk, or NULL if there is none.
 */
struct ktau_chunk *ktau_chunk_at(const struct ktau_state *state, unsigned int nr)
{
	struct ktau_chunk *chunk, *dir;

	if (state->cells)
		return (struct ktau_chunk *)&state->cells[nr << KTAU_CHUNK_SHIFT];
	if (nr < KTAU_NR_DIRECT) {	/* pairs with set_chunk() */
		chunk = ktau_based(smp_load_acquire(&state->base[nr]), nr);
	} else {
		nr -= KTAU_NR_DIRECT;
		/* Pairs with add_dir(). */
		dir = smp_load_acquire(&state->dir[nr >> KTAU_DIR_SHIFT]);
		/* Pairs with set_chunk(). */
		chunk = smp_load_acquire(&dir->chunk[nr & (KTAU_DIR_CHUNKS - 1)]);
	}
	return chunk == &ktau_no_chunk ? NULL : chunk;
}

/**
 * ktau_chunk_next() - iterate over the chunks of a table, in the order of their ids
 * @next: the number to start from, 0 at first; set to the number after the chunk found
 *
 * Context: Any.
 * Return: The next chunk, or NULL if there is none.
 */
struct ktau_chunk *ktau_chunk_next(const struct ktau_state *state,
				   unsigned int *next)
{
	unsigned long word = ~0UL << (*next % BITS_PER_LONG);
	struct ktau_chunk *chunk;
	unsigned int i, nr;

	for (i = BIT_WORD(*next); i < ARRAY_SIZE(state->used); i++) {
		word &= READ_ONCE(state->used[i]);
		for (; word; word &= word - 1) {
			nr = i * BITS_PER_LONG + __ffs(word);
			chunk = ktau_chunk_at(state, nr);
			if (!chunk)
				continue;	/* it is being added */
			*next = nr + 1;
			return chunk;
		}
		word = ~0UL;
	}
	return NULL;
}

/**
 * ktau_table_construct() - make the table of a new state empty
 * @memory: that of the state, with any contents
 *
 * Context: Any.
 */
void ktau_table_construct(void *memory)
{
	struct ktau_state *state = memory;
	unsigned int i;

	for (i = 0; i < KTAU_NR_DIRECT; i++)
		state->base[i] = ktau_base_of(&ktau_no_chunk, i);
	for (i = 0; i < KTAU_NR_DIRS; i++)
		state->dir[i] = &ktau_no_dir;
	bitmap_zero(state->used, KTAU_NR_CHUNKS);
}

/**
 * ktau_table_flat() - give a state a table with all cells in one array
 * @state: the owner, not yet in use; it gets no chunks
 *
 * Context: May sleep.
 * Return: Whether there was memory.
 */
bool ktau_table_flat(struct ktau_state *state)
{
	const size_t bytes = KTAU_NR_IDS * sizeof(struct ktau_cell);

	state->cells = ktau_alloc(state->user, bytes, GFP_KERNEL);
	if (!state->cells)
		return false;
	memset(state->cells, 0, bytes);
	atomic_long_add(bytes, &state->bytes);
	/* Their context cannot set it. */
	set_used(state, KTAU_ID_NMI >> KTAU_CHUNK_SHIFT);
	return true;
}

/**
 * ktau_table_longest() - an event has taken longer than ever before in a flat table
 * @id: event
 * @ticks: its duration, in ticks
 *
 * This includes the first activation, after which readers look for the event.
 *
 * Context: On the CPU that runs the owner, interrupts disabled.
 */
void ktau_table_longest(struct ktau_state *state, unsigned int id, u64 ticks)
{
	set_used(state, id >> KTAU_CHUNK_SHIFT);
	ktau_write(&state->cells[id].v[2], ticks);
}

/**
 * ktau_table_fill() - allocate chunks of a table in advance
 * @state: the owner, not yet in use
 * @nr_ids: the ids below this one get chunks
 *
 * Context: May sleep.
 * Return: Whether there was memory. If not, the table has some of the chunks.
 */
bool ktau_table_fill(struct ktau_state *state, unsigned int nr_ids)
{
	unsigned int nr, end = DIV_ROUND_UP(nr_ids, KTAU_CHUNK_CELLS);
	struct ktau_chunk *chunk;

	for (nr = 0; nr < end; nr++) {
		if (ktau_chunk_at(state, nr))
			continue;
		chunk = ktau_chunk_alloc(state->user);
		if (!chunk)
			return false;
		if (has_dir(state, nr))
			add_chunk(state, nr, chunk);
		else
			add_dir(state, nr--, chunk);	/* and the chunk comes next */
	}
	return true;
}

static void clear_used(struct ktau_state *state, unsigned int nr)
{
	unsigned long *word = &state->used[BIT_WORD(nr)];

	WRITE_ONCE(*word, *word & ~BIT_MASK(nr));
}

/* Move the directories that @to lacks from @from, with all their chunks. */
static unsigned int move_dirs(struct ktau_state *to, struct ktau_state *from)
{
	unsigned int i, k, nr, moved = 0;

	for (i = 0; i < KTAU_NR_DIRS; i++) {
		if (from->dir[i] == &ktau_no_dir || to->dir[i] != &ktau_no_dir)
			continue;
		/* Pairs with ktau_chunk_at() on another CPU. */
		smp_store_release(&to->dir[i], from->dir[i]);
		from->dir[i] = &ktau_no_dir;
		moved++;
		for (k = 0; k < KTAU_DIR_CHUNKS; k++) {
			if (to->dir[i]->chunk[k] == &ktau_no_chunk)
				continue;
			nr = KTAU_NR_DIRECT + (i << KTAU_DIR_SHIFT) + k;
			set_used(to, nr);
			clear_used(from, nr);
			moved++;
		}
	}
	return moved;
}

static void add_cells(struct ktau_chunk *to, const struct ktau_chunk *from,
		      unsigned int first_id)
{
	unsigned int i;

	for (i = 0; i < KTAU_CHUNK_CELLS; i++)
		if (from->cell[i].count)
			ktau_cell_add(&to->cell[i], &from->cell[i],
				      ktau_event_kind(first_id + i));
}

/**
 * ktau_table_merge() - add a table to another one
 * @to: receives the sums, and the chunks that it lacks; no other writer, and readers
 *	retry
 * @from: is added, and not used afterwards; without readers, unless @to has all chunks
 *
 * Context: Any. Both are charged to the same user, unless @to has all chunks.
 * Return: The number of chunks that were moved.
 */
unsigned int ktau_table_merge(struct ktau_state *to, struct ktau_state *from)
{
	unsigned int nr, next = 0, moved = move_dirs(to, from);
	struct ktau_chunk *chunk, *sum;

	moved += ktau_times_merge(to, from);
	while ((chunk = ktau_chunk_next(from, &next))) {
		nr = next - 1;
		sum = ktau_chunk_at(to, nr);
		if (sum) {
			add_cells(sum, chunk, nr << KTAU_CHUNK_SHIFT);
			continue;
		}
		set_chunk(to, nr, chunk);
		set_used(to, nr);
		set_chunk(from, nr, &ktau_no_chunk);
		clear_used(from, nr);
		moved++;
	}
	return moved;
}

/**
 * ktau_table_free() - free all chunks of a table, which is empty then
 * @state: the owner, no longer in use
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_table_free(struct ktau_state *state)
{
	struct ktau_chunk *chunk;
	unsigned int i, next = 0;

	ktau_free(state->user, state->cells, KTAU_NR_IDS * sizeof(*state->cells));
	while (!state->cells && (chunk = ktau_chunk_next(state, &next))) {
		set_chunk(state, next - 1, &ktau_no_chunk);
		ktau_chunk_free(state->user, chunk);
	}
	for (i = 0; i < KTAU_NR_DIRS; i++) {
		if (state->dir[i] != &ktau_no_dir)
			ktau_chunk_free(state->user, state->dir[i]);
		state->dir[i] = &ktau_no_dir;
	}
	bitmap_zero(state->used, KTAU_NR_CHUNKS);
	ktau_times_free(state);
}

/**
 * ktau_table_cells() - upper bound of the number of events in a table
 *
 * Context: Any.
 * Return: The number of cells, which may grow at any time if the table is in use.
 */
unsigned int ktau_table_cells(const struct ktau_state *state)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(state->used); i++)
		nr += hweight_long(READ_ONCE(state->used[i]));
	return nr * KTAU_CHUNK_CELLS;
}

/**
 * ktau_table_account() - account one activation in a table
 * @state: the owner of the table
 * @id: event
 * @incl: its duration, in ticks
 * @excl: its exclusive time, in ticks
 * @outermost: whether it is not nested in another activation of the same event
 *
 * Context: Any but NMI, on the CPU that runs the owner, after an increment of
 * @state->begin and before one of @state->end.
 */
void ktau_table_account(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			bool outermost)
{
	struct ktau_cell *cell = ktau_cell(state, id);

	if (likely(cell)) {
		ktau_cell_account(cell, incl, excl, outermost);
	} else {
		ktau_add(&state->refused, 1);
		ktau_add(&state->refused_ticks, excl);
	}
}

DEFINE_STATIC_CALL(ktau_divert_account, ktau_table_account);

/**
 * ktau_cell_add() - add one cell to another
 * @from: the cell to add
 * @kind: KTAU_KIND_*
 *
 * Context: Any; no other CPU writes @to.
 */
void ktau_cell_add(struct ktau_cell *to, const struct ktau_cell *from,
		   unsigned int kind)
{
	if (!from->count && !from->v[1])
		return;
	to->v[0] += from->v[0];
	if (kind == KTAU_KIND_TIMER) {
		to->v[1] += from->v[1];
		if (from->v[2] > to->v[2])
			to->v[2] = from->v[2];
	} else {
		if (!to->count || from->v[1] < to->v[1])
			to->v[1] = from->v[1];
		if (from->v[2] > to->v[2])
			to->v[2] = from->v[2];
	}
	to->count += from->count;
}
