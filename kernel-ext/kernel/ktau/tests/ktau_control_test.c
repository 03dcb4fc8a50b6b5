// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: tests of control words, of the filter and of their effects, run by KUnit at boot.
 */
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>

#include "base/filter.h"
#include "measure/cpu.h"
#include "measure/state.h"
#include "control/show.h"
#include "ktau_test.h"

#define TEXT_BYTES	(64 * 1024)

static const u32 measured = KTAU_GROUP_SYSCALL | KTAU_MODE_PROFILE;

/* The contents of /proc/ktau/control, in memory managed by the test. */
static char *shown(struct kunit *test)
{
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct seq_file m = { .buf = text, .size = TEXT_BYTES - 1 };

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_EQ(test, ktau_control_show(&m, true), 0);
	return text;
}

/* Write words that contain the tid of the current task. */
static int control_here(const char *format)
{
	char words[128];

	snprintf(words, sizeof(words), format, current->pid, current->pid);
	return control(words);
}

static int control_init(struct kunit *test)
{
	test->priv = shown(test);
	return 0;
}

/* Each test restores the configuration by writing back what was shown before. */
static void control_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, control(test->priv), 0);
	KUNIT_EXPECT_STREQ(test, shown(test), (char *)test->priv);
}

static const struct {
	int err;
	const char *words;
} rejected[] = {
	{ -EINVAL, "nonsense" },
	{ -EINVAL, "restore restore" },
	{ -EINVAL, "=" },
	{ -EINVAL, "+" },
	{ -EINVAL, "-" },
	{ -EINVAL, "+tcpx" },
	{ -EINVAL, "+user" },
	{ -EINVAL, "groups" },
	{ -EINVAL, "groups=" },
	{ -EINVAL, "groups=nonsense" },
	{ -EINVAL, "profile" },
	{ -EINVAL, "profile=" },
	{ -EINVAL, "trace=maybe" },
	{ -EINVAL, "inherit=2" },
	{ -EINVAL, "ring=0" },
	{ -EINVAL, "ring=15" },
	{ -EINVAL, "ring=1048577" },
	{ -EINVAL, "ring=x" },
	{ -EINVAL, "watermark=0" },
	{ -EINVAL, "watermark=1048577" },
	{ -EINVAL, "memory_limit=" },
	{ -EINVAL, "memory_limit=12q" },
	{ -EINVAL, "memory_limit=17179869184G" },
	{ -EINVAL, "exited_limit=-1" },
	{ -EINVAL, "tag=1" },
	{ -EINVAL, "tag=1:" },
	{ -EINVAL, "tag=1:x" },
	{ -EINVAL, "tag=1:4294967296" },
	{ -EINVAL, "tag=,:1" },
	{ -EINVAL, "filter=" },
	{ -EINVAL, "filter=all" },
	{ -EINVAL, "filter=4" },
	{ -EINVAL, "filter=name:sh" },
	{ -EINVAL, "filter=pid:0" },
	{ -EINVAL, "filter=pid:-1" },
	{ -EINVAL, "filter=pid:1,,2" },
	{ -EINVAL, "filter=pid:1;uid:0" },
	{ -EINVAL, "filter=uid:" },
	{ -EINVAL, "filter=uid:root" },
	{ -EINVAL, "filter=uid:4294967295" },
	{ -EINVAL, "filter=uid:0+" },
	{ -EINVAL, "filter=uid:0+none" },
	{ -EINVAL, "filter=tag:0" },
	{ -EINVAL, "filter=tag:7,x" },
	{ -EINVAL, "filter=cgroup:" },
	{ -EINVAL, "filter=cgroup:batch" },
	{ -EINVAL, "filter+=none" },
	{ -EINVAL, "filter+=pid:" },
	{ -EINVAL, "filter-=uid:0" },
	{ -EINVAL, "filter*=uid:0" },
	{ -ESRCH, "filter=pid:2147483647" },
	{ -ESRCH, "filter+=pid:2147483647" },
	{ -ESRCH, "tag=2147483647:7" },
	/* Keys that were used before the first release. */
	{ -EINVAL, "select=all" },
	{ -EINVAL, "pid=1" },
	{ -EINVAL, "unpid=1" },
	{ -EINVAL, "own=1:tcp" },
	{ -EINVAL, "cap=1M" },
	{ -EINVAL, "dead=1M" },
	{ -EINVAL, "wake=1" },
};

