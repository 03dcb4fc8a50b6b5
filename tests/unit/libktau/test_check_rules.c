// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each rule of the checker finds one altered figure in a recording that violates no rule.
 *
 * The recording: two streams of profiles a period apart, with all tasks and the CPU of a
 * machine, and two streams of a consumed trace. In a second form, the second stream of profiles
 * has differences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checking.h"

#define FROM	4000000000LL	/* when all profiles began */
#define M	1000000LL	/* so many ticks */

#define ALL_GROUPS	0x3fff

enum { IDLE_TASK = 11, KTHREAD, WORKER, GONE_TASK, SUM, CPU0 };

/* Entries of the worker: a timer with everything, one without, a counter. */
static const struct entry worker_entries[2][3] = {
	{ { .id = 1, .flags = 15, .count = 10, .incl = 400, .excl = 300, .longest = 60,
	    .asleep = 100, .runq = 50, .irq = 20 },
	  { .id = 2, .flags = 1, .count = 10, .incl = 100, .excl = 100, .longest = 20 },
	  { .id = 701, .kind = 1, .count = 10, .incl = 640, .excl = 1, .longest = 64 } },
	{ { .id = 1, .flags = 15, .count = 20, .incl = 900, .excl = 700, .longest = 90,
	    .asleep = 300, .runq = 100, .irq = 30 },
	  { .id = 2, .flags = 1, .count = 30, .incl = 200, .excl = 200, .longest = 20 },
	  { .id = 701, .kind = 1, .count = 20, .incl = 1280, .excl = 1, .longest = 64 } },
};

static const struct frame worker_open[2] = {
	{ .id = 3, .start = FROM + 990 * M, .child = 7 },
	{ .id = 3, .start = FROM + 1990 * M, .child = 14 },
};

static const struct entry cpu_entries[2] = {
	{ .id = 1, .flags = 1, .count = 10, .incl = 100, .excl = 100, .longest = 60 },
	{ .id = 1, .flags = 1, .count = 20, .incl = 200, .excl = 200, .longest = 60 },
};

static const struct entry worker_child = { .id = 0, .flags = 1, .longest = 7 };

/* user, kernel, irq, runq, asleep, guest, in millions of ticks, for each of the streams */
static const struct {
	uint64_t serial;
	uint32_t kind, flags;
	const char *comm;
	uint64_t parts[2][6];
} machine[] = {
	{ IDLE_TASK, TASK, 3, "swapper/0", { { 0, 290, 10, 700 }, { 0, 580, 20, 1400 } } },
	{ KTHREAD, TASK, 2, "kthreadd", { { 0, 100, 0, 0, 900 }, { 0, 200, 0, 0, 1800 } } },
	{ WORKER, TASK, 0, "worker",
	  { { 200, 150, 40, 100, 500, 10 }, { 400, 450, 120, 200, 810, 20 } } },
	{ GONE_TASK, EXITED, 0, "gone", { { 90, 60, 40, 0, 310 }, { 0 } } },
	{ SUM, EVICTED, 0, "", { { 5000, 5000, 0, 0, 9 }, { 5000, 5000, 0, 0, 9 } } },
	{ CPU0, CPU, 0, "cpu0", { { 0, 600, 100, 0, 300 }, { 0, 1200, 200, 0, 600 } } },
};

