// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: tests of how the configuration is applied to tasks, run by KUnit at boot. */
#include <linux/binfmts.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "base/compat.h"
#include "base/owner.h"
#include "base/user.h"
#include "ktau_test.h"

static int nothing_run(void *unused)
{
	return 0;
}

/*
 * An exiting task may have looked for a state before it gets one. It must not be measured
 * any more, or its counts would be lost.
 */
static void exits_meanwhile(struct kunit *test)
{
	struct task_struct *task;

	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	task = kthread_create(nothing_run, NULL, "ktau_exiting");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, raw_smp_processor_id()); /* waits until it sleeps */
	KUNIT_EXPECT_EQ(test, control("groups=syscall"), 0);
	KUNIT_EXPECT_EQ(test, task->ktau.mask,
			KTAU_GROUP_SYSCALL | KTAU_MODE_PROFILE);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	KUNIT_EXPECT_EQ(test, task->ktau.mask, 0U);
	task->flags |= PF_EXITING;
	KUNIT_EXPECT_EQ(test, control("groups=syscall"), 0);
	KUNIT_EXPECT_EQ(test, task->ktau.mask, 0U);
	task->flags &= ~PF_EXITING;
	KUNIT_EXPECT_EQ(test, control("groups=syscall,sched"), 0);
	task->flags |= PF_EXITING;
	KUNIT_EXPECT_EQ(test, control("groups=sched,tcp"), 0);
	KUNIT_EXPECT_EQ(test, task->ktau.mask,
			KTAU_GROUP_SCHED | KTAU_MODE_PROFILE);
	KUNIT_EXPECT_EQ(test, control("profile=off trace=on"), 0);
	KUNIT_EXPECT_EQ(test, task->ktau.mask, 0U);
	task->flags &= ~PF_EXITING;
	KUNIT_EXPECT_EQ(test, control("groups=none profile=on trace=off"), 0);
	kthread_stop(task);
}

#define NR_SLEEPERS	300

/* However many tasks sleep when all groups are disabled, each sleep is accounted. */
static void many_sleepers(struct kunit *test)
{
	struct task_struct **task = kunit_kcalloc(test, NR_SLEEPERS, sizeof(*task), GFP_KERNEL);
	u64 refused = ktau_loss_total(KTAU_LOSS_NO_CHUNK);
	unsigned int i, nr;

	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_ASSERT_EQ(test, control("groups=none"), 0);
	for (nr = 0; nr < NR_SLEEPERS; nr++) {
		task[nr] = kthread_create(nothing_run, NULL, "ktau_sleeper");
		if (IS_ERR(task[nr]))
			break;
		kthread_bind(task[nr], raw_smp_processor_id()); /* waits until it sleeps */
	}
	KUNIT_EXPECT_EQ(test, nr, NR_SLEEPERS);
	KUNIT_EXPECT_EQ(test, control("groups=sched"), 0);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_NO_CHUNK), refused);
	for (i = 0; i < nr; i++)
		kthread_stop(task[i]);
}

static void expect_groups(struct kunit *test, struct ktau_ring *ring, u64 nr, u32 groups)
{
	const struct ktau_ring_slot *slot = ktau_ring_slot(ring, nr - 1);

	KUNIT_EXPECT_EQ(test, ktau_ring_head(ring), nr);
	KUNIT_EXPECT_EQ(test, KTAU_WHAT_TYPE(slot->what), (u8)KTAU_TRACE_GROUPS);
	KUNIT_EXPECT_EQ(test, slot->arg, (u64)groups);
}

/* The trace of a task that sleeps shows from when to when which groups were traced. */
static void traced_groups(struct kunit *test)
{
	struct task_struct *task;
	struct ktau_ring *ring;
	u64 nr;

	KUNIT_ASSERT_EQ(test, control("groups=sched trace=on"), 0);
	task = kthread_create(nothing_run, NULL, "ktau_traced");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, raw_smp_processor_id()); /* waits until it sleeps */
	KUNIT_ASSERT_NOT_NULL(test, task->ktau.state->ring);
	ring = task->ktau.state->ring;
	nr = ktau_ring_head(ring);
	KUNIT_ASSERT_GT(test, nr, 0ULL);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	expect_groups(test, ring, nr + 1, 0);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	expect_groups(test, ring, nr + 1, 0);
	KUNIT_EXPECT_EQ(test, control("groups=sched,syscall"), 0);
	expect_groups(test, ring, nr + 2, KTAU_GROUP_SCHED | KTAU_GROUP_SYSCALL);
	KUNIT_EXPECT_EQ(test, control("groups=sched"), 0);
	expect_groups(test, ring, nr + 3, KTAU_GROUP_SCHED);
	KUNIT_EXPECT_EQ(test, control("trace=off"), 0);
	expect_groups(test, ring, nr + 4, 0);
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	expect_groups(test, ring, nr + 4, 0);
	kthread_stop(task);
}

/*
 * The slots of a wait for the CPU have the time at which it began, but are written at its end: a
 * change of groups in the middle of it is not later than that.
 */
