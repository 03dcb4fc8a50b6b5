// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of handlers, run by KUnit at boot. While a handler is registered its groups
 * are enabled for all tasks, the test's own thread among them.
 */
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/ktau_api.h>
#include <linux/math64.h>

#include "base/event.h"
#include "tasks/snapshot.h"
#include "extend/handler.h"
#include "extend/register.h"
#include "ktau_test.h"

#define TIMER	KTAU_KIND_TIMER
#define COUNTER	KTAU_KIND_COUNTER
#define DIRECT	100	/* a system call */
#define MODULE4	(KTAU_GROUP_MODULE << 4)
#define ALL	(BIT(KTAU_HIT_START) | BIT(KTAU_HIT_STOP) | BIT(KTAU_HIT_EVENT))

/* Hits of the test's thread, by event. */
struct seen {
	struct ktau_handler handler;
	struct task_struct *task;
	u64 nr[KTAU_NR_IDS][KTAU_HIT_EVENT + 1];
	u64 incl[KTAU_NR_IDS];
	u64 excl[KTAU_NR_IDS];
	u64 data[KTAU_NR_IDS];
};

struct fixture {
	struct seen *seen;
	struct ktau_rec_profile *before;
	struct ktau_rec_profile *after;
	int fid, inner, value;
};

static void see(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	struct seen *seen = container_of(handler, struct seen, handler);

	if (current != seen->task)
		return;
	seen->nr[hit->fid][hit->type]++;
	seen->incl[hit->fid] += hit->incl;
	seen->excl[hit->fid] += hit->excl;
	seen->data[hit->fid] += hit->data;
}

static int handler_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->seen = kvzalloc(sizeof(*f->seen), GFP_KERNEL);
	f->before = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	f->after = kvzalloc(KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->seen);
	KUNIT_ASSERT_NOT_NULL(test, f->before);
	KUNIT_ASSERT_NOT_NULL(test, f->after);
	f->seen->handler = (struct ktau_handler) {
		.groups = MODULE4, .types = ALL, .fn = see,
	};
	f->seen->task = current;
	f->fid = ktau_get_fid(MODULE4, TIMER, "test_handler");
	f->inner = ktau_get_fid(MODULE4, TIMER, "test_handler_inner");
	f->value = ktau_get_fid(MODULE4, COUNTER, "test_handler_value");
	KUNIT_ASSERT_GE(test, f->value, 0);
	return 0;
}

static void handler_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	ktau_unregister_handler(&f->seen->handler);
	KUNIT_EXPECT_EQ(test, control("groups=none trace=off profile=on"), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(current->ktau.mask), 0U);
	kvfree(f->seen);
	kvfree(f->before);
	kvfree(f->after);
}

static void copy(struct kunit *test, struct ktau_rec_profile *rec)
{
	KUNIT_ASSERT_EQ(test, ktau_snapshot(rec, current->ktau.state, current), 0);
	expect_identity(test, rec);
}

/* Register a handler of @groups. */
static struct seen *listen(struct kunit *test, u32 groups)
{
	struct fixture *f = test->priv;

	f->seen->handler.groups = groups;
	KUNIT_ASSERT_EQ(test, ktau_register_handler(&f->seen->handler), 0);
	copy(test, f->before);
	memset(f->seen->nr, 0, sizeof(f->seen->nr));
	return f->seen;
}

/* How often event @id has been accounted since listen(). */
static u64 accounted(struct kunit *test, unsigned int id)
{
	struct fixture *f = test->priv;

	copy(test, f->after);
	return find(f->after, id)->count - find(f->before, id)->count;
}

static void expect_hits(struct kunit *test, unsigned int id, u64 start, u64 stop)
{
	const struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, f->seen->nr[id][KTAU_HIT_START], start);
	KUNIT_EXPECT_EQ(test, f->seen->nr[id][KTAU_HIT_STOP], stop);
}

/* An activation of two nested events. */
static void activate(const struct fixture *f)
{
	struct ktau_frame outer, inner;

	ktau_start(&outer, f->fid);
	ktau_start(&inner, f->inner);
	spin_us(1);
	ktau_stop(&inner);
	ktau_stop(&outer);
}

