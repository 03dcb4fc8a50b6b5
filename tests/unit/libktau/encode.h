/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams as a kernel writes them, byte by byte and in either byte order. The encoder
 * shares no structure with the library, so that it detects wrong offsets there.
 */
#ifndef KTAU_TESTS_ENCODE_H
#define KTAU_TESTS_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owner kinds, as in <linux/ktau.h>. */
enum { TASK, EXITED, CPU, EVICTED };

struct stream {
	uint8_t *data;
	size_t size;
	size_t room;
	bool big;		/* byte order */
	uint8_t word_bits;
	size_t record;		/* start of the open record */
	/* how much longer the writer's structures are than the current ones */
	unsigned int grow_head;
	unsigned int grow_element;
	/* how much shorter the fixed parts of STREAM, PROFILE, END and entries are */
	bool shrink;
	uint64_t nr_records;	/* PROFILE and TRACE, for END */
	/* fields of the next STREAM and END records */
	uint8_t boot;		/* each byte of boot_id */
	uint32_t flags;
	uint32_t round_ns;
	uint64_t realtime_ns;	/* 0: 1700000000000000000 */
	uint64_t ticks;		/* 0: 5000000000 */
	bool since_boot;	/* since_ticks is 0 */
	uint64_t exited_since;
	uint64_t denied, torn;
	uint64_t losses[18];	/* with @missed and @refused_gone */
};

struct owner {
	uint64_t serial, parent, leader;
	uint32_t kind, flags;
	int32_t tid, tgid, ppid;
	uint32_t cpu, uid, gid;
	int32_t prio;
	uint32_t policy;
	int32_t exit_code;
	uint32_t tag;
	uint64_t start_ns, exec_ns, exit_ns, exited_seq, nr_tasks, utime_ns, stime_ns;
	uint64_t nvcsw, nivcsw, migrations, cgroup;
	uint32_t pid_ns, net_ns;
	const char *comm, *path;
};

struct entry {
	uint16_t id;
	uint8_t kind, flags;
	uint64_t count, incl, excl, longest, asleep, runq, irq;
};

struct region {
	uint64_t serial;
	uint32_t region;
	uint64_t refused;
	const struct entry *entries;
	uint32_t nr_entries;
};

struct frame {
	uint32_t id;
	uint64_t start, child;
};

/* The contents of an OWNER and a PROFILE record; fields as in <linux/ktau.h>. */
struct profile {
	struct owner o;
	bool no_owner;		/* without the OWNER record */
	uint64_t ticks, outer, open_child, refused, refused_ticks, clamped, start_ticks;
	uint32_t groups, throughout, depth;
	uint64_t account[6];	/* user, kernel, irq, runq, asleep, guest */
	const struct entry *entries;
	uint32_t nr_entries;
	const struct frame *open;
	uint32_t nr_open;
};

/*
 * @format has one character for each field of the payload: 1, 2, 4 and 8 take a
 * value, t is @text in 16 bytes.
 */
struct slot {
	uint64_t ticks;
	uint16_t id;		/* 0 in slots without an event: none */
	uint8_t type, ctx;
	uint16_t cpu;
	const char *format;
	const char *text;
	uint64_t values[12];
};

/* @next and @written 0: as many positions as slots, and nothing after them. */
struct trace {
	uint64_t serial;
	uint32_t kind;
	int32_t tid;
	uint64_t first, next, lost, from, to, written, no_room;
	const struct slot *slots;
	uint32_t nr_slots;
};

void put8(struct stream *s, uint8_t value);
void put16(struct stream *s, uint16_t value);
void put32(struct stream *s, uint32_t value);
void put64(struct stream *s, uint64_t value);
void put_text(struct stream *s, const char *text, size_t bytes);
void set32(struct stream *s, size_t at, uint32_t value);

/* Begin a record; end its fixed part; end the record. */
void record_begin(struct stream *s, uint16_t type);
void record_fixed(struct stream *s);
void record_end(struct stream *s);

void put_stream(struct stream *s, uint32_t content, uint32_t target);
void put_event(struct stream *s, uint16_t id, uint32_t group, const char *name);
void put_cgroup(struct stream *s, uint64_t id, const char *path);
void put_owner(struct stream *s, const struct owner *o);
void put_profile(struct stream *s, const struct profile *p);
void put_trace(struct stream *s, const struct trace *t);
void put_region(struct stream *s, const struct region *r);
void put_gone(struct stream *s, const uint64_t *serials, uint32_t nr, uint32_t nr_folded);
void put_end(struct stream *s);

/* A STREAM record, and the events that put_task() and the tests of slots use. */
void put_start(struct stream *s, uint32_t content, uint32_t target);

/* The cycle counter in the next STREAM record. */
uint64_t ticks_of(const struct stream *s);

/* A small profile whose times add up: three events, one frame in flight. */
void put_task(struct stream *s, uint64_t serial, int32_t tid, uint32_t kind, uint64_t scale);

/* A stream of profiles and one of traces that contain every feature. */
void put_everything(struct stream *s);

void stream_free(struct stream *s);

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

#endif /* KTAU_TESTS_ENCODE_H */
