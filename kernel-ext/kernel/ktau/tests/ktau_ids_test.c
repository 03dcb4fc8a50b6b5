// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of event ids, and of the second level of a table, run by KUnit at boot.
 *
 * Some of them use up ids for the rest of the boot, so this suite runs late.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>

#include "base/event.h"
#include "base/ids.h"
#include "base/memory.h"
#include "measure/table.h"
#include "tasks/snapshot.h"
#include "read/record.h"
#include "ktau_test.h"

#define NEAR	100
#define FAR_A	(KTAU_ID_FOREIGN + 5)
#define FAR_B	(KTAU_ID_CALL + 300)
#define MODES	(KTAU_MODE_PROFILE | KTAU_MODE_TRACE)

struct fixture {
	struct ktau_state *state;
	struct ktau_rec_profile *rec;
};

static void detach(void)
{
	struct ktau_state *state = current->ktau.state;

	current->ktau = (struct ktau_ref) { };
	ktau_state_put(state);
}

/* Measure the test's own thread in a new state. */
static struct fixture *attach(struct kunit *test, u32 modes)
{
	struct fixture *f = test->priv;

	detach();
	refcount_inc(&f->state->ref);
	current->ktau.state = f->state;
	current->ktau.mask = KTAU_GROUP_SYSCALL | modes;
	return f;
}

static int ids_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->rec = kunit_kzalloc(test, KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rec);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	f->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	/* Create what exists once KTAU has been enabled, such as the reserves. */
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	ktau_reserve_fill();
	return 0;
}

static void ids_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	detach();
	ktau_state_put(f->state);
}

static void enter(struct ktau_frame *frame, unsigned int id)
{
	__ktau_enter(frame, current, id);
	spin_us(1);	/* so that no duration is 0 */
}

static void leave(struct ktau_frame *frame)
{
	spin_us(1);
	__ktau_exit(frame, current);
}

static const struct ktau_rec_profile *snapshot(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	expect_identity(test, f->rec);
	return f->rec;
}

static const struct ktau_id_range *range_of(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ktau_id_ranges); i++)
		if (id - ktau_id_ranges[i].first < ktau_id_ranges[i].count)
			return &ktau_id_ranges[i];
	return NULL;
}

static void ranges(struct kunit *test)
{
	unsigned int i, end = 0;

	for (i = 0; i < ARRAY_SIZE(ktau_id_ranges); i++) {
		KUNIT_EXPECT_EQ(test, ktau_id_ranges[i].source, i);
		KUNIT_EXPECT_EQ(test, ktau_id_ranges[i].first, end);
		end = ktau_id_ranges[i].first + ktau_id_ranges[i].count;
	}
	KUNIT_EXPECT_EQ(test, end, (unsigned int)KTAU_NR_IDS);
	for (i = 0; i < KTAU_NR_IDS; i++)
		if (ktau_event_find(i))
			KUNIT_EXPECT_EQ(test, ktau_event_find(i)->source,
					range_of(i)->source);
	KUNIT_EXPECT_EQ(test, ktau_ids_used(&ktau_id_ranges[KTAU_SOURCE_SYSCALL]),
			(unsigned int)KTAU_NR_SYSCALLS);
	KUNIT_EXPECT_NULL(test, ktau_event_find(KTAU_NR_IDS));
	KUNIT_EXPECT_NULL(test, ktau_event_find(KTAU_ID_NONE));
}

static void expect_name(struct kunit *test, unsigned int id, const char *wanted)
{
	char name[KTAU_EVENT_NAME];

	KUNIT_ASSERT_NOT_NULL(test, ktau_event_find(id));
	ktau_event_format_name(id, name);
	KUNIT_EXPECT_STREQ(test, name, wanted);
}

static void callback(void)
{
}

