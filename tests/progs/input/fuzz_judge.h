/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check that a stream has only data that the opener of its descriptor may see. The stream
 * begins at its beginning and may end anywhere.
 */
#ifndef KTAU_TESTS_FUZZ_JUDGE_H
#define KTAU_TESTS_FUZZ_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/ktau.h>

/* The system call that only the set-uid program makes, as root: getpriority() of x86-64. */
#define SECRET 140

/**
 * struct opener - credentials with which a descriptor was opened
 * @uid: real user id, in the opener's user namespace
 * @privileged: the opener may see all tasks
 * @contained: the opener is in a user namespace of its own
 */
struct opener {
	uint32_t uid;
	bool privileged;
	bool contained;
};

#define JUDGED_OWNERS 4096

struct judge {
	const struct opener *opener;
	unsigned int nr;
	unsigned int nr_shown; /* profiles and rings */
	char why[160];
	struct ktau_rec_owner owner[JUDGED_OWNERS];
};

static inline const struct ktau_rec_owner *judge_owner(const struct judge *judge, uint64_t serial)
{
	unsigned int i;

	for (i = judge->nr; i; i--)
		if (judge->owner[i - 1].serial == serial)
			return &judge->owner[i - 1];
	return NULL;
}

static inline bool judge_stream(struct judge *judge, const struct ktau_rec_stream *stream)
{
	const uint32_t never = KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME;

	if (stream->magic != KTAU_MAGIC || stream->version != KTAU_ABI_VERSION) {
		snprintf(judge->why, sizeof(judge->why), "no magic number, or version %u",
			 stream->version);
		return false;
	}
	if (judge->opener->privileged || !(stream->access & never))
		return true;
	snprintf(judge->why, sizeof(judge->why), "user %u has access %#x", judge->opener->uid,
		 stream->access);
	return false;
}

/* Whether a profile or ring of @serial may be shown. */
static inline bool judge_shown(struct judge *judge, uint64_t serial)
{
	const struct ktau_rec_owner *owner = judge_owner(judge, serial);

	judge->nr_shown++;
	if (!owner) {
		snprintf(judge->why, sizeof(judge->why),
			 "a record of serial %llu without a preceding owner",
			 (unsigned long long)serial);
		return false;
	}
	if (judge->opener->privileged ||
	    (owner->uid == judge->opener->uid && owner->kind <= KTAU_OWNER_EXITED &&
	     !(owner->flags & (KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD))))
		return true;
	snprintf(judge->why, sizeof(judge->why),
		 "user %u got a record of user %u: kind %u, flags %#x, tid %d, %.16s",
		 judge->opener->uid, owner->uid, owner->kind, owner->flags, owner->tid,
		 owner->comm);
	return false;
}

/* The calls that a set-uid program made as root are hidden from its user. */
static inline bool judge_id(struct judge *judge, unsigned int id, const char *where)
{
	if (judge->opener->privileged || id != SECRET)
		return true;
	snprintf(judge->why, sizeof(judge->why), "user %u sees calls made as root, in %s",
		 judge->opener->uid, where);
	return false;
}

static inline bool judge_profile(struct judge *judge, const struct ktau_rec_profile *rec)
{
	const char *at = (const char *)rec + rec->rec.head;
	uint32_t i;

	if (!judge_shown(judge, rec->serial))
		return false;
	for (i = 0; i < rec->nr_entries; i++, at += rec->entry_size)
		if (!judge_id(judge, ((const struct ktau_entry *)at)->id, "an entry"))
			return false;
	for (i = 0; i < rec->nr_open; i++, at += rec->open_size)
		if (!judge_id(judge, ((const struct ktau_open *)at)->id, "a frame in flight"))
			return false;
	return at <= (const char *)rec + rec->rec.size;
}

static inline bool judge_trace(struct judge *judge, const struct ktau_rec_trace *rec)
{
	const char *at = (const char *)rec + rec->rec.head, *end = at + rec->slots_bytes;

	if (!judge_shown(judge, rec->serial) || end > (const char *)rec + rec->rec.size)
		return false;
	while (at < end) {
		const struct ktau_slot *slot = (const struct ktau_slot *)at;

		if (slot->words < 2 || !judge_id(judge, slot->id, "a slot"))
			return false;
		at += slot->words * 8;
	}
	return true;
}

static inline bool judge_end(struct judge *judge, const struct ktau_rec_end *end)
{
	if (!judge->opener->contained || end->losses_own == 1)
		return true;
	snprintf(judge->why, sizeof(judge->why), "a container gets the machine's losses");
	return false;
}

static inline bool judge_record(struct judge *judge, const struct ktau_rec *rec)
{
	switch (rec->type) {
	case KTAU_REC_STREAM:
		return judge_stream(judge, (const void *)rec);
	case KTAU_REC_OWNER:
		if (judge->nr < JUDGED_OWNERS)
			memcpy(&judge->owner[judge->nr++], rec, sizeof(judge->owner[0]));
		return true;
	case KTAU_REC_PROFILE:
		return judge_profile(judge, (const void *)rec);
	case KTAU_REC_TRACE:
		return judge_trace(judge, (const void *)rec);
	case KTAU_REC_END:
		return judge_end(judge, (const void *)rec);
	default:
		return true;
	}
}

/* Check the first @bytes of a stream; false, with the reason in @judge->why, if not allowed. */
static inline bool judge(struct judge *judge, const struct opener *opener, const char *data,
			 size_t bytes)
{
	const struct ktau_rec *rec;
	size_t at;

	judge->opener = opener;
	judge->nr = 0;
	judge->nr_shown = 0;
	snprintf(judge->why, sizeof(judge->why), "malformed");
	for (at = 0; at + sizeof(*rec) <= bytes; at += rec->size) {
		rec = (const struct ktau_rec *)(data + at);
		if (rec->size < sizeof(*rec) || rec->size % 8 || rec->head > rec->size ||
		    (!at && rec->type != KTAU_REC_STREAM))
			return false;
		if (at + rec->size > bytes)
			break;
		if (!judge_record(judge, rec))
			return false;
	}
	return true;
}

#endif /* KTAU_TESTS_FUZZ_JUDGE_H */
