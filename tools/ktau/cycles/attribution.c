// SPDX-License-Identifier: GPL-2.0-only
/* Attribution of cycle counts; the rules are in attribution.h. */
#include "attribution.h"

#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"

/* A batch with more ranges ends without a count, so that memory is bounded. */
#define BATCH_MAX	65536

/* A damaged trace may name any number of pages. */
#define UNREAD_MAX	65536

void cycles_init(struct cycles *c, enum cycles_rule rule)
{
	*c = (struct cycles){ .rule = rule, .before = CYCLES_RANGE };
}

void cycles_deinit(struct cycles *c)
{
	size_t i;

	for (i = 0; i < c->nr_ranges; i++)
		free(c->ranges[i].first);
	free(c->ranges);
	free(c->batch);
	hash_deinit(&c->by_address);
	hash_deinit(&c->unread_pages);
}

static bool counts_follow(const struct cycles *c)
{
	return c->rule == CYCLES_BY_BATCH || c->rule == CYCLES_BY_BLOCK;
}

/*
 * The key of a range. Two ranges with one key would be one row: the start has 48 significant
 * bits, and no decoder reports ranges of more than 65535 instructions.
 */
static uint64_t key_of(const struct cycles_element *e)
{
	return e->start << 16 ^ e->start >> 48 ^ e->nr_instructions;
}

static bool same_range(const struct cycles_range *range, const struct cycles_element *e)
{
	return range->start == e->start && range->end == e->end &&
	       range->nr_instructions == e->nr_instructions && range->isa == e->isa;
}

/* The index of the range of @e, which is added if it is new. */
static size_t find_range(struct cycles *c, const struct cycles_element *e)
{
	uint64_t key = key_of(e);
	size_t at;

	while ((at = hash_get(&c->by_address, key)) && !same_range(&c->ranges[at - 1], e))
		key++;
	if (at)
		return at - 1;
	if (c->nr_ranges == c->room) {
		c->room = 2 * c->room + 64;
		c->ranges = cli_alloc(c->ranges, c->room, sizeof(*c->ranges));
	}
	c->ranges[c->nr_ranges] = (struct cycles_range){
		.start = e->start,
		.end = e->end,
		.nr_instructions = e->nr_instructions,
		.isa = e->isa,
	};
	hash_put(&c->by_address, key, ++c->nr_ranges);
	return c->nr_ranges - 1;
}

/* The first @nr instructions of the range get one cycle more. */
static void add_to_first(struct cycles_range *range, uint64_t nr)
{
	if (nr >= range->nr_instructions) {
		range->each++;
		return;
	}
	if (!nr)
		return;
	if (!range->first) {
		range->first = cli_alloc(NULL, range->nr_instructions, sizeof(*range->first));
		memset(range->first, 0, range->nr_instructions * sizeof(*range->first));
	}
	range->first[nr]++;
}

void cycles_of(const struct cycles_range *range, uint64_t *cycles)
{
	uint32_t i = range->nr_instructions;
	uint64_t sum = range->each;

	while (i--) {
		cycles[i] = sum;
		if (range->first)
			sum += range->first[i];
	}
	cycles[range->nr_instructions - 1] += range->last;
}

/* Divide @cycles among the instructions of the batch. */
static void count_batch(struct cycles *c, uint64_t cycles)
{
	uint64_t each = cycles / c->batch_instructions;
	uint64_t rest = cycles % c->batch_instructions;
	struct cycles_range *range;
	size_t i;

	for (i = 0; i < c->nr_batch; i++) {
		range = &c->ranges[c->batch[i]];
		range->each += each;
		add_to_first(range, rest);
		rest -= rest < range->nr_instructions ? rest : range->nr_instructions;
	}
	c->in_ranges += cycles;
	c->nr_batch = 0;
	c->batch_instructions = 0;
}

/* The batch has no count. */
static void drop_batch(struct cycles *c)
{
	size_t i;

	for (i = 0; i < c->nr_batch; i++)
		c->ranges[c->batch[i]].uncounted++;
	c->uncounted += c->batch_instructions;
	c->nr_batch = 0;
	c->batch_instructions = 0;
}

