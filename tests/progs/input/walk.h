/* SPDX-License-Identifier: GPL-2.0-only */
/* Check that a stream that is read in pieces of any size consists of complete records. */
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
 * @at: bytes of it received so far
 * @nr: complete records
 * @end: the END record, or zeros
 */
struct walk {
	struct ktau_rec rec;
	uint32_t at;
	unsigned int nr;
	struct ktau_rec_end end;
};

/* Add @bytes bytes; false if they are not records. */
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

/* Read to the end in steps of @step bytes at @to; true if END is the last complete record. */
static inline bool walk_on(int fd, struct walk *w, char *to, size_t step)
{
	ssize_t got;

	while ((got = read(fd, to, step)) > 0)
		if (!walk(w, to, (size_t)got))
			return false;
	return !got && !w->at && w->rec.type == KTAU_REC_END;
}

#endif /* KTAU_TESTS_WALK_H */