static void hits(struct kunit *test)
{
	const struct fixture *f = test->priv;
	struct seen *seen = listen(test, MODULE4);
	unsigned int i;

	for (i = 0; i < 5; i++)
		activate(f);
	ktau_event(f->value, 40);
	ktau_event(f->value, 2);
	expect_hits(test, f->fid, 5, 5);
	expect_hits(test, f->inner, 5, 5);
	KUNIT_EXPECT_EQ(test, seen->nr[f->value][KTAU_HIT_EVENT], 2ULL);
	KUNIT_EXPECT_EQ(test, seen->data[f->value], 42ULL);

	KUNIT_EXPECT_EQ(test, accounted(test, f->fid), 5ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, f->inner), 5ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, f->value), 2ULL);
	KUNIT_EXPECT_EQ(test, seen->incl[f->fid],
			find(f->after, f->fid)->incl - find(f->before, f->fid)->incl);
	KUNIT_EXPECT_EQ(test, seen->excl[f->fid],
			find(f->after, f->fid)->excl - find(f->before, f->fid)->excl);
	KUNIT_EXPECT_GT(test, seen->incl[f->inner], 0ULL);
}

/*
 * Events in the first level of the table, whose exit has a fast path once their cells
 * exist: from the second activation on.
 */
static void direct(struct kunit *test)
{
	struct seen *seen = listen(test, KTAU_GROUP_SYSCALL | KTAU_GROUP_EXCEPTION);
	struct ktau_frame outer, fault;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		__ktau_enter(&outer, current, DIRECT);
		fault.info = KTAU_ID_PAGE_FAULT_KERNEL;
		__ktau_enter_fault(current, &fault, 0x1000);
		spin_us(1);
		ktau_exit(&fault);
		ktau_exit(&outer);
	}
	expect_hits(test, DIRECT, 2, 2);
	expect_hits(test, KTAU_ID_PAGE_FAULT_KERNEL, 2, 2);
	KUNIT_EXPECT_EQ(test, seen->data[KTAU_ID_PAGE_FAULT_KERNEL], 0x2000ULL);
	KUNIT_EXPECT_EQ(test, seen->excl[DIRECT],
			seen->incl[DIRECT] - seen->incl[KTAU_ID_PAGE_FAULT_KERNEL]);
	KUNIT_EXPECT_EQ(test, accounted(test, DIRECT), 2ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, KTAU_ID_PAGE_FAULT_KERNEL), 2ULL);
}

/* An inner activation of the same event adds no inclusive time. */
static void recursive(struct kunit *test)
{
	const struct fixture *f = test->priv;
	struct seen *seen = listen(test, KTAU_GROUP_SYSCALL);
	struct ktau_frame outer, inner;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		__ktau_enter(&outer, current, DIRECT);
		__ktau_enter(&inner, current, DIRECT);
		spin_us(1);
		ktau_exit(&inner);
		ktau_exit(&outer);
	}
	expect_hits(test, DIRECT, 6, 6);
	KUNIT_EXPECT_EQ(test, accounted(test, DIRECT), 6ULL);
	KUNIT_EXPECT_EQ(test, seen->excl[DIRECT], find(f->after, DIRECT)->incl -
						  find(f->before, DIRECT)->incl);
	KUNIT_EXPECT_GT(test, seen->incl[DIRECT], seen->excl[DIRECT]);
}

/* A system call that names the root frame has the frame that a trace would have. */
static void named_root(struct kunit *test)
{
	struct seen *seen = listen(test, KTAU_GROUP_SYSCALL);
	struct ktau_frame *root = &current->ktau.state->root;
	struct ktau_frame frame;

	*root = (struct ktau_frame) {
		.start = ktau_ticks(),
		.info = KTAU_ID_KERNEL | KTAU_FRAME_TRACE_NAME,
	};
	current->ktau.top = root;
	frame.info = DIRECT;
	__ktau_enter_from_user(current, &frame);
	spin_us(1);
	ktau_exit(&frame);
	KUNIT_EXPECT_EQ(test, root->info, (u32)DIRECT);
	KUNIT_EXPECT_EQ(test, root->child, 0ULL);
	current->ktau.top = NULL;
	expect_hits(test, DIRECT, 1, 1);
	KUNIT_EXPECT_GT(test, seen->incl[DIRECT], 0ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, DIRECT), 0ULL);
}