static void add_to_batch(struct cycles *c, size_t index)
{
	if (c->nr_batch == BATCH_MAX)
		drop_batch(c);
	if (!c->batch)
		c->batch = cli_alloc(NULL, BATCH_MAX, sizeof(*c->batch));
	c->batch[c->nr_batch++] = index;
	c->batch_instructions += c->ranges[index].nr_instructions;
}

static void add_range(struct cycles *c, const struct cycles_element *e)
{
	size_t index = find_range(c, e);
	struct cycles_range *range = &c->ranges[index];

	range->executions++;
	range->after_branch += c->branched;
	c->branched = e->branches;
	c->instructions += e->nr_instructions;
	if (counts_follow(c)) {
		add_to_batch(c, index);
		return;
	}
	range->last += c->pending;
	c->in_ranges += c->pending;
	c->pending = 0;
}

/* Add what was counted before a discontinuity to the sum that it belongs to. */
static void add_to_gap(struct cycles *c, enum cycles_kind kind, uint64_t cycles)
{
	switch (kind) {
	case CYCLES_UNREAD:
		c->unread += cycles;
		break;
	case CYCLES_DAMAGE:
		c->damaged += cycles;
		c->gaps += cycles;
		break;
	case CYCLES_GAP:
	case CYCLES_RESUME:
		c->gaps += cycles;
		break;
	default:
		c->unattributed += cycles;
	}
}

static void add_count(struct cycles *c, uint64_t cycles)
{
	if (!counts_follow(c))
		c->pending += cycles;
	else if (c->nr_batch)
		count_batch(c, cycles);
	else
		add_to_gap(c, c->before, cycles);
	c->before = CYCLES_RANGE;
}

static void note_unread(struct cycles *c, uint64_t address)
{
	uint64_t page = address / CYCLES_PAGE;

	if (c->nr_unread == UNREAD_MAX || hash_get(&c->unread_pages, page))
		return;
	hash_put(&c->unread_pages, page, 1);
	c->nr_unread++;
}

static int compare_pages(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t *cycles_unread_pages(const struct cycles *c)
{
	uint64_t *pages = cli_alloc(NULL, c->nr_unread + 1, sizeof(*pages));
	size_t i, nr = 0;

	for (i = 0; i < c->unread_pages.room; i++)
		if (c->unread_pages.entries[i].value)
			pages[nr++] = c->unread_pages.entries[i].key * CYCLES_PAGE;
	qsort(pages, nr, sizeof(*pages), compare_pages);
	return pages;
}

/* A discontinuity: what was counted before it belongs to no range after it. */
static void add_gap(struct cycles *c, enum cycles_kind kind)
{
	drop_batch(c);
	add_to_gap(c, kind, c->pending);
	c->pending = 0;
	c->before = kind;
	c->branched = false;
}

void cycles_add(struct cycles *c, const struct cycles_element *e)
{
	if (e->has_count) {
		c->has_counts = true;
		c->total += e->cycles;
	}
	switch (e->kind) {
	case CYCLES_RANGE:
		if (e->has_count && !counts_follow(c))
			c->pending += e->cycles;
		add_range(c, e);
		if (e->has_count && counts_follow(c))
			add_count(c, e->cycles);
		break;
	case CYCLES_RESUME:
		if (e->has_count)
			c->gaps += e->cycles;
		break;
	case CYCLES_UNREAD:
		note_unread(c, e->start);
		/* fall through */
	case CYCLES_GAP:
	case CYCLES_DAMAGE:
		add_gap(c, e->kind);
		if (e->has_count)
			add_to_gap(c, e->kind, e->cycles);
		break;
	default:
		if (e->has_count)
			add_count(c, e->cycles);
	}
}

void cycles_finish(struct cycles *c)
{
	drop_batch(c);
	c->unattributed += c->pending;
	c->pending = 0;
}