static void put_member(struct stream *s, unsigned int nr, size_t i)
{
	struct entry entries[4] = { worker_child };
	struct profile p = {
		.o = { .serial = machine[i].serial, .kind = machine[i].kind,
		       .flags = machine[i].flags, .comm = machine[i].comm, .nr_tasks = 1,
		       .tid = i, .tgid = i, .utime_ns = 10 + nr, .nvcsw = 5 + nr,
		       .exited_seq = machine[i].kind == EXITED ? 70 : 0 },
		.start_ticks = machine[i].kind == EVICTED ? 0 : FROM,
		.ticks = FROM + (nr + 1) * 1000 * M + i,
		.throughout = machine[i].kind == EVICTED ? 0 : ALL_GROUPS,
	};
	unsigned int part;

	if (machine[i].kind == EXITED)
		p.ticks = FROM + 500 * M;
	for (part = 0; part < 6; part++)
		p.account[part] = machine[i].parts[nr][part] * M;
	/* So that the sum is exact: the copies are a tick apart. */
	if (machine[i].kind == TASK || machine[i].kind == CPU)
		p.account[4] += i;
	if (machine[i].serial == WORKER) {
		memcpy(entries + 1, worker_entries[nr], sizeof(worker_entries[nr]));
		entries[0].count = nr + 1;
		entries[0].incl = entries[0].excl = worker_open[nr].child;
		p.entries = entries;
		p.nr_entries = NR(entries);
		p.open = &worker_open[nr];
		p.nr_open = p.depth = 1;
		p.open_child = worker_open[nr].child;
		p.outer = entries[1].excl + entries[2].excl;
	}
	if (machine[i].kind == CPU) {
		p.entries = &cpu_entries[nr];
		p.nr_entries = 1;
		p.outer = cpu_entries[nr].excl;
	}
	put_profile(s, &p);
}

/* clang-format off */
#define ENTER(event, when)	{ .ticks = (when), .id = (event), .type = 1 }
#define EXIT(event, when)	{ .ticks = (when), .id = (event), .type = 2 }
/* clang-format on */

static void put_rings(struct stream *s)
{
	static const struct slot slots[] = {
		ENTER(1, 10), ENTER(2, 11), EXIT(2, 12), EXIT(1, 13), ENTER(2, 14), EXIT(2, 15),
	};
	unsigned int i;

	s->flags = KTAU_SELECT_CONSUME;
	s->exited_since = 0;
	for (i = 0; i < 2; i++) {
		s->ticks += M;
		put_stream(s, KTAU_REC_TRACE, 0xc);
		put_trace(s, &(struct trace){ .serial = WORKER, .tid = 3, .first = 100 + 3 * i,
					      .slots = slots + 3 * i, .nr_slots = 3 });
		put_end(s);
	}
}

/* No rule has an exception for schedule_wait, whose activations are not on the stack. */
static void put_events(struct stream *s)
{
	put_event(s, 0, 1, "sys_read");
	put_event(s, 1, 1, "sys_write");
	put_event(s, 2, 4, "schedule_wait");
	put_event(s, 3, 0x2000, "kernel");
	put_event(s, 701, 128, "tcp:bytes");
}

static struct stream record(void)
{
	struct stream s = {
		.word_bits = 64, .big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	};
	unsigned int nr;
	size_t i;

	for (nr = 0; nr < 2; nr++) {
		s.ticks = FROM + (nr + 1) * 1000 * M;
		put_stream(&s, KTAU_REC_PROFILE, 0x3c);
		put_events(&s);
		for (i = 0; i < NR(machine); i++)
			if (!nr || machine[i].kind != EXITED)
				put_member(&s, nr, i);
		put_end(&s);
		s.exited_since = 78;	/* exited_next in END */
	}
	put_rings(&s);
	return s;
}

/* The record of @type with @serial, if it has one, in the stream number @nr. */
static void *find(const struct stream *s, unsigned int nr, unsigned int type, uint64_t serial)
{
	struct ktau_rec *rec;
	unsigned int streams = 0;
	size_t at;

	for (at = 0; at < s->size; at += rec->size) {
		rec = (void *)(s->data + at);
		streams += rec->type == KTAU_REC_STREAM;
		if (streams == nr + 1 && rec->type == type &&
		    (!serial || *(uint64_t *)(void *)(rec + 1) == serial))
			return rec;
	}
	fail();
	return NULL;
}

