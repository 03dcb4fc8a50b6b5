/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace of one task, decoded without the library, so that the tests do not depend on
 * it.
 */
#ifndef KTAU_TESTS_SLOTS_H
#define KTAU_TESTS_SLOTS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "tap.h"

_Noreturn static inline void die(const char *what)
{
	fprintf(stderr, "slots: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The trace of one task or of all tasks, from some time on. */
struct trace {
	size_t len;
	_Alignas(8) unsigned char bytes[8 << 20];
};

static struct trace trace;

/* @tid: 0 for all tasks; @flags: KTAU_SELECT_* */
static inline void load_with(pid_t tid, uint64_t since, unsigned int flags)
{
	int32_t tids[] = { tid };
	struct ktau_select select = {
		.size = sizeof(select),
		.flags = flags,
		.target = tid ? KTAU_TARGET_LIST : KTAU_TARGET_ALL,
		.nr_pids = !!tid,
		.pids = tid ? (uintptr_t)tids : 0,
		.since_ticks = since,
	};
	int fd = open("/proc/ktau/trace", O_RDONLY);
	ssize_t n;

	if (fd < 0 || ioctl(fd, KTAU_IOC_SELECT, &select))
		die("/proc/ktau/trace");
	trace.len = 0;
	while ((n = read(fd, trace.bytes + trace.len, sizeof(trace.bytes) - trace.len)) > 0)
		trace.len += n;
	if (n < 0)
		die("read /proc/ktau/trace");
	close(fd);
}

static inline void load(pid_t tid, uint64_t since)
{
	load_with(tid, since, 0);
}

/*
 * The slot after @slot, NULL for the first, that has @type, or any if that is 0;
 * NULL at the end.
 */
static inline const struct ktau_slot *next_slot(const struct ktau_slot *slot, unsigned int type)
{
	static size_t record, at;
	const struct ktau_rec_trace *rec;

	if (!slot)
		record = at = 0;
	while (record < trace.len) {
		rec = (const void *)(trace.bytes + record);
		if (!at)
			at = rec->rec.head;
		if (rec->rec.type != KTAU_REC_TRACE ||
		    at >= rec->rec.head + (size_t)rec->slots_bytes) {
			record += rec->rec.size;
			at = 0;
			continue;
		}
		slot = (const void *)(trace.bytes + record + at);
		at += slot->words * 8UL;
		if (!type || slot->type == type)
			return slot;
	}
	return NULL;
}

static inline unsigned int count(unsigned int type)
{
	const struct ktau_slot *slot = NULL;
	unsigned int nr = 0;

	while ((slot = next_slot(slot, type)))
		nr++;
	return nr;
}

/* The current time in the unit of slots. */
static inline uint64_t now(void)
{
	int fd = open("/proc/ktau/trace", O_RDONLY);
	struct ktau_rec_stream stream;

	if (fd < 0 || read(fd, &stream, sizeof(stream)) != sizeof(stream))
		die("/proc/ktau/trace");
	close(fd);
	return stream.ticks;
}

#endif /* KTAU_TESTS_SLOTS_H */
