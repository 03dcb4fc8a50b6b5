/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the memory of a thread's regions, part of which the thread shares with the kernel.
 */
#ifndef _KERNEL_KTAU_AREA_H
#define _KERNEL_KTAU_AREA_H

#include <linux/jump_label.h>
#include <linux/mm.h>
#include <uapi/linux/ktau_area.h>

#include "base/types.h"
#include "table.h"

/* Limit of the chunks that user space reads, for all regions of a task; same for the others. */
#define KTAU_REGION_CHUNKS	2048

#define KTAU_REGION_BASE_BYTES	(KTAU_NR_DIRECT * sizeof(struct ktau_cell *))
#define KTAU_CHUNKS_PER_PAGE	(PAGE_SIZE / sizeof(struct ktau_chunk))
#define KTAU_BASES_PER_PAGE	(PAGE_SIZE / KTAU_REGION_BASE_BYTES)

/**
 * struct ktau_region_table - what is accounted to one region of a task
 * @base: finds the cells of ids below KTAU_ID_INDIRECT in task context, as in a state;
 *	ktau_no_base while there are none. User space reads these cells
 * @root: finds all other cells: a chunk of directories, NULL while there are none
 * @refused: activations for which there was no room
 */
struct ktau_region_table {
	struct ktau_cell	**base;
	struct ktau_chunk	*root;
	u64			refused;
};

/**
 * struct ktau_pool - pages from which blocks of one size are taken; none is given back
 * @nr_pages: number of @page; written by the task
 * @used: number of blocks taken; written with interrupts disabled
 * @page: the pages
 */
struct ktau_pool {
	u32	nr_pages;
	u32	used;
	void	*page[KTAU_REGION_CHUNKS / KTAU_CHUNKS_PER_PAGE];
};

static_assert(KTAU_REGION_CHUNKS / KTAU_CHUNKS_PER_PAGE * KTAU_BASES_PER_PAGE >=
	      KTAU_REGIONS_MAX);
static_assert(sizeof(struct ktau_chunk) == sizeof(struct ktau_area_index));
static_assert(sizeof(struct ktau_cell) == sizeof(struct ktau_area_cell));
static_assert(KTAU_REGION_CHUNKS * sizeof(struct ktau_chunk) == KTAU_AREA_CELLS_BYTES);
static_assert(KTAU_AREA_EVENTS == KTAU_ID_INDIRECT);
static_assert(KTAU_AREA_TIMERS == KTAU_ID_POINT);
static_assert(KTAU_AREA_REGIONS == KTAU_REGIONS_MAX);
static_assert(KTAU_AREA_BLOCK_CELLS == KTAU_CHUNK_CELLS);

/**
 * struct ktau_area - the regions of a task
 * @ref: references of the state and of the descriptor, which mappings keep open
 * @region: a page that begins with the number of the current region; user space may write
 *	it at any time
 * @header: a page; user space reads this page and those of @chunks
 * @chunks: chunks of the tables, and a chunk for each used region that is its index
 * @bases: the @base arrays of the tables
 * @lock: keeps pages that are freed early from being mapped meanwhile
 * @is_attached: the task may enter regions; this and the next one under @lock
 * @is_open: the descriptor exists
 * @bytes: part of the bytes of the state that is for the area, without @nr_others
 * @growing: more pages have been requested
 * @ask_at: no request before this time, in jiffies
 * @rcu: frees the area, because readers on other CPUs find it without a reference
 * @user: the user to whom everything is charged
 * @nr: number of tables
 * @nr_others: number of the other chunks, which user space does not see
 * @refused: changes to a region beyond @nr
 * @table: the tables, by number of the region; written like the table of the state
 */
struct ktau_area {
	refcount_t			ref;
	u32				*region;
	struct ktau_area_header		*header;
	struct ktau_pool		chunks;
	struct ktau_pool		bases;
	spinlock_t			lock;	/* see above */
	bool				is_attached;
	bool				is_open;
	size_t				bytes;
	bool				growing;
	unsigned long			ask_at;
	struct rcu_head			rcu;
	struct ktau_user		*user;
	u32				nr;
	u32				nr_others;
	u64				refused;
	struct ktau_region_table	table[];
};

/* Some thread has had an area since boot. */
DECLARE_STATIC_KEY_FALSE(ktau_regions_key);

/* For each number of a chunk, the base pointer that stands for ktau_no_chunk. */
extern struct ktau_cell *ktau_no_base[KTAU_NR_DIRECT];

struct ktau_area *ktau_area_create(struct ktau_state *state, u32 nr, u64 hz);
void ktau_area_put(struct ktau_area *area);
void ktau_area_close(struct ktau_area *area);
struct page *ktau_area_page(struct ktau_area *area, unsigned long nr);
void ktau_area_attach(struct ktau_state *state, struct ktau_area *area);
void ktau_area_detach(struct ktau_state *state);
void ktau_area_drop(struct ktau_state *state);
struct ktau_chunk *ktau_area_chunk(struct ktau_area *area, u32 *nr);
struct ktau_cell **ktau_area_base(struct ktau_area *area, u32 *index);
bool ktau_area_is_low(const struct ktau_area *area);
bool ktau_area_grow(struct ktau_state *state);

#endif /* _KERNEL_KTAU_AREA_H */