/* Make the second PROFILE of a task the difference to the first one. */
static void subtract(struct stream *s, uint64_t serial)
{
	const struct ktau_rec_profile *first = find(s, 0, KTAU_REC_PROFILE, serial);
	struct ktau_rec_profile *p = find(s, 1, KTAU_REC_PROFILE, serial);
	const struct ktau_entry *old = (const void *)(first + 1);
	struct ktau_entry *e = (void *)(p + 1);
	const uint64_t *from = (const uint64_t *)&first->user_ticks;
	uint64_t *to = (uint64_t *)&p->user_ticks;
	uint32_t i;

	p->rec.type = KTAU_REC_DIFF;
	p->outer_ticks -= first->outer_ticks;
	p->open_child_ticks -= first->open_child_ticks;
	for (i = 0; i < 6; i++)
		to[i] -= from[i];
	for (i = 0; i < p->nr_entries; i++) {
		e[i].count -= old[i].count;
		e[i].incl -= old[i].incl;
		e[i].excl -= e[i].kind ? 0 : old[i].excl;
		e[i].asleep -= old[i].asleep;
		e[i].runq -= old[i].runq;
		e[i].irq -= old[i].irq;
	}
}

#define PROFILE(field)	offsetof(struct ktau_rec_profile, field)
#define ENTRY(nr, field) \
	(sizeof(struct ktau_rec_profile) + (nr) * sizeof(struct ktau_entry) + \
	 offsetof(struct ktau_entry, field))
#define OPEN(field)	(ENTRY(4, id) + offsetof(struct ktau_open, field))
#define TRACE(field)	offsetof(struct ktau_rec_trace, field)
#define SLOT(nr)	(sizeof(struct ktau_rec_trace) + (nr) * sizeof(struct ktau_slot))
#define END(field)	offsetof(struct ktau_rec_end, field)
#define STREAM(field)	offsetof(struct ktau_rec_stream, field)
#define OWNER(field)	offsetof(struct ktau_rec_owner, field)

/* To a 64-bit field at @at, @add is added; to the one at @also, @add_also. */
struct alteration {
	enum ktau_finding_code code;
	unsigned int stream, type;
	uint64_t serial;
	size_t at;
	int64_t add;
	size_t also;
	int64_t add_also;
};

/* clang-format off */
#define TWO(name, ...)	{ KTAU_FINDING_##name, __VA_ARGS__ }
#define ONE(...)	TWO(__VA_ARGS__, 0, 0)
/* clang-format on */

