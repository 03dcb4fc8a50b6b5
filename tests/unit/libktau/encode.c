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

/* Overwrite four existing bytes. */
void set32(struct stream *s, size_t at, uint32_t value)
{
	size_t size = s->size;

	s->size = at;
	put(s, value, 4);
	s->size = size;
}

/* Fields of a newer writer: noise that an older reader must step over. */
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

uint64_t ticks_of(const struct stream *s)
{
	return s->ticks ? s->ticks : 5000000000;
}

void put_stream(struct stream *s, uint32_t content, uint32_t target)
{
	int i;

	s->nr_records = 0;
	record_begin(s, 1);
	put32(s, 0x5541544b);
	put16(s, 2);
	put8(s, s->word_bits);
	put8(s, 0);
	put32(s, content);
	put32(s, target);
	put32(s, s->flags);
	put32(s, 0x7f);			/* access */
	put32(s, 0x1ff);		/* groups */
	put32(s, 0x3fff);
	put32(s, 0x40000000);
	put32(s, s->round_ns);
	put64(s, 2000000000);		/* clock_hz */
	put32(s, 1);
	put32(s, 2);
	put64(s, ticks_of(s));
	put64(s, s->realtime_ns ? s->realtime_ns : 1700000000000000000);
	put64(s, 2500000000);
	put64(s, 2600000000);
	put64(s, 1700000037000000000);
	put64(s, 1000000000);		/* boot_ticks */
	put64(s, 1699999998000000000);
	put64(s, 500000000);
	put64(s, s->since_boot ? 0 : 12345);	/* since_ticks */
	put64(s, 77);
	put64(s, 0xffffffff81000000);
	put64(s, 60123);
	put64(s, 95456);
	for (i = 0; i < 16; i++)
		put8(s, s->boot);
	put_text(s, "ion7", 72);
	put_text(s, "6.1.0", 72);
	if (!s->shrink) {
		put_text(s, "x86_64", 24);
		put64(s, 70789);	/* costs of other hooks */
		put64(s, 81012);
		put64(s, 123456);
		put64(s, s->exited_since);
	}
	record_fixed(s);
	record_end(s);
}

void put_event(struct stream *s, uint16_t id, uint32_t group, const char *name)
{
	record_begin(s, 6);
	put16(s, id);
	put8(s, id == 701);		/* the counter */
	put8(s, id < 512 ? 0 : 2);
	put32(s, group);
	put64(s, 0xffffffff81000000 + 16 * id);
	put64(s, 0xffffffff82000000 + id);
	put32(s, strlen(name) + 1);
	put32(s, 0);
	record_fixed(s);
	put_text(s, name, strlen(name) + 1);
	record_end(s);
}

void put_cgroup(struct stream *s, uint64_t id, const char *path)
{
	record_begin(s, 7);
	put64(s, id);
	put32(s, strlen(path) + 1);
	put32(s, 0);
	record_fixed(s);
	put_text(s, path, strlen(path) + 1);
	record_end(s);
}

void put_owner(struct stream *s, const struct owner *o)
{
	record_begin(s, 5);
	put64(s, o->serial);
	put64(s, o->parent);
	put64(s, o->leader);
	put32(s, o->kind);
	put32(s, o->flags);
	put32(s, o->tid);
	put32(s, o->tgid);
	put32(s, o->ppid);
	put32(s, o->cpu);
	put32(s, o->uid);
	put32(s, o->gid);
	put32(s, o->prio);
	put32(s, o->policy);
	put32(s, o->exit_code);
	put32(s, o->tag);
	put64(s, o->start_ns);
	put64(s, o->exec_ns);
	put64(s, o->exit_ns);
	put64(s, o->exited_seq);
	put64(s, o->nr_tasks);
	put64(s, o->utime_ns);
	put64(s, o->stime_ns);
	put64(s, o->nvcsw);
	put64(s, o->nivcsw);
	put64(s, o->migrations);
	put64(s, o->cgroup);
	put32(s, o->pid_ns);
	put32(s, o->net_ns);
	put_text(s, o->comm, 16);
	put32(s, o->path ? strlen(o->path) + 1 : 0);
	put32(s, 0);
	record_fixed(s);
	if (o->path)
		put_text(s, o->path, strlen(o->path) + 1);
	record_end(s);
}

