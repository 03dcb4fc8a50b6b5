// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of the interface to modules, run by KUnit at boot.
 *
 * The ids that they take are used up for the rest of the boot.
 */
#include <linux/ktau_api.h>

#include "base/event.h"
#include "base/memory.h"
#include "tasks/snapshot.h"
#include "ktau_test.h"

#define TIMER	KTAU_KIND_TIMER
#define COUNTER	KTAU_KIND_COUNTER
#define MODULE3	(KTAU_GROUP_MODULE << 3)

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

static int api_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->rec = kunit_kzalloc(test, KTAU_SNAPSHOT_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rec);
	f->state = ktau_state_create(&ktau_system, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state);
	/* Create what exists once KTAU has been enabled, such as the reserves. */
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	ktau_reserve_fill();
	detach();
	refcount_inc(&f->state->ref);
	current->ktau.state = f->state;
	current->ktau.mask = MODULE3 | KTAU_GROUP_TCP | KTAU_MODE_PROFILE;
	return 0;
}

static void api_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	detach();
	ktau_state_put(f->state);
}

static const struct ktau_rec_profile *snapshot(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, ktau_snapshot(f->rec, f->state, current), 0);
	expect_identity(test, f->rec);
	return f->rec;
}

static void same_name(struct kunit *test)
{
	char name[KTAU_EVENT_NAME] = "test_same";
	int fid = ktau_get_fid(MODULE3, TIMER, name);

	KUNIT_ASSERT_GE(test, fid, KTAU_ID_MODULE);
	KUNIT_EXPECT_LT(test, fid, KTAU_NR_IDS);
	strscpy(name, "overwritten", sizeof(name));	/* as when the module is gone */
	KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, TIMER, "test_same"), fid);
	ktau_event_format_name(fid, name);
	KUNIT_EXPECT_STREQ(test, name, "test_same");
	KUNIT_EXPECT_EQ(test, ktau_event_find(fid)->group, MODULE3);
	KUNIT_EXPECT_EQ(test, ktau_event_address(fid), 0UL);
	KUNIT_EXPECT_NE(test, ktau_get_fid(MODULE3, TIMER, "test_other"), fid);
	KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, COUNTER, "test_same"), -EEXIST);
	KUNIT_EXPECT_EQ(test, ktau_get_fid(KTAU_GROUP_TCP, TIMER, "test_same"), -EEXIST);
}

static void invalid(struct kunit *test)
{
	static const u32 groups[] = {
		0, KTAU_GROUP_TCP | KTAU_GROUP_WAIT, KTAU_GROUP_IRQ, KTAU_GROUP_BH,
		KTAU_GROUP_SCHED, KTAU_GROUP_ACCOUNT, KTAU_GROUP_FUNC, BIT(15), BIT(28),
		KTAU_MODE_PROFILE, KTAU_MODE_TRACE
	};
	static const char * const names[] = { "", "a b", "a\tb", "a\n", "\xe4" };
	char name[KTAU_NAME_BYTES + 1] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		KUNIT_EXPECT_EQ(test, ktau_get_fid(groups[i], TIMER, "x"), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, TIMER, names[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, 2, "x"), -EINVAL);
	memset(name, 'x', KTAU_NAME_BYTES);
	KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, TIMER, name), -EINVAL);
	name[KTAU_NAME_BYTES - 1] = '\0';
	KUNIT_EXPECT_GE(test, ktau_get_fid(MODULE3, TIMER, name), 0);
}

