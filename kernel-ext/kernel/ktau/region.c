// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: regions of programs: accounting what the kernel does to the region that caused it.
 *
 * A thread stores the number of its current region, a function for instance, in a page
 * that it shares with the kernel (area.c). When it enters the kernel, the outermost frame
 * reads the number. Until the return to user mode everything that is accounted to the
 * thread is also accounted to that region, interrupts and waits included. Region 0 has no
 * table: it is what is left of the profile.
 *
 * region_frame.c has the frames of threads in regions.
 *
 * An activation is accounted to a region only if it is in the profile, and within the same
 * update. So a consistent copy never has more in the regions than in the profile.
 *
 * The number comes from user space and is only used to select a table of the thread
 * itself: other threads of the process, and children that still share the page, can make
 * the kernel account to the wrong one of these tables, and nothing else.
 */
#include <linux/irqflags.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "arch.h"
#include "core.h"
#include "event.h"
#include "memory.h"
#include "region.h"
#include "table.h"

DEFINE_STATIC_KEY_FALSE(ktau_regions_key);

/**
 * ktau_region_change() - the current task is in another region
 * @state: its state
 * @region: the number that user space has stored
 *
 * Context: Any but NMI.
 */
void ktau_region_change(struct ktau_state *state, u32 region)
{
	struct ktau_region_set *set = state->regions;
	unsigned long flags;

	raw_local_irq_save(flags);
	state->region = region;
	state->region_table = NULL;
	if (region >= set->nr) {
		ktau_add(&set->refused, 1);
		ktau_loss_of(state->user, KTAU_LOSS_REGION, 1);
	} else if (region) {
		state->region_table = &set->table[array_index_nospec(region, set->nr)];
	}
	raw_local_irq_restore(flags);
}

/* Create the chunk that @link should point to, unless it exists. */
static struct ktau_chunk *need_chunk(struct ktau_state *state, struct ktau_chunk **link)
{
	struct ktau_region_set *set = state->regions;
	struct ktau_chunk *chunk = *link;

	if (chunk || set->nr_chunks == KTAU_REGION_CHUNKS)
		return chunk;
	chunk = ktau_chunk_take_spare(state->user);
	if (!chunk)
		return NULL;
	atomic_long_add(sizeof(*chunk), &state->bytes);
	WRITE_ONCE(set->nr_chunks, set->nr_chunks + 1);
	/* Pairs with chunk_of() on another CPU. */
	smp_store_release(link, chunk);
	return chunk;
}

/* Interrupts are disabled, because one could create the same chunk. */
static noinline struct ktau_cell *create_cell(struct ktau_state *state, unsigned int id)
{
	struct ktau_region_table *table = state->region_table;
	struct ktau_chunk *chunk;
	unsigned long flags;

	raw_local_irq_save(flags);
	chunk = need_chunk(state, &table->root);
	if (chunk)
		chunk = need_chunk(state, &chunk->chunk[id >> KTAU_REGION_DIR_SHIFT]);
	if (chunk)
		chunk = need_chunk(state, &chunk->chunk[(id >> KTAU_CHUNK_SHIFT) &
							(KTAU_DIR_CHUNKS - 1)]);
	raw_local_irq_restore(flags);
	if (chunk)
		return &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)];
	ktau_add(&table->refused, 1);
	return NULL;
}

/**
 * ktau_region_cell() - find the cell of an event, allocating its chunk if necessary
 * @state: the owner, which is in a region
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
 * @incl: its duration
 * @excl: its exclusive time
 * @outermost: whether it is not nested in another activation of the same event
 *
 * Context: As ktau_table_account().
 */
void ktau_region_account(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			 bool outermost)
{
	struct ktau_cell *cell = state->region_table ? ktau_cell(state, id) : NULL;

	if (!cell) {
		ktau_table_account(state, id, incl, excl, outermost);
		return;
	}
	ktau_cell_account(cell, incl, excl, outermost);
	cell = ktau_region_cell(state, id);
	if (cell)
		ktau_cell_account(cell, incl, excl, outermost);
}

