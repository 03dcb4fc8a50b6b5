// SPDX-License-Identifier: GPL-2.0-only
/* The account of a task from the state that the BPF programs keep of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/account.h"

#define SYS_READ	0

/* A task whose profile began at 1000 and is read at 2000. */
static struct kb_state task(void)
{
	return (struct kb_state){ .start = 1000, .now = 2000, .off_since = KB_ON_CPU };
}

static struct kb_frame frame(uint32_t id, uint64_t start)
{
	return (struct kb_frame){ .id = id, .start = start, .own_start = start };
}

static void expect(const struct kb_state *st, const struct ktau__parts *want)
{
	struct ktau__parts got;

	ktau__parts_of(st, &got);
	assert_int_equal(got.user, want->user);
	assert_int_equal(got.kernel, want->kernel);
	assert_int_equal(got.irq, want->irq);
	assert_int_equal(got.runq, want->runq);
	assert_int_equal(got.asleep, want->asleep);
	assert_int_equal(got.guest, want->guest);
	assert_int_equal(got.unknown, want->unknown);
	if (!got.unknown)
		assert_int_equal(got.user + got.kernel + got.irq + got.runq + got.asleep +
					 got.guest,
				 st->now - st->start);
}

/* What is in no frame is user time. */
static void test_user(void **state)
{
	struct kb_state st = task();

	(void)state;
	expect(&st, &(struct ktau__parts){ .user = 1000 });
	st.outer_ns = 300;
	st.asleep_ns = 100;
	st.runq_ns = 50;
	st.stolen_ns = 20;
	expect(&st, &(struct ktau__parts){ .user = 680, .kernel = 150, .irq = 20, .runq = 50,
					   .asleep = 100 });
}

static void test_in_flight(void **state)
{
	struct kb_state st = task();

	(void)state;
	st.frames[0] = frame(SYS_READ, 1600);
	st.depth = 1;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 400 });
	/* An interrupt that has not ended is time of neither. */
	st.irq_now_ns = 30;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 370, .irq = 30 });
}

static void test_wait(void **state)
{
	struct kb_state st = task();

	(void)state;
	st.frames[0] = frame(SYS_READ, 1600);
	st.frames[1] = frame(KB_ID_SCHEDULE_VOL_INTERRUPTIBLE, 1700);
	st.depth = 2;
	st.off_since = st.off_own = 1700;
	st.off_asleep = 1;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 100, .asleep = 300 });
	st.woken = 1900;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 100, .asleep = 200,
					   .runq = 100 });
	/* The time of a wakeup before it left the CPU says nothing about this wait. */
	st.woken = 1650;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 100, .asleep = 300 });
	/* No program saw it return to a CPU, where interrupts have hit it. */
	st.stolen_ns = 40;
	st.irq_now_ns = 10;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 100, .irq = 50,
					   .asleep = 250 });
	st.stolen_ns = st.irq_now_ns = 0;
	/* No program saw it leave the CPU. */
	st.off_since = KB_ON_UNKNOWN;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 400 });
}

/* A virtual CPU: of the time in frames, that in the guest is no kernel time. */
static void test_guest(void **state)
{
	struct kb_state st = task();

	(void)state;
	st.frames[0] = frame(16, 1200);		/* ioctl() */
	st.depth = 1;
	st.guest_ns = 300;
	st.frames[0].child = 300;
	expect(&st, &(struct ktau__parts){ .user = 200, .kernel = 500, .guest = 300 });
	/* It is in the guest now, with an interrupt of the host inside. */
	st.frames[1] = frame(KB_ID_GUEST, 1800);
	st.depth = 2;
	st.irq_now_ns = 50;
	expect(&st, &(struct ktau__parts){ .user = 200, .kernel = 300, .irq = 50, .guest = 450 });
	/* It was preempted before KVM has told that it has left the guest. */
	st.irq_now_ns = 0;
	st.frames[2] = frame(KB_ID_SCHEDULE, 1900);
	st.depth = 3;
	st.off_since = st.off_own = 1900;
	expect(&st, &(struct ktau__parts){ .user = 200, .kernel = 300, .runq = 100,
					   .guest = 400 });
}

/* A task that ran when its profile began: the time in no frame is unknown, not user time. */
static void test_unknown(void **state)
{
	struct kb_state st = task();

	(void)state;
	st.frames[0] = frame(KB_ID_BEFORE, 1000);
	st.depth = 1;
	expect(&st, &(struct ktau__parts){ .unknown = true });
	st.frames[0].child = 100;
	st.frames[1] = frame(KB_ID_TCP_SENDMSG, 1900);
	st.depth = 2;
	expect(&st, &(struct ktau__parts){ .kernel = 200, .unknown = true });
	assert_int_equal(ktau__frames_of(&st).depth, 1);
	assert_int_equal(ktau__frames_of(&st).first->id, KB_ID_TCP_SENDMSG);
}

/* A new task is in the kernel until it first returns to user mode. */
static void test_new(void **state)
{
	struct kb_state st = task();

	(void)state;
	st.frames[0] = frame(KB_ID_BEFORE_KERNEL, 1000);
	st.depth = 1;
	st.off_since = st.off_own = 1000;
	expect(&st, &(struct ktau__parts){ .runq = 1000 });
	st.off_since = KB_ON_CPU;
	st.runq_ns = 400;
	expect(&st, &(struct ktau__parts){ .kernel = 600, .runq = 400 });
	assert_int_equal(ktau__frames_of(&st).depth, 0);
	/* After that, its frame has ended. */
	st.depth = 0;
	st.before_ns = 700;
	expect(&st, &(struct ktau__parts){ .user = 300, .kernel = 300, .runq = 400 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_guest),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
