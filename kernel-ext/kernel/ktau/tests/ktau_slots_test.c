// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: tests of the form of slots in streams, run by KUnit at boot. */
#include <linux/string.h>

#include "measure/oops.h"
#include "measure/table.h"
#include "measure/trace.h"
#include "ktau_test.h"

#define ID_CALL		100
#define ID_CALL_INSIDE	101
#define SERIAL		0x923456789abcULL	/* all 48 bits are used */
#define ADDRESS		0x12345678UL

#define WHAT(small, type)	KTAU_WHAT(small, KTAU_TRACE_##type, 0)

static int slots_init(struct kunit *test)
{
	int err = ktau_ring_fixture_init(test);
	struct ktau_ring_fixture *f = test->priv;

	if (err)
		return err;
	f->state->ring = ktau_ring_create(&ktau_system, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->state->ring);
	return 0;
}

static int read_much(struct ktau_ring_fixture *f, struct ktau_reach *reach)
{
	return read_slots(f, KTAU_TEST_SLOTS_BYTES, reach);
}

/* Read all slots into @f->trace without consuming them. */
static void read_all(struct kunit *test)
{
	struct ktau_reach reach = { };

	KUNIT_ASSERT_EQ(test, read_much(test->priv, &reach), 0);
}

/* Types that take a single slot, some packed as by their hooks. */
static void write_short(struct ktau_state *state)
{
	ktau_trace(state, 0, KTAU_TRACE_ENTER, ID_CALL, 1);
	ktau_trace(state, 0, KTAU_TRACE_COUNT, KTAU_ID_STATIC, 1ULL << 63);
	ktau_trace(state, 0, KTAU_TRACE_SWITCH, 128,
		   ktau_pack_serial(SERIAL, 139, -1));
	ktau_trace(state, 0, KTAU_TRACE_WAKING, 8191,
		   ktau_pack_serial(SERIAL, 99, 0));
	ktau_trace(state, 0, KTAU_TRACE_TASK_EXIT, 0, 9 | 0x80);
	ktau_trace(state, 0, KTAU_TRACE_CGROUP, 0, 1ULL << 40);
	ktau_trace(state, 0, KTAU_TRACE_GROUPS, 0, KTAU_GROUP_SCHED);
}

static const struct ktau_slot_more name = { .data = { 0x1112131415161718, 0x19 } };

static void write_long(struct ktau_state *state)
{
	const struct ktau_slot_more leader = { .data = { 0, SERIAL + 1 } };
	const struct ktau_slot_more net[] = {
		{ { 1, 2 }, 65535, 0x18 | KTAU_NET_RETRANSMIT << 8 },
		{ { 3, 4 }, 80, 0xf0000001, 77 },
	};
	const struct ktau_slot_more clock = { .data = { -5ULL, 3ULL << 47 } };
	unsigned long flags;

	ktau_trace_more(state, WHAT(0, FORK), SERIAL, &leader, 1);
	ktau_trace_more(state, WHAT(0, EXEC), SERIAL, &name, 1);
	ktau_trace_more(state, WHAT(0, COMM), 0, &name, 1);
	ktau_trace_more(state, WHAT(45, NET_SEND), 0xfffffff0ULL | 1448ULL << 32,
			net, 2);
	ktau_trace_more(state, WHAT(1, NET_RECV), 0, net, 2);
	ktau_trace_more(state, WHAT(0, KVM_CLOCK), 3 | 48ULL << 32, &clock, 1);
	state->waker = (struct ktau_waker) { SERIAL, 8191, SOFTIRQ_OFFSET };
	local_irq_save(flags);
	ktau_trace_woken(state, ktau_ticks(), 77);
	local_irq_restore(flags);
}

