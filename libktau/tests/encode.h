/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams as a kernel writes them, byte by byte and in either byte order. It
 * shares no structure with the library, so that a wrong offset there shows.
 */
#ifndef KTAU_TESTS_ENCODE_H
#define KTAU_TESTS_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream {
	uint8_t *data;
	size_t size;
	size_t room;
	bool big;		/* byte order */
	uint8_t word_bits;
	size_t record;		/* where the open record begins */
	/* how much longer than today's the writer's structures are */
	unsigned int grow_head;
	unsigned int grow_element;
	uint64_t nr_records;	/* of owners, for END */
	uint64_t lost_reaped;	/* of the ENDs to come */
};

struct entry {
	uint32_t id;
	uint32_t kind;
	uint64_t count, incl, excl, max;
};

struct frame {
	uint32_t id;
	uint64_t start, child;
};

/* What a profile record says; fields as in <linux/ktau.h>. */
struct profile {
	uint64_t serial;
	uint32_t kind, flags;
	int32_t tid, tgid, ppid;
	uint32_t cpu, uid;
	int32_t exit_code;
	uint64_t start_ns, exit_ns, dead_seq, utime_ns, stime_ns;
	const char *comm;
	uint64_t ticks, outer, open_child, refused, refused_ticks, clamped;
	uint32_t groups, depth;
	const struct entry *entries;
	uint32_t nr_entries;
	const struct frame *open;
	uint32_t nr_open;
};

struct slot {
	uint64_t ticks, arg;
	uint16_t id;
	uint8_t type, ctx;
	uint16_t cpu, more;
	const char *text;	/* for MORE: 16 bytes of data */
};

struct trace {
	uint64_t serial;
	uint32_t kind;
	int32_t tid;
	uint64_t first, lost, from, to, written;
	const struct slot *slots;
	uint32_t nr_slots;
};

void put8(struct stream *s, uint8_t value);
void put16(struct stream *s, uint16_t value);
void put32(struct stream *s, uint32_t value);
void put64(struct stream *s, uint64_t value);
void put_text(struct stream *s, const char *text, size_t bytes);
void set32(struct stream *s, size_t at, uint32_t value);

/* Head of a record; ends the fixed part; ends the record. */
void record_begin(struct stream *s, uint16_t type);
void record_fixed(struct stream *s);
void record_end(struct stream *s);

void put_stream(struct stream *s, uint32_t content, uint32_t target);
void put_profile(struct stream *s, const struct profile *p);
void put_trace(struct stream *s, const struct trace *t);
void put_end(struct stream *s);

/* A small profile whose identity holds: two events, one frame in flight. */
void put_task(struct stream *s, uint64_t serial, int32_t tid, uint32_t kind, uint64_t scale);

void stream_free(struct stream *s);

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

#endif /* KTAU_TESTS_ENCODE_H */