/* Only the groups and types that the handler asks for. */
static void chosen(struct kunit *test)
{
	const int other = ktau_get_fid(MODULE4 << 1, TIMER, "test_handler_other");
	const struct fixture *f = test->priv;
	struct ktau_frame frame;

	KUNIT_ASSERT_EQ(test, control("groups=module5"), 0);
	f->seen->handler.types = BIT(KTAU_HIT_STOP);
	listen(test, MODULE4);
	activate(f);
	ktau_event(f->value, 1);
	ktau_start(&frame, other);
	ktau_stop(&frame);
	expect_hits(test, f->fid, 0, 1);
	expect_hits(test, other, 0, 0);
	KUNIT_EXPECT_EQ(test, f->seen->nr[f->value][KTAU_HIT_EVENT], 0ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, other), 1ULL);
}

/* A trace has the same frames as without handlers. */
static void traced(struct kunit *test)
{
	const struct fixture *f = test->priv;
	u64 head;

	KUNIT_ASSERT_EQ(test, control("trace=on"), 0);
	listen(test, MODULE4);
	head = ktau_read(&current->ktau.state->ring->head);
	activate(f);
	ktau_event(f->value, 1);
	KUNIT_EXPECT_EQ(test, ktau_read(&current->ktau.state->ring->head), head + 5);
	expect_hits(test, f->fid, 1, 1);
	expect_hits(test, f->inner, 1, 1);
	KUNIT_EXPECT_EQ(test, f->seen->nr[f->value][KTAU_HIT_EVENT], 1ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, f->fid), 1ULL);

	KUNIT_ASSERT_EQ(test, control("profile=off"), 0);
	activate(f);
	expect_hits(test, f->fid, 2, 2);
	KUNIT_EXPECT_EQ(test, accounted(test, f->fid), 1ULL);
}

/* The frames of interrupts and softirqs. */
static void cpu_frames(struct kunit *test)
{
	struct ktau_cpu_frame frame;

	listen(test, KTAU_GROUP_BH);
	local_bh_disable();
	__ktau_cpu_enter(&frame, KTAU_ID_OTHER_TASKLET, KTAU_GROUP_BH);
	spin_us(1);
	ktau_cpu_exit(&frame);
	local_bh_enable();
	expect_hits(test, KTAU_ID_OTHER_TASKLET, 1, 1);
	KUNIT_EXPECT_EQ(test, accounted(test, KTAU_ID_OTHER_TASKLET), 1ULL);
}

static u64 sum_of_switches(const struct seen *seen, enum ktau_hit_type type)
{
	unsigned int id;
	u64 sum = 0;

	for (id = KTAU_ID_SCHEDULE; id <= KTAU_ID_SCHEDULE_YLD; id++)
		sum += id == KTAU_ID_SCHEDULE_WAIT ? 0 : seen->nr[id][type];
	return sum;
}

static void switches(struct kunit *test)
{
	const unsigned int id = KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE;
	struct seen *seen = listen(test, KTAU_GROUP_SCHED);
	unsigned long nvcsw = current->nvcsw;

	msleep(20);
	msleep(20);
	nvcsw = current->nvcsw - nvcsw;
	KUNIT_EXPECT_GE(test, nvcsw, 2UL);
	KUNIT_EXPECT_EQ(test, seen->nr[id][KTAU_HIT_STOP], accounted(test, id));
	KUNIT_EXPECT_GE(test, seen->nr[id][KTAU_HIT_STOP], 2ULL);
	KUNIT_EXPECT_EQ(test, sum_of_switches(seen, KTAU_HIT_START),
			sum_of_switches(seen, KTAU_HIT_STOP));
	KUNIT_EXPECT_EQ(test, seen->nr[KTAU_ID_SCHEDULE_WAIT][KTAU_HIT_STOP],
			accounted(test, KTAU_ID_SCHEDULE_WAIT));
	KUNIT_EXPECT_GE(test, seen->incl[id], div_u64(30 * ktau_clock_hz(), 1000));
}

