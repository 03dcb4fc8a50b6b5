// SPDX-License-Identifier: GPL-2.0-only
/*
 * recording FILE TASKS PERIODS: write a recording as ktaud does.
 *
 * A period is 10 s. In each, another twentieth of the tasks is awake and makes a few dozen calls;
 * all others sleep in a read of a pipe. Every 60th stream has full profiles and begins a key
 * block. The others have the differences of the tasks that were awake. A hundred names are shared
 * by all tasks.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/tools/fixture.h"
#include "number.h"

enum {
	PERIOD_S = 10, FIRST_S = 100, FULL_EVERY = 60, AWAKE_EVERY = 20, NR_NAMES = 100,
	NR_ROUTINES = 13, FIRST_ID = 1100, FIRST_SERIAL = 1000, NR_FRAMES = 3,
};

/* A profile of a task that sleeps in a read. */
struct profile {
	struct ktau_rec_profile p;
	struct ktau_entry entries[NR_ROUTINES];
	struct ktau_open open[NR_FRAMES];
};

/* The frames in flight, from the innermost one on, are of these entries. */
static const uint32_t frames[NR_FRAMES] = { 1, 2, 0 };

static struct profile *profiles;
static uint32_t nr_tasks, nr_periods, seed = 1;

static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static uint64_t time_of(uint32_t number)
{
	return (FIRST_S + (uint64_t)number * PERIOD_S) * SECOND;
}

static struct ktau_rec_owner owner_of(uint32_t i)
{
	struct ktau_rec_owner owner;
	char name[16];

	snprintf(name, sizeof(name), "worker_%u", i % NR_NAMES);
	owner = fixture_owner(KTAU_OWNER_TASK, FIRST_SERIAL + i, (int32_t)(100 + i),
			      (int32_t)(100 + i), name);
	owner.start_ns = SECOND;
	return owner;
}

static void begin_profile(uint32_t i)
{
	struct ktau_rec_owner owner = owner_of(i);
	struct profile *t = &profiles[i];
	uint32_t k;

	fixture_begin(&t->p, &owner, SECOND, NR_ROUTINES);
	t->p.rec.size = sizeof(*t);
	t->p.nr_open = t->p.depth = NR_FRAMES;
	for (k = 0; k < NR_ROUTINES; k++) {
		t->entries[k].id = (uint16_t)(FIRST_ID + 3 * (k - 2));
		t->entries[k].flags = KTAU_ENTRY_LONGEST | KTAU_ENTRY_ASLEEP;
	}
	t->entries[0].id = ID_READ;
	t->entries[1].id = ID_SCHEDULE_VOL;
	for (k = 0; k < NR_FRAMES; k++) {
		t->open[k].id = t->entries[frames[k]].id;
		t->open[k].start_ticks = 2 * SECOND + i;
	}
}

/* @count activations with @inside ticks in frames inside them. */
static void add(struct profile *t, struct ktau_entry *e, uint32_t count, uint64_t inside)
{
	uint64_t mean = 1000 + chance(9000), own = count * mean;

	e->count += count;
	e->excl += own;
	e->incl += own + inside;
	if (mean + inside > e->longest)
		e->longest = mean + inside;
	t->p.kernel_ticks += own;
	t->p.outer_ticks += own;
}

/* The read ends, the task makes some calls, and it reads again. */
static void run(struct profile *t, uint64_t at)
{
	uint64_t woken = at - 2 * SECOND + chance(1000 * MS), since = woken + 5 * MS;
	uint64_t slept = woken - t->open[0].start_ticks;
	uint32_t k;

	for (k = 0; k < NR_FRAMES; k++) {
		/* The time in a frame is at most 10 us longer than that in the one inside it. */
		add(t, &t->entries[frames[k]], 1, slept + (uint64_t)k * 10000);
		t->entries[frames[k]].asleep += slept;
		t->open[k].start_ticks = since;
	}
	t->entries[1].excl += slept;
	t->p.outer_ticks += slept;
	for (k = NR_FRAMES; k < NR_ROUTINES; k++)
		add(t, &t->entries[k], 1 + chance(12), 0);
	t->p.user_ticks += MS + chance(1000000);
}

/* Put the task at the time @at: what it did since @before, or all of it without one. */
static int put_task(struct sink *s, uint32_t i, uint64_t at, const struct ktau_rec_profile *before)
{
	const struct ktau_rec_owner owner = owner_of(i);
	struct profile *t = &profiles[i];
	struct ktau_rec_profile *diff;
	uint32_t k;
	int status = sink_put(s, &owner);

	t->p.ticks = at;
	t->p.asleep_ticks = at - SECOND - t->p.user_ticks - t->p.kernel_ticks;
	for (k = 0; k < NR_FRAMES; k++)
		t->open[k].asleep_ticks = at - t->open[k].start_ticks;
	if (status || !before)
		return status ? status : sink_put(s, t);
	status = ktau_profile_diff(&t->p, before, &diff);
	if (!status)
		status = ktau_writer_put_diff(s->w, diff);
	ktau_record_free(diff);
	return status;
}

static int put_tasks(struct sink *s, uint32_t number, bool full, uint64_t *nr)
{
	uint64_t at = time_of(number);
	struct profile before;
	bool awake;
	uint32_t i;
	int status = 0;

	for (i = 0; !status && i < nr_tasks; i++) {
		awake = number && (i + number) % AWAKE_EVERY == 0;
		before = profiles[i];
		if (awake)
			run(&profiles[i], at);
		if (awake || full) {
			status = put_task(s, i, at, full ? NULL : &before.p);
			++*nr;
		}
	}
	return status;
}

/* The stream of a period; the first one and every 60th have full profiles. */
static int put_stream(struct sink *s, uint32_t number)
{
	const bool full = number % FULL_EVERY == 0;
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, time_of(number));
	struct ktau_rec_end end;
	uint64_t nr = 0;
	int status = full ? ktau_writer_key(s->w) : 0;

	if (!full)
		stream.target ^= KTAU_TARGET_ALL | KTAU_TARGET_CHANGED;
	if (!status)
		status = sink_put(s, &stream);
	if (!status)
		status = fixture_put_names(s);
	if (!status)
		status = fixture_put_routines(s, FIRST_ID, NR_ROUTINES, "");
	if (!status)
		status = put_tasks(s, number, full, &nr);
	end = fixture_end(nr, 7);
	return status ? status : sink_put(s, &end);
}

static int write_recording(struct sink *s)
{
	uint32_t i;
	int status = 0;

	for (i = 0; i < nr_tasks; i++)
		begin_profile(i);
	for (i = 0; !status && i <= nr_periods; i++) {
		status = put_stream(s, i);
		if (!status)
			status = ktau_writer_flush(s->w, false);
	}
	return status;
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 4) {
		fprintf(stderr, "usage: recording FILE TASKS PERIODS\n");
		return 2;
	}
	nr_tasks = (uint32_t)number(argv[2]);
	nr_periods = (uint32_t)number(argv[3]);
	profiles = calloc(nr_tasks, sizeof(*profiles));
	if (!profiles)
		err(1, "%u tasks", nr_tasks);
	status = fixture_file(argv[1], KTAU_WRITER_COMPACT, write_recording);
	if (status)
		errx(1, "%s: %s", argv[1], strerror(-status));
	free(profiles);
	return 0;
}
