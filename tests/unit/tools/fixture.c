// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hand-made records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define BOOT_NS		(1 * SECOND)

const uint8_t fixture_boot_id[16] = {
	0x0b, 0x00, 0x71, 0xd0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
};

int sink_put(struct sink *s, const void *record)
{
	const struct ktau_rec *rec = record;

	if (s->w)
		return ktau_writer_put(s->w, record);
	return fwrite(record, rec->size, 1, s->f) == 1 ? 0 : -EIO;
}

struct ktau_rec_owner fixture_owner(uint32_t kind, uint64_t serial, int32_t tgid, int32_t tid,
				    const char *comm)
{
	struct ktau_rec_owner owner = {
		.rec = { sizeof(owner), KTAU_REC_OWNER, sizeof(owner) },
		.serial = serial, .kind = kind, .tgid = tgid, .tid = tid, .ppid = 1,
		.parent_serial = 3, .leader_serial = serial,
		.uid = 1000, .gid = 1000, .prio = 120, .cgroup = CGROUP_USER,
		.start_ns = serial * SECOND / 10, .nr_tasks = 1,
	};

	strncpy(owner.comm, comm, sizeof(owner.comm) - 1);
	return owner;
}

void fixture_timer(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		   uint64_t excl)
{
	p->entries[p->nr_entries++] = (struct ktau_entry){
		.id = (uint16_t)id, .kind = KTAU_KIND_TIMER, .flags = KTAU_ENTRY_LONGEST,
		.count = count, .incl = incl, .excl = excl,
		.longest = count ? incl / count : 0,
	};
}

void fixture_waited(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		    uint64_t excl)
{
	fixture_timer(p, id, count, incl, excl);
	p->entries[p->nr_entries - 1].flags |= KTAU_ENTRY_ASLEEP | KTAU_ENTRY_RUNQ | KTAU_ENTRY_IRQ;
	p->entries[p->nr_entries - 1].asleep = incl - excl;
}

void fixture_counter(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t value)
{
	p->entries[p->nr_entries++] = (struct ktau_entry){
		.id = (uint16_t)id, .kind = KTAU_KIND_COUNTER, .count = count,
		.sum = count * value, .min = value, .max = value,
	};
}

void fixture_open(struct fixture_profile *p, uint32_t id, uint64_t start, uint64_t child)
{
	p->open[p->nr_open++] = (struct ktau_open){
		.id = id, .start_ticks = start, .child_ticks = child,
	};
}

void fixture_begin(struct ktau_rec_profile *p, const struct ktau_rec_owner *owner,
		   uint64_t start_ticks, uint32_t nr_entries)
{
	size_t bytes = sizeof(*p) + nr_entries * sizeof(struct ktau_entry);

	memset(p, 0, bytes);
	p->rec = (struct ktau_rec){ (uint32_t)bytes, KTAU_REC_PROFILE, sizeof(*p) };
	p->serial = owner->serial;
	p->start_ticks = start_ticks;
	p->groups = GROUPS | KTAU_MODE_PROFILE;
	p->groups_throughout = GROUPS;
	p->nr_entries = nr_entries;
	p->entry_size = sizeof(struct ktau_entry);
	p->open_size = sizeof(struct ktau_open);
}

static void put_account(struct ktau_rec_profile *r, const struct fixture_profile *p)
{
	r->user_ticks = p->user;
	r->kernel_ticks = p->kernel;
	r->irq_ticks = p->irq;
	r->runq_ticks = p->runq;
	r->guest_ticks = p->guest;
	if (p->user || p->kernel || p->irq || p->runq)
		r->asleep_ticks = p->ticks - p->owner.start_ns - p->user - p->kernel - p->irq -
				  p->runq - p->guest - p->unmeasured;
	r->groups_throughout = (r->groups_throughout | p->more) & ~p->missing;
}

struct ktau_rec_profile *fixture_record(const struct fixture_profile *p)
{
	size_t entries = p->nr_entries * sizeof(*p->entries);
	size_t open = p->nr_open * sizeof(*p->open);
	struct ktau_rec_profile *r = calloc(1, sizeof(*r) + entries + open);
	uint32_t i;