/* Every slot has its type, size and time. */
static void slots_types(struct kunit *test)
{
	static const struct {
		u16 id;
		u8 type;
		u8 words;
	} expected[] = {
		{ ID_CALL, KTAU_TRACE_ENTER, 2 },
		{ KTAU_ID_STATIC, KTAU_TRACE_COUNT, 3 },
		{ KTAU_ID_NONE, KTAU_TRACE_SWITCH, 4 },
		{ KTAU_ID_NONE, KTAU_TRACE_WAKING, 4 },
		{ KTAU_ID_NONE, KTAU_TRACE_TASK_EXIT, 3 },
		{ KTAU_ID_NONE, KTAU_TRACE_CGROUP, 3 },
		{ KTAU_ID_NONE, KTAU_TRACE_GROUPS, 3 },
		{ KTAU_ID_NONE, KTAU_TRACE_FORK, 4 },
		{ KTAU_ID_NONE, KTAU_TRACE_EXEC, 5 },
		{ KTAU_ID_NONE, KTAU_TRACE_COMM, 4 },
		{ KTAU_ID_NONE, KTAU_TRACE_NET_SEND, 9 },
		{ KTAU_ID_NONE, KTAU_TRACE_NET_RECV, 9 },
		{ KTAU_ID_NONE, KTAU_TRACE_KVM_CLOCK, 5 },
		{ KTAU_ID_NONE, KTAU_TRACE_WOKEN, 5 },
	};
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_slot *slot = slot_at(f->trace, 0);
	u64 last = ktau_ticks();
	unsigned int i;

	write_short(f->state);
	write_long(f->state);
	read_all(test);
	KUNIT_ASSERT_EQ(test, f->trace->nr_slots, ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ(test, slot->id, expected[i].id);
		KUNIT_EXPECT_EQ(test, slot->type, expected[i].type);
		KUNIT_ASSERT_EQ(test, slot->words, expected[i].words);
		KUNIT_EXPECT_EQ(test, slot->ctx, (u8)KTAU_CTX_TASK);
		KUNIT_EXPECT_EQ(test, slot->flags, (u8)0);
		KUNIT_EXPECT_GE(test, slot->ticks, last);
		last = slot->ticks;
		slot = (const void *)slot + slot->words * sizeof(u64);
	}
	KUNIT_EXPECT_PTR_EQ(test, (const void *)slot,
			    (const void *)(f->trace + 1) + f->trace->slots_bytes);
	KUNIT_EXPECT_EQ(test, f->trace->next, 7 + 5 * 2 + 2 * 3ULL);
	KUNIT_EXPECT_EQ(test, f->trace->written, f->trace->next);
	KUNIT_EXPECT_EQ(test, f->trace->rec.size,
			(u32)sizeof(*f->trace) + f->trace->slots_bytes);
}

static void slots_short(struct kunit *test)
{
	static const struct ktau_slot_switch switched = { SERIAL, 128, 139, -1 };
	static const struct ktau_slot_waking waking = { SERIAL, 8191, 99 };
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_rec_trace *rec = f->trace;

	write_short(f->state);
	read_all(test);
	KUNIT_EXPECT_EQ(test, payload(slot_at(rec, 1)), 1ULL << 63);
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 2) + 1, &switched,
					sizeof(switched)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 3) + 1, &waking,
					sizeof(waking)));
	KUNIT_EXPECT_EQ(test, payload(slot_at(rec, 4)), 9ULL | 0x80);
	KUNIT_EXPECT_EQ(test, payload(slot_at(rec, 5)), 1ULL << 40);
	KUNIT_EXPECT_EQ(test, payload(slot_at(rec, 6)), (u64)KTAU_GROUP_SCHED);
}

