// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of regions, run by KUnit at boot. The test's own thread has an area, and the
 * test sets its number in place of user space, which a kernel thread does not have.
 */
#include <linux/ktau_api.h>
#include <linux/mm.h>

#include "base/memory.h"
#include "base/user.h"
#include "measure/area.h"
#include "tasks/region_copy.h"
#include "tasks/snapshot.h"
#include "tasks/switch.h"
#include "extend/divert.h"
#include "regions/attach.h"
#include "regions/region.h"
#include "read/record.h"
#include "ktau_test.h"

#define DIRECT	100	/* system calls */
#define INNER	101
#define NR	4
#define COPY_BYTES	(64 * 1024)

struct fixture {
	struct ktau_area *area;
	struct ktau_rec_profile *rec;
	struct ktau_region_copy copy;
};

static struct ktau_state *state_here(void)
{
	return current->ktau.state;
}

static int region_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct ktau_state *state;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->rec = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	f->copy.p = kvzalloc(COPY_BYTES, GFP_KERNEL);
	f->copy.bytes = COPY_BYTES;
	KUNIT_ASSERT_NOT_NULL(test, f->rec);
	KUNIT_ASSERT_NOT_NULL(test, f->copy.p);
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	state = state_here();
	KUNIT_ASSERT_NOT_NULL(test, state);
	KUNIT_ASSERT_NULL(test, state->area);
	mutex_lock(&ktau_mutex);
	ktau_divert_to_regions(&ktau_region_targets);
	mutex_unlock(&ktau_mutex);
	f->area = ktau_area_create(state, NR, ktau_clock_hz());
	KUNIT_ASSERT_NOT_NULL(test, f->area);
	ktau_area_attach(state, f->area);
	ktau_task_refresh();
	return 0;
}

/*
 * From 6.7 on, KUnit runs this in another thread. The thread of the test has exited then, and its
 * regions are freed with its state.
 */
static void region_exit(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *state = state_here();
	const bool is_test = f->area && state && state->area == f->area;

	if (is_test)
		ktau_area_drop(state);
	KUNIT_EXPECT_EQ(test, control("groups=none trace=off profile=on"), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(current->ktau.mask), 0U);
	if (f->area)
		ktau_area_close(f->area);
	kvfree(f->rec);
	kvfree(f->copy.p);
}

static void set_region(struct fixture *f, u32 number)
{
	WRITE_ONCE(*f->area->region, number);
}

/* A system call, with another one inside, from region @region. */
static void call(struct fixture *f, u32 region)
{
	struct ktau_frame outer, inner;

	set_region(f, region);
	__ktau_enter(&outer, current, DIRECT);
	set_region(f, 99);	/* not read before the next entry from user mode */
	__ktau_enter(&inner, current, INNER);
	ktau_exit(&inner);
	ktau_exit(&outer);
	set_region(f, 0);
}

static void copy(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *state = state_here();

	KUNIT_ASSERT_EQ(test, ktau_snapshot_regions(f->rec, KTAU_SNAPSHOT_BYTES, state,
						    current, &f->copy), 0);
	KUNIT_EXPECT_LE(test, f->copy.len, ktau_regions_bytes(state));
	expect_identity(test, f->rec);
}

/* The record of a region in the copy, or NULL. */
static const struct ktau_rec_region *region(const struct fixture *f, u32 number)
{
	const struct ktau_rec_region *rec;
	size_t at;

	for (at = 0; at < f->copy.len; at += rec->rec.size) {
		rec = f->copy.p + at;
		if (rec->region == number)
			return rec;
	}
	return NULL;
}

/* An entry of a region in the copy; an empty one if there is none. */
static const struct ktau_entry *entry(const struct fixture *f, u32 number, u32 id)
{
	const struct ktau_rec_region *rec = region(f, number);
	const struct ktau_entry *e = rec ? (const void *)(rec + 1) : NULL;
	static const struct ktau_entry none;
	u32 i;

	for (i = 0; rec && i < rec->nr_entries; i++)
		if (e[i].id == id)
			return &e[i];
	return &none;
}

