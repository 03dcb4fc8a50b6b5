// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/report/registry.h"
#include "rings.h"
#include "analyse/user_trace.h"

const struct stream *rings_given;
size_t rings_nr;
char rings_path[] = "/tmp/ktau-timeline-XXXXXX", rings_folder[] = "/tmp/ktau-timeline-XXXXXX";

static int put_ring(struct sink *s, const struct ring *ring)
{
	struct {
		struct ktau_rec_trace head;
		uint64_t words[64];
	} r = { .head.rec = { 0, KTAU_REC_TRACE, sizeof(r.head) } };
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_TASK, ring->serial,
						    (int32_t)ring->serial, (int32_t)ring->serial,
						    "task");
	const struct given *g;
	struct ktau_slot slot;
	uint64_t *at = r.words;
	int err;

	r.head.serial = ring->serial;
	r.head.first = ring->first;
	r.head.lost = ring->lost;
	r.head.lost_from_ticks = ring->lost_from;
	r.head.lost_to_ticks = ring->lost_to;
	r.head.ring_slots = 64;
	r.head.groups = ring->groups;
	if (ring->start_ns)
		owner.start_ns = ring->start_ns;
	if (ring->exit_ns) {
		owner.kind = KTAU_OWNER_EXITED;
		owner.exit_ns = ring->exit_ns;
	}
	for (g = ring->slots; g->type; g++) {
		slot = (struct ktau_slot){ .ticks = g->ticks, .id = g->id, .type = g->type,
					   .cpu = g->cpu, .words = g->word ? 3 : 2,
					   .flags = g->flags };
		memcpy(at, &slot, sizeof(slot));
		at[2] = g->word;
		at += slot.words;
		r.head.nr_slots++;
	}
	r.head.slots_bytes = (uint32_t)((char *)at - (char *)r.words);
	r.head.rec.size = (uint32_t)sizeof(r.head) + r.head.slots_bytes;
	r.head.next = r.head.written = r.head.first + r.head.nr_slots;
	err = sink_put(s, &owner);
	return err ? err : sink_put(s, &r);
}

static int put_sched(struct sink *s)
{
	struct ktau_rec_event event = { .id = SCHEDULE, .group = KTAU_GROUP_SCHED };
	int err = fixture_put_event(s, &event, "schedule");

	event.id = SCHEDULE_WAIT;
	return err ? err : fixture_put_event(s, &event, "schedule_wait");
}

int rings_put(struct sink *s)
{
	struct ktau_rec_end end = fixture_end(1, 1);
	const struct ring *ring;
	struct ktau_rec_stream head;
	uint32_t content;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < rings_nr; i++) {
		content = rings_given[i].content ? rings_given[i].content : KTAU_REC_TRACE;
		head = fixture_stream(content, rings_given[i].ticks);
		head.boot_id[0] ^= rings_given[i].boot;
		err = sink_put(s, &head);
		if (!err)
			err = put_sched(s);
		for (ring = rings_given[i].rings; !err && ring->serial; ring++)
			err = put_ring(s, ring);
		if (!err)
			err = sink_put(s, &end);
	}
	return err;
}

static uint64_t number_of(const struct timeline_event *e)
{
	switch (e->type) {
	case TIMELINE_LOST:
		return e->lost;
	case TIMELINE_MARK:
		return e->mark->value;
	}
	return e->id >= FIRST_USER ? KTAU_ID_NONE - e->id : e->id;
}

static int take_cpu(struct seen *s, const struct timeline_event *e)
{
	static const char *const off[] = { "switch", "exit", "loss", "end" };

	s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used, "%llu %llu ",
				    (unsigned long long)e->ns,
				    (unsigned long long)e->track->serial);
	if (e->type == TIMELINE_ON)
		s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
					    "on %u\n", e->track->cpu);
	else if (e->type == TIMELINE_OFF)
		s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
					    "off by %s since %llu\n", off[e->off],
					    (unsigned long long)e->from_ns);
	else
		s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
					    "gone\n");
	return 0;
}

static int take(void *arg, const struct timeline_event *e)
{
	static const char *const ended[] = { "", " by loss", " by end" };
	uint64_t number = number_of(e);
	struct seen *s = arg;
	const char *what = e->type == KTAU_TRACE_ENTER ? "in" :
			   e->type == KTAU_TRACE_EXIT ? "out" :
			   e->type == TIMELINE_LOST ? "lost" :
			   e->type == TIMELINE_MARK ? "mark" : "other";

	if (e->type >= TIMELINE_ON)
		return s->with_cpus ? take_cpu(s, e) : 0;
	if (s->refuse_after && !--s->refuse_after)
		return -ENOSPC;
	s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used,
				    "%llu %llu %s %s%llu%s\n", (unsigned long long)e->ns,
				    (unsigned long long)e->track->serial, what,
				    e->id >= FIRST_USER ? "u" : "", (unsigned long long)number,
				    ended[e->ended]);
	if (s->with_excl && e->type == KTAU_TRACE_EXIT)
		s->used += (size_t)snprintf(s->text + s->used - 1, sizeof(s->text) - s->used,
					    " excl %llu\n", (unsigned long long)e->excl_ns) - 1;
	return 0;
}

int rings_convert(struct seen *seen)
{
	const struct timeline_sink sink = { NULL, take, seen };
	struct registry *registry = registry_create();
	struct ktau_reader *reader;
	struct timeline *t;
	int err;

	unlink(rings_path);
	assert_int_equal(fixture_saved(rings_path, rings_put), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, rings_path), 0);
	t = timeline_create(reader, &sink);
	if (seen->with_users)
		timeline_regions(t, rings_folder, registry);
	err = timeline_read(t);
	seen->counts = *timeline_counts(t);
	timeline_destroy(t);
	ktau_reader_destroy(reader);
	registry_destroy(registry);
	return err;
}

struct seen convert_ok(const struct stream *s, size_t nr)
{
	struct seen seen = { .used = 0 };

	rings_given = s;
	rings_nr = nr;
	assert_int_equal(rings_convert(&seen), 0);
	return seen;
}
