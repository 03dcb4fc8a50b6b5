// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: copying the regions of a task, as records. regions/region.c accounts to them.
 */
#include <linux/rcupdate.h>

#include "base/arch.h"
#include "base/event.h"
#include "measure/area.h"
#include "measure/table.h"
#include "region_copy.h"

/**
 * ktau_regions_bytes() - size of the records of a state's regions
 *
 * Context: Any.
 * Return: An upper bound of the bytes for the current tables, which may grow.
 */
size_t ktau_regions_bytes(const struct ktau_state *state)
{
	const struct ktau_area *area;
	size_t bytes = 0;

	rcu_read_lock();
	/* Pairs with ktau_area_attach(). */
	area = smp_load_acquire(&state->area);
	if (area)
		bytes = area->nr * sizeof(struct ktau_rec_region) +
			(READ_ONCE(area->nr_others) + READ_ONCE(area->chunks.used)) *
			KTAU_CHUNK_CELLS * sizeof(struct ktau_entry);
	rcu_read_unlock();
	return bytes;
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

/* Add the cell of @id to @sum; it may be changing. */
static void add_cell(struct ktau_cell *sum, const struct ktau_chunk *chunk, unsigned int id)
{
	const struct ktau_cell *cell = &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)];
	const struct ktau_cell copy = {
		.count = READ_ONCE(cell->count),
		.v = { READ_ONCE(cell->v[0]), READ_ONCE(cell->v[1]), READ_ONCE(cell->v[2]) },
	};

	ktau_cell_add(sum, &copy, ktau_event_kind(id));
}

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
		.count = cell->count,
		.incl = cell->v[0],
		.excl = cell->v[1],
		.longest = cell->v[2],
	};
	copy->len += sizeof(*entry);
	to->rec->rec.size += sizeof(*entry);
	to->rec->nr_entries++;
}

/* Chunk @nr of the cells that user space reads, or NULL; any CPU. */
static struct ktau_chunk *direct_chunk(const struct ktau_region_table *table, unsigned int nr)
{
	struct ktau_cell **base;
	struct ktau_chunk *chunk;

	if (nr >= KTAU_NR_DIRECT)
		return NULL;
	/* Pairs with need_base(). */
	base = smp_load_acquire(&table->base);
	/* Pairs with create_direct(). */
	chunk = ktau_based(smp_load_acquire(&base[nr]), nr);
	return chunk == &ktau_no_chunk ? NULL : chunk;
}

/* The chunk @i of a directory, or NULL; any CPU. */
static struct ktau_chunk *chunk_of(const struct ktau_chunk *dir, unsigned int i)
{
	/* Pairs with need_chunk(). */
	return dir ? smp_load_acquire(&dir->chunk[i]) : NULL;
}

/* Chunk @nr of the others, or NULL; any CPU. */
static struct ktau_chunk *other_chunk(const struct ktau_region_table *table, unsigned int nr)
{
	/* Pairs with need_chunk(). */
	const struct ktau_chunk *root = smp_load_acquire(&table->root);

	return chunk_of(chunk_of(root, nr >> KTAU_DIR_SHIFT), nr & (KTAU_DIR_CHUNKS - 1));
}

/* Copy a chunk; an event that happens both in task context and in interrupts has two cells. */
static void copy_chunks(struct record *to, const struct ktau_chunk *a,
			const struct ktau_chunk *b, unsigned int first_id)
{
	unsigned int id;

	for (id = first_id; id < first_id + KTAU_CHUNK_CELLS; id++) {
		struct ktau_cell sum = { };

		if (a)
			add_cell(&sum, a, id);
		if (b)
			add_cell(&sum, b, id);
		if (sum.count)
			copy_cell(to, &sum, id);
	}
}

static void copy_table(struct record *to, const struct ktau_region_table *table)
{
	struct ktau_chunk *direct, *other;
	unsigned int nr;

	for (nr = 0; nr < KTAU_NR_CHUNKS; nr++) {
		direct = direct_chunk(table, nr);
		other = other_chunk(table, nr);
		if (direct || other)
			copy_chunks(to, direct, other, nr << KTAU_CHUNK_SHIFT);
	}
}

/*
 * Copy a region, unless nothing was accounted to it. The entries of region 0 are left out:
 * they are what the profile has in addition to the other regions.
 */
static void copy_region(struct ktau_region_copy *copy, const struct ktau_area *area,
			u32 region)
{
	const struct ktau_region_table *table = &area->table[region];
	const u64 refused = ktau_read(region ? &table->refused : &area->refused);
	struct record to = { .copy = copy };

	to.rec = new_record(copy, region, refused);
	if (!to.rec)
		return;
	if (region)
		copy_table(&to, table);
	if (!refused && !to.rec->nr_entries)
		copy->len -= sizeof(*to.rec);
}

/**
 * ktau_regions_copy() - copy the regions of a task as records
 * @copy: where to
 *
 * Context: Any. @state may be in use: the caller detects that afterwards.
 */
void ktau_regions_copy(struct ktau_region_copy *copy, const struct ktau_state *state)
{
	const struct ktau_area *area;
	u32 i;

	copy->len = 0;
	copy->is_full = false;
	rcu_read_lock();
	/* Pairs with ktau_area_attach(). */
	area = smp_load_acquire(&state->area);
	for (i = 0; area && i < area->nr && !copy->is_full; i++)
		copy_region(copy, area, i);
	rcu_read_unlock();
}