static void slots_long(struct kunit *test)
{
	static const struct ktau_slot_fork fork = { SERIAL, SERIAL + 1 };
	static const struct ktau_slot_woken woken = {
		SERIAL, 77, 8191, KTAU_CTX_SOFTIRQ,
	};
	static const struct ktau_slot_kvm_clock clock = { 3, 48, -5ULL, 3ULL << 47 };
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_rec_trace *rec = f->trace;
	const struct ktau_slot_net *net;
	static const u64 ends[] = { 1, 2, 3, 4 };

	write_long(f->state);
	read_all(test);
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 0) + 1, &fork, sizeof(fork)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 1) + 1, name.data, 16));
	KUNIT_EXPECT_EQ(test, ((const u64 *)(slot_at(rec, 1) + 1))[2], SERIAL);
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 2) + 1, name.data, 16));
	net = (const void *)(slot_at(rec, 3) + 1);
	KUNIT_EXPECT_EQ(test, 0, memcmp(net, ends, sizeof(ends)));
	KUNIT_EXPECT_EQ(test, net->local_port, (u16)65535);
	KUNIT_EXPECT_EQ(test, net->remote_port, (u16)80);
	KUNIT_EXPECT_EQ(test, net->seq, 0xfffffff0U);
	KUNIT_EXPECT_EQ(test, net->bytes, 1448U);
	KUNIT_EXPECT_EQ(test, net->nr_segments, (u16)45);
	KUNIT_EXPECT_EQ(test, net->tcp_flags, (u8)0x18);
	KUNIT_EXPECT_EQ(test, net->net_flags, (u8)KTAU_NET_RETRANSMIT);
	KUNIT_EXPECT_EQ(test, net->net_ns, 0xf0000001U);
	KUNIT_EXPECT_EQ(test, net->ack, 77U);
	net = (const void *)(slot_at(rec, 4) + 1);
	KUNIT_EXPECT_EQ(test, net->bytes, 0U);
	KUNIT_EXPECT_EQ(test, net->nr_segments, (u16)1);
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 5) + 1, &clock, sizeof(clock)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(slot_at(rec, 6) + 1, &woken, sizeof(woken)));
}

/* Attach @f's state with @modes to the test's thread, as if it made system calls. */
static struct ktau_ref pretend(struct ktau_ring_fixture *f, u32 modes)
{
	struct ktau_ref before = current->ktau;

	current->ktau = (struct ktau_ref) {
		.mask = modes ? KTAU_GROUP_SYSCALL | modes : 0,
		.state = f->state,
		.serial = SERIAL,
	};
	return before;
}

static void frame(unsigned int id, unsigned long result)
{
	struct ktau_frame frame;

	__ktau_enter(&frame, current, id);
	*ktau_result_register() = result;
	__ktau_exit(&frame, current);
}

/* A system call that never returns. */
static void frame_without_end(void)
{
	struct ktau_frame frame;

	__ktau_enter(&frame, current, ID_CALL);
	ktau_end_frames();
}

static void write_results(u32 modes)
{
	struct ktau_frame around;

	if (!(modes & KTAU_MODE_PROFILE))
		ktau_cell(current->ktau.state, ID_CALL);
	frame(ID_CALL, 1);		/* finds no chunk, or is not profiled */
	frame(ID_CALL, -ENOENT);	/* fast path */
	__ktau_enter(&around, current, ID_CALL);
	frame(ID_CALL_INSIDE, ADDRESS);
	*ktau_result_register() = 0;
	__ktau_exit(&around, current);
	frame(KTAU_ID_DEBUG, 2);	/* not a system call */
	frame_without_end();
}

/* The exit of a system call has its result on each path; other exits have none. */
static void slots_results(struct kunit *test)
{
	static const struct {
		u16 id;
		u8 words;
		u64 result;
	} expected[] = {
		{ ID_CALL, 3, 1 }, { ID_CALL, 3, -ENOENT },
		{ ID_CALL_INSIDE, 3, ADDRESS }, { ID_CALL, 3, 0 },
		{ KTAU_ID_DEBUG, 2 }, { ID_CALL, 2 },
	};
	static const u32 modes[] = {
		KTAU_MODE_PROFILE | KTAU_MODE_TRACE, KTAU_MODE_TRACE,
	};
	unsigned long *reg = ktau_result_register();
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_slot *slot;
	struct ktau_ref before;
	unsigned long result;
	u32 i, n, nr = 0;

	if (!reg)
		kunit_skip(test, "a kernel thread has no registers here");
	result = *reg;
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		before = pretend(f, modes[i]);
		write_results(modes[i]);
		current->ktau = before;
	}
	*reg = result;
	read_all(test);
	for (i = 0; i < f->trace->nr_slots; i++) {
		slot = slot_at(f->trace, i);
		if (slot->type != KTAU_TRACE_EXIT)
			continue;
		n = nr++ % ARRAY_SIZE(expected);
		KUNIT_EXPECT_EQ(test, slot->id, expected[n].id);
		KUNIT_EXPECT_EQ(test, slot->words, expected[n].words);
		KUNIT_EXPECT_EQ(test, payload(slot), expected[n].result);
	}
	KUNIT_EXPECT_EQ(test, nr, 2 * (u32)ARRAY_SIZE(expected));
}