static void names(struct kunit *test)
{
	unsigned int id = ktau_call_id(KTAU_CALL_TIMER, callback);
	char name[KTAU_EVENT_NAME];

	expect_name(test, id, "timer:callback");
	KUNIT_EXPECT_EQ(test, ktau_event_address(id), (unsigned long)callback);
	KUNIT_EXPECT_EQ(test, ktau_call_id(KTAU_CALL_TIMER, callback), id);
	id = ktau_call_id(KTAU_CALL_WORK, callback);
	expect_name(test, id, "work:callback");
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->source, KTAU_SOURCE_WORK);
	id = ktau_compat_id(64);
	KUNIT_EXPECT_EQ(test, id, KTAU_ID_FOREIGN + 64U);
	expect_name(test, id, "compat:64");
	KUNIT_EXPECT_EQ(test, ktau_event_address(id), 0UL);
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->key, 64UL);
	ktau_event_format_name(__NR_read, name);
	KUNIT_EXPECT_NOT_NULL(test, strstr(name, "sys_read"));
	KUNIT_EXPECT_EQ(test, ktau_event_address(__NR_read),
			ktau_syscall_address(__NR_read));
}

static bool is_callback(unsigned long fn, const void *data)
{
	return fn == (unsigned long)data;
}

/*
 * An event of an unloaded module keeps its name; a new function at its address is a new
 * event.
 */
static void names_stay(struct kunit *test)
{
	unsigned int old = ktau_call_id(KTAU_CALL_TIMER, callback), new;

	ktau_ids_forget(is_callback, callback);
	new = ktau_call_id(KTAU_CALL_TIMER, callback);
	KUNIT_EXPECT_NE(test, new, old);
	KUNIT_EXPECT_EQ(test, ktau_call_id(KTAU_CALL_TIMER, callback), new);
	expect_name(test, old, "timer:callback");
}

static irqreturn_t handler(int irq, void *data)
{
	return IRQ_HANDLED;
}

/* Find an interrupt line without a handler, to which one can be added. */
static int free_line(void)
{
	int irq = irq_alloc_desc(0);

	if (irq > 0) {
		irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
		irq_clear_status_flags(irq, IRQ_NOREQUEST);
		return irq;
	}
	/* if all lines have descriptors from the start */
	for (irq = 63; irq && irq_has_action(irq); irq--)
		;
	return irq;
}

/* The name of a line contains its handlers, and does not change. */
static void line_names(struct kunit *test)
{
	const unsigned int last = KTAU_ID_CALL - KTAU_ID_IRQ - 1;
	int irq = free_line(), one, two;
	char wanted[32];

	KUNIT_ASSERT_GT(test, irq, 0);
	KUNIT_ASSERT_LT(test, irq, (int)last);
	KUNIT_EXPECT_EQ(test, request_irq(irq, handler, IRQF_SHARED,
					  "ktau test\t1", &one), 0);
	KUNIT_EXPECT_EQ(test, request_irq(irq, handler, IRQF_SHARED, "b", &two),
			0);
	snprintf(wanted, sizeof(wanted), "irq:%d:ktau_test_1,b", irq);
	expect_name(test, ktau_irq_id(irq), wanted);
	free_irq(irq, &one);
	free_irq(irq, &two);
	expect_name(test, ktau_irq_id(irq), wanted);
	snprintf(wanted, sizeof(wanted), "irq:%u", last);
	expect_name(test, ktau_irq_id(last), wanted);
}

static struct ktau_point *new_points(struct kunit *test, unsigned int nr)
{
	struct ktau_point *points = kunit_kcalloc(test, nr, sizeof(*points),
						  GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, points);
	for (i = 0; i < nr; i++)
		points[i] = (struct ktau_point) {
			.name = "module point",
			.group = KTAU_GROUP_SYSCALL,
			.kind = KTAU_KIND_TIMER,
			.id = KTAU_ID_NONE,
		};
	return points;
}

