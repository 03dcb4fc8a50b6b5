// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the recording of a busy host, as ktaud does with a period of a second.
 *
 *	host_day FILE HOST FROM TO [SECOND BACK]
 *
 * FILE has the streams of the seconds FROM to TO of a day, with a full one each minute and
 * differences between. What a second contains does not depend on FROM and TO, so a file up to a
 * later second begins with the bytes of one up to an earlier second, and a file from there on
 * continues it. At SECOND, the clock is set back by BACK seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* About 24 KiB for a second. */
enum { NR_TASKS = 160, NR_ROUTINES = 20, FIRST_ID = 1100, FULL_EVERY = 60 };

#define START_NS	(1790000000ULL / 86400 * 86400 * SECOND)
#define BOOT_NS		(1000 * SECOND)

struct task {
	struct ktau_rec_profile p;
	struct ktau_entry entries[NR_ROUTINES];
};

static struct task before[NR_TASKS];

/* When and by how much the clock is set back. */
static uint64_t set_at = UINT64_MAX, set_back;

static void failed(const char *what)
{
	fprintf(stderr, "host_day: %s failed\n", what);
	exit(1);
}

/* A number below @most that only depends on the others. */
static uint64_t chance(uint64_t task, uint64_t routine, uint64_t second, uint64_t most)
{
	uint64_t z = (task << 40 | routine << 32 | second) + 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z >> 20) % most;
}

/* A total that grows by 1 to 2 * @rate - 1 in each second. */
static uint64_t total(uint64_t rate, uint64_t task, uint64_t routine, uint64_t second)
{
	return rate * second + chance(task, routine, second, rate);
}

static void fill(struct task *task, uint64_t nr, uint64_t second, uint64_t ticks)
{
	uint64_t rate;
	int i;

	for (i = 0; i < NR_ROUTINES; i++) {
		struct ktau_entry *e = &task->entries[i];

		rate = 2 + chance(nr, i, 0, 300);
		e->id = (uint16_t)(FIRST_ID + 3 * i);
		e->flags = KTAU_ENTRY_LONGEST;
		e->count = total(rate, nr, i, second);
		e->excl = total(rate * 700, nr, i + 32, second);
		e->incl = e->excl;
		e->longest = 100000;
		task->p.outer_ticks += e->excl;
	}
	task->p.ticks = ticks;
	task->p.kernel_ticks = task->p.outer_ticks;
	task->p.asleep_ticks = ticks - BOOT_NS - task->p.kernel_ticks;
}

static void put_task(struct ktau_writer *w, uint64_t nr, uint64_t second, bool full)
{
	const struct ktau_rec_owner owner =
		fixture_owner(KTAU_OWNER_TASK, 1000 + nr, 100 + (int)nr, 100 + (int)nr, "work");
	struct ktau_rec_profile *diff;
	struct task now;

	fixture_begin(&now.p, &owner, BOOT_NS, NR_ROUTINES);
	fill(&now, nr, second, BOOT_NS + second * SECOND);
	if (ktau_writer_put(w, &owner))
		failed("put");
	if (full) {
		if (ktau_writer_put(w, &now))
			failed("put");
	} else {
		if (ktau_profile_diff(&now.p, &before[nr].p, &diff) ||
		    ktau_writer_put_diff(w, diff))
			failed("diff");
		ktau_record_free(diff);
	}
	before[nr] = now;
}

/* Each host has one boot. */
static void set_boot(uint8_t id[16], const char *host)
{
	memset(id, 0, 16);
	memcpy(id, host, strnlen(host, 16));
}

static void put_stream(struct ktau_writer *w, const char *host, uint64_t second, bool full)
{
	const struct ktau_rec_end end = fixture_end(NR_TASKS, 0);
	struct sink sink = { .w = w };
	struct ktau_rec_stream s = fixture_stream(KTAU_REC_PROFILE, BOOT_NS + second * SECOND);
	uint64_t nr;

	snprintf(s.nodename, sizeof(s.nodename), "%s", host);
	set_boot(s.boot_id, host);
	s.realtime_ns = START_NS + (second - (second < set_at ? 0 : set_back)) * SECOND;
	s.boot_realtime_ns = START_NS;
	if ((full && ktau_writer_key(w)) || ktau_writer_put(w, &s) ||
	    (full && fixture_put_routines(&sink, FIRST_ID, NR_ROUTINES, "")))
		failed("put a stream");
	for (nr = 0; nr < NR_TASKS; nr++)
		put_task(w, nr, second, full);
	if (ktau_writer_put(w, &end) || ktau_writer_flush(w, false))
		failed("flush");
}

int main(int argc, char **argv)
{
	uint8_t boot_id[16];
	struct ktau_writer *w;
	uint64_t from, to, second;

	if (argc != 5 && argc != 7) {
		fputs("usage: host_day FILE HOST FROM TO [SECOND BACK]\n", stderr);
		return 2;
	}
	if (argc == 7) {
		set_at = strtoull(argv[5], NULL, 10);
		set_back = strtoull(argv[6], NULL, 10);
	}
	from = strtoull(argv[3], NULL, 10);
	to = strtoull(argv[4], NULL, 10);
	set_boot(boot_id, argv[2]);
	if (ktau_writer_create(&w) || ktau_writer_open(w, argv[1], KTAU_WRITER_COMPACT, boot_id))
		failed(argv[1]);
	for (second = from; second <= to; second++)
		put_stream(w, argv[2], second, (second - from) % FULL_EVERY == 0);
	if (ktau_writer_close(w))
		failed("close");
	ktau_writer_destroy(w);
	return 0;
}
