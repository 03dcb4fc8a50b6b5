// SPDX-License-Identifier: GPL-2.0-only
/* Slots of tasks from the rings that the BPF programs write, here in plain memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ktau.h>

#include "bpf/trace.h"

#define NR_CPUS 2
#define RING 1024
#define TASK 100
#define OTHER 101
#define SYS_READ 0
#define TIMER (KB_NR_SOFTIRQS + KB_LOCAL_TIMER)
#define ID_TIMER (KB_ID_VECTOR + KB_LOCAL_TIMER)

static struct kb_ring rings[NR_CPUS];
static struct kb_slot slots[NR_CPUS * RING];
static struct ktau__trace trace;

static int setup(void **state)
{
	(void)state;
	memset(rings, 0, sizeof(rings));
	memset(slots, 0, sizeof(slots));
	trace = (struct ktau__trace){
		.rings = rings,
		.slots = slots,
		.nr_cpus = NR_CPUS,
		.ring_slots = RING,
		.start = 5,
	};
	return ktau__trace_init(&trace);
}

static int teardown(void **state)
{
	(void)state;
	ktau__trace_free(&trace);
	return 0;
}

/* What write_slot() of slots.h does. */
static struct kb_slot *write_slot(uint32_t cpu, uint64_t serial, uint64_t number, uint64_t ticks,
				  uint64_t what)
{
	uint64_t position = rings[cpu].head++;
	struct kb_slot *slot = &slots[cpu * RING + position % RING];

	*slot = (struct kb_slot){
		.commit = position + 1,
		.serial = serial,
		.number = number,
		.ticks = ticks,
		.what = what,
	};
	return slot;
}

static void enter(uint64_t number, uint64_t ticks)
{
	write_slot(0, TASK, number, ticks, KB_SLOT(KB_SLOT_ENTER, SYS_READ, 0, 0));
}

static void leave(uint64_t number, uint64_t ticks)
{
	write_slot(0, TASK, number, ticks, KB_SLOT(KB_SLOT_EXIT_RESULT, SYS_READ, 0, 0));
}

static void irq(uint32_t type, uint64_t number, uint64_t ticks)
{
	write_slot(0, TASK, number, ticks, KB_SLOT(type, TIMER, KB_HARD, 0));
}

static void pass(void)
{
	assert_int_equal(ktau__trace_pass(&trace), 0);
}

/* Take the slots of a task; @traced: how many its state says it has written. */
static void take(uint64_t traced, bool final)
{
	const struct ktau__taking taking = {
		.serial = TASK,
		.traced = traced,
		.now_ticks = 1000000,
		.final = final,
	};

	assert_int_equal(ktau__trace_take(&trace, &taking), 0);
}

static void read_all(uint64_t traced)
{
	pass();
	pass();
	take(traced, false);
}

static size_t nr_runs(void)
{
	return trace.runs.size / sizeof(struct ktau__run);
}

static const struct ktau__run *run_at(size_t i)
{
	assert_true(i < nr_runs());
	return (const struct ktau__run *)trace.runs.data + i;
}

static void expect_run(size_t i, uint64_t first, uint64_t next, uint64_t lost)
{
	assert_int_equal(run_at(i)->first, first);
	assert_int_equal(run_at(i)->next, next);
	assert_int_equal(run_at(i)->lost, lost);
}

static const struct ktau__slot *slot_at(size_t i, uint8_t type, uint16_t id, uint64_t ticks)
{
	const struct ktau__slot *slot = &run_at(0)->slots[i];

	assert_true(i < run_at(0)->nr);
	assert_int_equal(slot->slot.type, type);
	assert_int_equal(slot->slot.id, id);
	assert_int_equal(slot->slot.ticks, ticks);
	return slot;
}

/* The slots of other tasks in the same ring are theirs, and nothing is in two streams. */
static void test_tasks(void **state)
{
	(void)state;
	enter(0, 10);
	write_slot(0, OTHER, 0, 11, KB_SLOT(KB_SLOT_ENTER, SYS_READ, 0, 0));
	leave(1, 20);
	read_all(2);
	assert_int_equal(nr_runs(), 1);
	expect_run(0, 0, 2, 0);
	assert_int_equal(slot_at(0, KTAU_TRACE_ENTER, SYS_READ, 10)->slot.words, 2);
	assert_int_equal(slot_at(1, KTAU_TRACE_EXIT, SYS_READ, 20)->slot.words, 3);
	read_all(2);
	assert_int_equal(nr_runs(), 0);
	enter(2, 30);
	read_all(3);
	expect_run(0, 2, 3, 0);
	assert_int_equal(trace.written, 3);
}

