// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the memory of a thread's regions.
 *
 * It consists of
 *  - a page in which the thread stores the number of its region. The kernel reads the
 *    number through its own mapping of the page, so it never faults, whatever the program
 *    does with its mapping;
 *  - a header, and pages with the cells of what happened in the regions in task context,
 *    which the thread reads. They are taken in order, never given back, and contain no
 *    address;
 *  - arrays by which the kernel finds these cells;
 *  - chunks for everything else, from the reserves of the CPUs.
 *
 * The number is in use until the thread exits or executes another program. Then unused pages
 * are freed, and the tables remain with the state, unless the state lives on after an exec.
 * User space keeps its pages as long as the descriptor (attach.c) is open or mapped anywhere,
 * but after an exec the kernel no longer writes to them.
 *
 * The first pages are allocated with the area. Before they are used up, the task requests
 * more, and allocates them on its way to user mode (grow.c).
 */
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "base/core.h"
#include "base/memory.h"
#include "base/user.h"
#include "area.h"

/*
 * A task requests pages if fewer than LOW blocks are left, which suffices for the events of
 * one system call, and then gets enough for FULL blocks.
 */
#define LOW_CHUNKS	24
#define FULL_CHUNKS	48
#define LOW_BASES	4
#define FULL_BASES	8

DEFINE_STATIC_KEY_FALSE(ktau_regions_key);

struct ktau_cell *ktau_no_base[KTAU_NR_DIRECT] __ro_after_init;

static int __init area_init(void)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_DIRECT; i++)
		ktau_no_base[i] = ktau_base_of(&ktau_no_chunk, i);
	return 0;
}
early_initcall(area_init);

static unsigned int blocks_left(const struct ktau_pool *pool, unsigned int per_page)
{
	return READ_ONCE(pool->nr_pages) * per_page - pool->used;
}

/* Take a block; interrupts disabled. */
static void *take(struct ktau_pool *pool, unsigned int per_page)
{
	const u32 nr = pool->used;

	if (!blocks_left(pool, per_page))
		return NULL;
	WRITE_ONCE(pool->used, nr + 1);
	return pool->page[nr / per_page] + nr % per_page * (PAGE_SIZE / per_page);
}

/**
 * ktau_area_chunk() - take a chunk that user space can read
 * @area: the area of the current task
 * @nr: receives its number
 *
 * Context: Any but NMI, interrupts off.
 * Return: The chunk, zeroed, or NULL if there is none.
 */
struct ktau_chunk *ktau_area_chunk(struct ktau_area *area, u32 *nr)
{
	*nr = area->chunks.used;
	return take(&area->chunks, KTAU_CHUNKS_PER_PAGE);
}

/**
 * ktau_area_base() - take the array of a table, and a chunk for the index of its region
 * @area: the area of the current task
 * @index: receives the number of that chunk
 *
 * Context: As ktau_area_chunk().
 * Return: The array, in which all chunks are missing, or NULL if there is none.
 */
struct ktau_cell **ktau_area_base(struct ktau_area *area, u32 *index)
{
	struct ktau_cell **base;

	if (!blocks_left(&area->bases, KTAU_BASES_PER_PAGE) ||
	    !ktau_area_chunk(area, index))
		return NULL;
	base = take(&area->bases, KTAU_BASES_PER_PAGE);
	memcpy(base, ktau_no_base, KTAU_REGION_BASE_BYTES);
	return base;
}

/* Add pages until @blocks blocks are left. Return: 0, or -ENOMEM after as many as there were. */
static int fill(struct ktau_pool *pool, unsigned int per_page, unsigned int blocks,
		struct ktau_user *user)
{
	void *page;

	while (blocks_left(pool, per_page) < blocks &&
	       pool->nr_pages < ARRAY_SIZE(pool->page)) {
		page = ktau_page_alloc(user);
		if (!page)
			return -ENOMEM;
		pool->page[pool->nr_pages] = page;
		/* An interrupt may now take blocks of it; pairs with ktau_area_page(). */
		smp_store_release(&pool->nr_pages, pool->nr_pages + 1);
	}
	return 0;
}

/* Return: as fill(). */
static int fill_both(struct ktau_area *area)
{
	int chunks = fill(&area->chunks, KTAU_CHUNKS_PER_PAGE, FULL_CHUNKS, area->user);
	int bases = fill(&area->bases, KTAU_BASES_PER_PAGE, FULL_BASES, area->user);

	return chunks ?: bases;
}

