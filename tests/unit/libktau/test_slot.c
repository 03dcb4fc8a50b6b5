// SPDX-License-Identifier: GPL-2.0-only
/* Slots: payloads of every type, in both byte orders, longer and shorter than expected. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

struct traced {
	struct stream s;
	struct ktau_reader *r;
	const struct ktau_rec_trace *t;
};

static void open_trace(struct traced *traced)
{
	union ktau_record rec;

	assert_int_equal(ktau_reader_create(&traced->r), 0);
	assert_int_equal(ktau_reader_open_memory(traced->r, traced->s.data, traced->s.size), 0);
	do
		assert_int_equal(ktau_reader_next(traced->r, &rec), 1);
	while (rec.rec->type != KTAU_REC_TRACE);
	traced->t = rec.trace;
}

static void close_trace(struct traced *traced)
{
	ktau_reader_destroy(traced->r);
	stream_free(&traced->s);
}

/* Only the accessors of its type accept a slot. */
static unsigned int accepted(const struct ktau_slot *slot)
{
	struct ktau_slot_switch sw;
	struct ktau_slot_waking waking;
	struct ktau_slot_woken woken;
	struct ktau_slot_fork fork;
	struct ktau_slot_net net;
	struct ktau_slot_kvm_clock clock;
	struct ktau_slot_kvm kvm;
	uint64_t word;
	int64_t result;
	int32_t code;
	char comm[17];

	return ktau_slot_address(slot, &word) + ktau_slot_result(slot, &result) +
	       ktau_slot_count(slot, &word) + ktau_slot_cgroup(slot, &word) +
	       ktau_slot_exec(slot, &word) +
	       ktau_slot_exit_code(slot, &code) + ktau_slot_comm(slot, comm) +
	       ktau_slot_switch(slot, &sw) + ktau_slot_waking(slot, &waking) +
	       ktau_slot_woken(slot, &woken) + ktau_slot_fork(slot, &fork) +
	       ktau_slot_net(slot, &net) + ktau_slot_kvm(slot, &kvm) +
	       ktau_slot_kvm_clock(slot, &clock);
}

static void check_tasks(const struct ktau_slot *slot)
{
	struct ktau_slot_switch sw;
	struct ktau_slot_waking waking;
	struct ktau_slot_woken woken;
	struct ktau_slot_fork fork;

	switch (slot->type) {
	case KTAU_TRACE_SWITCH:
		assert_true(ktau_slot_switch(slot, &sw));
		assert_int_equal(sw.next_serial, 2);
		assert_int_equal(sw.state, 1);
		assert_int_equal(sw.prio, 120);
		assert_int_equal(sw.next_prio, -1);
		break;
	case KTAU_TRACE_WAKING:
		assert_true(ktau_slot_waking(slot, &waking));
		assert_int_equal(waking.serial, 3);
		assert_int_equal(waking.target_cpu, 1);
		assert_int_equal(waking.prio, 98);
		break;
	case KTAU_TRACE_WOKEN:
		assert_true(ktau_slot_woken(slot, &woken));
		assert_int_equal(woken.waker_serial, 3);
		assert_int_equal(woken.waking_ticks, 9);
		assert_int_equal(woken.target_cpu, 1);
		assert_int_equal(woken.waker_ctx, KTAU_CTX_HARDIRQ);
		break;
	case KTAU_TRACE_FORK:
		assert_true(ktau_slot_fork(slot, &fork));
		assert_int_equal(fork.serial, 4);
		assert_int_equal(fork.leader_serial, 4);
		break;
	}
}

static void check_net(const struct ktau_slot *slot)
{
	bool is_send = slot->type == KTAU_TRACE_NET_SEND;
	struct ktau_slot_net net;

	if (!is_send && slot->type != KTAU_TRACE_NET_RECV)
		return;
	assert_true(ktau_slot_net(slot, &net));
	assert_memory_equal(net.local, "address-16-bytes", 16);
	assert_memory_equal(net.remote, "address-16-bytes", 16);
	assert_int_equal(net.local_port, 80);
	assert_int_equal(net.remote_port, 4000);
	assert_int_equal(net.seq, is_send ? 0x1020304 : 0x1020305);
	assert_int_equal(net.bytes, is_send ? 1448 : 100);
	assert_int_equal(net.nr_segments, is_send ? 2 : 1);
	assert_int_equal(net.tcp_flags, is_send ? 0x18 : 0x10);
	assert_int_equal(net.net_flags, is_send ? KTAU_NET_RETRANSMIT : 0);
	assert_int_equal(net.net_ns, 0xf0000098);
}