/* Arbitrary system call numbers use up no ids of other events. */
static void ids_used_up_numbers(struct kunit *test)
{
	struct ktau_point *point = new_points(test, 1);
	u64 refused = ktau_loss_total(KTAU_LOSS_NO_ID);
	unsigned int i, id;

	for (i = 0; i < 5000; i++) {
		id = ktau_compat_id(i);
		KUNIT_ASSERT_EQ(test, id, i < 512 ? KTAU_ID_FOREIGN + i :
						    KTAU_ID_OTHER_COMPAT);
		if (i < 400)
			continue;
		id = ktau_irq_id(i);
		KUNIT_ASSERT_EQ(test, id, i < 512 ? KTAU_ID_IRQ + i :
						    KTAU_ID_OTHER_IRQ);
	}
	id = ktau_point_id(point);
	KUNIT_EXPECT_EQ(test, range_of(id)->source, KTAU_SOURCE_POINT);
	expect_name(test, id, "module_point");
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_NO_ID), refused);
}

/* A kind of callback that has used up its ids leaves those of other kinds. */
static void ids_used_up_calls(struct kunit *test)
{
	const struct ktau_id_range *range =
		&ktau_id_ranges[KTAU_SOURCE_TASKLET];
	unsigned int used = ktau_ids_used(range), i, id;
	unsigned long fn = 4096;

	for (i = used; i < range->count; i++) {
		id = ktau_call_id(KTAU_CALL_TASKLET, (void *)fn);
		KUNIT_ASSERT_EQ(test, id, range->first + i);
		KUNIT_ASSERT_EQ(test, ktau_call_id(KTAU_CALL_TASKLET, (void *)fn),
				id);
		fn++;
	}
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, ktau_call_id(KTAU_CALL_TASKLET,
						   (void *)fn + i),
				(unsigned int)KTAU_ID_OTHER_TASKLET);
	KUNIT_EXPECT_EQ(test, ktau_ids_used(range), range->count);
	id = ktau_call_id(KTAU_CALL_HRTIMER, (void *)fn);
	KUNIT_EXPECT_EQ(test, range_of(id)->source, KTAU_SOURCE_HRTIMER);
}

/* Modules with any number of points leave the ids reserved for vmlinux. */
static void ids_used_up_points(struct kunit *test)
{
	unsigned int nr = KTAU_ID_FOREIGN - KTAU_ID_POINT, i, named = 0;
	u32 builtin_end = KTAU_ID_POINT +
			  (__stop_ktau_points - __start_ktau_points);
	struct ktau_point *points = new_points(test, nr);

	__KTAU_POINT(builtin, SYSCALL, TIMER, 0, "ktau_test_builtin");

	for (i = 0; i < nr; i++) {
		if (ktau_point_id(&points[i]) == KTAU_ID_NONE)
			continue;
		KUNIT_ASSERT_GE(test, (u32)points[i].id, builtin_end);
		named++;
	}
	KUNIT_EXPECT_GT(test, named, 0U);
	KUNIT_EXPECT_LE(test, named, KTAU_ID_FOREIGN - builtin_end);
	KUNIT_EXPECT_GE(test, ktau_loss_total(KTAU_LOSS_NO_ID), (u64)nr - named);
	KUNIT_EXPECT_LT(test, ktau_point_id(&builtin), builtin_end);
	expect_name(test, builtin.id, "ktau_test_builtin");
}

/* What interrupts may have done is hidden from a reader at level 2, a task's own work is not. */
static void tasks_or_interrupts(struct kunit *test)
{
	unsigned int id;

	__KTAU_POINT(either, TCP, TIMER, 0, "ktau_test_either");
	__KTAU_POINT(in_task, TCP, TASK_TIMER, 0, "ktau_test_in_task");
	__KTAU_POINT(sleeps, WAIT, TIMER, 0, "ktau_test_sleeps");

	KUNIT_EXPECT_TRUE(test, ktau_is_interrupt(ktau_point_id(&either)));
	id = ktau_point_id(&in_task);
	KUNIT_EXPECT_FALSE(test, ktau_is_interrupt(id));
	KUNIT_EXPECT_EQ(test, ktau_event_kind(id), (unsigned int)KTAU_KIND_TIMER);
	KUNIT_EXPECT_FALSE(test, ktau_is_interrupt(ktau_point_id(&sleeps)));
}