/**
 * ktau_area_is_low() - whether to request more pages
 * @area: the area of the current task
 *
 * Context: As ktau_area_chunk().
 * Return: Whether blocks may soon run out and no pages have been requested yet.
 */
bool ktau_area_is_low(const struct ktau_area *area)
{
	return !area->growing && time_after_eq(jiffies, area->ask_at) &&
	       ((blocks_left(&area->chunks, KTAU_CHUNKS_PER_PAGE) < LOW_CHUNKS &&
		 area->chunks.nr_pages < ARRAY_SIZE(area->chunks.page)) ||
		(blocks_left(&area->bases, KTAU_BASES_PER_PAGE) < LOW_BASES &&
		 area->bases.nr_pages < ARRAY_SIZE(area->bases.page)));
}

/* The memory of an area, without the chunks that are not in @area->chunks. */
static long bytes_of(const struct ktau_area *area)
{
	return struct_size(area, table, area->nr) +
	       (2 + area->chunks.nr_pages + area->bases.nr_pages) * PAGE_SIZE;
}

/* Add to the bytes of the state; chunks that are not in @area->chunks are added separately. */
static void add_bytes(struct ktau_state *state, struct ktau_area *area, long bytes)
{
	area->bytes += bytes;
	atomic_long_add(bytes, &state->bytes);
}

/**
 * ktau_area_grow() - give the area of the current task the pages that it has requested
 *
 * Context: Task, on its way to user mode. May sleep.
 * Return: Whether it had requested any.
 */
bool ktau_area_grow(struct ktau_state *state)
{
	struct ktau_area *area = state->area;
	long before;

	if (!area || !READ_ONCE(area->growing))
		return false;
	before = bytes_of(area);
	if (fill_both(area))
		area->ask_at = jiffies + HZ / 10;
	add_bytes(state, area, bytes_of(area) - before);
	WRITE_ONCE(area->growing, false);
	return true;
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

static void free_area(struct ktau_area *area)
{
	struct ktau_user *user = area->user;
	u32 i;

	for (i = 0; i < area->nr; i++)
		free_table(user, area->table[i].root);
	for (i = 0; i < area->chunks.nr_pages; i++)
		ktau_page_free(user, area->chunks.page[i]);
	for (i = 0; i < area->bases.nr_pages; i++)
		ktau_page_free(user, area->bases.page[i]);
	ktau_page_free(user, area->header);
	ktau_page_free(user, area->region);
	ktau_free(user, area, struct_size(area, table, area->nr));
	ktau_user_put(user);
}

static void area_free(struct rcu_head *rcu)
{
	free_area(container_of(rcu, struct ktau_area, rcu));
}

/**
 * ktau_area_put() - drop a reference to an area
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_area_put(struct ktau_area *area)
{
	if (refcount_dec_and_test(&area->ref))
		call_rcu(&area->rcu, area_free);
}

static bool alloc_pages_of(struct ktau_area *area)
{
	u32 none;

	area->region = ktau_page_alloc(area->user);
	area->header = ktau_page_alloc(area->user);
	if (!area->region || !area->header || fill_both(area))
		return false;
	ktau_area_chunk(area, &none);	/* the number 0 means no chunk */
	return true;
}

/**
 * ktau_area_create() - create an area with one reference
 * @state: the state of the current task, to which it is not attached yet
 * @nr: number of regions
 * @hz: ticks per second
 *
 * Context: May sleep.
 * Return: The area, or NULL if there is no memory; this is counted.
 */
struct ktau_area *ktau_area_create(struct ktau_state *state, u32 nr, u64 hz)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO;
	struct ktau_area *area;
	u32 i;

	area = ktau_alloc(state->user, struct_size(area, table, nr), gfp);
	if (!area)
		return NULL;
	refcount_set(&area->ref, 1);
	spin_lock_init(&area->lock);
	area->is_open = true;
	area->user = ktau_user_get(state->user);
	area->nr = nr;
	area->ask_at = jiffies;
	for (i = 0; i < nr; i++)
		area->table[i].base = ktau_no_base;
	if (!alloc_pages_of(area)) {
		free_area(area);
		return NULL;
	}
	*area->header = (struct ktau_area_header) {
		.magic = KTAU_AREA_MAGIC,
		.version = KTAU_AREA_VERSION,
		.nr_regions = nr,
		.cells_at = PAGE_SIZE,
		.serial = state->serial,
		.ticks_per_second = hz,
	};
	return area;
}