static unsigned int entry_bytes(const struct stream *s)
{
	return (s->shrink ? 40 : 64) + s->grow_element;
}

static void put_entries(struct stream *s, const struct entry *entries, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		put16(s, entries[i].id);
		put8(s, entries[i].kind);
		put8(s, entries[i].flags);
		put32(s, 0);
		put64(s, entries[i].count);
		put64(s, entries[i].incl);
		put64(s, entries[i].excl);
		put64(s, entries[i].longest);
		if (!s->shrink) {
			put64(s, entries[i].asleep);
			put64(s, entries[i].runq);
			put64(s, entries[i].irq);
		}
		put_growth(s, s->grow_element);
	}
}

static void put_elements(struct stream *s, const struct profile *p)
{
	uint32_t i;

	put_entries(s, p->entries, p->nr_entries);
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
	unsigned int i;

	if (!p->no_owner)
		put_owner(s, &p->o);
	record_begin(s, 2);
	put64(s, p->o.serial);
	put64(s, p->ticks);
	put64(s, p->outer);
	put64(s, p->open_child);
	put64(s, p->refused);
	put64(s, p->refused_ticks);
	put64(s, p->clamped);
	put64(s, p->start_ticks);
	put32(s, p->groups);
	put32(s, p->throughout);
	put32(s, p->nr_entries);
	put32(s, entry_bytes(s));
	put32(s, p->nr_open);
	put32(s, 24 + s->grow_element);
	if (!s->shrink) {
		put32(s, p->depth);
		put32(s, 0);
		for (i = 0; i < NR(p->account); i++)
			put64(s, p->account[i]);
	}
	record_fixed(s);
	put_elements(s, p);
	record_end(s);
	s->nr_records++;
}

static unsigned int field_bytes(char field)
{
	return field == 't' ? 16 : field - '0';
}

static void put_slot(struct stream *s, const struct slot *slot)
{
	bool has_event = slot->type <= 3 || slot->type == 16;
	const char *format = slot->format ? slot->format : "";
	unsigned int i, bytes = 16;

	for (i = 0; format[i]; i++)
		bytes += field_bytes(format[i]);
	if (slot->format)
		bytes += s->grow_element;
	put64(s, slot->ticks);
	put16(s, has_event || slot->id ? slot->id : 65535);
	put8(s, slot->type);
	put8(s, bytes / 8);
	put16(s, slot->cpu);
	put8(s, slot->ctx);
	put8(s, 0);
	for (i = 0; format[i]; i++) {
		if (format[i] == 't')
			put_text(s, slot->text, 16);
		else
			put(s, slot->values[i], field_bytes(format[i]));
	}
	if (slot->format)
		put_growth(s, s->grow_element);
}

void put_trace(struct stream *s, const struct trace *t)
{
	const struct owner owner = {
		.serial = t->serial, .kind = t->kind, .tid = t->tid, .tgid = t->tid,
		.comm = "traced",
	};
	uint64_t next = t->next ? t->next : t->first + t->nr_slots;
	size_t at, slots;
	uint32_t i;

	put_owner(s, &owner);
	record_begin(s, 3);
	put64(s, t->serial);
	put64(s, t->first);
	put64(s, next);
	put64(s, t->lost);
	put64(s, t->from);
	put64(s, t->to);
	put64(s, t->written ? t->written : next);
	put32(s, 1024);
	put32(s, 0x800001ff);
	put32(s, t->nr_slots);
	at = s->size;
	put32(s, 0);
	if (!s->shrink)
		put64(s, t->no_room);
	record_fixed(s);
	slots = s->size;
	for (i = 0; i < t->nr_slots; i++)
		put_slot(s, &t->slots[i]);
	set32(s, at, s->size - slots);
	record_end(s);
	s->nr_records++;
}