static void traced_groups_waiting(struct kunit *test)
{
	struct task_struct *task;
	struct ktau_ring *ring;
	u64 woken;

	KUNIT_ASSERT_EQ(test, control("groups=sched trace=on"), 0);
	task = kthread_create(nothing_run, NULL, "ktau_waiting");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, raw_smp_processor_id()); /* waits until it sleeps */
	KUNIT_ASSERT_NOT_NULL(test, task->ktau.state->ring);
	ring = task->ktau.state->ring;
	woken = ktau_ticks();
	WRITE_ONCE(task->ktau.wake_ticks, woken);
	KUNIT_EXPECT_EQ(test, control("groups=sched,syscall"), 0);
	expect_groups(test, ring, ktau_ring_head(ring), KTAU_GROUP_SCHED | KTAU_GROUP_SYSCALL);
	KUNIT_EXPECT_EQ(test, ktau_ring_slot(ring, ktau_ring_head(ring) - 1)->ticks, woken);
	WRITE_ONCE(task->ktau.wake_ticks, 0ULL);
	KUNIT_EXPECT_EQ(test, control("groups=none trace=off"), 0);
	KUNIT_EXPECT_GT(test, ktau_ring_slot(ring, ktau_ring_head(ring) - 1)->ticks, woken);
	kthread_stop(task);
}

struct exec {
	struct linux_binprm bprm;
	struct completion done;
	struct cred *cred;
	struct task_struct *task;
};

static int exec_run(void *data)
{
	struct exec *exec = data;

	__ktau_task_exec_begin(&exec->bprm);
	complete(&exec->done);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/* Create a measured task that is to execute a program as user @uid, but does not run yet. */
static void exec_create(struct kunit *test, struct exec *exec, kuid_t uid)
{
	exec->cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, exec->cred);
	exec->cred->uid = uid;
	exec->cred->euid = uid;
	exec->cred->suid = uid;
	cap_lower(exec->cred->cap_permitted, CAP_SYS_RESOURCE);	/* it has a share of its own */
	exec->bprm = (struct linux_binprm) { .filename = "test", .cred = exec->cred };
	init_completion(&exec->done);
	KUNIT_ASSERT_EQ(test, control("groups=syscall"), 0);
	exec->task = kthread_create(exec_run, exec, "ktau_exec");
	KUNIT_ASSERT_FALSE(test, IS_ERR(exec->task));
}

static void exec_end(struct kunit *test, struct exec *exec)
{
	KUNIT_EXPECT_EQ(test, control("groups=none"), 0);
	kthread_stop(exec->task);
	abort_creds(exec->cred);
}

/*
 * An exec that ends the profile, without memory for the next one, ends the use of its serial
 * too: the task may get another state later.
 */
static void exec_without_memory(struct kunit *test)
{
	const u64 limit = ktau_config.memory_limit_bytes;
	struct exec exec;
	struct ktau_state *state;
	struct task_struct *task;
	char words[40];
	u64 serial;

	exec_create(test, &exec, KUIDT_INIT(54340));
	task = exec.task;
	serial = task->ktau.serial;
	KUNIT_EXPECT_NOT_NULL(test, task->ktau.state);
	KUNIT_EXPECT_EQ(test, control("memory_limit=1"), 0);
	wake_up_process(task);
	wait_for_completion(&exec.done);
	snprintf(words, sizeof(words), "groups=syscall memory_limit=%llu", limit);
	KUNIT_EXPECT_EQ(test, control(words), 0);
	state = ktau_state_get(task);
	KUNIT_ASSERT_NOT_NULL(test, state);
	KUNIT_EXPECT_NE(test, state->serial, serial);
	KUNIT_EXPECT_EQ(test, state->serial, task->ktau.serial);
	ktau_state_put(state);
	KUNIT_EXPECT_EQ(test, task->ktau.mask, (u32)KTAU_MASK_GONE);
	exec_end(test, &exec);
}

/*
 * An exec that ends the profile does not wait for a write to control, nor the other way round: the
 * task of either may have lost its CPU.
 */
static void exec_without_mutex(struct kunit *test)
{
	struct ktau_user *user = ktau_user_find(KUIDT_INIT(54341));
	struct exec exec;
	struct task_struct *task;
	unsigned long left;
	u64 serial;

	KUNIT_ASSERT_NOT_NULL(test, user);
	exec_create(test, &exec, user->uid);
	task = exec.task;
	serial = task->ktau.serial;
	mutex_lock(&ktau_mutex);
	wake_up_process(task);
	left = wait_for_completion_timeout(&exec.done, 10 * HZ);
	KUNIT_EXPECT_NE(test, left, 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->nr_states), 1);
	mutex_unlock(&ktau_mutex);
	if (!left)
		wait_for_completion(&exec.done);
	KUNIT_EXPECT_NE(test, task->ktau.serial, serial);
	KUNIT_EXPECT_EQ(test, task->ktau.mask, KTAU_GROUP_SYSCALL | KTAU_MODE_PROFILE);
	exec_end(test, &exec);
	ktau_user_put(user);
}

