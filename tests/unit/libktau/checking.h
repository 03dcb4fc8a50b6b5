/* SPDX-License-Identifier: GPL-2.0-only */
/* Passing streams to the checker, for its tests. Include cmocka.h first. */
#ifndef KTAU_TESTS_CHECKING_H
#define KTAU_TESTS_CHECKING_H

#include <string.h>

#include <ktau.h>

#include "encode.h"

struct found {
	unsigned int nr;
	enum ktau_finding_code code;
	char text[256];
	uint64_t serial;
};

static inline void note(void *arg, const struct ktau_finding *finding)
{
	struct found *found = arg;

	found->nr++;
	found->code = finding->code;
	found->serial = finding->serial;
	strncpy(found->text, finding->text, sizeof(found->text) - 1);
}

/* Check all of @s and free it. */
static inline struct found check(struct stream *s, struct ktau_check_counts *counts)
{
	struct found found = { 0 };
	struct ktau_check *c;
	struct ktau_reader *r;
	union ktau_record rec;
	int nr = 0, err;

	assert_int_equal(ktau_check_create(&c, note, &found), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	while (ktau_reader_next(r, &rec) > 0) {
		err = ktau_check_record(c, &rec);
		assert_true(err >= 0);
		nr += err;
	}
	assert_int_equal(nr, found.nr);
	if (counts)
		*counts = *ktau_check_counts(c);
	ktau_reader_destroy(r);
	ktau_check_destroy(c);
	stream_free(s);
	return found;
}

#endif /* KTAU_TESTS_CHECKING_H */