static void frames(struct kunit *test)
{
	const int a = ktau_get_fid(MODULE3, TIMER, "test_a");
	const int b = ktau_get_fid(KTAU_GROUP_TCP, TIMER, "test_b");
	const int off = ktau_get_fid(KTAU_GROUP_MODULE, TIMER, "test_off");
	const int value = ktau_get_fid(MODULE3, COUNTER, "test_value");
	const struct ktau_rec_profile *rec;
	struct ktau_frame fa, fb, none;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		ktau_start(&fa, a);
		ktau_start(&none, off);		/* its group is disabled */
		ktau_start(&fb, b);
		spin_us(1);
		ktau_stop(&fb);
		ktau_stop(&none);
		ktau_stop(&fa);
	}
	ktau_start(&none, value);	/* the wrong kind, no event, no id */
	ktau_start(&none, 0);
	ktau_start(&none, -ENOSPC);
	KUNIT_EXPECT_PTR_EQ(test, current->ktau.top, NULL);

	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, 2U);
	KUNIT_EXPECT_EQ(test, find(rec, a)->count, 3ULL);
	KUNIT_EXPECT_EQ(test, find(rec, b)->count, 3ULL);
	KUNIT_EXPECT_GT(test, find(rec, b)->incl, 0ULL);
	KUNIT_EXPECT_EQ(test, find(rec, a)->excl, find(rec, a)->incl - find(rec, b)->incl);
	KUNIT_EXPECT_EQ(test, find(rec, a)->incl, rec->outer_ticks);
}

static void counters(struct kunit *test)
{
	const int value = ktau_get_fid(MODULE3, COUNTER, "test_bytes");
	const int off = ktau_get_fid(KTAU_GROUP_MODULE, COUNTER, "test_bytes_off");
	const int timer = ktau_get_fid(MODULE3, TIMER, "test_no_counter");
	const struct ktau_rec_profile *rec;

	ktau_event(value, 7);
	ktau_event(value, 35);
	ktau_event(off, 1);
	ktau_event(timer, 1);
	ktau_event(-ENOSPC, 1);

	rec = snapshot(test);
	KUNIT_EXPECT_EQ(test, rec->nr_entries, 1U);
	KUNIT_EXPECT_EQ(test, find(rec, value)->count, 2ULL);
	KUNIT_EXPECT_EQ(test, find(rec, value)->sum, 42ULL);
}

static void group_names(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, control("groups=module0,module11"), 0);
	KUNIT_EXPECT_EQ(test, ktau_config.groups, KTAU_GROUP_MODULE * (1 + (1 << 11)));
	KUNIT_EXPECT_EQ(test, control("-module11 +tcp"), 0);
	KUNIT_EXPECT_EQ(test, ktau_config.groups, KTAU_GROUP_MODULE | KTAU_GROUP_TCP);
	KUNIT_EXPECT_EQ(test, control("-all"), 0);
	KUNIT_EXPECT_EQ(test, ktau_config.groups, 0U);
	KUNIT_EXPECT_EQ(test, control("groups=all"), 0);
	KUNIT_EXPECT_EQ(test, ktau_config.groups, ktau_groups_built);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	KUNIT_EXPECT_EQ(test, control("groups=module12"), -EINVAL);
	KUNIT_EXPECT_EQ(test, control("groups=module"), -EINVAL);
}

/* The last test: no id is left after it. */
static void used_up(struct kunit *test)
{
	const int first = ktau_get_fid(MODULE3, TIMER, "test_first");
	unsigned int i, got = 0;
	char name[24];

	for (i = 0; i < KTAU_NR_MODULE_IDS; i++) {
		snprintf(name, sizeof(name), "test_used_up%u", i);
		got += ktau_get_fid(MODULE3, TIMER, name) >= 0;
	}
	KUNIT_EXPECT_GT(test, got, 0U);
	KUNIT_EXPECT_LT(test, got, KTAU_NR_MODULE_IDS);
	KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, TIMER, "test_more"), -ENOSPC);
	KUNIT_EXPECT_EQ(test, ktau_get_fid(MODULE3, TIMER, "test_first"), first);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(same_name),
	KUNIT_CASE(invalid),
	KUNIT_CASE(frames),
	KUNIT_CASE(counters),
	KUNIT_CASE(group_names),
	KUNIT_CASE(used_up),
	{}
};

static struct kunit_suite suite = {
	.name = "ktau_api",
	.init = api_init,
	.exit = api_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