/**
 * ktau_region_count() - account a value of a counter to the region
 * @ref: that of the current task
 * @id: the counter
 * @value: the value
 *
 * Context: As ktau_region_account().
 */
void ktau_region_count(struct ktau_ref *ref, unsigned int id, u64 value)
{
	struct ktau_state *state = ref->state;
	struct ktau_cell *cell;
	unsigned long flags;

	if (!ref->top)
		ktau_region_read(state);
	if (!state->region_table)
		return;
	cell = ktau_region_cell(state, id);
	if (!cell)
		return;
	raw_local_irq_save(flags);
	ktau_cell_count(cell, value);
	raw_local_irq_restore(flags);
}

/**
 * ktau_regions_create() - create the regions of a task, all of them empty
 * @user: the user to charge
 * @nr: number of regions
 *
 * Context: May sleep, on behalf of the task.
 * Return: The regions, or NULL if there is no memory; this is counted.
 */
struct ktau_region_set *ktau_regions_create(struct ktau_user *user, u32 nr)
{
	struct ktau_region_set *set;
	const size_t bytes = struct_size(set, table, nr);

	set = ktau_alloc(user, bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (set)
		set->nr = nr;
	return set;
}

/* The chunk @i of a directory, or NULL; any CPU. */
static struct ktau_chunk *chunk_of(const struct ktau_chunk *dir, unsigned int i)
{
	/* Pairs with need_chunk(). */
	return smp_load_acquire(&dir->chunk[i]);
}

typedef void (*chunk_fn)(struct ktau_chunk *chunk, unsigned int first_id, void *data);

/* Call @fn for each chunk of cells of a table, in the order of their ids. */
static void walk_chunks(const struct ktau_region_table *table, chunk_fn fn, void *data)
{
	/* Pairs with need_chunk(). */
	struct ktau_chunk *root = smp_load_acquire(&table->root), *dir, *chunk;
	unsigned int i, k;

	for (i = 0; root && i < KTAU_DIR_CHUNKS; i++) {
		dir = chunk_of(root, i);
		for (k = 0; dir && k < KTAU_DIR_CHUNKS; k++) {
			chunk = chunk_of(dir, k);
			if (chunk)
				fn(chunk, (i << KTAU_REGION_DIR_SHIFT) +
					  (k << KTAU_CHUNK_SHIFT), data);
		}
	}
}

static void clear_chunk(struct ktau_chunk *chunk, unsigned int first_id, void *data)
{
	memset(chunk, 0, sizeof(*chunk));
}

/**
 * ktau_regions_clear() - forget what was accounted to the regions of the current task
 * @state: its state; it is in no region
 *
 * Context: Task.
 */
void ktau_regions_clear(struct ktau_state *state)
{
	struct ktau_region_set *set = state->regions;
	u32 i;

	ktau_add(&state->begin, 1);
	smp_wmb();	/* @begin before the rest, the rest before @end */
	set->refused = 0;
	for (i = 1; i < set->nr; i++) {
		set->table[i].refused = 0;
		walk_chunks(&set->table[i], clear_chunk, NULL);
	}
	smp_wmb();	/* see above */
	ktau_add(&state->end, 1);
}

static void free_table(struct ktau_user *user, struct ktau_chunk *root)
{
	struct ktau_chunk *dir;
	unsigned int i, k;

	for (i = 0; root && i < KTAU_DIR_CHUNKS; i++) {
		dir = root->chunk[i];
		if (!dir)
			continue;
		for (k = 0; k < KTAU_DIR_CHUNKS; k++)
			if (dir->chunk[k])
				ktau_chunk_free(user, dir->chunk[k]);
		ktau_chunk_free(user, dir);
	}
	if (root)
		ktau_chunk_free(user, root);
}

/**
 * ktau_regions_free() - free the regions of a state, which has none then
 * @state: the owner, no longer in use
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_regions_free(struct ktau_state *state)
{
	struct ktau_region_set *set = state->regions;
	u32 i;

	for (i = 1; i < set->nr; i++)
		free_table(state->user, set->table[i].root);
	ktau_free(state->user, set, struct_size(set, table, set->nr));
	state->regions = NULL;
}

/**
 * ktau_regions_bytes() - size of the records of a state's regions
 * @state: the owner
 *
 * Context: Any.
 * Return: An upper bound of the bytes for the current tables, which may grow.
 */
size_t ktau_regions_bytes(const struct ktau_state *state)
{
	/* Pairs with ktau_area_create(). */
	const struct ktau_region_set *set = smp_load_acquire(&state->regions);

	if (!set)
		return 0;
	return set->nr * sizeof(struct ktau_rec_region) +
	       (READ_ONCE(set->nr_chunks) + 1) * KTAU_CHUNK_CELLS * sizeof(struct ktau_entry);
}

/* Begin a record. Return: NULL if there is no room. */
static struct ktau_rec_region *new_record(struct ktau_region_copy *copy, u32 region,
					  u64 refused)
{
	struct ktau_rec_region *rec = copy->p + copy->len;

	if (copy->bytes - copy->len < sizeof(*rec)) {
		copy->is_full = true;
		return NULL;
	}
	*rec = (struct ktau_rec_region) {
		.rec = { sizeof(*rec), KTAU_REC_REGION, sizeof(*rec) },
		.region = region,
		.entry_size = sizeof(struct ktau_entry),
		.refused = refused,
	};
	copy->len += sizeof(*rec);
	return rec;
}

/* A record to which entries are added. */
struct record {
	struct ktau_region_copy *copy;
	struct ktau_rec_region *rec;
};

static void copy_cell(struct record *to, const struct ktau_cell *cell, unsigned int id)
{
	struct ktau_region_copy *copy = to->copy;
	struct ktau_entry *entry = copy->p + copy->len;
	const unsigned int kind = ktau_event_kind(id);

	if (copy->bytes - copy->len < sizeof(*entry)) {
		copy->is_full = true;
		return;
	}
	*entry = (struct ktau_entry) {
		.id = id,
		.kind = kind,
		.flags = kind == KTAU_KIND_TIMER ? KTAU_ENTRY_LONGEST : 0,
		.count = READ_ONCE(cell->count),
		.incl = READ_ONCE(cell->v[0]),
		.excl = READ_ONCE(cell->v[1]),
		.longest = READ_ONCE(cell->v[2]),
	};
	copy->len += sizeof(*entry);
	to->rec->rec.size += sizeof(*entry);
	to->rec->nr_entries++;
}

static void copy_chunk(struct ktau_chunk *chunk, unsigned int first_id, void *data)
{
	unsigned int i;

	for (i = 0; i < KTAU_CHUNK_CELLS; i++)
		if (READ_ONCE(chunk->cell[i].count))
			copy_cell(data, &chunk->cell[i], first_id + i);
}

/* Copy a region, unless nothing was accounted to it. */
static void copy_region(struct ktau_region_copy *copy, const struct ktau_region_set *set,
			u32 region)
{
	const struct ktau_region_table *table = &set->table[region];
	const u64 refused = ktau_read(region ? &table->refused : &set->refused);
	struct record to = { .copy = copy };

	to.rec = new_record(copy, region, refused);
	if (!to.rec)
		return;
	if (region)
		walk_chunks(table, copy_chunk, &to);
	if (!refused && !to.rec->nr_entries)
		copy->len -= sizeof(*to.rec);
}

/**
 * ktau_regions_copy() - copy the regions of a task as records
 * @copy: where to
 * @state: the owner
 *
 * Context: Any. @state may be in use: the caller detects that afterwards.
 */
void ktau_regions_copy(struct ktau_region_copy *copy, const struct ktau_state *state)
{
	/* Pairs with ktau_area_create(). */
	const struct ktau_region_set *set = smp_load_acquire(&state->regions);
	u32 i;

	copy->len = 0;
	copy->is_full = false;
	for (i = 0; set && i < set->nr && !copy->is_full; i++)
		copy_region(copy, set, i);
}
