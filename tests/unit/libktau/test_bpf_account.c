// SPDX-License-Identifier: GPL-2.0-only
/* The account of a task from the state that the BPF programs keep of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/account.h"
#include "bpf/frames.h"
#include "bpf/trace.h"

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
	st.irqs_now.hard_start = 1970;
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
	st.irqs_now.hard_start = 1990;
	expect(&st, &(struct ktau__parts){ .user = 600, .kernel = 100, .irq = 50,
					   .asleep = 250 });
	st.stolen_ns = st.irqs_now.hard_start = 0;
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
	st.irqs_now.hard_start = 1950;
	expect(&st, &(struct ktau__parts){ .user = 200, .kernel = 300, .irq = 50, .guest = 450 });
	/* It was preempted before KVM has told that it has left the guest. */
	st.irqs_now.hard_start = 0;
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

static void expect_frame(const struct ktau_open *got, const struct ktau_open *want)
{
	assert_int_equal(got->id, want->id);
	assert_int_equal(got->start_ticks, want->start_ticks);
	assert_int_equal(got->child_ticks, want->child_ticks);
	assert_int_equal(got->irq_ticks, want->irq_ticks);
}

/*
 * A task is interrupted in read() at 1700: by an interrupt of 40, by a softirq from 1800 on, and
 * in it by two more interrupts, of which one, from 1880 to 1900, has ended. The frames are those
 * of a task in whose place all of them were functions.
 */
static void test_open_interrupts(void **state)
{
	struct kb_state st = task();
	struct ktau__parts parts;
	struct ktau__open open;
	uint32_t i;

	(void)state;
	st.frames[0] = frame(SYS_READ, 1600);
	st.depth = 1;
	st.stolen_ns = 60;
	st.irqs_now = (struct kb_in_progress){
		.hard_ns = 5060,
		.hard_start = 1950,
		.soft_start = 1800,
		.soft_own_start = 1800 - 5040,
		.hard_cell = KB_NR_SOFTIRQS + KB_LOCAL_TIMER,
		.soft_cell = 3,
	};
	ktau__open_of_task(&st, &open);
	assert_int_equal(open.nr, 3);
	expect_frame(&open.frames[0], &(struct ktau_open){ .id = KB_ID_VECTOR + KB_LOCAL_TIMER,
							   .start_ticks = 1950 });
	expect_frame(&open.frames[1], &(struct ktau_open){ .id = KB_ID_SOFTIRQ + 3,
							   .start_ticks = 1800,
							   .child_ticks = 20,
							   .irq_ticks = 70 });
	expect_frame(&open.frames[2], &(struct ktau_open){ .id = SYS_READ,
							   .start_ticks = 1600,
							   .child_ticks = 40,
							   .irq_ticks = 240 });
	/* Interrupts that have ended are inside of open frames; nothing else has ended. */
	assert_int_equal(open.child_ticks, 60);
	assert_int_equal(ktau__outer_of_task(&st, &open), 0);
	ktau__parts_of(&st, &parts);
	assert_int_equal(parts.irq, 40 + 200);

	/* In user mode, the first interrupt was an outermost frame. */
	st.depth = 0;
	ktau__open_of_task(&st, &open);
	assert_int_equal(open.nr, 2);
	assert_int_equal(open.child_ticks, 20);
	assert_int_equal(ktau__outer_of_task(&st, &open), 40);

	/* Its lines are counted by themselves as long as there is room. */
	st.irqs_now = (struct kb_in_progress){
		.hard_start = 990,
		.hard_cell = KB_NR_SOFTIRQS + KB_NR_VECTORS + 9,
	};
	for (i = 0; i < 2; i++) {
		ktau__open_of_task(&st, &open);
		assert_int_equal(open.nr, 1);
		expect_frame(&open.frames[0], &(struct ktau_open){ .id = i ? KB_ID_OTHER_IRQ :
									    KB_ID_IRQ + 9,
								   .start_ticks = 1000 });
		memset(st.lines, 7, sizeof(st.lines));
	}
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
		cmocka_unit_test(test_open_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