/* The sum of an event over all regions. */
static struct ktau_entry sum(const struct fixture *f, u32 id)
{
	struct ktau_entry all = { };
	u32 i;

	for (i = 1; i < NR; i++) {
		all.count += entry(f, i, id)->count;
		all.incl += entry(f, i, id)->incl;
		all.excl += entry(f, i, id)->excl;
		all.longest = max(all.longest, entry(f, i, id)->longest);
	}
	return all;
}

static struct ktau_chunk *chunk(const struct fixture *f, u32 nr)
{
	const struct ktau_pool *pool = &f->area->chunks;

	return (struct ktau_chunk *)pool->page[nr / KTAU_CHUNKS_PER_PAGE] +
	       nr % KTAU_CHUNKS_PER_PAGE;
}

/* A cell as user space finds it. */
static struct ktau_area_cell read_cell(const struct fixture *f, u32 number, u32 id)
{
	static const struct ktau_area_cell none;
	const struct ktau_area_index *index;
	const struct ktau_area_cell *cell;
	u32 nr = f->area->header->region[number].index;

	if (!nr)
		return none;
	index = (void *)chunk(f, nr);
	nr = index->block[id / KTAU_AREA_BLOCK_CELLS];
	if (!nr)
		return none;
	cell = (void *)chunk(f, nr);
	return cell[id % KTAU_AREA_BLOCK_CELLS];
}

static void counts(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_entry before, all;
	u64 profiled;
	u32 i;

	copy(test);
	before = *find(f->rec, DIRECT);
	profiled = find(f->rec, INNER)->count;
	for (i = 0; i < 5; i++)
		call(f, 1);
	for (i = 0; i < 3; i++)
		call(f, 3);
	call(f, 0);
	copy(test);
	KUNIT_EXPECT_EQ(test, find(f->rec, DIRECT)->count, before.count + 9);
	KUNIT_EXPECT_EQ(test, find(f->rec, INNER)->count, profiled + 9);
	KUNIT_EXPECT_EQ(test, entry(f, 1, DIRECT)->count, 5ULL);
	KUNIT_EXPECT_EQ(test, entry(f, 1, INNER)->count, 5ULL);
	KUNIT_EXPECT_EQ(test, entry(f, 3, DIRECT)->count, 3ULL);
	KUNIT_EXPECT_EQ(test, entry(f, 3, INNER)->count, 3ULL);
	KUNIT_EXPECT_NULL(test, region(f, 0));
	KUNIT_EXPECT_NULL(test, region(f, 2));
	all = sum(f, DIRECT);
	KUNIT_EXPECT_GT(test, all.excl, 0ULL);
	KUNIT_EXPECT_LT(test, all.excl, find(f->rec, DIRECT)->excl - before.excl);
	KUNIT_EXPECT_LT(test, all.incl, find(f->rec, DIRECT)->incl - before.incl);
	KUNIT_EXPECT_EQ(test, all.incl, all.excl + sum(f, INNER).incl);
}

/* Without calls outside of all regions the sums are equal. */
static void sums(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_entry before, all;
	const struct ktau_entry *e;
	u32 i;

	copy(test);
	before = *find(f->rec, DIRECT);
	for (i = 0; i < 3000; i++)
		call(f, 1 + i % 3);
	copy(test);
	e = find(f->rec, DIRECT);
	all = sum(f, DIRECT);
	KUNIT_EXPECT_EQ(test, all.count, 3000ULL);
	KUNIT_EXPECT_EQ(test, e->count - before.count, 3000ULL);
	KUNIT_EXPECT_EQ(test, e->incl - before.incl, all.incl);
	KUNIT_EXPECT_EQ(test, e->excl - before.excl, all.excl);
	KUNIT_EXPECT_LE(test, all.longest, e->longest);
}

static void bounds(struct kunit *test)
{
	static const u32 bad[] = { NR, NR + 1, 1 << 16, S32_MAX, U32_MAX };
	struct fixture *f = test->priv;
	const u64 before = ktau_loss_total(KTAU_LOSS_REGION);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		call(f, bad[i]);
	call(f, NR - 1);
	copy(test);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_REGION), before + ARRAY_SIZE(bad));
	KUNIT_ASSERT_NOT_NULL(test, region(f, 0));
	KUNIT_EXPECT_EQ(test, region(f, 0)->refused, (u64)ARRAY_SIZE(bad));
	KUNIT_EXPECT_EQ(test, region(f, 0)->nr_entries, 0U);
	KUNIT_EXPECT_EQ(test, sum(f, DIRECT).count, 1ULL);
}