/* Frames that are open at the beginning or end of a handler's life. */
static void open_frames(struct kunit *test)
{
	const struct fixture *f = test->priv;
	struct ktau_frame frame;
	u64 count;

	KUNIT_ASSERT_EQ(test, control("groups=module4"), 0);
	ktau_start(&frame, f->fid);
	listen(test, MODULE4);
	ktau_stop(&frame);
	expect_hits(test, f->fid, 0, 0);
	KUNIT_EXPECT_EQ(test, accounted(test, f->fid), 1ULL);

	ktau_start(&frame, f->fid);
	ktau_unregister_handler(&f->seen->handler);
	ktau_stop(&frame);
	activate(f);
	expect_hits(test, f->fid, 1, 0);
	count = accounted(test, f->fid);
	KUNIT_EXPECT_EQ(test, count, 3ULL);
	KUNIT_EXPECT_PTR_EQ(test, current->ktau.top, NULL);
}

/* A handler that causes hits itself. */
static int inner_fid, inner_value;

static void cause(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	struct ktau_frame frame;

	see(handler, hit);
	ktau_start(&frame, inner_fid);
	ktau_event(inner_value, 1);
	ktau_stop(&frame);
}

static void nested(struct kunit *test)
{
	const u64 before = ktau_handler_nested();
	struct fixture *f = test->priv;
	struct ktau_frame frame;

	inner_fid = f->inner;
	inner_value = f->value;
	f->seen->handler.fn = cause;
	listen(test, MODULE4);
	ktau_start(&frame, f->fid);
	ktau_stop(&frame);
	expect_hits(test, f->fid, 1, 1);
	expect_hits(test, f->inner, 0, 0);
	KUNIT_EXPECT_EQ(test, f->seen->nr[f->value][KTAU_HIT_EVENT], 0ULL);
	KUNIT_EXPECT_EQ(test, ktau_handler_nested(), before + 6);
	KUNIT_EXPECT_EQ(test, accounted(test, f->inner), 2ULL);
	KUNIT_EXPECT_EQ(test, accounted(test, f->value), 2ULL);
}

static unsigned int invoke_softirq_id(void)
{
	const struct ktau_event *event;
	unsigned int id;

	for (id = KTAU_ID_POINT; id < KTAU_ID_FOREIGN; id++) {
		event = ktau_event_find(id);
		if (event && !strcmp(event->name, "invoke_softirq"))
			return id;
	}
	return 0;
}

/* Wait for interrupts with softirqs at their end. */
static void await_softirqs(void)
{
	unsigned long end = jiffies + 3;

	while (time_before(jiffies, end)) {
		local_irq_disable();
		__raise_softirq_irqoff(TASKLET_SOFTIRQ);
		local_irq_enable();
		cpu_relax();
	}
}

/* A handler that interrupts with softirqs hit. */
static void linger(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	see(handler, hit);
	if (current == container_of(handler, struct seen, handler)->task &&
	    hit->group == MODULE4)
		await_softirqs();
}

/* What interrupts do is not caused by the handler that they hit. */
static void interrupted(struct kunit *test)
{
	const u64 before = ktau_handler_nested();
	struct fixture *f = test->priv;
	unsigned int id, tries = 0;
	u64 stops, counted;

	f->seen->handler.fn = linger;
	listen(test, MODULE4 | KTAU_GROUP_BH);
	activate(f);
	id = invoke_softirq_id();
	KUNIT_ASSERT_NE(test, id, 0U);
	KUNIT_EXPECT_GE(test, f->seen->nr[id][KTAU_HIT_STOP], 1ULL);
	/*
	 * Softirqs go on, and while a handler is unregistered they are accounted without a
	 * hit: compare when none has come in between.
	 */
	do {
		stops = READ_ONCE(f->seen->nr[id][KTAU_HIT_STOP]);
		counted = accounted(test, id);
	} while (stops != READ_ONCE(f->seen->nr[id][KTAU_HIT_STOP]) && ++tries < 1000);
	KUNIT_EXPECT_EQ(test, stops, counted);
	ktau_unregister_handler(&f->seen->handler);
	KUNIT_EXPECT_EQ(test, f->seen->nr[id][KTAU_HIT_STOP],
			f->seen->nr[id][KTAU_HIT_START]);
	KUNIT_EXPECT_EQ(test, ktau_handler_nested(), before);
}

