// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

static struct ktau_clock ktau_time;
static struct ktau_reader *reader;

_Noreturn void self_die(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(-err));
	exit(1);
}

/* Open a file for reading. */
FILE *self_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		self_die(path, -errno);
	return file;
}

void self_open_with(self_opener *open)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_SELF };
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ktau_reader_create(&reader);
	if (err)
		self_die("reader", err);
	err = open(reader, &query);
	if (err)
		self_die(ktau_reader_error(reader), err);
}

void self_open(void)
{
	self_open_with(ktau_reader_open_live);
}

void self_close(void)
{
	ktau_reader_destroy(reader);
}

void self_start(const struct ktau_query *query)
{
	int err = ktau_reader_restart(reader, query);

	if (err)
		self_die("/proc/ktau/profile", err);
}

int self_next(union ktau_record *record)
{
	int ret = ktau_reader_next(reader, record);

	if (ret < 0)
		self_die(ktau_reader_error(reader), ret);
	return ret;
}

struct ktau_rec_profile *self_profile(pid_t tid)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = tid ? KTAU_TARGET_LIST : KTAU_TARGET_SELF,
		.tids = tid ? &tid : NULL,
		.nr_tids = tid ? 1 : 0,
	};
	struct ktau_rec_profile *copy = NULL;
	union ktau_record record;
	uint64_t excl, outer;

	self_start(&query);
	while (self_next(&record) > 0) {
		if (record.rec->type == KTAU_REC_STREAM)
			ktau_clock_init(&ktau_time, record.stream);
		if (record.rec->type == KTAU_REC_PROFILE && !copy)
			copy = ktau_record_dup(record.rec);
	}
	if (!copy)
		self_die("no profile of this task", -ENODATA);
	if (ktau_check_identity(copy, &excl, &outer))
		tap_ok(false, "exclusive times: %" PRIu64 " ticks, not %" PRIu64, excl, outer);
	return copy;
}

const struct ktau_rec_owner *self_owner(uint64_t serial)
{
	return ktau_reader_owner(reader, serial);
}

struct ktau_rec_profile *self_added(struct ktau_rec_profile *before,
				    struct ktau_rec_profile *now)
{
	struct ktau_rec_profile *diff;
	int err = ktau_profile_diff(now, before, &diff);

	if (err)
		self_die("difference", err);
	ktau_record_free(before);
	ktau_record_free(now);
	return diff;
}

struct ktau_entry self_entry(const struct ktau_rec_profile *p, const char *name)
{
	const struct ktau_events *events = ktau_reader_events(reader);
	const struct ktau_rec_event *event = NULL;
	const struct ktau_entry *found = NULL;

	while (!found && (event = ktau_events_next(events, event)))
		if (!strcmp(ktau_display_name(ktau_event_name(event)), name))
			found = ktau_profile_find(p, event->id);
	return found ? *found : (struct ktau_entry){ 0 };
}

struct ktau_entry self_sum(const struct ktau_rec_profile *p, const char *prefix)
{
	const struct ktau_events *events = ktau_reader_events(reader);
	const struct ktau_rec_event *event = NULL;
	const struct ktau_entry *e;
	struct ktau_entry sum = { 0 };

	while ((event = ktau_events_next(events, event))) {
		e = ktau_profile_find(p, event->id);
		if (!e || strncmp(ktau_display_name(ktau_event_name(event)), prefix,
				  strlen(prefix)))
			continue;
		sum.count += e->count;
		sum.incl += e->incl;
		sum.excl += e->excl;
		sum.asleep += e->asleep;
		sum.runq += e->runq;
		sum.irq += e->irq;
	}
	return sum;
}

char *self_map_fresh(size_t bytes)
{
	char *fresh;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		self_die("mlockall", -errno);
	/* The first snapshots allocate the memory that later ones reuse. */
	for (int i = 0; i < 3; i++)
		ktau_record_free(self_profile(0));
	fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		self_die("mmap", -errno);
	madvise(fresh, bytes, MADV_NOHUGEPAGE); /* an error means that there are none */
	if (munlock(fresh, bytes) || madvise(fresh, bytes, MADV_DONTNEED))
		self_die("madvise", -errno);
	return fresh;
}

void self_unmap_fresh(char *fresh, size_t bytes)
{
	munmap(fresh, bytes);
	munlockall();
}

uint64_t self_group_count(const struct ktau_rec_profile *p, uint32_t group)
{
	const struct ktau_events *events = ktau_reader_events(reader);
	const struct ktau_rec_event *event = NULL;
	const struct ktau_entry *e;
	uint64_t count = 0;

	while ((event = ktau_events_next(events, event))) {
		e = ktau_profile_find(p, event->id);
		if (e && event->group == group)
			count += e->count;
	}
	return count;
}

double self_seconds(uint64_t ticks)
{
	return (double)ktau_clock_ns(&ktau_time, ticks) / 1e9;
}

uint64_t self_stat(const char *name)
{
	FILE *file = fopen("/proc/ktau/stats", "re");
	char line[128], key[64];
	uint64_t value;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %" SCNu64, key, &value) == 2 && !strcmp(key, name)) {
			fclose(file);
			return value;
		}
	self_die(name, -ENOENT);
}

void self_connection(int end[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(end[0], (struct sockaddr *)&address, len))
		self_die("connection", -errno);
	end[1] = accept(listener, NULL, NULL);
	if (end[1] < 0)
		self_die("accept", -errno);
	close(listener);
}

void self_expect(const char *what, uint64_t got, uint64_t want)
{
	tap_ok(got == want, "%s: %" PRIu64 ", expected %" PRIu64, what, got, want);
}

void self_expect_within(const char *what, double inner, double outer)
{
	bool good = inner <= outer * 1.0001 && (!tap_exact_time() || inner >= outer * 0.98);

	tap_ok(good, "%s: %.6f s within %.6f s%s", what, inner, outer,
	       tap_exact_time() ? ", at least 98 %" : "");
}
