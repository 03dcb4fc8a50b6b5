// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "encode.h"

static void put(struct stream *s, uint64_t value, unsigned int bytes)
{
	unsigned int i;

	if (s->size + bytes > s->room) {
		s->room = 2 * (s->size + bytes);
		s->data = realloc(s->data, s->room);
		if (!s->data)
			abort();
	}
	for (i = 0; i < bytes; i++)
		s->data[s->size + i] = value >> 8 * (s->big ? bytes - 1 - i : i);
	s->size += bytes;
}

void put8(struct stream *s, uint8_t value)
{
	put(s, value, 1);
}

void put16(struct stream *s, uint16_t value)
{
	put(s, value, 2);
}

void put32(struct stream *s, uint32_t value)
{
	put(s, value, 4);
}

void put64(struct stream *s, uint64_t value)
{
	put(s, value, 8);
}

void put_text(struct stream *s, const char *text, size_t bytes)
{
	size_t i, length = text ? strnlen(text, bytes) : 0;

	for (i = 0; i < bytes; i++)
		put8(s, i < length ? text[i] : 0);
}

/* Overwrites four bytes that are there. */
void set32(struct stream *s, size_t at, uint32_t value)
{
	size_t size = s->size;

	s->size = at;
	put(s, value, 4);
	s->size = size;
}

/* What a newer writer adds: noise that an older reader must step over. */
static void put_growth(struct stream *s, unsigned int bytes)
{
	while (bytes--)
		put8(s, 0xa5);
}

void record_begin(struct stream *s, uint16_t type)
{
	s->record = s->size;
	put32(s, 0);
	put16(s, type);
	put16(s, 0);
}

void record_fixed(struct stream *s)
{
	size_t size;

	put_growth(s, s->grow_head);
	size = s->size;
	s->size = s->record + 6;
	put16(s, size - s->record);
	s->size = size;
}

void record_end(struct stream *s)
{
	size_t size;

	while (s->size % 8)
		put8(s, 0);
	size = s->size;
	s->size = s->record;
	put32(s, size - s->record);
	s->size = size;
}

void put_stream(struct stream *s, uint32_t content, uint32_t target)
{
	s->nr_records = 0;
	record_begin(s, 1);
	put32(s, 0x5541544b);
	put16(s, 1);
	put8(s, s->word_bits);
	put8(s, 0);
	put32(s, content);
	put32(s, target);
	put32(s, 0x1ff);
	put32(s, 0x40000000);
	put64(s, 2000000000);		/* clock_hz */
	put32(s, 1);
	put32(s, 2);
	put64(s, 5000000000);		/* ticks */
	put64(s, 1700000000000000000);
	put64(s, 2500000000);
	put64(s, 1000000000);		/* boot_ticks */
	put64(s, 1699999998000000000);
	put64(s, 500000000);
	put64(s, 0xffffffff81000000);
	put64(s, 60123);
	put64(s, 95456);
	put64(s, 77);
	record_fixed(s);
	record_end(s);
}

static void put_owner(struct stream *s, const struct profile *p)
{
	put64(s, p->serial);
	put32(s, p->kind);
	put32(s, p->flags);
	put32(s, p->tid);
	put32(s, p->tgid);
	put32(s, p->ppid);
	put32(s, p->cpu);
	put32(s, p->uid);
	put32(s, p->exit_code);
	put64(s, p->start_ns);
	put64(s, p->exit_ns);
	put64(s, p->dead_seq);
	put64(s, p->utime_ns);
	put64(s, p->stime_ns);
	put_text(s, p->comm, 16);
}

static void put_elements(struct stream *s, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++) {
		put32(s, p->entries[i].id);
		put32(s, p->entries[i].kind);
		put64(s, p->entries[i].count);
		put64(s, p->entries[i].incl);
		put64(s, p->entries[i].excl);
		put64(s, p->entries[i].max);
		put_growth(s, s->grow_element);
	}
	for (i = 0; i < p->nr_open; i++) {
		put32(s, p->open[i].id);
		put32(s, 0);
		put64(s, p->open[i].start);
		put64(s, p->open[i].child);
		put_growth(s, s->grow_element);
	}
}