/* The entry of a page fault has its address, with and without the profile. */
static void slots_faults(struct kunit *test)
{
	static const u32 modes[] = {
		KTAU_MODE_PROFILE | KTAU_MODE_TRACE, KTAU_MODE_TRACE,
		KTAU_MODE_PROFILE,
	};
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_slot *slot;
	struct ktau_frame frame;
	struct ktau_ref before;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		before = pretend(f, modes[i]);
		frame.info = KTAU_ID_PAGE_FAULT_USER;
		__ktau_enter_fault(current, &frame, ADDRESS + i);
		KUNIT_EXPECT_PTR_EQ(test, current->ktau.top, &frame);
		__ktau_exit(&frame, current);
		KUNIT_EXPECT_NULL(test, current->ktau.top);
		current->ktau = before;
	}
	read_all(test);
	KUNIT_ASSERT_EQ(test, f->trace->nr_slots, 4U);
	for (i = 0; i < 4; i++) {
		slot = slot_at(f->trace, i);
		KUNIT_EXPECT_EQ(test, slot->id, (u16)KTAU_ID_PAGE_FAULT_USER);
		KUNIT_EXPECT_EQ(test, slot->type, i % 2 ? KTAU_TRACE_EXIT :
							  KTAU_TRACE_ENTER);
		KUNIT_EXPECT_EQ(test, slot->words, i % 2 ? 2 : 3);
		KUNIT_EXPECT_EQ(test, payload(slot), i % 2 ? 0ULL : ADDRESS + i / 2);
	}
}

/* Call the hooks of a task's life for the test's own thread. */
static void slots_task(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	static const char renamed[TASK_COMM_LEN] = "renamed";
	const struct ktau_slot_waking *waking;
	struct ktau_ref before;
	char comm[TASK_COMM_LEN];
	unsigned long flags;
	const u64 *exec;

	get_task_comm(comm, current);
	before = pretend(f, KTAU_MODE_TRACE);
	current->ktau.mask |= KTAU_GROUP_SCHED;
	local_irq_save(flags);
	__ktau_sched_waking(current, 3);
	local_irq_restore(flags);
	/* It was woken before it slept, so it does not wait. */
	KUNIT_EXPECT_EQ(test, current->ktau.wake_ticks, 0ULL);
	__ktau_task_exec();
	set_task_comm(current, renamed);
	current->ktau.mask = 0;
	set_task_comm(current, comm);	/* not traced */
	current->ktau = before;
	read_all(test);
	KUNIT_ASSERT_EQ(test, f->trace->nr_slots, 3U);
	waking = (const void *)(slot_at(f->trace, 0) + 1);
	KUNIT_EXPECT_EQ(test, waking->serial, SERIAL);
	KUNIT_EXPECT_EQ(test, waking->prio, current->prio);
	KUNIT_EXPECT_EQ(test, waking->target_cpu, 3U);
	exec = (const void *)(slot_at(f->trace, 1) + 1);
	KUNIT_EXPECT_STREQ(test, (const char *)exec, comm);
	KUNIT_EXPECT_EQ(test, exec[2], 0ULL);
	KUNIT_EXPECT_EQ(test, slot_at(f->trace, 2)->type, (u8)KTAU_TRACE_COMM);
	KUNIT_EXPECT_STREQ(test, (const char *)(slot_at(f->trace, 2) + 1),
			   renamed);
}

/* Enter the guest with a clock, and leave it. */
static void guest(u64 offset, u64 ratio)
{
	unsigned long flags;

	local_irq_save(flags);
	__ktau_kvm_enter(1, 32, offset, ratio);
	local_irq_restore(flags);
	__ktau_kvm_exit(1, 78);
}

