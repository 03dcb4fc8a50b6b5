// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_totals [THREADS [PROCESSES]]: a user exceeds its share of the exited queue while a
 * reader adds up all owners. Tasks of the user that the reader has already seen, live or
 * exited, are folded and evicted, by user and not by age. Every stream must count every call
 * once, for a reader that continues, as ktaud does, and for a new one. Run as root.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktau.h>

#include "attack.h"
#include "tap.h"

#define THREAD_CALLS 3
#define PROCESS_CALLS 5
#define MAX_PROCESSES 4096

static unsigned int nr_threads = 200, nr_processes = 40;

/**
 * struct adder - a reader that adds up all owners, stream after stream
 * @reader: one descriptor
 * @snapshot: its last snapshot
 * @exited_since: exited tasks below this number have been read
 * @nr: streams read
 * @gone: owners that the streams listed as gone
 */
struct adder {
	struct ktau_reader *reader;
	struct ktau_snapshot *snapshot;
	uint64_t exited_since;
	unsigned int nr;
	uint64_t gone;
};

static _Noreturn void die(const char *what)
{
	tap_ok(false, "totals: %s", what);
	exit(1);
}

static void adder_init(struct adder *adder)
{
	*adder = (struct adder){ 0 };
	if (ktau_reader_create(&adder->reader) || ktau_snapshot_create(&adder->snapshot))
		die("no memory");
}

static void adder_deinit(struct adder *adder)
{
	ktau_snapshot_destroy(adder->snapshot);
	ktau_reader_destroy(adder->reader);
}

static void adder_read(struct adder *adder)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = (adder->nr ? KTAU_TARGET_CHANGED : KTAU_TARGET_ALL) |
			  KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED,
		.exited_since = adder->exited_since,
	};
	union ktau_record record;
	int err;

	err = adder->nr++ ? ktau_reader_restart(adder->reader, &query) :
			    ktau_reader_open_live(adder->reader, &query);
	if (err)
		die(ktau_reader_error(adder->reader));
	while ((err = ktau_reader_next(adder->reader, &record)) > 0) {
		if (ktau_snapshot_add(adder->snapshot, &record))
			die("no memory");
		if (record.rec->type == KTAU_REC_GONE)
			adder->gone += record.gone->nr_serials;
		if (record.rec->type == KTAU_REC_END)
			adder->exited_since = record.end->exited_next;
	}
	if (err)
		die(ktau_reader_error(adder->reader));
}

/* Number of calls of CALLED by all tasks. */
static uint64_t adder_calls(const struct adder *adder)
{
	const struct ktau_rec_event *event = NULL;
	const struct ktau_entry *entry;
	struct ktau_rec_profile *sum;
	uint64_t calls = 0;

	if (ktau_snapshot_sum(adder->snapshot, &sum, NULL))
		die("no memory");
	while ((event = ktau_events_next(ktau_reader_events(adder->reader), event))) {
		entry = ktau_profile_find(sum, event->id);
		if (entry && strstr(ktau_event_name(event), CALLED))
			calls += entry->count;
	}
	ktau_record_free(sum);
	return calls;
}

/* The same for a new reader. */
static uint64_t calls_anew(void)
{
	struct adder adder;
	uint64_t calls;

	adder_init(&adder);
	adder_read(&adder);
	calls = adder_calls(&adder);
	adder_deinit(&adder);
	return calls;
}

static void *thread(void *unused)
{
	make_calls(THREAD_CALLS);
	return unused;
}

static void run_threads(unsigned int nr)
{
	pthread_t one;

	while (nr--)
		if (pthread_create(&one, NULL, thread, NULL) || pthread_join(one, NULL))
			_exit(1);
}

/* A reader sees the threads exited and kept, and the processes live; these exit afterwards. */
static void user(void)
{
	static pid_t pid[MAX_PROCESSES];
	unsigned int i;
	int go[2];

	if (pipe(go))
		_exit(1);
	for (i = 0; i < nr_processes; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			char byte;

			close(go[1]);
			make_calls(PROCESS_CALLS);
			_exit(read(go[0], &byte, 1) != 0);
		}
	}
	close(go[0]);
	run_threads(nr_threads / 10);
	helper_reached();
	/* The processes, asleep since a reader saw them, exit now. */
	close(go[1]);
	for (i = 0; i < nr_processes; i++)
		waitpid(pid[i], NULL, 0);
	run_threads(nr_threads);
	helper_reached();
	run_threads(nr_threads);
}

static void expect(struct adder *adder, uint64_t calls, const char *when)
{
	uint64_t anew, reading_on;

	adder_read(adder);
	reading_on = adder_calls(adder);
	anew = calls_anew();
	tap_ok(reading_on == calls, "totals: %s: a reader that continues has %llu of %llu calls",
	       when, (unsigned long long)reading_on, (unsigned long long)calls);
	tap_ok(anew == calls, "totals: %s: a new reader has %llu of %llu calls", when,
	       (unsigned long long)anew, (unsigned long long)calls);
}

int main(int argc, char **argv)
{
	uint64_t calls, evicted;
	struct helper attacker;
	struct adder adder;

	if (argc > 1)
		nr_threads = (unsigned int)atoi(argv[1]);
	else
		control("exited_limit=256k");
	if (argc > 2)
		nr_processes = (unsigned int)atoi(argv[2]);
	if (nr_processes > MAX_PROCESSES)
		die("too many processes");
	control("groups=syscall trace=off");
	attacker = helper_start(ATTACKER, user);
	adder_init(&adder);
	adder_read(&adder);
	calls = adder_calls(&adder);
	evicted = stat_of("evicted");

	helper_step(&attacker);
	calls += (uint64_t)nr_processes * PROCESS_CALLS + nr_threads / 10 * THREAD_CALLS;
	expect(&adder, calls, "after the first stream");
	helper_step(&attacker);
	calls += (uint64_t)nr_threads * THREAD_CALLS;
	expect(&adder, calls, "after folding and eviction");
	helper_step(&attacker);
	calls += (uint64_t)nr_threads * THREAD_CALLS;
	expect(&adder, calls, "in the next stream");
	tap_ok(stat_of("evicted") > evicted, "totals: tasks were evicted");
	tap_ok(adder.gone >= nr_processes / 2, "totals: streams list %llu known owners as gone",
	       (unsigned long long)adder.gone);
	helper_end(&attacker);
	expect(&adder, calls, "after all have exited");
	adder_deinit(&adder);
	control("exited_limit=16M");
	control("groups=none ring=1024");
	return tap_done();
}