/* A handler that is called for softirqs, and causes a hit itself. */
static void cause_value(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	see(handler, hit);
	if (hit->group == KTAU_GROUP_BH)
		ktau_event(inner_value, 1);
}

static void nested_in_softirq(struct kunit *test)
{
	const u64 before = ktau_handler_nested();
	struct fixture *f = test->priv;

	inner_value = f->value;
	f->seen->handler.fn = cause_value;
	listen(test, MODULE4 | KTAU_GROUP_BH);
	await_softirqs();
	ktau_unregister_handler(&f->seen->handler);
	KUNIT_EXPECT_GE(test, f->seen->nr[invoke_softirq_id()][KTAU_HIT_STOP], 1ULL);
	KUNIT_EXPECT_EQ(test, f->seen->nr[f->value][KTAU_HIT_EVENT], 0ULL);
	KUNIT_EXPECT_GE(test, accounted(test, f->value), 2ULL);
	KUNIT_EXPECT_GE(test, ktau_handler_nested(), before + 2);
}

static void activate_both(const struct fixture *f, int other)
{
	struct ktau_frame frame;

	activate(f);
	ktau_start(&frame, other);
	ktau_stop(&frame);
}

/* Each handler gets the hits that it asks for, however many there are. */
static void several(struct kunit *test)
{
	const int fid = ktau_get_fid(MODULE4 << 1, TIMER, "test_handler_other");
	struct seen *other = kvzalloc(sizeof(*other), GFP_KERNEL);
	struct fixture *f = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, other);
	other->task = current;
	other->handler = (struct ktau_handler) {
		.groups = MODULE4 << 1, .types = BIT(KTAU_HIT_STOP), .fn = see,
	};
	listen(test, MODULE4 | MODULE4 << 1);
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&other->handler), 0);
	activate_both(f, fid);
	expect_hits(test, f->fid, 1, 1);
	KUNIT_EXPECT_EQ(test, other->nr[fid][KTAU_HIT_STOP], 1ULL);

	ktau_unregister_handler(&f->seen->handler);
	activate_both(f, fid);
	expect_hits(test, f->fid, 1, 1);
	KUNIT_EXPECT_EQ(test, other->nr[fid][KTAU_HIT_STOP], 2ULL);

	KUNIT_EXPECT_EQ(test, ktau_register_handler(&f->seen->handler), 0);
	activate_both(f, fid);
	expect_hits(test, f->fid, 2, 2);
	KUNIT_EXPECT_EQ(test, other->nr[fid][KTAU_HIT_STOP], 3ULL);

	ktau_unregister_handler(&other->handler);
	activate_both(f, fid);
	expect_hits(test, f->fid, 3, 3);
	KUNIT_EXPECT_EQ(test, other->nr[fid][KTAU_HIT_STOP], 3ULL);
	expect_hits(test, fid, 3, 3);
	KUNIT_EXPECT_EQ(test, other->nr[fid][KTAU_HIT_START], 0ULL);
	KUNIT_EXPECT_EQ(test, other->nr[f->fid][KTAU_HIT_STOP], 0ULL);
	kvfree(other);
}

static bool is_gone(unsigned long address, const void *data)
{
	return address == (unsigned long)data;
}

static void ignore(struct ktau_handler *handler, const struct ktau_hit *hit)
{
}

/* A module that has not unregistered its handlers is unloaded. */
static void forgotten(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_handler other = f->seen->handler;

	other.fn = ignore;
	KUNIT_ASSERT_EQ(test, ktau_register_handler(&other), 0);
	listen(test, MODULE4);
	KUNIT_EXPECT_EQ(test, ktau_register_forget(is_gone, see), 1U);
	KUNIT_EXPECT_EQ(test, ktau_register_forget(is_gone, see), 0U);
	activate(f);
	expect_hits(test, f->fid, 0, 0);
	KUNIT_EXPECT_EQ(test, ktau_register_forget(is_gone, ignore), 1U);
	/* A handler whose function is in another module */
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&other), 0);
	KUNIT_EXPECT_EQ(test, ktau_register_forget(is_gone, &other), 1U);
	ktau_unregister_handler(&other);
	KUNIT_EXPECT_EQ(test, ktau_groups_enabled(), 0U);
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&f->seen->handler), 0);
}