static const struct alteration alterations[] = {
	ONE(IDENTITY, 0, 2, WORKER, PROFILE(outer_ticks), 1),
	ONE(IDENTITY, 1, 2, WORKER, ENTRY(2, excl), -1),
	ONE(IDENTITY, 0, 2, CPU0, PROFILE(outer_ticks), 1),
	ONE(ENTRY, 0, 2, WORKER, ENTRY(1, id), 1),
	ONE(ENTRY, 0, 2, WORKER, ENTRY(3, min), 64),
	TWO(ENTRY, 0, 2, WORKER, ENTRY(2, excl), 1, ENTRY(1, excl), -1),
	ONE(OPEN, 0, 2, WORKER, OPEN(child_ticks), 1),
	ONE(OPEN, 1, 2, WORKER, OPEN(id), 65535 - 3),
	ONE(ACCOUNT, 0, 2, WORKER, PROFILE(user_ticks), 1),
	ONE(ACCOUNT, 0, 2, WORKER, PROFILE(kernel_ticks), -1),
	ONE(ACCOUNT, 1, 2, WORKER, PROFILE(irq_ticks), 1),
	ONE(ACCOUNT, 1, 2, KTHREAD, PROFILE(runq_ticks), 1),
	ONE(ACCOUNT, 1, 2, KTHREAD, PROFILE(asleep_ticks), -1),
	ONE(ACCOUNT, 1, 2, WORKER, PROFILE(guest_ticks), 1),
	ONE(ACCOUNT, 0, 2, GONE_TASK, PROFILE(asleep_ticks), -1),
	ONE(ACCOUNT, 0, 2, GONE_TASK, PROFILE(ticks), -1),
	ONE(ACCOUNT, 1, 2, CPU0, PROFILE(asleep_ticks), 1),
	ONE(ACCOUNT, 1, 2, CPU0, PROFILE(kernel_ticks), -1),
	ONE(LONGEST, 0, 2, WORKER, ENTRY(1, longest), 341),
	ONE(LONGEST, 0, 2, WORKER, ENTRY(1, longest), -21),
	/* The longest activation of the period is longer than all of it. */
	ONE(LONGEST, 1, 2, WORKER, ENTRY(2, longest), 81),
	/* The mean of the period is more than the longest. */
	ONE(LONGEST, 1, 2, WORKER, ENTRY(1, count), -5),
	ONE(INSIDE, 0, 2, WORKER, ENTRY(1, asleep), 231),
	ONE(INSIDE, 0, 2, WORKER, ENTRY(1, runq), 231),
	ONE(INSIDE, 0, 2, WORKER, ENTRY(1, irq), 231),
	ONE(INSIDE, 1, 2, WORKER, ENTRY(1, asleep), 241),
	ONE(INSIDE, 1, 2, WORKER, ENTRY(2, incl), 1001 * M),
	TWO(INSIDE, 1, 2, WORKER, ENTRY(2, incl), 1010 * M, OPEN(start_ticks), 9 * M),
	ONE(BACKWARD, 1, 2, WORKER, ENTRY(1, count), -11),
	ONE(BACKWARD, 1, 2, WORKER, ENTRY(1, incl), -501),
	ONE(BACKWARD, 1, 2, WORKER, ENTRY(1, irq), -11),
	ONE(BACKWARD, 1, 2, WORKER, ENTRY(1, longest), -31),
	ONE(BACKWARD, 1, 2, WORKER, ENTRY(3, max), -1),
	ONE(BACKWARD, 1, 2, WORKER, PROFILE(user_ticks), -201 * M),
	ONE(BACKWARD, 0, 2, CPU0, PROFILE(kernel_ticks), 601 * M),
	ONE(BACKWARD, 1, 2, WORKER, PROFILE(ticks), -1001 * M),
	ONE(BACKWARD, 0, 5, WORKER, OWNER(utime_ns), 2),
	ONE(BACKWARD, 0, 5, WORKER, OWNER(nvcsw), 2),
	TWO(BUSY, 1, 2, CPU0, PROFILE(kernel_ticks), -M, PROFILE(asleep_ticks), M),
	TWO(BUSY, 1, 2, WORKER, PROFILE(user_ticks), M, PROFILE(asleep_ticks), -M),
	TWO(BUSY, 1, 2, KTHREAD, PROFILE(kernel_ticks), -M, PROFILE(asleep_ticks), M),
	ONE(BUSY, 1, 2, SUM, PROFILE(user_ticks), M),
	ONE(NESTING, 2, 3, WORKER, SLOT(2) + 8, -1),
	TWO(NESTING, 3, 3, WORKER, SLOT(2) + 8, 1, TRACE(lost_to_ticks), 1),
	ONE(SLOT, 2, 3, WORKER, SLOT(1), -2),
	ONE(SLOT, 3, 3, WORKER, SLOT(0), -2),
	ONE(SLOT, 2, 3, WORKER, SLOT(1) + 8, 4LL << 48),
	ONE(LOSS, 3, 3, WORKER, TRACE(lost), 1),
	ONE(LOSS, 2, 3, WORKER, TRACE(next), -1),
	ONE(LOSS, 2, 3, WORKER, TRACE(written), -1),
	ONE(STREAM, 0, 4, 0, END(nr_records), 1),
	ONE(STREAM, 1, 4, 0, END(exited_first), 74),
	ONE(STREAM, 0, 4, 0, END(exited_next), 1),
	ONE(STREAM, 1, 1, 0, STREAM(ticks), -1001 * M),
	ONE(REFERENCE, 0, 2, WORKER, PROFILE(serial), 100),
	ONE(REFERENCE, 2, 3, WORKER, TRACE(serial), 100),
	ONE(REFERENCE, 2, 3, WORKER, SLOT(1) + 8, 100),
};