/* A reader may hold a task that its parent has reaped: it has no pid, leader or parent. */
static void identify_released(struct kunit *test)
{
	struct ktau_owner owner = { };
	struct task_struct *task;
	int i;

	task = kthread_create(nothing_run, NULL, "ktau_released");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	ktau_task_identify(&owner, task);
	KUNIT_EXPECT_NE(test, owner.pid_ns, 0U);
	KUNIT_EXPECT_EQ(test, owner.leader_serial, task->ktau.serial);
	KUNIT_EXPECT_EQ(test, owner.ppid, 2);
	kthread_stop(task);
	for (i = 0; i < 100 && pid_alive(task); i++)
		msleep(20);
	KUNIT_EXPECT_FALSE(test, pid_alive(task));
	owner = (struct ktau_owner) { };
	ktau_task_identify(&owner, task);
	KUNIT_EXPECT_EQ(test, owner.pid_ns, 0U);
	KUNIT_EXPECT_EQ(test, owner.leader_serial, 0ULL);
	KUNIT_EXPECT_EQ(test, owner.parent_serial, 0ULL);
	KUNIT_EXPECT_EQ(test, owner.ppid, 0);
	KUNIT_EXPECT_EQ(test, owner.tid, task->pid);
	put_task_struct(task);
}

static u32 ring_size(struct task_struct *task)
{
	struct ktau_state *state = ktau_state_get(task);
	struct ktau_ring *ring = state ? READ_ONCE(state->ring) : NULL;
	u32 size = ring ? ring->size : 0;

	ktau_state_put(state);
	return size;
}

/* The rings of kernel threads, most of them idle, do not use up the memory limit. */
static void kthread_rings(struct kunit *test)
{
	u64 refused = ktau_loss_total(KTAU_LOSS_MEMORY_LIMIT);
	struct task_struct *task;

	KUNIT_ASSERT_EQ(test, control("groups=none trace=off"), 0);
	task = kthread_create(nothing_run, NULL, "ktau_idle");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, control("groups=syscall trace=on ring=1048576"), 0);
	KUNIT_EXPECT_EQ(test, ring_size(task), 1024U);
	KUNIT_EXPECT_EQ(test, ring_size(idle_task(0)), 16384U);
	KUNIT_EXPECT_EQ(test, ring_size(per_cpu(ksoftirqd, 0)), 16384U);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_MEMORY_LIMIT), refused);
	KUNIT_EXPECT_EQ(test, control("ring=256"), 0);
	KUNIT_EXPECT_EQ(test, ring_size(task), 256U);
	KUNIT_EXPECT_EQ(test, control("ring=4096"), 0);
	KUNIT_EXPECT_EQ(test, ring_size(task), 1024U);
	KUNIT_EXPECT_EQ(test, control("groups=none trace=off ring=1024"), 0);
	kthread_stop(task);
}

/* The ring of a thread that never lets it grow has its full size from the start. */
static void worker_rings(struct kunit *test)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	u32 others = KTAU_PF_USER_WORKER & ~PF_IO_WORKER;

	KUNIT_ASSERT_NOT_NULL(test, task);
	task->pid = 1;
	KUNIT_ASSERT_EQ(test, control("ring=4096"), 0);
	KUNIT_EXPECT_EQ(test, ktau_ring_start_slots(task), 64U);
	KUNIT_EXPECT_EQ(test, ktau_ring_full_slots(task), 4096U);
	task->ktau.tag = 1;	/* a task that is recorded */
	KUNIT_EXPECT_EQ(test, ktau_ring_start_slots(task), 1024U);
	KUNIT_EXPECT_TRUE(test, ktau_ring_grows(task));
	task->ktau.tag = 0;
	task->flags = KTAU_PF_USER_WORKER;	/* of io_uring */
	KUNIT_EXPECT_EQ(test, ktau_ring_start_slots(task), 64U);
	KUNIT_EXPECT_EQ(test, ktau_ring_full_slots(task), 4096U);
	task->flags = others;	/* of vhost; kernels before 6.4 have no such threads */
	KUNIT_EXPECT_EQ(test, ktau_ring_start_slots(task), others ? 1024U : 64U);
	KUNIT_EXPECT_EQ(test, ktau_ring_full_slots(task), others ? 1024U : 4096U);
	KUNIT_EXPECT_EQ(test, control("ring=1024"), 0);
}

static struct kunit_case switch_cases[] = {
	KUNIT_CASE(kthread_rings),
	KUNIT_CASE(worker_rings),
	KUNIT_CASE(exits_meanwhile),
	KUNIT_CASE(many_sleepers),
	KUNIT_CASE(traced_groups),
	KUNIT_CASE(traced_groups_waiting),
	KUNIT_CASE(exec_without_memory),
	KUNIT_CASE(exec_without_mutex),
	KUNIT_CASE(identify_released),
	{ }
};

static struct kunit_suite switch_suite = {
	.name = "ktau_switch",
	.test_cases = switch_cases,
};

kunit_test_suite(switch_suite);
