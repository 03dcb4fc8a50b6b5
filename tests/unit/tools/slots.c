// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of the machine of the tests: the server's first thread in second 12.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fixture.h"

#define T0 (12 * SECOND)

/* Slots of one record. */
struct slots {
	struct ktau_rec_trace head;
	unsigned char bytes[2048];
};

struct payload {
	const void *at;
	size_t bytes;
};

#define PAYLOAD(value) ((struct payload){ &(value), sizeof(value) })

static void add(struct slots *s, uint8_t type, uint16_t id, uint8_t ctx,
		struct payload payload)
{
	struct ktau_slot slot = {
		.ticks = T0 + ++s->head.nr_slots, .id = id, .type = type,
		.words = (uint8_t)(2 + (payload.bytes + 7) / 8), .ctx = ctx,
		.cpu = s->head.nr_slots > 12,
	};

	memcpy(s->bytes + s->head.slots_bytes, &slot, sizeof(slot));
	if (payload.bytes)
		memcpy(s->bytes + s->head.slots_bytes + sizeof(slot), payload.at,
		       payload.bytes);
	s->head.slots_bytes += slot.words * 8U;
}

/* A slot without a payload, and a slot with one word. */
static void add_bare(struct slots *s, uint8_t type, uint16_t id, uint8_t ctx)
{
	add(s, type, id, ctx, (struct payload){ NULL, 0 });
}

static void add_word(struct slots *s, uint8_t type, uint16_t id, uint64_t word)
{
	add(s, type, id, KTAU_CTX_TASK, PAYLOAD(word));
}

static void add_net(struct slots *s)
{
	struct ktau_slot_net net = {
		.local_port = 5001, .remote_port = 40000, .seq = 1234, .bytes = 1000,
		.nr_segments = 2, .tcp_flags = 0x18, .net_flags = KTAU_NET_RETRANSMIT,
		.net_ns = 4026531840,
	};

	inet_pton(AF_INET6, "::ffff:10.0.0.1", net.local);
	inet_pton(AF_INET6, "::ffff:10.0.0.2", net.remote);
	add(s, KTAU_TRACE_NET_SEND, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(net));
	inet_pton(AF_INET6, "2001:db8::2", net.remote);
	add(s, KTAU_TRACE_NET_RECV, KTAU_ID_NONE, KTAU_CTX_SOFTIRQ, PAYLOAD(net));
}

static void add_sched(struct slots *s)
{
	static const struct ktau_slot_waking waking = {
		.serial = 12, .target_cpu = 1, .prio = 120,
	};
	static const struct ktau_slot_switch to = {
		.next_serial = 12, .state = 1, .prio = 120, .next_prio = 99,
	};
	static const struct ktau_slot_switch to_hidden = {
		.state = 2, .prio = 120, .next_prio = -1,
	};
	static const struct ktau_slot_woken woken = {
		.waker_serial = 31, .waking_ticks = T0, .target_cpu = 1,
		.waker_ctx = KTAU_CTX_HARDIRQ,
	};

	add(s, KTAU_TRACE_WAKING, KTAU_ID_NONE, KTAU_CTX_HARDIRQ, PAYLOAD(waking));
	add_bare(s, KTAU_TRACE_EXIT, ID_TIMER, KTAU_CTX_HARDIRQ);
	add_bare(s, KTAU_TRACE_EXIT, ID_TCP, KTAU_CTX_TASK);
	add(s, KTAU_TRACE_SWITCH, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(to));
	add(s, KTAU_TRACE_WOKEN, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(woken));
	add(s, KTAU_TRACE_SWITCH, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(to_hidden));
}

static void add_life(struct slots *s)
{
	static const struct ktau_slot_fork child = { .serial = 31, .leader_serial = 31 };
	static const struct {
		char comm[16];
		uint64_t serial;
	} exec = { "worker", 0 }, set_uid = { "passwd", 32 };
	static const struct ktau_slot_kvm kvm = { .vcpu = 3, .reason = 48 };
	static const struct ktau_slot_kvm_clock clock = {
		.vcpu = 3, .frac_bits = 48, .tsc_offset = -70185649LL, .tsc_ratio = 1ULL << 48,
	};
	static const char name[16] = "ser\nver";
	static const uint64_t unknown[] = { 250, (uint64_t)-11 };

	add(s, KTAU_TRACE_FORK, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(child));
	add_word(s, KTAU_TRACE_EXIT, ID_WRITE, 1000);
	add(s, KTAU_TRACE_COMM, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(name));
	add_word(s, KTAU_TRACE_CGROUP, KTAU_ID_NONE, CGROUP_USER_A);
	add(s, KTAU_TRACE_EXEC, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(exec));
	add(s, KTAU_TRACE_KVM_CLOCK, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(clock));
	add(s, KTAU_TRACE_KVM_ENTER, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(kvm));
	add(s, KTAU_TRACE_KVM_EXIT, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(kvm));
	add_word(s, KTAU_TRACE_GROUPS, KTAU_ID_NONE, KTAU_GROUP_SYSCALL | KTAU_GROUP_SCHED);
	add(s, 77, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(unknown));
	add_word(s, KTAU_TRACE_TASK_EXIT, KTAU_ID_NONE, 256);
	add(s, KTAU_TRACE_EXEC, KTAU_ID_NONE, KTAU_CTX_TASK, PAYLOAD(set_uid));
}

static int put_owners(struct sink *s)
{
	struct ktau_rec_owner server = fixture_owner(KTAU_OWNER_TASK, 10, 100, 100, "server");
	struct ktau_rec_owner sleeper = fixture_owner(KTAU_OWNER_TASK, 12, 200, 200, "sleeper");
	struct ktau_rec_owner child = fixture_owner(KTAU_OWNER_TASK, 31, 301, 301, "server");
	int err;

	sleeper.flags = child.flags = KTAU_OWNER_NAMED;
	err = fixture_put_owner(s, &server, "/usr/sbin/server");
	if (!err)
		err = sink_put(s, &sleeper);
	return err ? err : sink_put(s, &child);
}

int fixture_put_trace(struct sink *s)
{
	struct slots r = {
		.head = {
			.rec = { 0, KTAU_REC_TRACE, sizeof(r.head) },
			.serial = 10,
			.first = 20, .lost = 20, .lost_from_ticks = 11 * SECOND,
			.lost_to_ticks = T0, .ring_slots = 64,
			.groups = GROUPS | KTAU_MODE_TRACE,
		},
	};
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_TRACE, T0 + MS);
	struct ktau_rec_end end = fixture_end(1, 7);
	int err;

	end.refused_no_chunk = 3;
	end.cut_ticks = T0;
	add_word(&r, KTAU_TRACE_ENTER, ID_WRITE, 0x7f00deadb000);
	add_bare(&r, KTAU_TRACE_ENTER, ID_TCP, KTAU_CTX_TASK);
	add_net(&r);
	add_word(&r, KTAU_TRACE_COUNT, ID_TCP_BYTES, 1000);
	add_bare(&r, KTAU_TRACE_ENTER, ID_TIMER, KTAU_CTX_HARDIRQ);
	add_sched(&r);
	add_life(&r);
	r.head.rec.size = (uint32_t)(sizeof(r.head) + r.head.slots_bytes);
	r.head.next = r.head.written = r.head.first + r.head.nr_slots + 4;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = put_owners(s);
	if (!err)
		err = sink_put(s, &r);
	return err ? err : sink_put(s, &end);
}
