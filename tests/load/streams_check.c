// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams_check REFUSED CONSUMED... -- PEEKED...: whether what several readers of the same rings
 * have taken at once (streams.c) fits together, ring by ring:
 *
 *  - a slot is the same in whoever has read it: none is torn;
 *  - those who consume have each slot, or have been told that it is lost: read + lost =
 *    written. Only the rest of a dead task's ring goes to each of them;
 *  - in the order of their numbers the slots are in the order of time, and entries and
 *    exits nest, but for the REFUSED slots: an interrupt that fills the whole ring inside of
 *    a write loses what comes then, and the kernel counts it. One of them breaks one pair.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#define WINDOW 4096	/* two records of one ring are never further apart */

/* A record, and whether its reader consumed what it got. */
struct part {
	struct ktau_rec_trace *t;
	bool consumed;
};

static struct part *parts;
static size_t nr_parts, room;

/* Slots of the ring at hand by their number, to compare those that come again. */
static struct {
	uint64_t number;
	struct ktau_slot slot;
} window[WINDOW];

static struct {
	uint64_t rings, closed, slots, lost, written, again;
	uint64_t torn, gaps, twice, backward, found, refused;
} sum;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "streams_check: %s\n", what);
	exit(1);
}

static void add(const struct ktau_rec_trace *t, bool consumed)
{
	if (nr_parts == room) {
		room = room ? room * 2 : 4096;
		parts = reallocarray(parts, room, sizeof(*parts));
		if (!parts)
			die("no memory");
	}
	parts[nr_parts].t = ktau_record_dup(t);
	if (!parts[nr_parts].t)
		die("no memory");
	parts[nr_parts++].consumed = consumed;
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
			add(record.trace, consumed);
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
	return part->t->first + part->t->nr_slots;
}

static int sign(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_slot(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	int order = sign(a->t->owner.serial, b->t->owner.serial);

	return order ? order : sign(a->t->first, b->t->first);
}

static int by_begin(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	int order = sign(begin_of(a), begin_of(b));

	return order ? order : sign(end_of(a), end_of(b));
}

static void tell(uint64_t *count, const struct ktau_rec_trace *t, const char *what)
{
	if ((*count)++ < 5)
		printf("  %s: %s, task %d, slots %llu to %llu of %llu, %llu lost before\n", what,
		       t->owner.comm, t->owner.tid, t->first, t->first + t->nr_slots, t->written,
		       t->lost);
}

/* Each slot against the same one of another reader. */
static void compare(const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = ktau_trace_slots(t);

	for (uint32_t i = 0; i < t->nr_slots; i++) {
		uint64_t number = t->first + i;
		size_t at = number % WINDOW;

		if (window[at].number == number + 1) {
			sum.again++;
			if (memcmp(&window[at].slot, &slot[i], sizeof(slot[i])))
				tell(&sum.torn, t, "torn");
		}
		window[at].number = number + 1;
		window[at].slot = slot[i];
	}
}

/* What is new in @t behind slot @next, as a record of its own, to the checker. */
static uint64_t merge(struct ktau_check *check, const struct ktau_rec_trace *t, uint64_t next,
		      uint64_t *ticks)
{
	const struct ktau_slot *slot = ktau_trace_slots(t);
	uint64_t end = t->first + t->nr_slots;
	uint64_t from = t->first > next ? t->first : next;
	struct ktau_rec_trace *rest;
	union ktau_record record;

	if (end <= from)
		return next;
	for (uint64_t i = from; i < end; i++) {
		if (slot[i - t->first].type == KTAU_TRACE_MORE)
			continue;
		if (slot[i - t->first].ticks < *ticks)
			tell(&sum.backward, t, "backward in time");
		*ticks = slot[i - t->first].ticks;
	}
	rest = ktau_record_dup(t);
	if (!rest)
		die("no memory");
	rest->first = from;
	rest->lost = from - next;
	rest->nr_slots = (uint32_t)(end - from);
	rest->rec.size = (uint32_t)(rest->rec.head + rest->nr_slots * sizeof(*slot));
	memmove((char *)rest + rest->rec.head, slot + (from - t->first),
		rest->nr_slots * sizeof(*slot));
	record.trace = rest;
	if (ktau_check_record(check, &record) < 0)
		die("no memory");
	ktau_record_free(rest);
	return end;
}

/* read + lost = written, of those who consume. */
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
			tell(&sum.gaps, t, "not read and not lost before");
		else if (begin < next && !closed && t->owner.kind != KTAU_OWNER_DEAD)
			tell(&sum.twice, t, "consumed twice");
		sum.lost += t->first > next ? t->first - next : 0;
		next = end > next ? end : next;
		written = t->written > written ? t->written : written;
		closed |= t->owner.kind == KTAU_OWNER_DEAD;
	}
	if (closed && next != written)
		tell(&sum.gaps, part[nr - 1].t, "not read to the end");
	sum.closed += closed;
	sum.rings += written > 0;
	sum.written += next;
}

static void check_ring(struct ktau_check *check, struct part *part, size_t nr)
{
	uint64_t next = 0, ticks = 0;

	memset(window, 0, sizeof(window));
	for (size_t i = 0; i < nr; i++) {
		compare(part[i].t);
		next = merge(check, part[i].t, next, &ticks);
	}
	account(part, nr);
}

/* Where the parts of another ring than that of part @from begin. */
static size_t end_of_ring(size_t from)
{
	const uint64_t serial = parts[from].t->owner.serial;
	size_t to = from;

	while (to < nr_parts && parts[to].t->owner.serial == serial)
		to++;
	return to;
}

static void print_finding(void *arg, const struct ktau_finding *finding)
{
	(void)arg;
	if (sum.found++ < 5)
		printf("  %s, task %d: %s\n", finding->owner->comm, finding->owner->tid,
		       finding->text);
}

static void expect_none(const char *what, uint64_t got)
{
	printf("%s - rings: %s: %" PRIu64 "\n", got ? "not ok" : "ok", what, got);
}

static int report(const struct ktau_check *check)
{
	const struct ktau_check_counts *counts = ktau_check_counts(check);
	bool enough = sum.closed > 100 && sum.lost && sum.again > 1000;

	printf("%s - rings: %" PRIu64 " (%" PRIu64 " to their end), %" PRIu64 " slots written, %"
	       PRIu64 " of them lost; %" PRIu64 " slots seen, %" PRIu64 " times by two\n",
	       enough ? "ok" : "not ok", sum.rings, sum.closed, sum.written, sum.lost,
	       counts->slots, sum.again);
	expect_none("slots that differ from reader to reader", sum.torn);
	expect_none("slots neither read nor lost", sum.gaps);
	expect_none("records consumed twice", sum.twice);
	expect_none("slots out of the order of time", sum.backward);
	printf("%s - rings: entries and exits that do not nest, and the like: %" PRIu64 ", with %"
	       PRIu64 " slots refused\n",
	       sum.found > sum.refused ? "not ok" : "ok", sum.found, sum.refused);
	return !enough || sum.torn || sum.gaps || sum.twice || sum.backward ||
	       sum.found > sum.refused;
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
	/* Merged records belong to no stream. */
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