/* Whether the slots read are pairs of entry and exit, with a clock before those in @clocks. */
static void expect_guests(struct kunit *test, unsigned int pairs, unsigned int clocks)
{
	struct ktau_ring_fixture *f = test->priv;
	const struct ktau_slot *slot = slot_at(f->trace, 0);
	unsigned int i, nr = 0;

	for (i = 0; i < pairs; i++) {
		if (clocks & BIT(i)) {
			KUNIT_EXPECT_EQ(test, slot->type, (u8)KTAU_TRACE_KVM_CLOCK);
			slot = slot_at(f->trace, ++nr);
		}
		KUNIT_EXPECT_EQ(test, slot->type, (u8)KTAU_TRACE_KVM_ENTER);
		slot = slot_at(f->trace, ++nr);
		KUNIT_EXPECT_EQ(test, slot->type, (u8)KTAU_TRACE_KVM_EXIT);
		slot = slot_at(f->trace, ++nr);
	}
	KUNIT_EXPECT_EQ(test, f->trace->nr_slots, nr);
}

/* The clock of a guest is traced when it is new or different, or has been consumed. */
static void slots_guest(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach = { .consume = true };
	struct ktau_ref before = pretend(f, KTAU_MODE_TRACE);

	guest(0, 0);	/* a KVM without such a clock */
	guest(-5ULL, 1ULL << 32);
	guest(-5ULL, 1ULL << 32);
	guest(-6ULL, 1ULL << 32);
	guest(-6ULL, 1ULL << 31);
	guest(-6ULL, 1ULL << 31);
	KUNIT_EXPECT_EQ(test, read_much(f, &reach), 0);
	expect_guests(test, 6, BIT(1) | BIT(3) | BIT(4));
	guest(-6ULL, 1ULL << 31);
	guest(-6ULL, 1ULL << 31);
	current->ktau = before;
	KUNIT_ASSERT_EQ(test, read_much(f, &reach), 0);
	expect_guests(test, 2, BIT(0));
}

/*
 * A ring that overwrites its oldest slots always contains a clock. One that may grow asks for a
 * larger one every eighth of its size, and then has a new clock.
 */
static void slots_guest_overwritten(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_ref before = pretend(f, KTAU_MODE_TRACE);
	const struct ktau_slot *slot;
	unsigned int round, i, clocks;

	for (round = 0; round < 200; round++) {
		guest(-5ULL, 1ULL << 32);
		read_all(test);
		for (i = clocks = 0; i < f->trace->nr_slots; i++) {
			slot = slot_at(f->trace, i);
			clocks += slot->type == KTAU_TRACE_KVM_CLOCK;
		}
		KUNIT_EXPECT_GE(test, clocks, 1U);
		KUNIT_EXPECT_LE(test, clocks, 8U);
	}
	current->ktau = before;
	KUNIT_EXPECT_GE(test, f->trace->nr_slots + clocks, 63U);
	KUNIT_EXPECT_EQ(test, f->state->ring->size, 64U);
}

/* Read from @first on with room for @max_bytes, and compare the slots with @whole. */
static void read_cut(struct kunit *test, const struct ktau_rec_trace *whole,
		     u32 max_bytes)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach = { };
	u64 next = whole->first;
	u32 bytes = 0, slots = 0;
	int more;

	do {
		more = read_slots(f, max_bytes, &reach);
		KUNIT_ASSERT_GE(test, more, 0);
		KUNIT_ASSERT_GT(test, f->trace->nr_slots, 0U);
		KUNIT_ASSERT_LE(test, f->trace->slots_bytes, max_bytes);
		KUNIT_ASSERT_LE(test, bytes + f->trace->slots_bytes,
				whole->slots_bytes);
		KUNIT_EXPECT_EQ(test, f->trace->first, next);
		KUNIT_EXPECT_EQ(test, f->trace->lost, slots ? 0 : whole->lost);
		KUNIT_EXPECT_EQ(test, 0, memcmp(f->trace + 1,
						(const u8 *)(whole + 1) + bytes,
						f->trace->slots_bytes));
		next = f->trace->next;
		bytes += f->trace->slots_bytes;
		slots += f->trace->nr_slots;
	} while (more);
	KUNIT_EXPECT_EQ(test, next, whole->next);
	KUNIT_EXPECT_EQ(test, bytes, whole->slots_bytes);
	KUNIT_EXPECT_EQ(test, slots, whole->nr_slots);
}