static void check_words(const struct ktau_slot *slot)
{
	struct ktau_slot_kvm_clock clock;
	struct ktau_slot_kvm kvm;
	uint64_t word;
	int64_t result;
	int32_t code;

	switch (slot->type) {
	case KTAU_TRACE_ENTER:
		assert_true(ktau_slot_address(slot, &word));
		assert_int_equal(word, 0x7fff1234);
		break;
	case KTAU_TRACE_EXIT:
		assert_true(ktau_slot_result(slot, &result));
		assert_int_equal(result, -4);
		break;
	case KTAU_TRACE_COUNT:
		assert_true(ktau_slot_count(slot, &word));
		assert_int_equal(word, 1448);
		assert_int_equal(slot->ctx, KTAU_CTX_SOFTIRQ);
		break;
	case KTAU_TRACE_TASK_EXIT:
		assert_true(ktau_slot_exit_code(slot, &code));
		assert_int_equal(code, 0x8b00);
		break;
	case KTAU_TRACE_CGROUP:
		assert_true(ktau_slot_cgroup(slot, &word));
		assert_int_equal(word, 42);
		break;
	case KTAU_TRACE_KVM_EXIT:
		assert_true(ktau_slot_kvm(slot, &kvm));
		assert_int_equal(kvm.vcpu, 1);
		assert_int_equal(kvm.reason, 48);
		break;
	case KTAU_TRACE_KVM_CLOCK:
		assert_true(ktau_slot_kvm_clock(slot, &clock));
		assert_int_equal(clock.vcpu, 1);
		assert_int_equal(clock.frac_bits, 48);
		assert_int_equal(clock.tsc_offset, -70185649LL);
		assert_int_equal(clock.tsc_ratio, 3LL << 47);
		break;
	}
}

static void check_names(const struct ktau_slot *slot)
{
	uint64_t serial;
	char comm[17];

	if (slot->type == KTAU_TRACE_EXEC) {
		assert_true(ktau_slot_comm(slot, comm));
		assert_string_equal(comm, "new-name");
		assert_true(ktau_slot_exec(slot, &serial));
		assert_int_equal(serial, 17);
	} else if (slot->type == KTAU_TRACE_COMM) {
		assert_true(ktau_slot_comm(slot, comm));
		assert_string_equal(comm, "renamed");
		assert_false(ktau_slot_exec(slot, &serial));
	}
}

static void every_type(struct stream s)
{
	struct traced traced = { .s = s };
	const struct ktau_slot *slot = NULL;
	unsigned int nr = 0;
	bool two;

	put_everything(&traced.s);
	open_trace(&traced);
	assert_int_equal(traced.t->first, 20);
	assert_int_equal(traced.t->next, 80);
	assert_int_equal(traced.t->lost, 3);
	assert_int_equal(traced.t->lost_from_ticks, 1);
	assert_int_equal(traced.t->lost_to_ticks, 2);
	assert_int_equal(traced.t->written, 80);
	assert_int_equal(traced.t->ring_slots, 1024);
	while ((slot = ktau_trace_next(traced.t, slot))) {
		check_tasks(slot);
		check_net(slot);
		check_words(slot);
		check_names(slot);
		if (slot->type == 200) {
			assert_true(ktau_slot_payload_words(slot) >= 2);
			assert_int_equal(ktau_slot_payload(slot)[0], 0x0102030405060708);
			assert_int_equal(ktau_slot_payload(slot)[1], 9);
		}
		/* EXEC has two accessors; the unknown type has none. */
		two = slot->type == KTAU_TRACE_EXEC;
		assert_int_equal(accepted(slot), two ? 2 : slot->type != 200);
		nr++;
	}
	assert_int_equal(nr, 17);
	assert_int_equal(traced.t->nr_slots, nr);
	close_trace(&traced);
}

static void both_orders(void **state)
{
	(void)state;
	every_type((struct stream){ .word_bits = 64 });
	every_type((struct stream){ .word_bits = 32, .big = true });
}

static void grown(void **state)
{
	(void)state;
	every_type((struct stream){ .word_bits = 64, .grow_element = 16, .grow_head = 8 });
	every_type((struct stream){ .word_bits = 32, .big = true, .grow_element = 8 });
}

/* Short payloads: the present fields, then zeros. */
static void shortened(void **state)
{
	static const struct slot slots[] = {
		{ .type = 12, .format = "tt22" "4", .text = "x",
		  .values = { 0, 0, 80, 443, 9 } },
		{ .type = 4, .format = "8", .values = { 6 } },
		{ .type = 8, .format = "t", .text = "program" },
		{ .type = 1 }, { .type = 2 }, { .type = 3 }, { .type = 4 }, { .type = 12 },
	};
	struct traced traced = { .s = { .word_bits = 64, .big = true } };
	const struct ktau_slot *slot = NULL;
	struct ktau_slot_switch sw;
	struct ktau_slot_net net;
	char comm[17];
	uint64_t word;

	(void)state;
	put_stream(&traced.s, KTAU_REC_TRACE, 1);
	put_trace(&traced.s, &(struct trace){ .slots = slots, .nr_slots = NR(slots) });
	open_trace(&traced);
	slot = ktau_trace_next(traced.t, slot);
	assert_true(ktau_slot_net(slot, &net));
	assert_int_equal(net.remote_port, 443);
	assert_int_equal(net.seq, 9);
	assert_int_equal(net.bytes, 0);
	assert_int_equal(net.net_ns, 0);
	slot = ktau_trace_next(traced.t, slot);
	assert_true(ktau_slot_switch(slot, &sw));
	assert_int_equal(sw.next_serial, 6);
	assert_int_equal(sw.next_prio, 0);
	slot = ktau_trace_next(traced.t, slot);
	assert_true(ktau_slot_comm(slot, comm));
	assert_string_equal(comm, "program");
	assert_false(ktau_slot_exec(slot, &word));
	assert_int_equal(word, 0);
	while ((slot = ktau_trace_next(traced.t, slot)))
		assert_int_equal(accepted(slot), 0);
	close_trace(&traced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders),
		cmocka_unit_test(grown),
		cmocka_unit_test(shortened),
	};

	return cmocka_run_group_tests_name("libktau: slots", tests, NULL, NULL);
}
