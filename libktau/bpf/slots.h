/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rings of a trace. The programs are compiled twice, with TRACED 0 and 1, because a test for it
 * at run time would make each event cost more.
 */
#ifndef KTAU_BPF_SLOTS_H
#define KTAU_BPF_SLOTS_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "state.h"

enum { tracing = TRACED };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kb_ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kb_slot);
} trace SEC(".maps");

static __always_inline struct kb_ring *this_ring(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/*
 * Write a slot of the task that has written *@traced so far. An interrupt in between writes whole
 * slots of its own. The position is taken before the number, so once a reader, which stops at an
 * incomplete slot, has read a slot, those with lower numbers are complete.
 */
static __always_inline void write_slot(struct kb_ring *ring, u64 serial, u64 *traced,
				       const struct kb_slot *from)
{
	u64 position = __sync_fetch_and_add(&ring->head, 1);
	u32 at = ring->base + ((u32)position & ring->mask);
	struct kb_slot *slot = bpf_map_lookup_elem(&trace, &at);

	if (!slot)
		return;
	slot->commit = 0;
	barrier();
	slot->number = __sync_fetch_and_add(traced, 1);
	slot->serial = serial;
	slot->ticks = from->ticks;
	slot->what = from->what;
	slot->arg[0] = from->arg[0];
	slot->arg[1] = from->arg[1];
	barrier();
	slot->commit = position + 1;
}

/*
 * For the task of a state, between update_begin() and update_end(): then all slots that a copy of
 * the state counts are complete.
 */
static __always_inline void trace_fast(struct kb_state *st, u64 ticks, u64 what, u64 a, u64 b)
{
	const struct kb_slot from = { .ticks = ticks, .what = what, .arg = { a, b } };
	struct kb_ring *ring = this_ring();

	if (ring)
		write_slot(ring, st->serial, &st->traced, &from);
}

static __noinline int trace_slot(struct kb_state *st, u64 ticks, u64 what, u64 a, u64 b)
{
	if (st)
		trace_fast(st, ticks, what, a, b);
	return 0;
}

/* For the idle task of this CPU. */
static __noinline int trace_idle(u64 ticks, u64 what, u64 a, u64 b)
{
	const struct kb_slot from = { .ticks = ticks, .what = what, .arg = { a, b } };
	struct kb_ring *ring = this_ring();

	if (ring)
		write_slot(ring, ring->idle_serial, &ring->idle_traced, &from);
	return 0;
}

#endif /* KTAU_BPF_SLOTS_H */