/* Wherever a record ends for lack of room, the next one continues. */
static void slots_cut(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_rec_trace *whole;
	unsigned int i;
	u32 max;

	for (i = 0; i < 5; i++) { /* 110 slots: the first ones are overwritten */
		write_long(f->state);
		write_short(f->state);
	}
	read_all(test);
	KUNIT_ASSERT_GT(test, f->trace->lost, 0ULL);
	whole = kunit_kzalloc(test, f->trace->rec.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	memcpy(whole, f->trace, f->trace->rec.size);
	for (max = KTAU_SLOT_MAX_BYTES; max <= KTAU_TEST_SLOTS_BYTES; max++)
		read_cut(test, whole, max);
}

/* Read + lost = written, whatever is overwritten and however often the ring is read. */
static void slots_positions(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach[2] = { { .consume = true } };
	u64 next[2] = { }, lost[2] = { };
	unsigned int i, j, r;

	for (i = 0; i < 40; i++) {
		for (j = 0; j < i % 7; j++) {
			write_long(f->state);
			write_short(f->state);
		}
		for (r = 0; r < 2; r++) {
			reach[r].ring = r ? reach[r].ring : 0;
			KUNIT_ASSERT_EQ(test, 0, read_much(f, &reach[r]));
			KUNIT_EXPECT_EQ(test, f->trace->first,
					next[r] + f->trace->lost);
			next[r] = f->trace->next;
			lost[r] += f->trace->lost;
		}
		KUNIT_EXPECT_EQ(test, next[0], f->state->ring->head);
		KUNIT_EXPECT_EQ(test, next[1], f->state->ring->head);
	}
	KUNIT_EXPECT_EQ(test, lost[0], lost[1]);
	KUNIT_EXPECT_GT(test, lost[0], 0ULL);
}

/* Read slots from some time on; those lost before are not reported as lost. */
static void slots_since(struct kunit *test)
{
	struct ktau_ring_fixture *f = test->priv;
	struct ktau_reach reach;
	unsigned int since;

	for (since = 0; since < 100; since++) /* the first 36 are overwritten */
		ktau_trace(f->state, 1000 + since, KTAU_TRACE_COUNT, ID_CALL, since);
	for (since = 0; since < 110; since++) {
		reach = (struct ktau_reach) { .since_ticks = 1000 + since };
		KUNIT_ASSERT_EQ(test, 0, read_much(f, &reach));
		KUNIT_EXPECT_EQ(test, f->trace->first,
				(u64)clamp(since, 36U, 100U));
		KUNIT_EXPECT_EQ(test, f->trace->nr_slots,
				100 - clamp(since, 36U, 100U));
		KUNIT_EXPECT_EQ(test, f->trace->next, 100ULL);
		KUNIT_EXPECT_EQ(test, f->trace->lost, since > 36 ? 0ULL : 36ULL);
		if (f->trace->lost)
			KUNIT_EXPECT_EQ(test, f->trace->lost_from_ticks,
					1000ULL + since);
	}
}

static struct kunit_case slots_cases[] = {
	KUNIT_CASE(slots_types),
	KUNIT_CASE(slots_short),
	KUNIT_CASE(slots_long),
	KUNIT_CASE(slots_results),
	KUNIT_CASE(slots_faults),
	KUNIT_CASE(slots_task),
	KUNIT_CASE(slots_guest),
	KUNIT_CASE(slots_guest_overwritten),
	KUNIT_CASE(slots_cut),
	KUNIT_CASE(slots_positions),
	KUNIT_CASE(slots_since),
	{ }
};

static struct kunit_suite slots_suite = {
	.name = "ktau_slots",
	.init = slots_init,
	.exit = ktau_ring_fixture_exit,
	.test_cases = slots_cases,
};

kunit_test_suite(slots_suite);