/* An interrupt came between the clock's reading and the slot: its slots have lower numbers. */
static void test_order(void **state)
{
	(void)state;
	irq(KB_SLOT_IRQ_ENTER, 0, 12);
	irq(KB_SLOT_IRQ_EXIT, 1, 14);
	enter(2, 10);
	leave(3, 20);
	read_all(4);
	slot_at(0, KTAU_TRACE_ENTER, SYS_READ, 10);
	assert_int_equal(slot_at(1, KTAU_TRACE_ENTER, ID_TIMER, 12)->slot.ctx, KTAU_CTX_HARDIRQ);
	slot_at(2, KTAU_TRACE_EXIT, ID_TIMER, 14);
	slot_at(3, KTAU_TRACE_EXIT, SYS_READ, 20);
	/* The same across two streams: times do not go back. */
	irq(KB_SLOT_IRQ_ENTER, 4, 32);
	irq(KB_SLOT_IRQ_EXIT, 5, 34);
	read_all(6);
	enter(6, 30);
	read_all(7);
	slot_at(0, KTAU_TRACE_ENTER, SYS_READ, 34);
}

/* An interrupt has not ended yet, and what it has interrupted writes an earlier slot then. */
static void test_in_progress(void **state)
{
	(void)state;
	enter(0, 10);
	irq(KB_SLOT_IRQ_ENTER, 1, 32);
	read_all(2);
	expect_run(0, 0, 1, 0);
	irq(KB_SLOT_IRQ_EXIT, 2, 34);
	leave(3, 30);
	read_all(4);
	slot_at(0, KTAU_TRACE_EXIT, SYS_READ, 30);
	slot_at(1, KTAU_TRACE_ENTER, ID_TIMER, 32);
	slot_at(2, KTAU_TRACE_EXIT, ID_TIMER, 34);
}

/* A slot on the CPU that was read first is found by the second pass. */
static void test_passes(void **state)
{
	(void)state;
	write_slot(1, TASK, 1, 20, KB_SLOT(KB_SLOT_EXIT, SYS_READ, 0, 0));
	pass();
	enter(0, 10);
	pass();
	take(0, false);
	expect_run(0, 0, 2, 0);
	/* A gap before a slot of the second pass may be filled later. */
	pass();
	write_slot(1, TASK, 3, 40, KB_SLOT(KB_SLOT_EXIT, SYS_READ, 0, 0));
	pass();
	take(0, false);
	assert_int_equal(nr_runs(), 0);
	enter(2, 30);
	read_all(0);
	expect_run(0, 2, 4, 0);
}

/* A slot that is being written ends the reading of its ring. */
static void test_incomplete(void **state)
{
	struct kb_slot *slot;

	(void)state;
	enter(0, 10);
	slot = write_slot(0, TASK, 1, 20, KB_SLOT(KB_SLOT_EXIT, SYS_READ, 0, 0));
	slot->commit = 0;
	enter(2, 30);
	read_all(0);
	expect_run(0, 0, 1, 0);
	slot->commit = 2;
	read_all(3);
	expect_run(0, 1, 3, 0);
}

/* Slots that were overwritten are lost, each of them, and nothing else. */
static void test_lost(void **state)
{
	uint64_t i, read = 0, lost = 0;
	size_t run;

	(void)state;
	enter(0, 10);
	leave(1, 20);
	read_all(2);
	for (i = 2; i < 3 * RING; i += 2) {
		enter(i, 10 * i);
		leave(i + 1, 10 * i + 1);
	}
	read_all(3 * RING);
	for (run = 0; run < nr_runs(); run++) {
		lost += run_at(run)->lost;
		read += run_at(run)->nr;
		assert_true(run_at(run)->next - run_at(run)->first <= KTAU__RECORD_UNITS);
	}
	assert_int_equal(run_at(0)->first - run_at(0)->lost, 2);
	assert_int_equal(lost + read, 3 * RING - 2);
	assert_true(read > RING / 2 && read <= RING);
	assert_int_equal(run_at(0)->lost_from_ticks, 20);
	assert_int_equal(run_at(0)->lost_to_ticks, run_at(0)->slots[0].slot.ticks);
}

/* A task's count of slots shows losses after its last slot. */
static void test_lost_at_end(void **state)
{
	(void)state;
	enter(0, 10);
	read_all(3);
	assert_int_equal(nr_runs(), 2);
	expect_run(0, 0, 1, 0);
	expect_run(1, 3, 3, 2);
	assert_int_equal(run_at(1)->nr, 0);
	assert_int_equal(run_at(1)->lost_from_ticks, 10);
	assert_int_equal(run_at(1)->lost_to_ticks, 1000000);
	/* Not while some of its slots may still be read. */
	pass();
	enter(4, 40);
	pass();
	take(4, false);
	expect_run(0, 4, 5, 1);
}

