/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: regions of programs.
 */
#ifndef _KERNEL_KTAU_REGION_H
#define _KERNEL_KTAU_REGION_H

#include <linux/compiler.h>
#include <linux/jump_label.h>

#include "types.h"

struct page;

/**
 * struct ktau_area - a page in which a thread stores the number of its region
 * @ref: counts the thread and the descriptor, which mappings hold
 * @region: the number, at the beginning of the page; user space may write it at any time
 * @page: the page
 * @user: account to which it is charged
 */
struct ktau_area {
	refcount_t		ref;
	u32			*region;
	struct page		*page;
	struct ktau_user	*user;
};

/**
 * struct ktau_region_table - what is accounted to one region of a task
 * @root: the table: a chunk of directories, NULL if it is empty
 * @refused: activations for which it had no room
 */
struct ktau_region_table {
	struct ktau_chunk	*root;
	u64			refused;
};

/**
 * struct ktau_region_set - the regions of a task
 * @nr: number of tables
 * @nr_chunks: chunks of all tables
 * @refused: changes to a region beyond @nr
 * @table: by number; the first one is not used. Written like the table of the state
 */
struct ktau_region_set {
	u32				nr;
	u32				nr_chunks;
	u64				refused;
	struct ktau_region_table	table[];
};

/* Chunks of all regions of one task. */
#define KTAU_REGION_CHUNKS	2048

/**
 * struct ktau_region_copy - destination of a copy of the regions
 * @p: buffer for the records
 * @bytes: its size
 * @len: bytes used
 * @is_full: there were more
 */
struct ktau_region_copy {
	void	*p;
	size_t	bytes;
	size_t	len;
	bool	is_full;
};

/* Some thread has had an area since boot. */
DECLARE_STATIC_KEY_FALSE(ktau_regions_key);

struct ktau_region_set *ktau_regions_create(struct ktau_user *user, u32 nr);
void ktau_regions_clear(struct ktau_state *state);
void ktau_regions_free(struct ktau_state *state);
size_t ktau_regions_bytes(const struct ktau_state *state);
void ktau_regions_copy(struct ktau_region_copy *copy, const struct ktau_state *state);

void ktau_region_change(struct ktau_state *state, u32 region);
struct ktau_cell *ktau_region_cell(struct ktau_state *state, unsigned int id);
void ktau_region_count(struct ktau_ref *ref, unsigned int id, u64 value);
void ktau_region_account(struct ktau_state *state, unsigned int id, u64 incl, u64 excl,
			 bool outermost);

/* The current task, whose state this is, has come from user mode. */
static __always_inline void ktau_region_read(struct ktau_state *state)
{
	u32 region;

	if (!state->area)
		return;
	region = READ_ONCE(*state->area->region);
	if (unlikely(region != state->region))
		ktau_region_change(state, region);
}

#define KTAU_REGION_DIR_SHIFT	(KTAU_CHUNK_SHIFT + KTAU_DIR_SHIFT)

static_assert(KTAU_DIR_CHUNKS << KTAU_REGION_DIR_SHIFT >= KTAU_NR_IDS);

/* The cell of event @id in a table, or NULL. */
static __always_inline struct ktau_cell *
ktau_region_find(const struct ktau_region_table *table, unsigned int id)
{
	struct ktau_chunk *chunk = table->root;

	if (likely(chunk))
		chunk = chunk->chunk[id >> KTAU_REGION_DIR_SHIFT];
	if (likely(chunk))
		chunk = chunk->chunk[(id >> KTAU_CHUNK_SHIFT) & (KTAU_DIR_CHUNKS - 1)];
	return likely(chunk) ? &chunk->cell[id & (KTAU_CHUNK_CELLS - 1)] : NULL;
}

#endif /* _KERNEL_KTAU_REGION_H */