static void refused(struct kunit *test)
{
	static struct ktau_handler many[KTAU_NR_HANDLERS + 1];
	struct fixture *f = test->priv;
	struct ktau_handler bad = { .groups = MODULE4, .types = ALL };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ktau_register_handler(&bad), -EINVAL);
	bad = (struct ktau_handler) { .types = ALL, .fn = see };
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&bad), -EINVAL);
	bad = (struct ktau_handler) { .groups = BIT(28), .types = ALL, .fn = see };
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&bad), -EINVAL);
	bad = (struct ktau_handler) { .groups = MODULE4, .types = 8, .fn = see };
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&bad), -EINVAL);
	ktau_unregister_handler(&bad);	/* ignored */
	for (i = 0; i < KTAU_NR_HANDLERS; i++) {
		many[i] = f->seen->handler;
		many[i].fn = cause;
		many[i].types = BIT(KTAU_HIT_EVENT);
		KUNIT_EXPECT_EQ(test, ktau_register_handler(&many[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&many[0]), -EEXIST);
	KUNIT_EXPECT_EQ(test, ktau_register_handler(&f->seen->handler), -ENOSPC);
	for (i = 0; i < KTAU_NR_HANDLERS; i++)
		ktau_unregister_handler(&many[i]);
}

/* The groups of handlers are enabled, whatever control says. */
static void held(struct kunit *test)
{
	struct fixture *f = test->priv;

	listen(test, MODULE4);
	KUNIT_EXPECT_EQ(test, ktau_config.groups, 0U);
	KUNIT_EXPECT_EQ(test, ktau_groups_enabled(), MODULE4);
	KUNIT_EXPECT_EQ(test, control("groups=tcp"), 0);
	KUNIT_EXPECT_EQ(test, control("-tcp"), 0);
	activate(f);
	expect_hits(test, f->fid, 1, 1);
	KUNIT_EXPECT_EQ(test, f->before->groups, MODULE4 | KTAU_MODE_PROFILE);
	ktau_unregister_handler(&f->seen->handler);
	KUNIT_EXPECT_EQ(test, ktau_groups_enabled(), 0U);
	KUNIT_EXPECT_EQ(test, READ_ONCE(current->ktau.mask), 0U);
}

/*
 * When the last handler is unregistered, a task may have been preempted on its way to it. The
 * frame is opened as usual then, although the task has no ring.
 */
static void diverted_meanwhile(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ktau_state *state = ktau_state_create(&ktau_system, GFP_KERNEL);
	struct ktau_ref before;
	struct ktau_frame frame;

	KUNIT_ASSERT_NOT_NULL(test, state);
	listen(test, MODULE4);
	ktau_unregister_handler(&f->seen->handler);
	before = current->ktau;
	current->ktau = (struct ktau_ref) {
		.mask = KTAU_GROUP_SYSCALL | KTAU_MODE_PROFILE | KTAU_MASK_HANDLED,
		.state = state,
	};
	__ktau_enter(&frame, current, DIRECT);
	ktau_exit(&frame);
	__ktau_enter(&frame, current, DIRECT);
	ktau_exit(&frame);
	current->ktau = before;
	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->after, state, NULL), 0);
	expect_identity(test, f->after);
	KUNIT_EXPECT_EQ(test, find(f->after, DIRECT)->count, 2ULL);
	ktau_state_put(state);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(hits),
	KUNIT_CASE(direct),
	KUNIT_CASE(recursive),
	KUNIT_CASE(named_root),
	KUNIT_CASE(chosen),
	KUNIT_CASE(traced),
	KUNIT_CASE(cpu_frames),
	KUNIT_CASE(switches),
	KUNIT_CASE(open_frames),
	KUNIT_CASE(nested),
	KUNIT_CASE(interrupted),
	KUNIT_CASE(nested_in_softirq),
	KUNIT_CASE(several),
	KUNIT_CASE(forgotten),
	KUNIT_CASE(refused),
	KUNIT_CASE(held),
	KUNIT_CASE(diverted_meanwhile),
	{}
};

static struct kunit_suite suite = {
	.name = "ktau_handler",
	.init = handler_init,
	.exit = handler_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