static void indirect_nesting(struct kunit *test)
{
	struct fixture *f = attach(test, KTAU_MODE_PROFILE);
	const struct ktau_entry *a, *b, *near;
	struct ktau_frame fa, fb, fn;
	unsigned int i;

	enter(&fa, FAR_A);
	for (i = 0; i < 2; i++) {
		enter(&fb, FAR_B);
		enter(&fn, NEAR);
		leave(&fn);
		leave(&fb);
	}
	leave(&fa);

	a = find(snapshot(test), FAR_A);
	b = find(f->rec, FAR_B);
	near = find(f->rec, NEAR);
	KUNIT_EXPECT_EQ(test, f->rec->nr_entries, 3U);
	KUNIT_EXPECT_EQ(test, a->count, 1ULL);
	KUNIT_EXPECT_EQ(test, b->count, 2ULL);
	KUNIT_EXPECT_EQ(test, near->count, 2ULL);
	KUNIT_EXPECT_EQ(test, a->incl, f->rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, a->excl, a->incl - b->incl);
	KUNIT_EXPECT_EQ(test, b->excl, b->incl - near->incl);
	KUNIT_EXPECT_GT(test, b->excl, 0ULL);
	KUNIT_EXPECT_PTR_EQ(test, current->ktau.top, NULL);
}

static void indirect_recursion(struct kunit *test)
{
	struct fixture *f = attach(test, KTAU_MODE_PROFILE);
	struct ktau_frame f1, f2, f3;
	const struct ktau_entry *a;

	enter(&f1, FAR_A);
	enter(&f2, FAR_B);
	enter(&f3, FAR_A);
	KUNIT_EXPECT_EQ(test, snapshot(test)->nr_open, 3U);
	leave(&f3);
	leave(&f2);
	leave(&f1);

	a = find(snapshot(test), FAR_A);
	KUNIT_EXPECT_EQ(test, a->count, 2ULL);
	KUNIT_EXPECT_EQ(test, a->incl, f->rec->outer_ticks);
	KUNIT_EXPECT_EQ(test, a->excl + find(f->rec, FAR_B)->excl, a->incl);
}

static void indirect_traced(struct kunit *test)
{
	static const u16 wanted[] = { FAR_A, NEAR, NEAR, FAR_B, FAR_B, FAR_A };
	struct fixture *f = attach(test, MODES);
	struct ktau_ring *ring = f->state->ring;
	struct ktau_frame outer, inner;
	unsigned int i;

	enter(&outer, FAR_A);
	enter(&inner, NEAR);
	leave(&inner);
	current->ktau.mask &= ~KTAU_MODE_PROFILE;
	enter(&inner, FAR_B);
	leave(&inner);
	leave(&outer);

	KUNIT_EXPECT_EQ(test, find(snapshot(test), FAR_A)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(f->rec, NEAR)->count, 1ULL);
	KUNIT_EXPECT_EQ(test, find(f->rec, FAR_B)->count, 0ULL);
	KUNIT_ASSERT_EQ(test, ring->head, (u64)ARRAY_SIZE(wanted));
	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		KUNIT_EXPECT_EQ(test, (u16)ring->slot[i].what, wanted[i]);
	KUNIT_EXPECT_EQ(test, f->state->no_room, 0ULL);
}

