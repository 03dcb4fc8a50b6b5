// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams_check REFUSED CONSUMED... -- PEEKED...: check the streams of several concurrent
 * readers of the same rings (streams.c) against each other, ring by ring:
 *
 *  - A slot is the same for every reader that has it: none is torn.
 *  - The consuming readers together have each slot or count it as lost: read + lost = written.
 *    The rest of an exited task's ring is the exception: each of them gets it.
 *  - In the order of positions the slots are in time order, and entries and exits nest,
 *    except for REFUSED slots: if an interrupt fills the whole ring during a write, the
 *    kernel refuses and counts the slots that follow. Each of them breaks one pair.
 *
 * A position is the beginning or end of a record; the number of positions that a slot takes is
 * internal to the kernel. So if two records overlap, comparing them finds the slots that both
 * must have.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "tap.h"

/* A record, its owner, and whether its reader consumes. */
struct part {
	struct ktau_rec_trace *t;
	struct ktau_rec_owner *owner;
	bool consumed;
};

static struct part *parts;
static size_t nr_parts, room;

/* The slots of the current ring, in order, each once, up to position @next. */
static struct {
	const struct ktau_slot **slot;
	size_t nr, room;
	uint64_t next;
	uint64_t ticks;
} merged;

static struct {
	uint64_t rings, closed, lost, written, again;
	uint64_t torn, gaps, twice, backward, found, refused;
} sum;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "streams_check: %s\n", what);
	exit(1);
}

static void *more(void *array, size_t nr, size_t *has_room, size_t size)
{
	if (nr == *has_room) {
		*has_room = *has_room ? *has_room * 2 : 4096;
		array = reallocarray(array, *has_room, size);
		if (!array)
			die("no memory");
	}
	return array;
}

static void add(const struct ktau_reader *reader, const struct ktau_rec_trace *t, bool consumed)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, t->serial);
	struct part part = { .t = ktau_record_dup(t), .consumed = consumed };

	if (!owner)
		die("a ring without an owner");
	part.owner = ktau_record_dup(owner);
	if (!part.t || !part.owner)
		die("no memory");
	parts = more(parts, nr_parts, &room, sizeof(*parts));
	parts[nr_parts++] = part;
}

static void read_file(const char *path, bool consumed)
{
	struct ktau_reader *reader;
	union ktau_record record;
	int ret = ktau_reader_create(&reader);

	if (ret)
		die("no memory");
	if (ktau_reader_open_file(reader, path))
		die(ktau_reader_error(reader));
	while ((ret = ktau_reader_next(reader, &record)) > 0)
		if (record.rec->type == KTAU_REC_TRACE)
			add(reader, record.trace, consumed);
	if (ret)
		die(ktau_reader_error(reader));
	ktau_reader_destroy(reader);
}

static uint64_t begin_of(const struct part *part)
{
	return part->t->first - part->t->lost;
}

static uint64_t end_of(const struct part *part)
{
	return part->t->next;
}

static bool is_exited(const struct part *part)
{
	return part->owner->kind == KTAU_OWNER_EXITED;
}