/* Free unused pages, once nothing more is accounted. Return: the number of pages. */
static u32 trim(struct ktau_area *area, struct ktau_pool *pool, unsigned int per_page)
{
	const u32 nr = DIV_ROUND_UP(pool->used, per_page), end = pool->nr_pages;
	u32 i;

	spin_lock(&area->lock);
	WRITE_ONCE(pool->nr_pages, nr);
	spin_unlock(&area->lock);
	for (i = nr; i < end; i++)
		ktau_page_free(area->user, pool->page[i]);
	return end - nr;
}

/* Free the pages that only the task and user space need, once neither needs them. */
static void free_shared(struct ktau_area *area)
{
	void *region = NULL, *header = NULL;

	spin_lock(&area->lock);
	if (!area->is_attached && !area->is_open) {
		swap(region, *(void **)&area->region);
		swap(header, *(void **)&area->header);
	}
	spin_unlock(&area->lock);
	ktau_page_free(area->user, region);
	ktau_page_free(area->user, header);
}

/**
 * ktau_area_close() - release the descriptor of an area, and drop its reference
 *
 * Without mappings, the number of the region can no longer be written, so it is set to 0.
 *
 * Context: Task.
 */
void ktau_area_close(struct ktau_area *area)
{
	spin_lock(&area->lock);
	if (area->region)
		WRITE_ONCE(*area->region, 0);
	area->is_open = false;
	spin_unlock(&area->lock);
	free_shared(area);
	ktau_area_put(area);
}

/**
 * ktau_area_page() - find a page that user space can read
 * @area: the area, whose descriptor the caller holds
 * @nr: 0 for the header, and numbers from 1 on for the pages with cells
 *
 * Context: Task.
 * Return: The page with a reference, or NULL if there is none.
 */
struct page *ktau_area_page(struct ktau_area *area, unsigned long nr)
{
	struct page *page = NULL;

	spin_lock(&area->lock);
	if (!nr)
		page = virt_to_page(area->header);
	else if (nr <= smp_load_acquire(&area->chunks.nr_pages)) /* pairs with fill() */
		page = virt_to_page(area->chunks.page[nr - 1]);
	if (page)
		get_page(page);
	spin_unlock(&area->lock);
	return page;
}

/**
 * ktau_area_attach() - start accounting to regions of the current task
 * @state: its state, without an area
 * @area: the area, to which this takes a reference
 *
 * Context: Task. The caller updates the task's mask.
 */
void ktau_area_attach(struct ktau_state *state, struct ktau_area *area)
{
	unsigned long flags;

	refcount_inc(&area->ref);
	area->is_attached = true;
	add_bytes(state, area, bytes_of(area));
	raw_local_irq_save(flags);
	state->region = 0;
	state->region_table = &area->table[0];
	/* Pairs with ktau_regions_copy() on another CPU. */
	smp_store_release(&state->area, area);
	WRITE_ONCE(state->region_word, area->region);
	raw_local_irq_restore(flags);
}

/**
 * ktau_area_detach() - stop accounting to regions of the current task
 *
 * Frames that are open, such as that of execve(), will not be accounted to a region. The
 * state keeps the tables.
 *
 * Context: Task.
 */
void ktau_area_detach(struct ktau_state *state)
{
	struct ktau_area *area = state->area;
	struct ktau_frame *frame;
	unsigned long flags;
	u32 pages;

	if (!state->region_word)
		return;
	raw_local_irq_save(flags);
	WRITE_ONCE(state->region_word, NULL);
	for (frame = current->ktau.top; frame; frame = frame->prev)
		WRITE_ONCE(frame->info, frame->info & ~KTAU_FRAME_REGION);
	raw_local_irq_restore(flags);
	pages = trim(area, &area->chunks, KTAU_CHUNKS_PER_PAGE) +
		trim(area, &area->bases, KTAU_BASES_PER_PAGE);
	spin_lock(&area->lock);
	area->is_attached = false;
	spin_unlock(&area->lock);
	add_bytes(state, area, -(long)((pages + 2) * PAGE_SIZE));
	free_shared(area);
}

/**
 * ktau_area_drop() - drop the regions of a state
 * @state: the state of the current task, or one that is not in use
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_area_drop(struct ktau_state *state)
{
	struct ktau_area *area = state->area;

	if (!area)
		return;
	ktau_area_detach(state);
	ktau_add(&state->begin, 1);
	smp_wmb();	/* detects a copy that is made meanwhile */
	WRITE_ONCE(state->area, NULL);
	add_bytes(state, area, -(long)area->bytes);
	atomic_long_sub(area->nr_others * sizeof(struct ktau_chunk), &state->bytes);
	smp_wmb();	/* see above */
	ktau_add(&state->end, 1);
	ktau_area_put(area);
}