void put_gone(struct stream *s, const uint64_t *serials, uint32_t nr, uint32_t nr_folded)
{
	uint32_t i;

	record_begin(s, 8);
	put32(s, nr);
	put32(s, 8 + s->grow_element);
	put32(s, nr_folded);
	put32(s, 0);
	record_fixed(s);
	for (i = 0; i < nr; i++) {
		put64(s, serials[i]);
		put_growth(s, s->grow_element);
	}
	record_end(s);
}

void put_region(struct stream *s, const struct region *r)
{
	record_begin(s, 9);
	put64(s, r->serial);
	put32(s, r->region);
	put32(s, r->nr_entries);
	put32(s, entry_bytes(s));
	put32(s, 0);
	put64(s, r->refused);
	record_fixed(s);
	put_entries(s, r->entries, r->nr_entries);
	record_end(s);
}

void put_end(struct stream *s)
{
	unsigned int i;

	record_begin(s, 4);
	put64(s, s->nr_records);
	put64(s, s->denied);
	put64(s, 0);			/* vanished */
	put64(s, 0);
	put64(s, 0);
	put64(s, s->torn);
	put64(s, 4900000000);		/* cut_ticks */
	put64(s, 78);
	put64(s, 5);
	put64(s, 1);			/* losses_own */
	if (!s->shrink)
		for (i = 0; i < NR(s->losses); i++)
			put64(s, s->losses[i]);
	record_fixed(s);
	record_end(s);
}

void put_start(struct stream *s, uint32_t content, uint32_t target)
{
	put_stream(s, content, target);
	put_event(s, 0, 1, "sys_read");
	put_event(s, 1, 1, "sys_write");
	put_event(s, 2, 1, "sys_open");
	put_event(s, 3, 1, "sys_close");
	put_event(s, 700, 128, "tcp_sendmsg");
	put_event(s, 701, 128, "tcp:bytes");
}

/*
 * Event 0 is a system call that calls event 700: 10 * scale outermost ticks in
 * 2 * scale calls, 3 * scale of them inside event 700. A frame of event 1 is
 * in flight, in which 5 ticks of event 700 have ended.
 */
void put_task(struct stream *s, uint64_t serial, int32_t tid, uint32_t kind, uint64_t scale)
{
	const struct entry entries[] = {
		{ .id = 0, .flags = 1, .count = 2 * scale, .incl = 10 * scale, .excl = 7 * scale,
		  .longest = 5 },
		{ .id = 700, .flags = 9, .count = scale, .incl = 3 * scale + 5,
		  .excl = 3 * scale + 5, .longest = 8, .irq = scale },
		{ .id = 701, .kind = 1, .count = scale, .incl = 64 * scale, .excl = 1,
		  .longest = 64 },
	};
	const struct frame open = { .id = 1, .start = 4000000000, .child = 5 };
	const struct profile p = {
		.o = { .serial = serial, .kind = kind, .tid = tid, .tgid = tid, .ppid = 1,
		       .start_ns = 1000 * serial, .exited_seq = kind == EXITED ? serial : 0,
		       .nr_tasks = 1, .comm = "task", .utime_ns = 100 * scale,
		       .stime_ns = 50 * scale, .nvcsw = 7 * scale },
		.ticks = ticks_of(s), .outer = 10 * scale, .open_child = 5,
		.groups = 1, .throughout = 1, .depth = 1, .account = { 11, 12, 13, 14, 15, 16 },
		.entries = entries, .nr_entries = NR(entries), .open = &open, .nr_open = 1,
	};

	put_profile(s, &p);
}

