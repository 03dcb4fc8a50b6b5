// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files for the tests of the HTML report:
 *
 *	crowd machine FILE		the machine of machine.c
 *	crowd hostile FILE		names with HTML, script code and terminal escapes; each
 *					task does half of everything in its region 1
 *	crowd regions FILE		tasks with such a region, and no trace
 *	crowd FILE TASKS SLOTS		many tasks, each with the same number of slots,
 *					at least SLOTS in total
 *
 * Each task reads from a pipe and sleeps until the previous task wakes it up. One in a
 * hundred has lost slots. A quarter of the tasks runs in each second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum { NR_STREAMS = 9, KEY_STREAM = 6, NR_ROUTINES = 12, FIRST_ID = 1100, FIRST_SERIAL = 1000 };

/* Slots of one read: enter, pipe_read, schedule, switch, woken and three exits. */
enum { ROUND_SLOTS = 8, ROUND_BYTES = 6 * 16 + 32 + 40 };

static const char *const hostile[] = {
	"</script><b>x", "<img src=x>", "\033[31mred", "\xff\xfe", "__proto__", "a\"b'c`d", "<!--",
	"$&\\u003c",
};

static uint32_t nr_tasks, nr_rounds;
static bool is_hostile, has_regions, has_traces = true;

static const char *name_of(uint32_t i)
{
	static char name[16];

	if (is_hostile)
		return hostile[i % (sizeof(hostile) / sizeof(*hostile))];
	snprintf(name, sizeof(name), "worker_%u", i % 50);
	return name;
}

static struct ktau_rec_owner owner_of(uint32_t i)
{
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_TASK, FIRST_SERIAL + i,
						    (int32_t)(100 + i), (int32_t)(100 + i),
						    name_of(i));

	owner.start_ns = SECOND;
	return owner;
}

/* Half of a profile, as a region. */
static int put_region(struct sink *s, const struct ktau_rec_profile *p)
{
	struct {
		struct ktau_rec_region r;
		struct ktau_entry entries[NR_ROUTINES];
	} r = {
		.r.rec = { sizeof(r), KTAU_REC_REGION, sizeof(r.r) }, .r.serial = p->serial,
		.r.region = 1, .r.nr_entries = NR_ROUTINES, .r.entry_size = sizeof(r.entries[0]),
	};
	int k;

	memcpy(r.entries, p + 1, sizeof(r.entries));
	for (k = 0; k < NR_ROUTINES; k++) {
		r.entries[k].count /= 2;
		r.entries[k].incl /= 2;
		r.entries[k].excl /= 2;
	}
	return sink_put(s, &r);
}

/* The profile of a task after @runs of the seconds in which it runs. */
static int put_profile(struct sink *s, uint32_t i, uint64_t at, uint64_t runs)
{
	struct {
		struct ktau_rec_profile p;
		struct ktau_entry entries[NR_ROUTINES];
	} r;
	struct ktau_rec_owner owner = owner_of(i);
	int err, k;

	fixture_begin(&r.p, &owner, SECOND, NR_ROUTINES);
	r.p.ticks = at;
	for (k = 0; k < NR_ROUTINES; k++) {
		struct ktau_entry *e = &r.entries[k];

		e->id = (uint16_t)(FIRST_ID + 3 * k);
		e->flags = KTAU_ENTRY_LONGEST;
		e->count = runs * (1 + (i + (uint32_t)k) % 20);
		e->excl = e->count * (1000 + 10 * (i % 97));
		e->incl = e->excl * 2;
		e->longest = e->count ? e->incl / e->count : 0;
		r.p.outer_ticks += e->excl;
	}
	r.p.kernel_ticks = r.p.outer_ticks;
	r.p.user_ticks = runs * 300000;
	r.p.runq_ticks = runs * 20000;
	r.p.asleep_ticks = at - SECOND - r.p.kernel_ticks - r.p.user_ticks - r.p.runq_ticks;
	err = sink_put(s, &owner);
	if (!err)
		err = sink_put(s, &r);
	return err || !has_regions ? err : put_region(s, &r.p);
}