/* A write with an invalid word changes nothing, whatever the other words are. */
static void words_rejected(struct kunit *test)
{
	char words[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rejected); i++) {
		KUNIT_EXPECT_EQ_MSG(test, control(rejected[i].words),
				    rejected[i].err, "%s", rejected[i].words);
		snprintf(words, sizeof(words), "watermark=7 tag=%d:9 %s",
			 current->pid, rejected[i].words);
		KUNIT_EXPECT_EQ_MSG(test, control(words), rejected[i].err, "%s",
				    words);
	}
	snprintf(words, sizeof(words), "filter=tag:1 %s", "filter=cgroup:/no/such");
	KUNIT_EXPECT_EQ(test, control(words),
			IS_ENABLED(CONFIG_CGROUPS) ? -ENOENT : -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, shown(test), (char *)test->priv);
}

static const struct {
	const char *words;
	const char *line;
} accepted[] = {
	{ "groups=tcp,irq +icmp", "groups=irq,tcp,icmp\n" },
	{ "-irq -icmp", "groups=tcp\n" },
	{ "-all", "groups=none\n" },
	{ "profile=0", "profile=off\n" },
	{ "profile=on", "profile=on\n" },
	{ " ring=20\n watermark=7\t", "ring=32\n" },
	{ "", "watermark=7\n" },
	{ "memory_limit=3M exited_limit=70k", "memory_limit=3145728\n" },
	{ "", "exited_limit=71680\n" },
	{ "memory_limit=64M", "memory_limit=67108864\n" },
	{ "inherit=on", "inherit=on\n" },
	{ "filter=pid:", "filter=pid:\n" },
	{ "filter+=uid:1000,0x10,1000", "filter=uid:1000,16\n" },
	{ "filter+=tag:7+uid:5", "filter=uid:1000,16,5+tag:7\n" },
	{ "filter-=uid:1000,99", "filter=uid:5,16+tag:7\n" },
	{ "filter-=uid:5,16+tag:7", "filter=pid:\n" },
	{ "filter=uid:1 filter+=tag:2 filter-=uid:1", "filter=tag:2\n" },
	{ "filter=none filter+=tag:3", "filter=tag:3\n" },
	{ "filter=none", "filter=none\n" },
};

static void words_accepted(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(accepted); i++) {
		KUNIT_EXPECT_EQ_MSG(test, control(accepted[i].words), 0, "%s",
				    accepted[i].words);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(shown(test),
						       accepted[i].line),
					  "%s", accepted[i].words);
	}
}

static void filter_limit(struct kunit *test)
{
	char *words = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	unsigned int i, at;

	KUNIT_ASSERT_NOT_NULL(test, words);
	at = sprintf(words, "filter=uid:0");
	for (i = 1; i < KTAU_FILTER_ITEMS; i++)
		at += sprintf(words + at, ",%u", i);
	KUNIT_EXPECT_EQ(test, control(words), 0);
	KUNIT_EXPECT_EQ(test, control("filter+=uid:1,2,3"), 0);
	KUNIT_EXPECT_EQ(test, control("filter+=tag:1"), -E2BIG);
	sprintf(words + at, ",%u", i);
	KUNIT_EXPECT_EQ(test, control(words), -E2BIG);
	KUNIT_EXPECT_EQ(test, control("filter-=uid:7 filter+=tag:1"), 0);
}

/* Everything that can be set is shown in a form that sets it again. */
static void round_trip(struct kunit *test)
{
	char *changed, line[64];

	KUNIT_ASSERT_EQ(test, control("groups=syscall,tcp profile=off trace=on"), 0);
	KUNIT_ASSERT_EQ(test, control("inherit=on ring=64 watermark=9"), 0);
	KUNIT_ASSERT_EQ(test, control("memory_limit=32M exited_limit=1M"), 0);
	KUNIT_ASSERT_EQ(test, control_here("filter=pid:%d,1+uid:7+tag:8"), 0);
	KUNIT_ASSERT_EQ(test, control_here("tag=%d:11"), 0);
	KUNIT_ASSERT_EQ(test, control("tag=1:12"), 0);
	changed = shown(test);
	snprintf(line, sizeof(line), "\nfilter=pid:1,%d+uid:7+tag:8\n", current->pid);
	KUNIT_EXPECT_NOT_NULL(test, strstr(changed, line));
	snprintf(line, sizeof(line), "\ntag=%d:11\n", current->pid);
	KUNIT_EXPECT_NOT_NULL(test, strstr(changed, line));
	KUNIT_EXPECT_EQ(test, control(test->priv), 0);
	KUNIT_EXPECT_STREQ(test, shown(test), (char *)test->priv);
	KUNIT_EXPECT_EQ(test, current->ktau.tag, 0U);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, control(changed), 0);
	KUNIT_EXPECT_STREQ(test, shown(test), changed);
	KUNIT_EXPECT_EQ(test, current->ktau.mask,
			KTAU_GROUP_SYSCALL | KTAU_GROUP_TCP | KTAU_MODE_TRACE);
}