/* A wait belongs to the region of the call that sleeps. */
static void waits(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_entry *e;
	struct ktau_frame frame;

	KUNIT_ASSERT_EQ(test, control("groups=syscall,sched"), 0);
	set_region(f, 2);
	__ktau_enter(&frame, current, DIRECT);
	sleep_20ms();
	ktau_exit(&frame);
	set_region(f, 0);
	copy(test);
	e = entry(f, 2, KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE);
	KUNIT_EXPECT_GE(test, e->count, 1ULL);
	KUNIT_EXPECT_GE(test, e->incl, ktau_clock_hz() / 50);
	KUNIT_EXPECT_EQ(test, entry(f, 2, KTAU_ID_SCHEDULE_WAIT)->count, e->count);
	KUNIT_EXPECT_GE(test, entry(f, 2, DIRECT)->incl, e->incl);
}

/* Tracing, and handlers of modules, do not change what is accounted. */
static void traced(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, control("trace=on"), 0);
	call(f, 1);
	KUNIT_ASSERT_EQ(test, control("profile=off"), 0);
	call(f, 1);
	KUNIT_ASSERT_EQ(test, control("profile=on"), 0);
	call(f, 1);
	copy(test);
	KUNIT_EXPECT_EQ(test, entry(f, 1, DIRECT)->count, 2ULL);
	KUNIT_EXPECT_EQ(test, entry(f, 1, INNER)->count, 2ULL);
}

struct listener {
	struct ktau_handler handler;
	u64 nr[KTAU_HIT_EVENT + 1];
};

static void hear(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	if (hit->fid == DIRECT)
		container_of(handler, struct listener, handler)->nr[hit->type]++;
}

static void handled(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct listener h = {
		.handler = {
			.groups = KTAU_GROUP_SYSCALL, .fn = hear,
			.types = BIT(KTAU_HIT_START) | BIT(KTAU_HIT_STOP),
		},
	};

	KUNIT_ASSERT_EQ(test, ktau_register_handler(&h.handler), 0);
	call(f, 1);
	call(f, 0);
	ktau_unregister_handler(&h.handler);
	call(f, 1);
	copy(test);
	KUNIT_EXPECT_EQ(test, h.nr[KTAU_HIT_START], 2ULL);
	KUNIT_EXPECT_EQ(test, h.nr[KTAU_HIT_STOP], 2ULL);
	KUNIT_EXPECT_EQ(test, entry(f, 1, DIRECT)->count, 2ULL);
}

/* A counter belongs to the region of the call. */
static void counters(struct kunit *test)
{
	struct fixture *f = test->priv;
	const u32 group = KTAU_GROUP_MODULE << 4;
	/* The same name as in the tests of handlers, because other tests use up the ids. */
	int fid = ktau_get_fid(group, KTAU_KIND_COUNTER, "test_handler_value");
	struct ktau_entry all;

	KUNIT_ASSERT_GE(test, fid, 0);
	KUNIT_ASSERT_EQ(test, control("+module4"), 0);
	ktau_event(fid, 50);
	set_region(f, 1);
	ktau_event(fid, 7);
	ktau_event(fid, 9);
	set_region(f, 2);
	ktau_event(fid, 8);
	set_region(f, 0);
	ktau_event(fid, 1);
	copy(test);
	all = *entry(f, 1, fid);
	KUNIT_EXPECT_EQ(test, all.count, 2ULL);
	KUNIT_EXPECT_EQ(test, all.sum, 16ULL);
	KUNIT_EXPECT_EQ(test, all.min, 7ULL);
	KUNIT_EXPECT_EQ(test, all.max, 9ULL);
	KUNIT_EXPECT_EQ(test, entry(f, 2, fid)->sum, 8ULL);
	KUNIT_EXPECT_EQ(test, find(f->rec, fid)->count, 5ULL);
}