static void add(void *record, size_t at, int64_t value)
{
	*(uint64_t *)(void *)((uint8_t *)record + at) += value;
}

static void alter(const struct stream *s, const struct alteration *a)
{
	unsigned int type = a->type;
	void *rec;

	/* In the second form. */
	if (a->stream == 1 && type == KTAU_REC_PROFILE &&
	    (a->serial == WORKER || a->serial == KTHREAD) &&
	    s->flags & KTAU_SELECT_UID)
		type = KTAU_REC_DIFF;
	rec = find(s, a->stream, type, a->serial);
	add(rec, a->at, a->add);
	if (a->also)
		add(rec, a->also, a->add_also);
}

static struct ktau_check_counts judge(bool diffs, const struct alteration *a)
{
	struct ktau_check_counts counts;
	struct stream s = record();

	if (diffs) {
		subtract(&s, KTHREAD);
		subtract(&s, WORKER);
		s.flags = KTAU_SELECT_UID;
	}
	if (a)
		alter(&s, a);
	check(&s, &counts);
	return counts;
}

static void unaltered(void **state)
{
	struct ktau_check_counts counts;
	int i, code;

	(void)state;
	for (i = 0; i < 2; i++) {
		counts = judge(i, NULL);
		for (code = 0; code < KTAU_NR_FINDINGS; code++)
			assert_int_equal(counts.findings[code], 0);
		assert_int_equal(counts.streams, 4);
		assert_int_equal(counts.periods, 5);
		assert_int_equal(counts.periods_of_all, 1);
		assert_int_equal(counts.tasks, 4);
		assert_int_equal(counts.slots, 6);
	}
}

/* A root frame that had no name yet in the first profile has one in the second. */
static void renamed(void **state)
{
	static const struct alteration named =
		TWO(INSIDE, 1, 2, WORKER, ENTRY(2, incl), 1008 * M, OPEN(start_ticks), 9 * M);
	int form;

	(void)state;
	for (form = 0; form < 2; form++)
		assert_int_equal(judge(form, &named).findings[KTAU_FINDING_INSIDE], 0);
}

/* An interrupt that was in progress on a CPU at the first profile has ended in the period. */
static void across_a_profile(void **state)
{
	static const struct alteration ended = ONE(INSIDE, 1, 2, CPU0, ENTRY(0, incl), 1100 * M);
	int form;

	(void)state;
	for (form = 0; form < 2; form++)
		assert_int_equal(judge(form, &ended).findings[KTAU_FINDING_INSIDE], 0);
}

static void altered(void **state)
{
	unsigned int tested[KTAU_NR_FINDINGS] = { 0 };
	struct ktau_check_counts counts;
	size_t i;
	int form;

	(void)state;
	for (i = 0; i < NR(alterations); i++) {
		tested[alterations[i].code]++;
		for (form = 0; form < 2; form++) {
			counts = judge(form, &alterations[i]);
			if (!counts.findings[alterations[i].code])
				print_error("alteration %zu, form %d: not found by rule %s\n", i,
					    form, ktau_finding_name(alterations[i].code));
			assert_true(counts.findings[alterations[i].code] > 0);
		}
	}
	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		assert_true(tested[i] > 0);
}

/* Each rule has a name and a meaning. */
static void rules(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < KTAU_NR_FINDINGS; i++) {
		assert_non_null(ktau_finding_name(i));
		assert_in_range(strlen(ktau_finding_meaning(i)), 20, 66);
	}
	assert_null(ktau_finding_name(KTAU_NR_FINDINGS));
	assert_null(ktau_finding_meaning(KTAU_NR_FINDINGS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(unaltered),
		cmocka_unit_test(renamed),
		cmocka_unit_test(across_a_profile),
		cmocka_unit_test(altered),
	};

	return cmocka_run_group_tests_name("libktau: rules of the checker", tests, NULL, NULL);
}
