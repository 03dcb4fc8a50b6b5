// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records made by hand.
 */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define BOOT_NS		(1 * SECOND)

struct ktau_owner fixture_owner(uint32_t kind, uint64_t serial, int32_t tgid, int32_t tid,
				const char *comm)
{
	struct ktau_owner owner = {
		.serial = serial, .kind = kind, .tgid = tgid, .tid = tid, .ppid = 1,
		.uid = 1000, .start_ns = serial * SECOND / 10,
	};

	strncpy(owner.comm, comm, sizeof(owner.comm) - 1);
	return owner;
}

void fixture_timer(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		   uint64_t excl)
{
	p->entries[p->nr_entries++] = (struct ktau_entry){
		.id = id, .kind = KTAU_KIND_TIMER, .count = count, .incl = incl, .excl = excl,
	};
}

void fixture_counter(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t value)
{
	p->entries[p->nr_entries++] = (struct ktau_entry){
		.id = id, .kind = KTAU_KIND_COUNTER, .count = count, .sum = count * value,
		.min = value, .max = value,
	};
}

void fixture_open(struct fixture_profile *p, uint32_t id, uint64_t start, uint64_t child)
{
	p->open[p->nr_open++] = (struct ktau_open){
		.id = id, .start_ticks = start, .child_ticks = child,
	};
}

struct ktau_rec_profile *fixture_record(const struct fixture_profile *p)
{
	size_t entries = p->nr_entries * sizeof(*p->entries);
	size_t open = p->nr_open * sizeof(*p->open);
	struct ktau_rec_profile *r = calloc(1, sizeof(*r) + entries + open);
	uint32_t i;

	if (!r)
		return NULL;
	r->rec.size = (uint32_t)(sizeof(*r) + entries + open);
	r->rec.type = KTAU_REC_PROFILE;
	r->rec.head = sizeof(*r);
	r->owner = p->owner;
	r->ticks = p->ticks;
	r->refused = p->refused;
	r->refused_ticks = p->refused_ticks;
	r->clamped = p->clamped;
	r->groups = KTAU_GROUP_ALL | KTAU_MODE_PROFILE;
	r->nr_entries = p->nr_entries;
	r->entry_size = sizeof(*p->entries);
	r->nr_open = r->depth = p->nr_open;
	r->open_size = sizeof(*p->open);
	r->outer_ticks = p->refused_ticks;
	for (i = 0; i < p->nr_entries; i++)
		if (p->entries[i].kind == KTAU_KIND_TIMER)
			r->outer_ticks += p->entries[i].excl;
	for (i = 0; i < p->nr_open; i++) {
		r->open_child_ticks += p->open[i].child_ticks;
		r->outer_ticks -= p->open[i].child_ticks;
	}
	memcpy((char *)r + sizeof(*r), p->entries, entries);
	memcpy((char *)r + sizeof(*r) + entries, p->open, open);
	return r;
}

struct ktau_rec_stream fixture_stream(uint32_t content, uint64_t at_ns)
{
	return (struct ktau_rec_stream){
		.rec = { sizeof(struct ktau_rec_stream), KTAU_REC_STREAM,
			 sizeof(struct ktau_rec_stream) },
		.magic = KTAU_MAGIC, .version = KTAU_ABI_VERSION, .word_bits = 64,
		.content = content,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_DEAD | KTAU_TARGET_REAPED |
			  KTAU_TARGET_CPU,
		.groups = KTAU_GROUP_ALL, .modes = KTAU_MODE_PROFILE,
		.clock_hz = SECOND, .clock_flags = KTAU_CLOCK_STABLE, .nr_cpus = 2,
		.ticks = at_ns, .realtime_ns = REALTIME_NS + at_ns, .monotonic_ns = at_ns,
		.boot_ticks = BOOT_NS, .boot_realtime_ns = REALTIME_NS + BOOT_NS,
		.boot_monotonic_ns = BOOT_NS, .stext = 0xffffffff81000000,
		.profile_pair_mticks = 100000, .trace_pair_mticks = 150000,
	};
}

struct ktau_rec_end fixture_end(uint64_t nr_records, uint64_t dead_next)
{
	return (struct ktau_rec_end){
		.rec = { sizeof(struct ktau_rec_end), KTAU_REC_END,
			 sizeof(struct ktau_rec_end) },
		.nr_records = nr_records, .dead_next = dead_next,
		.lost_reaped = 10 * dead_next,
	};
}