/* What does not fit is counted, and stays in the profile. */
static void full(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_pool *pool = &f->area->chunks;
	const u32 pages = pool->nr_pages;
	u64 before;

	call(f, 1);
	copy(test);
	before = find(f->rec, DIRECT)->count;
	pool->nr_pages = pool->used / KTAU_CHUNKS_PER_PAGE;
	pool->used -= pool->used % KTAU_CHUNKS_PER_PAGE;
	call(f, 2);
	pool->nr_pages = pages;
	pool->used = pages * KTAU_CHUNKS_PER_PAGE;
	copy(test);
	KUNIT_ASSERT_NOT_NULL(test, region(f, 2));
	KUNIT_EXPECT_EQ(test, region(f, 2)->refused, 2ULL);
	KUNIT_EXPECT_EQ(test, region(f, 2)->nr_entries, 0U);
	KUNIT_EXPECT_EQ(test, find(f->rec, DIRECT)->count, before + 1);
	f->copy.bytes = f->copy.len - 1;
	KUNIT_EXPECT_EQ(test, ktau_snapshot_regions(f->rec, KTAU_SNAPSHOT_BYTES, state_here(),
						    current, &f->copy), -ENOSPC);
	f->copy.bytes = COPY_BYTES;
}

/* An exec drops the regions, even if another process still has the pages. */
static void dropped(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_area *area = f->area;
	struct ktau_frame frame;
	u64 bytes;

	call(f, 1);
	bytes = read_cell(f, 1, DIRECT).count;
	set_region(f, 1);
	__ktau_enter(&frame, current, DIRECT);
	KUNIT_EXPECT_EQ(test, frame.info, DIRECT | KTAU_FRAME_REGION);
	ktau_area_drop(state_here());
	KUNIT_EXPECT_EQ(test, frame.info, (u32)DIRECT);
	ktau_task_refresh();
	ktau_exit(&frame);
	call(f, 1);
	KUNIT_EXPECT_EQ(test, ktau_regions_bytes(state_here()), (size_t)0);
	copy(test);
	KUNIT_EXPECT_EQ(test, f->copy.len, (size_t)0);
	KUNIT_EXPECT_EQ(test, refcount_read(&area->ref), 1U);
	KUNIT_EXPECT_EQ(test, read_cell(f, 1, DIRECT).count, bytes);
}

/* User space reads the same figures as the records have; with region 0, their sum is complete. */
static void figures(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ktau_area_header *header = f->area->header;
	struct ktau_area_cell cell, sum = { };
	struct ktau_entry before;
	u32 i;

	KUNIT_EXPECT_EQ(test, header->magic, KTAU_AREA_MAGIC);
	KUNIT_EXPECT_EQ(test, header->nr_regions, (u32)NR);
	KUNIT_EXPECT_EQ(test, header->serial, state_here()->serial);
	copy(test);
	before = *find(f->rec, DIRECT);
	for (i = 0; i < 100; i++)
		call(f, i % NR);
	copy(test);
	for (i = 0; i < NR; i++) {
		cell = read_cell(f, i, DIRECT);
		sum.count += cell.count;
		sum.incl += cell.incl;
		sum.excl += cell.excl;
		KUNIT_EXPECT_EQ(test, cell.count, 25ULL);
		KUNIT_EXPECT_EQ(test, header->region[i].refused, 0U);
		if (!i)
			continue;
		KUNIT_EXPECT_EQ(test, cell.count, entry(f, i, DIRECT)->count);
		KUNIT_EXPECT_EQ(test, cell.incl, entry(f, i, DIRECT)->incl);
		KUNIT_EXPECT_EQ(test, cell.excl, entry(f, i, DIRECT)->excl);
		KUNIT_EXPECT_EQ(test, cell.longest, entry(f, i, DIRECT)->longest);
	}
	KUNIT_EXPECT_EQ(test, sum.count, find(f->rec, DIRECT)->count - before.count);
	KUNIT_EXPECT_EQ(test, sum.incl, find(f->rec, DIRECT)->incl - before.incl);
	KUNIT_EXPECT_EQ(test, sum.excl, find(f->rec, DIRECT)->excl - before.excl);
}