static void ascending(struct kunit *test)
{
	static const u16 used[] = {
		KTAU_NR_IDS - 1, KTAU_ID_CALL, KTAU_ID_IRQ + 4, KTAU_ID_FOREIGN,
		KTAU_ID_FOREIGN - 1, KTAU_ID_STATIC, 63 * 8, 8, 7, 0,
	};
	struct fixture *f = attach(test, KTAU_MODE_PROFILE);
	const unsigned int nr = ARRAY_SIZE(used);
	const struct ktau_entry *entry;
	struct ktau_frame frame;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		enter(&frame, used[i]);
		leave(&frame);
	}
	entry = (const void *)(snapshot(test) + 1);
	KUNIT_ASSERT_EQ(test, f->rec->nr_entries, nr);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, entry[i].id, (u32)used[nr - 1 - i]);
		KUNIT_EXPECT_EQ(test, entry[i].count, 1ULL);
	}
	/* 0 and 7 share a chunk. */
	KUNIT_EXPECT_EQ(test, ktau_table_cells(f->state), (nr - 1) * 8);
}

/* Leave @nr chunks in the reserve, interrupts disabled. Return: a list of the others. */
static struct ktau_chunk *take_all_but(unsigned int nr)
{
	struct ktau_chunk *taken = NULL, *chunk;

	while ((chunk = ktau_chunk_take(&ktau_system))) {
		chunk->chunk[0] = taken;
		taken = chunk;
	}
	while (nr-- && taken) {
		chunk = taken;
		taken = chunk->chunk[0];
		ktau_chunk_free(&ktau_system, chunk);
	}
	return taken;
}

static void free_chunks(struct ktau_chunk *chunk)
{
	struct ktau_chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->chunk[0];
		ktau_chunk_free(&ktau_system, chunk);
	}
}

/* Without a directory, or without a chunk in it, an activation is refused. */
static void indirect_no_chunk(struct kunit *test)
{
	struct fixture *f = attach(test, KTAU_MODE_PROFILE);
	struct ktau_chunk *taken;
	struct ktau_frame frame;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		local_irq_disable();
		taken = take_all_but(i);
		enter(&frame, FAR_A);
		leave(&frame);
		local_irq_enable();
		free_chunks(taken);
		KUNIT_EXPECT_EQ(test, snapshot(test)->refused, i + 1ULL);
		KUNIT_EXPECT_EQ(test, f->rec->nr_entries, 0U);
	}
	KUNIT_EXPECT_NOT_NULL(test, f->state->dir[0]);
	enter(&frame, FAR_A);
	leave(&frame);
	KUNIT_EXPECT_EQ(test, find(snapshot(test), FAR_A)->count, 1ULL);
}

static bool reserve_has_chunk(void)
{
	struct ktau_chunk *chunk;

	local_irq_disable();
	chunk = ktau_chunk_take(&ktau_system);
	local_irq_enable();
	if (chunk)
		ktau_chunk_free(&ktau_system, chunk);
	return chunk;
}

/*
 * An empty reserve is filled by an interrupt, also when it empties twice in one tick. A busy
 * host delays the interrupts of an emulator, so one such tick of many will do. A debug kernel may
 * never do both in a tick; a reserve that waited for the next tick would do so at least once.
 */
static void reserve_filled_at_once(struct kunit *test)
{
	unsigned int round, waited, filled = 0;
	unsigned long before = 0, now;
	struct ktau_chunk *taken;
	u64 begin, least = U64_MAX;
	bool twice = false;

	if (!arch_irq_work_has_interrupt() || IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "irq_work has no interrupt");
	for (round = 0; round < 50 || (!twice && round < 500); round++) {
		preempt_disable();
		local_irq_disable();
		begin = ktau_ticks();
		taken = take_all_but(0);
		local_irq_enable();
		for (waited = 0; waited < 100000 && !reserve_has_chunk(); waited++)
			spin_us(1);
		least = min(least, ktau_ticks() - begin);
		now = jiffies;
		twice = twice || (round && now == before);
		before = now;
		filled += waited < 100000;
		preempt_enable();
		free_chunks(taken);
	}
	KUNIT_EXPECT_EQ(test, filled, round);
	if (!twice && least > div_u64(ktau_clock_hz(), 2 * HZ))
		kunit_skip(test, "it takes %llu ticks or more", least);
	KUNIT_EXPECT_TRUE(test, twice);
}