static const struct slot all_slots[] = {
	{ .ticks = 10, .type = 1, .format = "8", .values = { 0x7fff1234 } },
	{ .ticks = 11, .type = 4, .format = "8422", .values = { 2, 1, 120, 0xffff } },
	{ .ticks = 12, .type = 5, .format = "844", .values = { 3, 1, 98 } },
	{ .ticks = 13, .type = 6, .format = "8841111", .values = { 3, 9, 1, 2 } },
	{ .ticks = 14, .type = 7, .format = "88", .values = { 4, 4 } },
	{ .ticks = 15, .type = 8, .format = "t8", .text = "new-name", .values = { 0, 17 } },
	{ .ticks = 16, .type = 10, .format = "t", .text = "renamed" },
	{ .ticks = 17, .type = 11, .format = "8", .values = { 42 } },
	{ .ticks = 18, .type = 12, .format = "tt2244211" "44", .text = "address-16-bytes",
	  .values = { 0, 0, 80, 4000, 0x1020304, 1448, 2, 0x18, 1, 0xf0000098 } },
	{ .ticks = 19, .type = 13, .format = "tt2244211" "44", .text = "address-16-bytes",
	  .values = { 0, 0, 80, 4000, 0x1020305, 100, 1, 0x10, 0, 0xf0000098 } },
	{ .ticks = 20, .type = 14, .format = "44", .values = { 1 } },
	{ .ticks = 21, .type = 15, .format = "44", .values = { 1, 48 } },
	{ .ticks = 22, .type = 17, .format = "4488",
	  .values = { 1, 48, (uint64_t)-70185649, 0x0001800000000000 } },
	{ .ticks = 28, .type = 3, .id = 701, .ctx = 1, .format = "8", .values = { 1448 } },
	{ .ticks = 29, .type = 200, .format = "88", .values = { 0x0102030405060708, 9 } },
	{ .ticks = 30, .type = 2, .format = "8", .values = { (uint64_t)-4 } },
	{ .ticks = 31, .type = 9, .format = "8", .values = { 0x8b00 } },
};

void put_everything(struct stream *s)
{
	static const struct entry part = { .id = 700, .flags = 1, .count = 10, .incl = 9,
					   .excl = 8, .longest = 6 };
	static const struct entry later = { .id = 3, .kind = 9, .count = 4, .incl = 1 };
	const struct trace traced = {
		.serial = 3, .tid = 12, .first = 20, .next = 80, .lost = 3, .from = 1, .to = 2,
		.written = 80, .slots = all_slots, .nr_slots = NR(all_slots),
	};

	put_start(s, 2, 0x3c);
	put_cgroup(s, 42, "/job/1");
	put_task(s, 2, 10, TASK, 3);
	put_task(s, 3, 12, TASK, 40);
	put_region(s, &(struct region){ .serial = 3, .refused = 5 });
	put_region(s, &(struct region){ .serial = 3, .region = 7, .refused = 2,
					.entries = &part, .nr_entries = 1 });
	put_profile(s, &(struct profile){
		.o = { .serial = 4, .cgroup = 42, .comm = "later", .path = "/bin/later" },
		.entries = &later, .nr_entries = 1 });
	put_profile(s, &(struct profile){ .o = { .serial = 9, .kind = CPU, .cpu = 1 } });
	put_profile(s, &(struct profile){ .o = { .serial = 8, .kind = EVICTED } });
	put_profile(s, &(struct profile){ .o = { .serial = 7, .kind = 99 } });
	put_gone(s, (const uint64_t[]){ 5, 0x100000006 }, 2, 1);
	record_begin(s, 77);
	put64(s, 1);
	record_fixed(s);
	record_end(s);
	put_end(s);
	put_start(s, 3, 0x3c);
	put_owner(s, &(struct owner){ .serial = 17, .flags = 8, .comm = "named" });
	put_trace(s, &traced);
	put_end(s);
}

void stream_free(struct stream *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}