/* What interrupts do is accounted to the region, but user space does not see it. */
static void interrupts(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_frame outer, inner;
	unsigned long flags;

	set_region(f, 1);
	__ktau_enter(&outer, current, DIRECT);
	local_irq_save(flags);
	preempt_count_add(HARDIRQ_OFFSET);
	__ktau_enter(&inner, current, INNER);
	ktau_exit(&inner);
	preempt_count_sub(HARDIRQ_OFFSET);
	local_irq_restore(flags);
	__ktau_enter(&inner, current, INNER);
	ktau_exit(&inner);
	ktau_exit(&outer);
	set_region(f, 0);
	copy(test);
	KUNIT_EXPECT_EQ(test, entry(f, 1, INNER)->count, 2ULL);
	KUNIT_EXPECT_EQ(test, read_cell(f, 1, INNER).count, 1ULL);
	KUNIT_EXPECT_EQ(test, read_cell(f, 1, DIRECT).count, 1ULL);
}

/* An exited task keeps its tables, but no unused pages. */
static void trimmed(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_area *area = f->area;
	struct ktau_state *state = state_here();
	u32 pages = area->chunks.nr_pages + area->bases.nr_pages;
	u64 before;

	call(f, 1);
	before = ktau_memory_bytes();
	ktau_area_detach(state);
	KUNIT_EXPECT_NOT_NULL(test, state->area);
	KUNIT_EXPECT_EQ(test, area->chunks.nr_pages, 1U);
	KUNIT_EXPECT_EQ(test, area->bases.nr_pages, 1U);
	KUNIT_EXPECT_EQ(test, ktau_memory_bytes(), before - (pages - 2) * PAGE_SIZE);
	KUNIT_EXPECT_NULL(test, ktau_area_page(area, 2));
	ktau_area_close(area);
	f->area = NULL;
	KUNIT_EXPECT_EQ(test, ktau_memory_bytes(), before - pages * PAGE_SIZE);
	copy(test);
	KUNIT_EXPECT_EQ(test, entry(f, 1, DIRECT)->count, 1ULL);
	ktau_area_drop(state);
	ktau_task_refresh();
}

/* The area gets more pages before it runs out of them. */
static void grows(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_area *area = f->area;
	const u32 pages = area->chunks.nr_pages;
	struct ktau_frame frame;
	unsigned int id;

	KUNIT_EXPECT_FALSE(test, ktau_area_is_low(area));
	for (id = 0; id < KTAU_ID_STATIC; id += KTAU_CHUNK_CELLS) {
		set_region(f, 1);
		__ktau_enter(&frame, current, id);
		ktau_exit(&frame);
		set_region(f, 0);
		if (!ktau_area_is_low(area))
			continue;
		/* This thread never returns to user mode. */
		area->growing = true;
		KUNIT_EXPECT_FALSE(test, ktau_area_is_low(area));
		KUNIT_EXPECT_TRUE(test, ktau_area_grow(state_here()));
	}
	copy(test);
	KUNIT_EXPECT_EQ(test, area->table[1].refused, 0ULL);
	KUNIT_EXPECT_GT(test, area->chunks.nr_pages, pages);
	for (id = 0; id < KTAU_ID_STATIC; id += KTAU_CHUNK_CELLS)
		KUNIT_EXPECT_EQ(test, read_cell(f, 1, id).count, 1ULL);
}

/* Create a state and an area without unused blocks; the user may have @pages more pages. */
static struct ktau_state *limited_state(struct kunit *test, struct ktau_user *user,
					unsigned int pages, void **rest, size_t *bytes)
{
	struct ktau_state *state = ktau_state_create(user, GFP_KERNEL);
	struct ktau_area *area;

	KUNIT_ASSERT_NOT_NULL(test, state);
	area = ktau_area_create(state, NR, ktau_clock_hz());
	KUNIT_ASSERT_NOT_NULL(test, area);
	ktau_area_attach(state, area);
	area->chunks.used = area->chunks.nr_pages * KTAU_CHUNKS_PER_PAGE;
	area->bases.used = area->bases.nr_pages * KTAU_BASES_PER_PAGE;
	*bytes = ktau_user_limit(user) - atomic_long_read(&user->bytes) - pages * PAGE_SIZE;
	*rest = ktau_alloc(user, *bytes, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *rest);
	return state;
}