/* Freeing a state returns its directories and all chunks. */
static void chunks_returned(struct kunit *test)
{
	struct ktau_state *state;
	u64 bytes[2];
	unsigned int i;

	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	/* The first one fills up the reserve. */
	for (i = 0; i < 2; i++) {
		state = ktau_state_create(&ktau_system, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, state);
		KUNIT_EXPECT_TRUE(test, ktau_table_fill(state, KTAU_NR_IDS));
		KUNIT_EXPECT_EQ(test, ktau_table_cells(state),
				(unsigned int)KTAU_NR_IDS);
		KUNIT_EXPECT_GT(test, (u64)atomic_long_read(&state->bytes),
				KTAU_NR_IDS * (u64)sizeof(struct ktau_cell));
		ktau_state_put(state);
		rcu_barrier();
		bytes[i] = ktau_memory_bytes();
	}
	KUNIT_EXPECT_EQ(test, bytes[1], bytes[0]);
}

static void functions(struct kunit *test)
{
	const unsigned int id = ktau_function_id(0x1000, "test_function");

	KUNIT_ASSERT_GE(test, id, (unsigned int)KTAU_ID_FUNCTION);
	KUNIT_ASSERT_LT(test, id, (unsigned int)KTAU_NR_IDS);
	expect_name(test, id, "func:test_function");
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->group, (u32)KTAU_GROUP_FUNC);
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->key, 0x1000UL);
	KUNIT_EXPECT_EQ(test, ktau_function_id(0x1000, "test_function"), id);
	KUNIT_EXPECT_EQ(test, ktau_function_id(0x2000, "test_function"), id + 1);
}

static bool is_at(unsigned long fn, const void *data)
{
	return fn == *(const unsigned long *)data;
}

/* A function of a module that is loaded again, at another address */
static void function_moves(struct kunit *test)
{
	const unsigned long old = 0x3000, new = 0x4000;
	const unsigned int id = ktau_function_id(old, "test_moves");

	ktau_ids_forget(is_at, &old);
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->key, 0UL);
	expect_name(test, id, "func:test_moves");
	KUNIT_EXPECT_NE(test, ktau_function_id(old, "test_other"), id);
	KUNIT_EXPECT_EQ(test, ktau_function_id(new, "test_moves"), id);
	KUNIT_EXPECT_EQ(test, ktau_event_find(id)->key, new);
	KUNIT_EXPECT_EQ(test, ktau_function_id(new, "test_moves"), id);
}

static struct kunit_case ids_cases[] = {
	KUNIT_CASE(ranges),
	KUNIT_CASE(names),
	KUNIT_CASE(names_stay),
	KUNIT_CASE(line_names),
	KUNIT_CASE(functions),
	KUNIT_CASE(function_moves),
	KUNIT_CASE(indirect_nesting),
	KUNIT_CASE(indirect_recursion),
	KUNIT_CASE(indirect_traced),
	KUNIT_CASE(ascending),
	KUNIT_CASE(indirect_no_chunk),
	KUNIT_CASE(reserve_filled_at_once),
	KUNIT_CASE(chunks_returned),
	KUNIT_CASE(ids_used_up_numbers),
	KUNIT_CASE(ids_used_up_calls),
	KUNIT_CASE(tasks_or_interrupts),
	KUNIT_CASE(ids_used_up_points),
	{ }
};

static struct kunit_suite ids_suite = {
	.name = "ktau_ids",
	.init = ids_init,
	.exit = ids_exit,
	.test_cases = ids_cases,
};

kunit_test_suite(ids_suite);