void put_profile(struct stream *s, const struct profile *p)
{
	record_begin(s, 2);
	put_owner(s, p);
	put64(s, p->ticks);
	put64(s, p->outer);
	put64(s, p->open_child);
	put64(s, p->refused);
	put64(s, p->refused_ticks);
	put64(s, p->clamped);
	put32(s, p->groups);
	put32(s, p->nr_entries);
	put32(s, 40 + s->grow_element);
	put32(s, p->nr_open);
	put32(s, 24 + s->grow_element);
	put32(s, p->depth);
	record_fixed(s);
	put_elements(s, p);
	record_end(s);
	s->nr_records++;
}

static void put_slot(struct stream *s, const struct slot *slot)
{
	if (slot->type == 255) {
		put_text(s, slot->text, 16);
		put16(s, slot->id);
		put8(s, 255);
		put8(s, slot->ctx);	/* index */
		put32(s, slot->more);	/* small2 */
	} else {
		put64(s, slot->ticks);
		put64(s, slot->arg);
		put16(s, slot->id);
		put8(s, slot->type);
		put8(s, slot->ctx);
		put16(s, slot->cpu);
		put16(s, slot->more);
	}
	put_growth(s, s->grow_element);
}

void put_trace(struct stream *s, const struct trace *t)
{
	struct profile owner = {
		.serial = t->serial, .kind = t->kind, .tid = t->tid, .tgid = t->tid,
		.comm = "traced",
	};
	uint32_t i;

	record_begin(s, 3);
	put_owner(s, &owner);
	put64(s, t->first);
	put64(s, t->lost);
	put64(s, t->from);
	put64(s, t->to);
	put64(s, t->written);
	put32(s, 1024);
	put32(s, 0x800001ff);
	put32(s, t->nr_slots);
	put32(s, 24 + s->grow_element);
	record_fixed(s);
	for (i = 0; i < t->nr_slots; i++)
		put_slot(s, &t->slots[i]);
	record_end(s);
	s->nr_records++;
}

void put_end(struct stream *s)
{
	record_begin(s, 4);
	put64(s, s->nr_records);
	put64(s, 0);
	put64(s, 0);
	put64(s, 0);
	put64(s, 0);
	put64(s, 4900000000);
	put64(s, 78);
	put64(s, s->lost_reaped);
	record_fixed(s);
	record_end(s);
}

/*
 * Event 0 is a system call that calls event 700: 10 * scale outermost ticks in
 * 2 * scale calls, 3 * scale of them inside of event 700. A frame of event 1 is
 * in flight, inside of which 5 ticks of event 700 have ended.
 */
void put_task(struct stream *s, uint64_t serial, int32_t tid, uint32_t kind, uint64_t scale)
{
	const struct entry entries[] = {
		{ .id = 0, .count = 2 * scale, .incl = 10 * scale, .excl = 7 * scale },
		{ .id = 700, .count = scale, .incl = 3 * scale + 5, .excl = 3 * scale + 5 },
		{ .id = 701, .kind = 1, .count = scale, .incl = 64 * scale, .excl = 1, .max = 64 },
	};
	const struct frame open = { .id = 1, .start = 4000000000, .child = 5 };
	const struct profile p = {
		.serial = serial, .kind = kind, .tid = tid, .tgid = tid, .ppid = 1,
		.start_ns = 1000 * serial, .dead_seq = kind == 1 ? serial : 0,
		.comm = "task", .ticks = 5000000000, .outer = 10 * scale, .open_child = 5,
		.groups = 1, .depth = 1, .entries = entries, .nr_entries = NR(entries),
		.open = &open, .nr_open = 1, .utime_ns = 100 * scale, .stime_ns = 50 * scale,
	};

	put_profile(s, &p);
}

void stream_free(struct stream *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}