/* A task of which nothing has been found wrote slots, too. */
static void test_all_lost(void **state)
{
	(void)state;
	pass();
	pass();
	take(7, true);
	expect_run(0, 7, 7, 7);
	assert_int_equal(run_at(0)->lost_from_ticks, 5);
	take(7, true);
	assert_int_equal(nr_runs(), 0);
}

/* Slots that no stream takes are lost to the task's next record. */
static void test_dropped(void **state)
{
	(void)state;
	enter(0, 10);
	leave(1, 20);
	pass();
	pass();
	ktau__trace_drop(&trace, TASK, false);
	assert_int_equal(ktau__trace_end(&trace), 0);
	enter(2, 30);
	read_all(3);
	expect_run(0, 2, 3, 2);
	assert_int_equal(trace.forgotten, 0);
	leave(3, 40);
	pass();
	ktau__trace_drop(&trace, TASK, true);
	assert_int_equal(ktau__trace_end(&trace), 0);
	assert_int_equal(trace.forgotten, 1);
}

/* A task that no stream of all tasks has found has exited. */
static void test_absent(void **state)
{
	int i;

	(void)state;
	enter(0, 10);
	pass();
	for (i = 0; i < 10; i++)
		assert_int_equal(ktau__trace_end(&trace), 0);
	assert_int_equal(trace.forgotten, 1);
	assert_int_equal(trace.tasks.size, 0);
}

/* An interrupt whose exit was missed ends at the next one; an exit alone is left out. */
static void test_irqs(void **state)
{
	(void)state;
	irq(KB_SLOT_IRQ_EXIT, 0, 10);
	irq(KB_SLOT_IRQ_ENTER, 1, 20);
	irq(KB_SLOT_IRQ_ENTER, 2, 30);
	irq(KB_SLOT_IRQ_EXIT, 3, 40);
	write_slot(0, TASK, 4, 50, KB_SLOT(KB_SLOT_IRQ_ENTER, 2, KB_SOFT, 0));
	write_slot(0, TASK, 5, 60, KB_SLOT(KB_SLOT_IRQ_EXIT, 2, KB_SOFT, 0));
	read_all(6);
	assert_int_equal(run_at(0)->nr, 6);
	slot_at(0, KTAU_TRACE_ENTER, ID_TIMER, 20);
	slot_at(1, KTAU_TRACE_EXIT, ID_TIMER, 30);
	slot_at(2, KTAU_TRACE_ENTER, ID_TIMER, 30);
	slot_at(3, KTAU_TRACE_EXIT, ID_TIMER, 40);
	assert_int_equal(slot_at(4, KTAU_TRACE_ENTER, KB_ID_SOFTIRQ + 2, 50)->slot.ctx,
			 KTAU_CTX_SOFTIRQ);
}

/* A wait: off the CPU, woken, and back. */
static void test_wait(void **state)
{
	struct ktau_slot_switch off;
	struct ktau_slot_woken woken;
	struct kb_slot *slot;

	(void)state;
	slot = write_slot(0, TASK, 0, 10,
			  KB_SLOT(KB_SLOT_OFF, KB_ID_SCHEDULE_VOL_IDLE, 0, 0x402));
	slot->arg[0] = OTHER;
	slot->arg[1] = 120 | (uint64_t)(uint32_t)-1 << 32;
	slot = write_slot(1, TASK, 1, 30,
			  KB_SLOT(KB_SLOT_BACK, KB_ID_SCHEDULE_VOL_IDLE, 0, KB_SOFT));
	slot->arg[0] = 25;
	slot->arg[1] = OTHER;
	read_all(2);
	expect_run(0, 0, 7, 0);
	slot_at(0, KTAU_TRACE_ENTER, KB_ID_SCHEDULE_VOL_IDLE, 10);
	assert_true(ktau_slot_switch(&slot_at(1, KTAU_TRACE_SWITCH, KTAU_ID_NONE, 10)->slot, &off));
	assert_int_equal(off.next_serial, OTHER);
	assert_int_equal(off.state, 128);
	assert_int_equal(off.prio, 120);
	assert_int_equal(off.next_prio, -1);
	slot_at(2, KTAU_TRACE_ENTER, KB_ID_SCHEDULE_WAIT, 25);
	slot_at(3, KTAU_TRACE_EXIT, KB_ID_SCHEDULE_WAIT, 30);
	assert_true(ktau_slot_woken(&slot_at(4, KTAU_TRACE_WOKEN, KTAU_ID_NONE, 30)->slot, &woken));
	assert_int_equal(woken.waker_serial, OTHER);
	assert_int_equal(woken.waking_ticks, 25);
	assert_int_equal(woken.target_cpu, 1);
	assert_int_equal(woken.waker_ctx, KTAU_CTX_SOFTIRQ);
	slot_at(5, KTAU_TRACE_EXIT, KB_ID_SCHEDULE_VOL_IDLE, 30);
	/* It was preempted: no one woke it. */
	write_slot(0, TASK, 2, 40, KB_SLOT(KB_SLOT_OFF, KB_ID_SCHEDULE, 0, 0));
	write_slot(0, TASK, 3, 50, KB_SLOT(KB_SLOT_BACK, KB_ID_SCHEDULE, 0, 0));
	read_all(4);
	assert_int_equal(run_at(0)->nr, 3);
	slot_at(2, KTAU_TRACE_EXIT, KB_ID_SCHEDULE, 50);
}

