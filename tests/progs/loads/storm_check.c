// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm_check FILE PID PROCESSES [PROFILES]: check that a file of ktaud accounts for every
 * process of a storm (storm.c) that ran as PID.
 *
 * The last evicted sum has all tasks with an exit number below R; those with R or above must
 * be in the file. With PROFILES, that many processes must have a profile of their own in the
 * file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "tap.h"

#define MAX_EXITED (1 << 20)
#define CALLS_EACH 3

/* The records of an exited task, by its exit number. */
struct exited {
	uint32_t records;
	uint32_t exits;
	uint32_t calls;
	bool ours;
};

static struct exited exited[MAX_EXITED];
static struct ktau_rec_profile *parent, *evicted;
static uint64_t exited_next, evicted_below;
static uint32_t parent_pid;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "storm_check: %s\n", what);
	exit(1);
}

static uint64_t count_of(const struct ktau_rec_profile *p, const struct ktau_events *events,
			 const char *name)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	const struct ktau_rec_event *event;

	for (uint32_t i = 0; i < p->nr_entries; i++) {
		event = ktau_events_find(events, entries[i].id);
		if (event && !strcmp(ktau_display_name(ktau_event_name(event)), name))
			return entries[i].count;
	}
	return 0;
}

static void expect(const char *what, uint64_t got, uint64_t want)
{
	tap_ok(got == want, "storm: %s: %" PRIu64 ", expected %" PRIu64, what, got, want);
}

static void keep(struct ktau_rec_profile **place, const struct ktau_rec *rec)
{
	ktau_record_free(*place);
	*place = ktau_record_dup(rec);
	if (!*place)
		die("no memory");
}

static void take_exited(const struct ktau_rec_profile *p, const struct ktau_rec_owner *owner,
			const struct ktau_events *events)
{
	struct exited *d;

	if (owner->exited_seq >= MAX_EXITED)
		die("too many exited tasks");
	d = &exited[owner->exited_seq];
	d->records++;
	d->exits = (uint32_t)count_of(p, events, "sys_exit_group");
	d->calls = (uint32_t)count_of(p, events, "sys_ioprio_get");
	d->ours = owner->ppid == (int32_t)parent_pid;
	if (owner->tid == (int32_t)parent_pid)
		keep(&parent, &p->rec);
}

static void take(const struct ktau_reader *reader, const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, p->serial);

	if (!owner)
		die("a profile without an owner");
	if (owner->kind == KTAU_OWNER_EXITED) {
		take_exited(p, owner, ktau_reader_events(reader));
	} else if (owner->kind == KTAU_OWNER_EVICTED) {
		keep(&evicted, &p->rec);
		evicted_below = owner->exited_seq;
	}
}

static void read_all(struct ktau_reader *reader)
{
	union ktau_record record;
	int ret;

	while ((ret = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_END)
			exited_next = record.end->exited_next;
		if (record.rec->type == KTAU_REC_PROFILE)
			take(reader, record.profile);
	}
	if (ret)
		die(ktau_reader_error(reader));
	if (!evicted || !exited_next)
		die("no evicted sum");
	if (!parent)
		die("the parent is not in the file");
}

/* All exited tasks, those with their own profile and those in the sum. */
static void check_sums(const struct ktau_events *events, uint64_t processes)
{
	uint64_t calls = count_of(evicted, events, "sys_ioprio_get");
	uint64_t missing = 0, twice = 0;

	for (uint64_t i = 0; i < exited_next; i++) {
		twice += exited[i].records > 1;
		if (i < evicted_below)
			continue;
		missing += !exited[i].records;
		calls += exited[i].calls;
	}
	expect("exited tasks neither in the file nor in the sum", missing, 0);
	expect("exited tasks that are in the file twice", twice, 0);
	expect("calls of all processes together", calls, CALLS_EACH * processes);
}

/* The storm's processes with a profile of their own. */
static void check_profiles(const char *wanted)
{
	uint64_t ours = 0, exits = 0, calls = 0;

	for (uint64_t i = 0; i < exited_next; i++) {
		if (!exited[i].ours)
			continue;
		ours++;
		exits += exited[i].exits;
		calls += exited[i].calls;
	}
	if (wanted)
		expect("processes with a profile of their own", ours,
		       strtoull(wanted, NULL, 10));
	else
		printf("storm: %" PRIu64 " processes with a profile of their own\n", ours);
	expect("exits in these profiles", exits, ours);
	expect("calls in these profiles", calls, CALLS_EACH * ours);
}

int main(int argc, char **argv)
{
	const struct ktau_events *events;
	struct ktau_reader *reader;
	uint64_t processes;

	if (argc != 4 && argc != 5) {
		fputs("usage: storm_check FILE PID PROCESSES [PROFILES]\n", stderr);
		return 2;
	}
	parent_pid = (uint32_t)strtoul(argv[2], NULL, 10);
	processes = strtoull(argv[3], NULL, 10);
	if (ktau_reader_create(&reader))
		die("no memory");
	if (ktau_reader_open_file(reader, argv[1]))
		die(ktau_reader_error(reader));
	read_all(reader);
	events = ktau_reader_events(reader);
	expect("forks", count_of(parent, events, "sys_clone"), processes);
	expect("waits", count_of(parent, events, "sys_wait4"), processes);
	check_sums(events, processes);
	check_profiles(argv[4]);
	ktau_record_free(parent);
	ktau_record_free(evicted);
	ktau_reader_destroy(reader);
	return tap_done();
}
