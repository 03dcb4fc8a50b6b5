// SPDX-License-Identifier: GPL-2.0-only
/*
 * hits NESTED: compare the hits in /proc/ktau_count with the activations in the profiles of all
 * tasks, by event and type. Only tasks that began and ended while the module counted may have been
 * measured. NESTED is the number of hits in that time that handlers caused, which are not reported.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include <ktau.h>

#include "tap.h"

#define NR_IDS 65536
#define NR_TYPES 3

/* START, STOP and EVENT of each event. */
static uint64_t hits[NR_IDS][NR_TYPES];

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "hits: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static void read_hits(void)
{
	FILE *file = fopen("/proc/ktau_count", "r");
	uint64_t start, stop, event;
	unsigned int id;

	if (!file)
		die("/proc/ktau_count", errno);
	while (fscanf(file, "%u %" SCNu64 " %" SCNu64 " %" SCNu64, &id, &start, &stop,
		      &event) == 4) {
		if (id >= NR_IDS)
			die("an id in /proc/ktau_count", ERANGE);
		hits[id][0] = start;
		hits[id][1] = stop;
		hits[id][2] = event;
	}
	fclose(file);
}

/* The profile of all tasks together. */
static struct ktau_rec_profile *read_sum(struct ktau_reader *reader)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED,
	};
	struct ktau_snapshot *snapshot;
	struct ktau_rec_profile *sum;
	int err;

	if (ktau_snapshot_create(&snapshot))
		die("snapshot", ENOMEM);
	err = ktau_reader_open_live(reader, &query);
	if (!err)
		err = ktau_snapshot_read(snapshot, reader) == 1 ? 0 : -EIO;
	if (!err)
		err = ktau_snapshot_sum(snapshot, &sum, NULL);
	if (err)
		die("/proc/ktau/profile", err);
	ktau_snapshot_destroy(snapshot);
	return sum;
}

/* The root frame is not reported under the names that it has by itself. */
static bool is_root(const char *name)
{
	return !strcmp(name, "kernel") || !strcmp(name, "interrupt_user") ||
	       !strcmp(name, "ret_from_fork");
}

/*
 * Whether the frames of the event called @name are open while a task is off the CPU. Those that are
 * open when the first handler is registered are in the profile, but neither their START nor their
 * STOP is reported: one for each task, at most.
 */
static bool is_off_cpu(const char *name)
{
	return !strncmp(name, "schedule", strlen("schedule"));
}

static int64_t count_processes(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : info.procs;
}

/* The number of hits of event @id that are missing for its @count activations or values. */
static int64_t missing(unsigned int id, const char *name, bool counter, uint64_t count)
{
	const uint64_t timer = counter ? 0 : count;
	int64_t start = timer - hits[id][0], stop = timer - hits[id][1];
	int64_t event = (counter ? count : 0) - hits[id][2];

	if (is_root(name)) {
		printf("# %s: %" PRIu64 " activations, not reported\n", name, count);
		start -= timer;
		stop -= timer;
	}
	if (start || stop || event)
		printf("# %s: %" PRIu64 " in the profile; START %" PRIu64 ", STOP %" PRIu64
		       ", EVENT %" PRIu64 "\n", name, count, hits[id][0], hits[id][1], hits[id][2]);
	if (is_off_cpu(name) && start == stop && start > 0 && start <= count_processes())
		start = stop = 0;
	/* Surplus hits of one event must not hide missing hits of another. */
	tap_ok(start >= 0 && stop >= 0 && event >= 0, "hits: %s (%" PRIu64 ")", name, count);
	hits[id][0] = hits[id][1] = hits[id][2] = 0;
	return start + stop + event;
}

int main(int argc, char **argv)
{
	const struct ktau_rec_event *event = NULL;
	const struct ktau_entry *entry;
	struct ktau_rec_profile *sum;
	struct ktau_reader *reader;
	uint64_t other = 0, all = 0;
	int64_t lost = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: hits NESTED\n");
		return 2;
	}
	if (ktau_reader_create(&reader))
		die("reader", ENOMEM);
	sum = read_sum(reader);
	read_hits();
	while ((event = ktau_events_next(ktau_reader_events(reader), event))) {
		entry = ktau_profile_find(sum, event->id);
		if (!entry)
			continue;
		lost += missing(event->id, ktau_event_name(event),
				event->kind == KTAU_KIND_COUNTER, entry->count);
		all += entry->count;
	}
	for (unsigned int id = 0; id < NR_IDS; id++)
		other += hits[id][0] + hits[id][1] + hits[id][2];
	tap_ok(!other, "hits: none of other events (%" PRIu64 ")", other);
	tap_ok(lost == strtoll(argv[1], NULL, 10), "hits: of %" PRIu64 " activations and values %"
	       PRId64 " hits are missing, %s were caused by handlers", all, lost, argv[1]);
	tap_ok(all > 10000, "hits: there was a load");
	ktau_record_free(sum);
	ktau_reader_destroy(reader);
	return tap_done();
}