static int sign(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_slot(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	int order = sign(a->t->serial, b->t->serial);

	if (!order)
		order = sign(a->t->first, b->t->first);
	return order ? order : sign(a->t->next, b->t->next);
}

static int by_begin(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	int order = sign(begin_of(a), begin_of(b));

	return order ? order : sign(end_of(a), end_of(b));
}

static void complain(uint64_t *count, const struct part *part, const char *what)
{
	const struct ktau_rec_trace *t = part->t;

	if ((*count)++ < 5)
		printf("  %s: %s, task %d, positions %llu to %llu of %llu, %llu lost before\n",
		       what, part->owner->comm, part->owner->tid, t->first, t->next, t->written,
		       t->lost);
}

static bool same(const struct ktau_slot *a, const struct ktau_slot *b)
{
	return a->words == b->words && !memcmp(a, b, a->words * sizeof(uint64_t));
}

/*
 * The number of slots of @t that equal those of the ring from number @from on, up to the
 * end of one of the two; -1 if one differs.
 */
static ssize_t match(const struct ktau_rec_trace *t, size_t from)
{
	const struct ktau_slot *slot = NULL;
	ssize_t nr = 0;

	while (from < merged.nr && (slot = ktau_trace_next(t, slot))) {
		if (!same(merged.slot[from++], slot))
			return -1;
		nr++;
	}
	return nr;
}

/* The first slot of the ring that is not older than @ticks. */
static size_t not_older(uint64_t ticks)
{
	size_t low = 0, high = merged.nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (merged.slot[middle]->ticks < ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of slots of @part that the ring has already. */
static uint32_t overlap(const struct part *part)
{
	const struct ktau_slot *first = ktau_trace_next(part->t, NULL);
	size_t from;
	ssize_t nr;

	if (!first || part->t->first >= merged.next)
		return 0;
	for (from = not_older(first->ticks); from < merged.nr; from++) {
		nr = match(part->t, from);
		/* Either the record ends inside the ring's known slots, or they end inside it. */
		if (nr < 0 || (part->t->next <= merged.next && (size_t)nr < part->t->nr_slots))
			continue;
		sum.again += (uint64_t)nr;
		return (uint32_t)nr;
	}
	complain(&sum.torn, part, "torn, or wrong positions");
	return part->t->nr_slots;
}

/* Pass the new slots of @part, from number @from on, to the checker as a record of their own. */
static void check_new(struct ktau_check *check, const struct part *part, uint32_t from)
{
	const struct ktau_rec_trace *t = part->t;
	const struct ktau_slot *slot = NULL;
	struct ktau_rec_trace *rest;
	union ktau_record record;
	size_t skipped = 0;
	uint32_t i;

	for (i = 0; i < from; i++) {
		slot = ktau_trace_next(t, slot);
		skipped += slot->words * sizeof(uint64_t);
	}
	while ((slot = ktau_trace_next(t, slot))) {
		merged.slot = more(merged.slot, merged.nr, &merged.room, sizeof(*merged.slot));
		merged.slot[merged.nr++] = slot;
		if (slot->ticks < merged.ticks)
			complain(&sum.backward, part, "backward in time");
		merged.ticks = slot->ticks;
	}
	rest = ktau_record_dup(t);
	if (!rest)
		die("no memory");
	rest->first = t->first > merged.next ? t->first : merged.next;
	rest->lost = rest->first - merged.next;
	rest->nr_slots -= from;
	rest->slots_bytes -= (uint32_t)skipped;
	rest->rec.size -= (uint32_t)skipped;
	memmove((char *)rest + rest->rec.head, (const char *)t + t->rec.head + skipped,
		rest->slots_bytes);
	record.owner = part->owner;
	if (ktau_check_record(check, &record) < 0)
		die("no memory");
	record.trace = rest;
	if (ktau_check_record(check, &record) < 0)
		die("no memory");
	ktau_record_free(rest);
}

static void merge(struct ktau_check *check, const struct part *part)
{
	uint32_t known = overlap(part);

	if (part->t->next <= merged.next)
		return;
	check_new(check, part, known);
	merged.next = part->t->next;
}

/* read + lost = written, over the consuming readers. */
static void account(struct part *part, size_t nr)
{
	uint64_t next = 0, written = 0;
	bool closed = false;

	qsort(part, nr, sizeof(*part), by_begin);
	for (size_t i = 0; i < nr; i++) {
		const struct ktau_rec_trace *t = part[i].t;
		uint64_t begin = begin_of(&part[i]), end = end_of(&part[i]);

		if (!part[i].consumed)
			continue;
		if (begin > next)
			complain(&sum.gaps, &part[i], "neither read nor lost before");
		else if (begin < next && !closed && !is_exited(&part[i]))
			complain(&sum.twice, &part[i], "consumed twice");
		sum.lost += t->first > next ? t->first - next : 0;
		next = end > next ? end : next;
		written = t->written > written ? t->written : written;
		closed |= is_exited(&part[i]);
	}
	if (closed && next != written)
		complain(&sum.gaps, &part[nr - 1], "not read to the end");
	sum.closed += closed;
	sum.rings += written > 0;
	sum.written += next;
}

static void check_ring(struct ktau_check *check, struct part *part, size_t nr)
{
	merged.nr = 0;
	merged.next = merged.ticks = 0;
	for (size_t i = 0; i < nr; i++)
		merge(check, &part[i]);
	account(part, nr);
}

/* The first part after @from that belongs to another ring. */
static size_t end_of_ring(size_t from)
{
	const uint64_t serial = parts[from].t->serial;
	size_t to = from;

	while (to < nr_parts && parts[to].t->serial == serial)
		to++;
	return to;
}

static void print_finding(void *arg, const struct ktau_finding *finding)
{
	(void)arg;
	if (sum.found++ < 5)
		printf("  serial %" PRIu64 ", %s: %s\n", finding->serial,
		       finding->owner ? finding->owner->comm : "", finding->text);
}

static void expect_none(const char *what, uint64_t got)
{
	tap_ok(!got, "rings: %s: %" PRIu64, what, got);
}

static int report(const struct ktau_check *check)
{
	const struct ktau_check_counts *counts = ktau_check_counts(check);
	bool enough = sum.closed > 100 && sum.lost && sum.again > 1000;

	tap_ok(enough,
	       "rings: %" PRIu64 " (%" PRIu64 " to their end), %" PRIu64 " slots written, %" PRIu64
	       " of them lost; %" PRIu64 " slots seen, %" PRIu64 " seen more than once",
	       sum.rings, sum.closed, sum.written, sum.lost, counts->slots, sum.again);
	expect_none("slots that differ from reader to reader", sum.torn);
	expect_none("slots neither read nor lost", sum.gaps);
	expect_none("records consumed twice", sum.twice);
	expect_none("slots out of time order", sum.backward);
	tap_ok(sum.found <= sum.refused,
	       "rings: findings of the checker: %" PRIu64 ", with %" PRIu64 " slots refused",
	       sum.found, sum.refused);
	return tap_done();
}

int main(int argc, char **argv)
{
	struct ktau_check *check;
	bool consumed = true;
	int ret;

	if (argc > 1)
		sum.refused = strtoull(argv[1], NULL, 10);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			consumed = false;
		else
			read_file(argv[i], consumed);
	}
	if (!nr_parts || ktau_check_create(&check, print_finding, NULL)) {
		fputs("usage: streams_check REFUSED CONSUMED... -- PEEKED...\n", stderr);
		return 2;
	}
	/* Merged records do not belong to a stream. */
	ktau_check_gap(check);
	qsort(parts, nr_parts, sizeof(*parts), by_slot);
	for (size_t from = 0, to; from < nr_parts; from = to) {
		to = end_of_ring(from);
		check_ring(check, parts + from, to - from);
	}
	ret = report(check);
	ktau_check_destroy(check);
	return ret;
}