/* Tasks and control groups may no longer exist when a configuration is restored. */
static void restore_skips(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, control_here("tag=%d:5"), 0);
	KUNIT_EXPECT_EQ(test, control("tag=2147483647:1"), -ESRCH);
	KUNIT_EXPECT_EQ(test, control("restore tag=2147483647,1:3"), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(shown(test), "\ntag=1:3\n"));
	KUNIT_EXPECT_EQ(test, current->ktau.tag, 0U);
	KUNIT_EXPECT_EQ(test, control("restore filter=pid:2147483647,1"), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(shown(test), "\nfilter=pid:1\n"));
	KUNIT_EXPECT_EQ(test, control("restore filter=cgroup:/no/such+uid:1"),
			IS_ENABLED(CONFIG_CGROUPS) ? 0 : -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, control("restore tag=x:3"), -EINVAL);
	KUNIT_EXPECT_EQ(test, control("restore=on"), -EINVAL);
}

/* A reader without the right to see all tasks sees neither tids nor users. */
static void hidden(struct kunit *test)
{
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct seq_file m = { .buf = text, .size = TEXT_BYTES - 1 };

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, control_here("filter=pid:%d+uid:7 tag=%d:7"), 0);
	KUNIT_EXPECT_EQ(test, ktau_control_show(&m, false), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\nfilter=hidden\n"));
	KUNIT_EXPECT_NULL(test, strstr(text, "uid"));
	KUNIT_EXPECT_NULL(test, strstr(text, "tag"));
}

/* The state of a child when it first ran. */
struct child {
	struct completion ran;
	u64 serial;
	u32 tag;
	u32 mask;
};

static int child_run(void *arg)
{
	struct child *child = arg;

	child->serial = current->ktau.serial;
	child->tag = current->ktau.tag;
	child->mask = current->ktau.mask;
	complete(&child->ran);
	do_exit(0);
}

static struct child fork_child(struct kunit *test)
{
	struct child child;

	init_completion(&child.ran);
	KUNIT_EXPECT_GT(test, user_mode_thread(child_run, &child, SIGCHLD), 0);
	wait_for_completion(&child.ran);
	return child;
}