static int put_names(struct sink *s)
{
	const char *suffix = is_hostile ? "</script><script>window.pwned=1</script>" : "";
	int err = fixture_put_names(s);

	return err ? err : fixture_put_routines(s, FIRST_ID, NR_ROUTINES, suffix);
}

/* Interrupts and a softirq of each CPU; one line occurs on the second CPU only. */
static int put_cpus(struct sink *s, uint64_t number, uint64_t *nr)
{
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < 2; cpu++) {
		struct fixture_profile p = {
			.owner = fixture_owner(KTAU_OWNER_CPU, 2 + cpu, 0, 0, ""),
			.ticks = (10 + number) * SECOND,
			.kernel = number * 200 * MS, .irq = number * 30 * MS,
		};

		p.owner.cpu = cpu;
		fixture_timer(&p, ID_TIMER, number * 100, number * 20 * MS, number * 20 * MS);
		if (cpu)
			fixture_timer(&p, ID_IRQ4, number, number * 10 * MS, number * 10 * MS);
		err = fixture_put(s, &p, nr);
	}
	return err;
}

static int put_profiles(struct sink *s, uint64_t number)
{
	uint64_t at = (10 + number) * SECOND, nr = 0;
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, at);
	struct ktau_rec_end end = fixture_end(0, 7);
	int err = sink_put(s, &stream);
	uint32_t i;

	if (!err)
		err = put_names(s);
	if (!err)
		err = put_cpus(s, number, &nr);
	for (i = 0; !err && i < nr_tasks; i++) {
		if (number && number != KEY_STREAM && number + 1 != NR_STREAMS &&
		    i % 4 != number % 4)
			continue;
		err = put_profile(s, i, at, number / 4 + (number % 4 >= i % 4));
		nr++;
	}
	end.nr_records = nr;
	return err ? err : sink_put(s, &end);
}

struct writing {
	unsigned char *at;
	uint64_t ticks;
	uint16_t cpu;
};

static void add_slot(struct writing *w, uint8_t type, uint16_t id, const void *payload,
		     size_t bytes)
{
	struct ktau_slot slot = {
		.ticks = w->ticks, .id = id, .type = type, .words = (uint8_t)(2 + bytes / 8),
		.cpu = w->cpu,
	};

	memcpy(w->at, &slot, sizeof(slot));
	if (bytes)
		memcpy(w->at + sizeof(slot), payload, bytes);
	w->at += sizeof(slot) + bytes;
}

static void add_round(struct writing *w, uint32_t i, uint64_t begin)
{
	struct ktau_slot_switch to = { .state = 1, .prio = 120, .next_prio = -1 };
	struct ktau_slot_woken woken = {
		.waker_serial = i ? FIRST_SERIAL + i - 1 : 0, .waking_ticks = begin + 60000,
	};

	w->ticks = begin;
	add_slot(w, KTAU_TRACE_ENTER, ID_READ, NULL, 0);
	w->ticks += 500;
	add_slot(w, KTAU_TRACE_ENTER, FIRST_ID, NULL, 0);
	w->ticks += 1000;
	add_slot(w, KTAU_TRACE_ENTER, ID_SCHEDULE_VOL, NULL, 0);
	w->ticks += 200;
	add_slot(w, KTAU_TRACE_SWITCH, KTAU_ID_NONE, &to, sizeof(to));
	w->ticks += 65000;
	add_slot(w, KTAU_TRACE_WOKEN, KTAU_ID_NONE, &woken, sizeof(woken));
	w->ticks += 300;
	add_slot(w, KTAU_TRACE_EXIT, ID_SCHEDULE_VOL, NULL, 0);
	w->ticks += 1500;
	add_slot(w, KTAU_TRACE_EXIT, FIRST_ID, NULL, 0);
	w->ticks += 500;
	add_slot(w, KTAU_TRACE_EXIT, ID_READ, NULL, 0);
}

