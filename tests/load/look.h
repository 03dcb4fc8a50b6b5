/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom a stream shows, without the library: what the kernel gives is what counts. */
#ifndef TESTS_LOAD_LOOK_H
#define TESTS_LOAD_LOOK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#define LOOK_BYTES (4 << 20)
#define LOOK_OWNERS 1024

struct found {
	struct ktau_rec_stream stream;
	unsigned int nr;
	struct ktau_owner owner[LOOK_OWNERS];
	struct ktau_rec_end end;
};

static inline void look_take(struct found *found, const struct ktau_rec *rec, int32_t tid)
{
	struct ktau_owner owner;

	if (rec->type == KTAU_REC_STREAM) {
		memcpy(&found->stream, rec, sizeof(found->stream));
	} else if (rec->type == KTAU_REC_END) {
		memcpy(&found->end, rec, sizeof(found->end));
	} else {
		memcpy(&owner, rec + 1, sizeof(owner));
		if ((!tid || owner.tid == tid) && found->nr < LOOK_OWNERS)
			found->owner[found->nr++] = owner;
	}
}

/* What is left of a stream; of the owners those with @tid, or all if that is 0. */
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
		if (rec->size < sizeof(*rec) || at + rec->size > have)
			return -1;
		look_take(found, rec, tid);
	}
	return got < 0 || found->end.rec.type != KTAU_REC_END ? -1 : 0;
}

static inline int look_select(int fd, uint32_t target, int32_t tid)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.version = KTAU_ABI_VERSION,
		.target = target,
		.flags = KTAU_SELECT_PEEK,
	};

	if (target & KTAU_TARGET_LIST) {
		select.pids = (uintptr_t)&tid;
		select.nr_pids = 1;
	}
	return ioctl(fd, KTAU_IOC_SELECT, &select);
}

/* A stream of its own for @target. */
static inline int look_for(int fd, uint32_t target, int32_t tid, struct found *found)
{
	memset(found, 0, sizeof(*found));
	return look_select(fd, target, tid) ? -1 : look_on(fd, tid, found);
}

#endif /* TESTS_LOAD_LOOK_H */
