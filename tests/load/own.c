// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "own.h"

static struct ktau_clock ktau_time;
static struct ktau_reader *reader;
int own_failures;

_Noreturn void own_die(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(-err));
	exit(1);
}

/* For reading. */
FILE *own_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		own_die(path, -errno);
	return file;
}

void own_open(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_SELF };
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ktau_reader_create(&reader);
	if (!err)
		err = ktau_reader_open_live(reader, &query);
	if (err)
		own_die("/proc/ktau/profile", err);
}

void own_close(void)
{
	ktau_reader_destroy(reader);
}

void own_start(const struct ktau_query *query)
{
	int err = ktau_reader_restart(reader, query);

	if (err)
		own_die("/proc/ktau/profile", err);
}

int own_next(union ktau_record *record)
{
	int ret = ktau_reader_next(reader, record);

	if (ret < 0)
		own_die(ktau_reader_error(reader), ret);
	return ret;
}

struct ktau_rec_profile *own_profile(pid_t tid)
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

	own_start(&query);
	while (own_next(&record) > 0) {
		if (record.rec->type == KTAU_REC_STREAM)
			ktau_clock_init(&ktau_time, record.stream);
		if (record.rec->type == KTAU_REC_PROFILE && !copy)
			copy = ktau_record_dup(record.rec);
	}
	if (!copy)
		own_die("no profile of this task", -ENODATA);
	if (ktau_check_identity(copy, &excl, &outer)) {
		printf("not ok - identity: %" PRIu64 " ticks, not %" PRIu64 "\n", excl, outer);
		own_failures++;
	}
	return copy;
}

const struct ktau_rec_owner *own_owner(uint64_t serial)
{
	return ktau_reader_owner(reader, serial);
}

struct ktau_rec_profile *own_added(struct ktau_rec_profile *before,
				   struct ktau_rec_profile *now)
{
	struct ktau_rec_profile *diff;
	int err = ktau_profile_diff(now, before, &diff);

	if (err)
		own_die("difference", err);
	ktau_record_free(before);
	ktau_record_free(now);
	return diff;
}

struct ktau_entry own_entry(const struct ktau_rec_profile *p, const char *name)
{
	const struct ktau_events *events = ktau_reader_events(reader);
	const struct ktau_rec_event *event = NULL;
	const struct ktau_entry *found = NULL;

	while (!found && (event = ktau_events_next(events, event)))
		if (!strcmp(ktau_display_name(ktau_event_name(event)), name))
			found = ktau_profile_find(p, event->id);
	return found ? *found : (struct ktau_entry){ 0 };
}

struct ktau_entry own_sum(const struct ktau_rec_profile *p, const char *prefix)
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

double own_seconds(uint64_t ticks)
{
	return (double)ktau_clock_ns(&ktau_time, ticks) / 1e9;
}

void own_connection(int end[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(end[0], (struct sockaddr *)&address, len))
		own_die("connection", -errno);
	end[1] = accept(listener, NULL, NULL);
	if (end[1] < 0)
		own_die("accept", -errno);
	close(listener);
}

void own_expect(const char *what, uint64_t got, uint64_t want)
{
	printf("%s - %s: %" PRIu64, got == want ? "ok" : "not ok", what, got);
	if (got != want) {
		printf(", not %" PRIu64, want);
		own_failures++;
	}
	putchar('\n');
}