static int put_trace(struct sink *s, uint32_t i, uint64_t begin)
{
	size_t bytes = sizeof(struct ktau_rec_trace) + (size_t)nr_rounds * ROUND_BYTES;
	struct ktau_rec_trace *t = calloc(1, bytes);
	struct ktau_rec_owner owner = owner_of(i);
	struct writing w = { .cpu = i % 2 };
	uint32_t k;
	int err;

	if (!t)
		return -1;
	w.at = (unsigned char *)(t + 1);
	for (k = 0; k < nr_rounds; k++)
		add_round(&w, i, begin + k * (900 * MS / nr_rounds) + i % 1000 * 50);
	t->rec = (struct ktau_rec){ (uint32_t)bytes, KTAU_REC_TRACE, sizeof(*t) };
	t->serial = owner.serial;
	t->ring_slots = 1024;
	t->groups = GROUPS | KTAU_MODE_TRACE;
	t->nr_slots = nr_rounds * ROUND_SLOTS;
	t->slots_bytes = nr_rounds * ROUND_BYTES;
	if (i % 100 == 7) {
		t->first = t->lost = 50;
		t->lost_from_ticks = begin - 50 * MS;
		t->lost_to_ticks = begin - 1;
	}
	t->next = t->written = t->first + t->slots_bytes / 16;
	err = sink_put(s, &owner);
	if (!err)
		err = sink_put(s, t);
	free(t);
	return err;
}

/* Each of these streams has the traces of a quarter of the tasks. */
static int put_traces(struct sink *s, uint64_t number)
{
	struct ktau_rec_stream stream =
		fixture_stream(KTAU_REC_TRACE, (10 + number) * SECOND + MS);
	struct ktau_rec_end end = fixture_end(nr_tasks / 4, 7);
	int err = sink_put(s, &stream);
	uint32_t i;

	end.cut_ticks = (9 + number) * SECOND + 60 * MS;
	if (!err)
		err = put_names(s);
	for (i = (uint32_t)number % 4; !err && i < nr_tasks; i += 4)
		err = put_trace(s, i, (9 + number) * SECOND + 60 * MS);
	return err ? err : sink_put(s, &end);
}

static int write_crowd(struct sink *s)
{
	uint64_t number;
	int err = 0;

	for (number = 0; !err && number < NR_STREAMS; number++) {
		if (number == KEY_STREAM)
			err = ktau_writer_key(s->w);
		if (!err)
			err = put_profiles(s, number);
		if (!err && has_traces && number >= 1 && number <= 4)
			err = put_traces(s, number);
		if (!err)
			err = ktau_writer_flush(s->w, false);
	}
	return err;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "machine"))
		return fixture_write(argv[2], KTAU_WRITER_ZLIB) != 0;
	if (argc == 3 && !strcmp(argv[1], "hostile")) {
		is_hostile = has_regions = true;
		nr_tasks = 16;
		nr_rounds = 5;
		return fixture_file(argv[2], 0, write_crowd) != 0;
	}
	if (argc == 3 && !strcmp(argv[1], "regions")) {
		has_regions = true;
		has_traces = false;
		nr_tasks = 3;
		return fixture_file(argv[2], 0, write_crowd) != 0;
	}
	if (argc != 4) {
		fprintf(stderr,
			"usage: crowd machine|hostile|regions FILE | crowd FILE TASKS SLOTS\n");
		return 2;
	}
	nr_tasks = (uint32_t)strtoul(argv[2], NULL, 10);
	nr_rounds = (uint32_t)((strtoul(argv[3], NULL, 10) + nr_tasks * ROUND_SLOTS - 1) /
			       (nr_tasks * ROUND_SLOTS));
	return fixture_file(argv[1], KTAU_WRITER_ZLIB, write_crowd) != 0;
}
