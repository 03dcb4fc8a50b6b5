/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream read in pieces of any size: are they whole records? */
#ifndef KTAU_TESTS_WALK_H
#define KTAU_TESTS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <linux/ktau.h>

/**
 * struct walk - a stream as it is read
 * @rec: head of the record that is being read
 * @at: bytes of it that have come
 * @nr: records that are whole
 * @end: the last one, or zeros
 */
struct walk {
	struct ktau_rec rec;
	uint32_t at;
	unsigned int nr;
	struct ktau_rec_end end;
};

/* Take @bytes more; false where they are no records. */
static inline bool walk(struct walk *w, const char *data, size_t bytes)
{
	for (; bytes; data++, bytes--) {
		if (w->at < sizeof(w->rec))
			((char *)&w->rec)[w->at] = *data;
		w->at++;
		if (w->at < sizeof(w->rec))
			continue;
		if (w->rec.size < sizeof(w->rec) || w->rec.size % 8 || w->rec.head < 8 ||
		    w->rec.head > w->rec.size || (!w->nr && w->rec.type != KTAU_REC_STREAM))
			return false;
		if (w->rec.type == KTAU_REC_END && w->at <= sizeof(w->end))
			((char *)&w->end)[w->at - 1] = *data;
		if (w->at == w->rec.size) {
			w->nr++;
			w->at = 0;
		}
	}
	return true;
}

/* Read to the end in steps of @step bytes at @to: whole records, and an END as the last. */
static inline bool walk_on(int fd, struct walk *w, char *to, size_t step)
{
	ssize_t got;

	while ((got = read(fd, to, step)) > 0)
		if (!walk(w, to, (size_t)got))
			return false;
	return !got && !w->at && w->rec.type == KTAU_REC_END;
}

#endif /* KTAU_TESTS_WALK_H */