	if (!r)
		return NULL;
	fixture_begin(r, &p->owner, p->owner.start_ns, p->nr_entries);
	r->rec.size += (uint32_t)open;
	r->ticks = p->ticks;
	r->refused = p->refused;
	r->refused_ticks = p->refused_ticks;
	r->clamped = p->clamped;
	put_account(r, p);
	r->nr_open = r->depth = p->nr_open;
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
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC, .version = KTAU_ABI_VERSION, .word_bits = 64,
		.content = content,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED |
			  KTAU_TARGET_CPU,
		.access = (KTAU_ACCESS_ADDRESSES << 1) - 1,
		.groups = GROUPS, .groups_built = GROUPS,
		.modes = KTAU_MODE_PROFILE,
		.clock_hz = SECOND, .clock_flags = KTAU_CLOCK_STABLE, .nr_cpus = 2,
		.ticks = at_ns, .realtime_ns = REALTIME_NS + at_ns, .monotonic_ns = at_ns,
		.boottime_ns = at_ns, .tai_ns = REALTIME_NS + at_ns + 37 * SECOND,
		.boot_ticks = BOOT_NS, .boot_realtime_ns = REALTIME_NS + BOOT_NS,
		.boot_monotonic_ns = BOOT_NS, .stext = 0xffffffff81000000,
		.profile_pair_mticks = 100000, .trace_pair_mticks = 150000,
		.cpu_pair_mticks = 400000, .call_pair_mticks = 450000, .switch_mticks = 300000,
		.nodename = "ionode", .release = "6.1.0-ktau", .machine = "x86_64",
	};

	memcpy(stream.boot_id, fixture_boot_id, sizeof(stream.boot_id));
	return stream;
}

struct ktau_rec_end fixture_end(uint64_t nr_records, uint64_t exited_next)
{
	return (struct ktau_rec_end){
		.rec = { sizeof(struct ktau_rec_end), KTAU_REC_END,
			 sizeof(struct ktau_rec_end) },
		.nr_records = nr_records, .exited_next = exited_next,
		.lost_evicted = 10 * exited_next, .evicted = exited_next,
	};
}

int fixture_put(struct sink *s, const struct fixture_profile *p, uint64_t *nr)
{
	struct ktau_rec_profile *r = fixture_record(p);
	int err = r ? sink_put(s, &p->owner) : -ENOMEM;

	if (!err)
		err = sink_put(s, r);
	ktau_record_free(r);
	++*nr;
	return err;
}

/* @record with a zero-terminated text after its @head bytes. */
static int put_with_text(struct sink *s, const void *record, size_t head, const char *text)
{
	struct ktau_rec *rec = calloc(1, head + strlen(text) + 8);
	int err;

	if (!rec)
		return -ENOMEM;
	memcpy(rec, record, head);
	strcpy((char *)rec + head, text);
	rec->size = (uint32_t)(head + (strlen(text) + 8) / 8 * 8);
	err = sink_put(s, rec);
	free(rec);
	return err;
}

int fixture_put_event(struct sink *s, const struct ktau_rec_event *event, const char *name)
{
	struct ktau_rec_event e = *event;

	e.rec = (struct ktau_rec){ 0, KTAU_REC_EVENT, sizeof(e) };
	e.name_bytes = (uint32_t)strlen(name) + 1;
	return put_with_text(s, &e, sizeof(e), name);
}

int fixture_put_routines(struct sink *s, uint32_t first_id, uint32_t nr, const char *suffix)
{
	struct ktau_rec_event event = { .group = KTAU_GROUP_TCP };
	char name[64];
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		event.id = (uint16_t)(first_id + 3 * i);
		snprintf(name, sizeof(name), "routine_%u%s", i, suffix);
		err = fixture_put_event(s, &event, name);
	}
	return err;
}

int fixture_put_cgroup(struct sink *s, uint64_t id, const char *path)
{
	struct ktau_rec_cgroup c = {
		.rec = { 0, KTAU_REC_CGROUP, sizeof(c) },
		.id = id, .path_bytes = (uint32_t)strlen(path) + 1,
	};

	return put_with_text(s, &c, sizeof(c), path);
}

int fixture_put_owner(struct sink *s, const struct ktau_rec_owner *owner, const char *path)
{
	struct ktau_rec_owner o = *owner;

	o.path_bytes = (uint32_t)strlen(path) + 1;
	return put_with_text(s, &o, sizeof(o), path);
}

int fixture_file(const char *path, unsigned int flags, int (*write)(struct sink *s))
{
	struct sink s = { 0 };
	int err = ktau_writer_create(&s.w);

	if (err)
		return err;
	err = ktau_writer_open(s.w, path, flags, fixture_boot_id);
	if (!err)
		err = write(&s);
	if (!err)
		err = ktau_writer_close(s.w);
	ktau_writer_destroy(s.w);
	return err;
}

int fixture_saved(const char *path, int (*write)(struct sink *s))
{
	struct sink s = { .f = fopen(path, "we") };
	int err;

	if (!s.f)
		return -errno;
	err = write(&s);
	return fclose(s.f) || err ? -EIO : 0;
}
