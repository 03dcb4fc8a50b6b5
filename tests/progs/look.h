/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tasks a stream shows, from the kernel's bytes, without the library. */
#ifndef KTAU_TESTS_LOOK_H
#define KTAU_TESTS_LOOK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#define LOOK_BYTES (4 << 20)
#define LOOK_OWNERS 1024

/**
 * struct found - contents of a stream
 * @stream: its first record
 * @nr_described: OWNER records
 * @described: the last LOOK_OWNERS of them
 * @nr: number of owners with a profile or a ring
 * @owner: these owners
 * @end: its last record
 */
struct found {
	struct ktau_rec_stream stream;
	unsigned int nr_described;
	struct ktau_rec_owner described[LOOK_OWNERS];
	unsigned int nr;
	struct ktau_rec_owner owner[LOOK_OWNERS];
	struct ktau_rec_end end;
};

/* Copy the fixed part of a record, up to the size that kernel and program both know. */
static inline void look_copy(void *to, size_t size, const struct ktau_rec *rec)
{
	memset(to, 0, size);
	memcpy(to, rec, rec->head < size ? rec->head : size);
}

static inline const struct ktau_rec_owner *look_owner(const struct found *found,
						      uint64_t serial)
{
	unsigned int i, nr = found->nr_described < LOOK_OWNERS ? found->nr_described : LOOK_OWNERS;

	for (i = 0; i < nr; i++)
		if (found->described[i].serial == serial)
			return &found->described[i];
	return NULL;
}

/* Returns false for a profile or a ring without a preceding OWNER. */
static inline bool look_take_owned(struct found *found, uint64_t serial, int32_t tid)
{
	const struct ktau_rec_owner *owner = look_owner(found, serial);

	if (!owner)
		return false;
	/* A long ring has several records. */
	if (found->nr && found->owner[found->nr - 1].serial == serial)
		return true;
	if ((!tid || owner->tid == tid) && found->nr < LOOK_OWNERS)
		found->owner[found->nr++] = *owner;
	return true;
}

static inline bool look_take(struct found *found, const struct ktau_rec *rec, int32_t tid)
{
	switch (rec->type) {
	case KTAU_REC_STREAM:
		look_copy(&found->stream, sizeof(found->stream), rec);
		break;
	case KTAU_REC_END:
		look_copy(&found->end, sizeof(found->end), rec);
		break;
	case KTAU_REC_OWNER:
		look_copy(&found->described[found->nr_described++ % LOOK_OWNERS],
			  sizeof(found->described[0]), rec);
		break;
	case KTAU_REC_PROFILE:
		return look_take_owned(found, ((const struct ktau_rec_profile *)rec)->serial, tid);
	case KTAU_REC_TRACE:
		return look_take_owned(found, ((const struct ktau_rec_trace *)rec)->serial, tid);
	}
	return true;
}

/* Read the rest of a stream; keep owners with @tid, or all owners if @tid is 0. */
static inline int look_on(int fd, int32_t tid, struct found *found)
{
	static _Alignas(8) char bytes[LOOK_BYTES];
	const struct ktau_rec *rec;
	size_t have = 0, at;
	ssize_t got;

	memset(found, 0, sizeof(*found));
	while ((got = read(fd, bytes + have, sizeof(bytes) - have)) > 0)
		have += (size_t)got;
	for (at = 0; at + sizeof(*rec) <= have; at += rec->size) {
		rec = (const struct ktau_rec *)(bytes + at);
		if (rec->size < sizeof(*rec) || at + rec->size > have || rec->head > rec->size)
			return -1;
		if (!look_take(found, rec, tid))
			return -1;
	}
	return got < 0 || found->end.rec.type != KTAU_REC_END ? -1 : 0;
}

static inline int look_select(int fd, uint32_t target, int32_t tid)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.target = target,
	};

	if (target & KTAU_TARGET_LIST) {
		select.pids = (uintptr_t)&tid;
		select.nr_pids = 1;
	}
	return ioctl(fd, KTAU_IOC_SELECT, &select);
}

/* Begin and read a stream for @target. */
static inline int look_for(int fd, uint32_t target, int32_t tid, struct found *found)
{
	memset(found, 0, sizeof(*found));
	return look_select(fd, target, tid) ? -1 : look_on(fd, tid, found);
}

#endif /* KTAU_TESTS_LOOK_H */