/* The child inherits from current: kthreadd would be the parent of a kernel thread. */
static void filter_pid(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, control("groups=syscall filter=pid:"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, control_here("filter+=pid:%d"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, 0U);
	KUNIT_EXPECT_EQ(test, control("inherit=on"), 0);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, measured);
	KUNIT_EXPECT_EQ(test, control_here("filter-=pid:%d"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, 0U);
	KUNIT_EXPECT_EQ(test, control_here("filter=pid:%d"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	/* A new filter does not include what the previous one had selected. */
	KUNIT_EXPECT_EQ(test, control("filter=pid:1"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, 0U);
}

/*
 * A task that is selected while all groups are disabled is measured once one is enabled.
 */
static void selected_before(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, control_here("filter=pid:%d"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, control("groups=syscall"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
}

static void become(struct kunit *test, unsigned int uid)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->uid = KUIDT_INIT(uid);
	commit_creds(cred);
}

/* A change of the user takes effect at the next exec or the next write. */
static void filter_uid(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, control("groups=syscall filter=uid:4242"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	become(test, 4242);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	ktau_task_exec();
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, measured);
	become(test, 0);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, 0U);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	ktau_task_exec();
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	become(test, 4242);
	KUNIT_EXPECT_EQ(test, control("ring=1024"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	become(test, 0);
}

static void filter_tag(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, control_here("tag=%d:7"), 0);
	KUNIT_EXPECT_EQ(test, fork_child(test).tag, 7U);
	KUNIT_EXPECT_EQ(test, control("groups=syscall filter=tag:8"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, control("filter+=tag:7"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, measured);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, measured);
	KUNIT_EXPECT_EQ(test, control_here("tag=%d:0"), 0);
	KUNIT_EXPECT_EQ(test, current->ktau.mask, 0U);
	KUNIT_EXPECT_EQ(test, fork_child(test).tag, 0U);
	KUNIT_EXPECT_EQ(test, fork_child(test).mask, 0U);
}

/* The serial of a task is that of its state; no two owners have the same. */
static void serials(struct kunit *test)
{
	u64 own, last = 0, serial;
	int cpu;

	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	own = current->ktau.serial;
	KUNIT_EXPECT_NE(test, own, 0ULL);
	KUNIT_ASSERT_NOT_NULL(test, current->ktau.state);
	KUNIT_EXPECT_EQ(test, current->ktau.state->serial, own);
	serial = fork_child(test).serial;
	KUNIT_EXPECT_GT(test, serial, own);
	KUNIT_EXPECT_GT(test, fork_child(test).serial, serial);
	KUNIT_EXPECT_NE(test, idle_task(0)->ktau.serial, 0ULL);
	for_each_possible_cpu(cpu) {
		serial = per_cpu_ptr(&ktau_cpu, cpu)->state->serial;
		KUNIT_EXPECT_GT(test, serial, last);
		last = serial;
	}
	/* Tasks have a serial whether they are measured or not. */
	KUNIT_EXPECT_EQ(test, control("filter=pid:"), 0);
	KUNIT_EXPECT_NE(test, fork_child(test).serial, 0ULL);
	KUNIT_EXPECT_EQ(test, current->ktau.serial, own);
}

static u32 throughout(u64 since_ticks)
{
	return ktau_groups_throughout(current->ktau.state, KTAU_GROUP_ALL,
				      since_ticks);
}

static void groups_throughout(struct kunit *test)
{
	const u32 syscall = KTAU_GROUP_SYSCALL, tcp = KTAU_GROUP_TCP;
	struct ktau_state *cpu;
	u64 begin, middle;

	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	KUNIT_ASSERT_NOT_NULL(test, current->ktau.state);
	begin = ktau_ticks();
	KUNIT_EXPECT_EQ(test, throughout(0), syscall);
	KUNIT_EXPECT_EQ(test, throughout(begin), syscall);
	KUNIT_EXPECT_EQ(test, control("+tcp"), 0);
	middle = ktau_ticks();
	KUNIT_EXPECT_EQ(test, throughout(0), syscall);
	KUNIT_EXPECT_EQ(test, throughout(begin), syscall);
	KUNIT_EXPECT_EQ(test, throughout(middle), syscall | tcp);
	/* disabled and enabled again within the period */
	KUNIT_EXPECT_EQ(test, control("-syscall"), 0);
	KUNIT_EXPECT_EQ(test, throughout(middle), tcp);
	KUNIT_EXPECT_EQ(test, control("+syscall"), 0);
	KUNIT_EXPECT_EQ(test, throughout(0), 0U);
	KUNIT_EXPECT_EQ(test, throughout(begin), 0U);
	KUNIT_EXPECT_EQ(test, throughout(middle), tcp);
	KUNIT_EXPECT_EQ(test, throughout(ktau_ticks()), syscall | tcp);
	KUNIT_EXPECT_EQ(test, ktau_groups_throughout(current->ktau.state, tcp,
						     U64_MAX), tcp);
	cpu = per_cpu_ptr(&ktau_cpu, 0)->state;
	KUNIT_EXPECT_EQ(test, ktau_groups_throughout(cpu, KTAU_GROUP_ALL, middle),
			tcp);
	/* Without the profile no group counts. */
	middle = ktau_ticks();
	KUNIT_EXPECT_EQ(test, control("profile=off trace=on"), 0);
	KUNIT_EXPECT_EQ(test, throughout(middle), 0U);
	KUNIT_EXPECT_EQ(test, control("profile=on trace=off"), 0);
	KUNIT_EXPECT_EQ(test, throughout(middle), 0U);
	KUNIT_EXPECT_EQ(test, throughout(ktau_ticks()), syscall | tcp);
}

static struct kunit_case control_cases[] = {
	KUNIT_CASE(words_rejected),
	KUNIT_CASE(words_accepted),
	KUNIT_CASE(filter_limit),
	KUNIT_CASE(round_trip),
	KUNIT_CASE(restore_skips),
	KUNIT_CASE(hidden),
	KUNIT_CASE(filter_pid),
	KUNIT_CASE(selected_before),
	KUNIT_CASE(filter_uid),
	KUNIT_CASE(filter_tag),
	KUNIT_CASE(serials),
	KUNIT_CASE(groups_throughout),
	{ }
};

static struct kunit_suite control_suite = {
	.name = "ktau_control",
	.init = control_init,
	.exit = control_exit,
	.test_cases = control_cases,
};

kunit_test_suite(control_suite);