/* A name takes two units of a ring. */
static void test_changes(void **state)
{
	struct kb_slot *slot;
	const struct ktau__slot *out;

	(void)state;
	slot = write_slot(0, TASK, 0, 10, KB_SLOT(KB_SLOT_COMM, KB_ID_ANY, 0, 0));
	memcpy(slot->arg, "fifteen letters", sizeof(slot->arg));
	slot = write_slot(0, TASK, 1, 20, KB_SLOT(KB_SLOT_CGROUP, KB_ID_ANY, 0, 0));
	slot->arg[0] = 1ULL << 40;
	read_all(2);
	expect_run(0, 0, 3, 0);
	out = slot_at(0, KTAU_TRACE_COMM, KTAU_ID_NONE, 10);
	assert_int_equal(out->slot.words, 4);
	assert_string_equal((const char *)out->payload, "fifteen letters");
	out = slot_at(1, KTAU_TRACE_CGROUP, KTAU_ID_NONE, 20);
	assert_int_equal(out->slot.words, 3);
	assert_int_equal(out->payload[0], 1ULL << 40);
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(ktau__ring_size(1), KTAU__MIN_RING);
	assert_int_equal(ktau__ring_size(1025), 2048);
	assert_int_equal(ktau__ring_size(16384), 16384);
	assert_int_equal(ktau__ring_size(UINT32_MAX), KTAU__MAX_RING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A virtual CPU enters its guest, whose clock is written before. */
static void test_kvm(void **state)
{
	struct ktau_slot_kvm_clock clock;
	struct ktau_slot_kvm kvm;
	struct kb_slot *slot;

	(void)state;
	slot = write_slot(0, TASK, 0, 10, KB_SLOT(KB_SLOT_KVM_CLOCK, KB_ID_ANY, 0, 3));
	slot->arg[0] = -5ULL;
	slot->arg[1] = 1ULL << 61;
	slot = write_slot(0, TASK, 1, 10, KB_SLOT(KB_SLOT_KVM_ENTER, KB_ID_ANY, 0, 0));
	slot->arg[0] = 3;
	slot = write_slot(0, TASK, 2, 20, KB_SLOT(KB_SLOT_KVM_EXIT, KB_ID_ANY, 0, 0));
	slot->arg[0] = 3 | 0x7bULL << 32;
	read_all(3);
	/* The clock takes two units of a ring. */
	expect_run(0, 0, 4, 0);
	ktau_slot_kvm_clock(&slot_at(0, KTAU_TRACE_KVM_CLOCK, KTAU_ID_NONE, 10)->slot, &clock);
	assert_int_equal(clock.vcpu, 3);
	assert_int_equal(clock.frac_bits, KB_KVM_FRAC_BITS);
	assert_int_equal(clock.tsc_offset, -5ULL);
	assert_int_equal(clock.tsc_ratio, 1ULL << 61);
	ktau_slot_kvm(&slot_at(1, KTAU_TRACE_KVM_ENTER, KTAU_ID_NONE, 10)->slot, &kvm);
	assert_int_equal(kvm.vcpu, 3);
	ktau_slot_kvm(&slot_at(2, KTAU_TRACE_KVM_EXIT, KTAU_ID_NONE, 20)->slot, &kvm);
	assert_int_equal(kvm.vcpu, 3);
	assert_int_equal(kvm.reason, 0x7b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tasks),
		TEST(test_order),
		TEST(test_in_progress),
		TEST(test_passes),
		TEST(test_incomplete),
		TEST(test_lost),
		TEST(test_lost_at_end),
		TEST(test_all_lost),
		TEST(test_dropped),
		TEST(test_absent),
		TEST(test_irqs),
		TEST(test_wait),
		TEST(test_changes),
		TEST(test_sizes),
		TEST(test_kvm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
