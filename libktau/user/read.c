// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The figures of this thread. The kernel keeps them, by region, in pages that the thread can
 * read. While the thread reads them it is in user mode, so no update is in progress, but an
 * interrupt may come between two reads. Each figure changes in one direction only, so two equal
 * readings in a row are consistent.
 *
 * Of a counter, the minimum is in the place of the exclusive time, but the cells do not say which
 * events are counters.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <linux/ktau_area.h>

#include "figures.h"
#include "ktau_user.h"
#include "user.h"

/* Interrupts cannot come that fast. */
#define TRIES	1000

#define LOAD(x) (*(const volatile __typeof__(x) *)&(x))
#define ALWAYS_INLINE inline __attribute__((always_inline))

static const void *block(const struct ktau_area_header *header, uint32_t nr)
{
	const size_t bytes = KTAU_AREA_BLOCK_CELLS * sizeof(struct ktau_area_cell);

	return (const char *)header + header->cells_at + nr * bytes;
}

/* Add the figures of @event in @region. Of a counter, the smallest minimum is kept. */
static ALWAYS_INLINE void add_region(const struct ktau_area_header *header, uint32_t region,
				     uint32_t event, bool is_counter,
				     struct ktau__figures *sum)
{
	uint32_t nr = LOAD(header->region[region].index);
	const struct ktau_area_index *index;
	const struct ktau_area_cell *cell;
	uint64_t count, excl;

	sum->refused += LOAD(header->region[region].refused);
	if (!nr)
		return;
	index = block(header, nr);
	nr = LOAD(index->block[event / KTAU_AREA_BLOCK_CELLS]);
	if (!nr)
		return;
	cell = (const struct ktau_area_cell *)block(header, nr) + event % KTAU_AREA_BLOCK_CELLS;
	count = LOAD(cell->count);
	excl = LOAD(cell->excl);
	if (!is_counter)
		sum->excl += excl;
	else if (count && (!sum->count || excl < sum->excl))
		sum->excl = excl;
	sum->count += count;
	sum->incl += LOAD(cell->incl);
}

/* Those from @first to before @end. */
struct regions {
	uint32_t first, end;
};

static ALWAYS_INLINE struct ktau__figures
sum_regions(const struct ktau_area_header *header, uint32_t event, struct regions regions,
	    bool is_counter)
{
	struct ktau__figures sum = { 0 };
	uint32_t i;

	for (i = regions.first; i < regions.end; i++)
		add_region(header, i, event, is_counter, &sum);
	return sum;
}

static ALWAYS_INLINE int read_mapped(const struct ktau_area_header *header, uint32_t event,
				     struct regions regions, bool is_counter,
				     struct ktau__figures *figures)
{
	struct ktau__figures again;
	int tries;

	*figures = sum_regions(header, event, regions, is_counter);
	for (tries = 0; tries < TRIES; tries++) {
		again = sum_regions(header, event, regions, is_counter);
		if (!memcmp(&again, figures, sizeof(again)))
			return 0;
		*figures = again;
	}
	return -EBUSY;
}

/*
 * The figures of one region, or of all. In a child that a signal handler forks meanwhile, @header
 * remains mapped, but @u->figures may become NULL, so it is loaded once.
 */
static int read_figures(const struct ktau__user *u, uint32_t event, uint32_t region,
			struct ktau__figures *figures)
{
	const struct ktau_area_header *header = LOAD(u->figures);
	int is_counter = 0;

	/* The shortest path is that of one region; a sum takes longer anyway. */
	if (__builtin_expect(!header || event >= KTAU_AREA_EVENTS, 0))
		return ktau__stream_read(event, region, figures);
	if (__builtin_expect(region != KTAU__ALL_REGIONS, 1))
		return read_mapped(header, event, (struct regions){ region, region + 1 }, false,
				   figures);
	/* This may make system calls, so it must not come after the reading of the figures. */
	if (event >= KTAU_AREA_TIMERS)
		is_counter = ktau__event_is_counter(event);
	if (is_counter < 0)
		return is_counter;
	/* Inlined twice, so that the usual case does not test for a counter. */
	if (is_counter)
		return read_mapped(header, event, (struct regions){ 0, u->nr }, true, figures);
	return read_mapped(header, event, (struct regions){ 0, u->nr }, false, figures);
}

static int give(int err, const struct ktau__figures *figures, uint64_t *count, uint64_t *incl,
		uint64_t *excl)
{
	if (err < 0)
		return err;
	if (count)
		*count = figures->count;
	if (incl)
		*incl = figures->incl;
	if (excl)
		*excl = figures->excl;
	return figures->refused > 0;
}

int ktau_user_read(uint32_t event, uint64_t *count, uint64_t *incl, uint64_t *excl)
{
	const struct ktau__user *u = ktau__user_begin();
	struct ktau__figures figures;

	if (!u)
		return -ENOMEM;
	return give(read_figures(u, event, KTAU__ALL_REGIONS, &figures), &figures, count, incl,
		    excl);
}

int ktau_user_read_region(uint32_t event, uint64_t *count, uint64_t *incl, uint64_t *excl)
{
	const struct ktau__user *u = ktau__user_begin();
	struct ktau__figures figures;
	uint32_t region;

	if (!u)
		return -ENOMEM;
	if (u->status)
		return u->status;
	region = *u->word;
	if (!region || region >= u->nr)	/* the record of region 0 has no entries */
		return -ENOENT;
	return give(read_figures(u, event, region, &figures), &figures, count, incl, excl);
}

int ktau_user_read_name(const char *name, uint64_t *count, uint64_t *incl, uint64_t *excl)
{
	const int id = ktau_user_event(name);

	return id < 0 ? id : ktau_user_read((uint32_t)id, count, incl, excl);
}

bool ktau_user_is_mapped(void)
{
	const struct ktau__user *u = ktau__user_begin();

	return u && u->figures;
}

uint64_t ktau_user_hz(void)
{
	const struct ktau__user *u = ktau__user_begin();
	const struct ktau_area_header *header = u ? LOAD(u->figures) : NULL;
	uint64_t hz = 0;

	if (header)
		return header->ticks_per_second;
	return ktau__stream_hz(&hz) ? 0 : hz;
}