/* If the share of a user is used up half-way, the pages that it got before are accounted. */
static void grows_in_part(struct kunit *test)
{
	struct ktau_user *user = ktau_user_find(KUIDT_INIT(54325));
	const u64 limit = ktau_config.memory_limit_bytes;
	struct ktau_state *state;
	struct ktau_area *area;
	unsigned long asked_at;
	char words[48];
	size_t bytes;
	void *rest;

	KUNIT_ASSERT_NOT_NULL(test, user);
	snprintf(words, sizeof(words), "memory_limit=%llu", ktau_memory_bytes() + SZ_4M);
	KUNIT_ASSERT_EQ(test, control(words), 0);
	state = limited_state(test, user, 1, &rest, &bytes);
	area = state->area;
	asked_at = jiffies;
	area->growing = true;
	KUNIT_EXPECT_TRUE(test, ktau_area_grow(state));
	KUNIT_EXPECT_TRUE(test, time_after(area->ask_at, asked_at));
	ktau_free(user, rest, bytes);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&state->bytes), atomic_long_read(&user->bytes));
	KUNIT_EXPECT_EQ(test, area->bytes + sizeof(*state), (size_t)atomic_long_read(&user->bytes));
	ktau_area_close(area);
	ktau_area_detach(state);	/* frees the unused page */
	KUNIT_EXPECT_EQ(test, atomic_long_read(&state->bytes), atomic_long_read(&user->bytes));
	ktau_area_drop(state);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&state->bytes), (long)sizeof(*state));
	ktau_state_put(state);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, atomic_long_read(&user->bytes), 0L);
	ktau_user_put(user);
	snprintf(words, sizeof(words), "memory_limit=%llu", limit);
	KUNIT_EXPECT_EQ(test, control(words), 0);
}

static void redacted(struct kunit *test)
{
	struct {
		struct ktau_rec_region rec;
		struct ktau_entry entry[3];
	} r = {
		.rec = { .nr_entries = 3 },
		.entry = {
			{ .id = DIRECT, .count = 4, .incl = 2999, .excl = 1999, .longest = 900 },
			{ .id = KTAU_ID_SOFTIRQ, .count = 1, .incl = 1500, .excl = 1500 },
			{ .id = KTAU_ID_SOFTIRQ + 1, .count = 2, .incl = 1700, .excl = 1700 },
		},
	};

	ktau_redact_region(&r.rec, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, r.rec.nr_entries, 2U);
	KUNIT_EXPECT_EQ(test, r.rec.rec.size,
			(u32)(sizeof(r.rec) + 2 * sizeof(struct ktau_entry)));
	KUNIT_EXPECT_EQ(test, r.entry[0].incl, 2000ULL);
	KUNIT_EXPECT_EQ(test, r.entry[0].excl, 1000ULL);
	KUNIT_EXPECT_EQ(test, r.entry[0].longest, 0ULL);
	KUNIT_EXPECT_EQ(test, r.entry[1].id, KTAU_ID_INTERRUPTS);
	KUNIT_EXPECT_EQ(test, r.entry[1].count, 3ULL);
	KUNIT_EXPECT_EQ(test, r.entry[1].excl, 3000ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(counts),
	KUNIT_CASE(sums),
	KUNIT_CASE(bounds),
	KUNIT_CASE(waits),
	KUNIT_CASE(traced),
	KUNIT_CASE(handled),
	KUNIT_CASE(counters),
	KUNIT_CASE(full),
	KUNIT_CASE(dropped),
	KUNIT_CASE(figures),
	KUNIT_CASE(interrupts),
	KUNIT_CASE(grows),
	KUNIT_CASE(grows_in_part),
	KUNIT_CASE(trimmed),
	KUNIT_CASE(redacted),
	{}
};

static struct kunit_suite suite = {
	.name = "ktau_region",
	.init = region_init,
	.exit = region_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
