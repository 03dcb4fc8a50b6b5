/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what the files of its KUnit tests share.
 */
#ifndef _KERNEL_KTAU_TEST_H
#define _KERNEL_KTAU_TEST_H

#include <kunit/test.h>
#include <linux/slab.h>

#include "ktau.h"

/* Write @words to the control file, and what they come to. */
static inline int control(const char *words)
{
	char *copy = kstrdup(words, GFP_KERNEL);
	int err = copy ? ktau_control_write(copy) : -ENOMEM;

	kfree(copy);
	return err;
}

static inline const struct ktau_entry *
find(const struct ktau_rec_profile *rec, u32 id)
{
	const struct ktau_entry *entry = (const void *)(rec + 1);
	static const struct ktau_entry none;
	u32 i;

	for (i = 0; i < rec->nr_entries; i++)
		if (entry[i].id == id)
			return &entry[i];
	return &none;
}

static inline void expect_identity(struct kunit *test,
				   const struct ktau_rec_profile *rec)
{
	const struct ktau_entry *entry = (const void *)(rec + 1);
	u64 sum = rec->refused_ticks;
	u32 i;

	for (i = 0; i < rec->nr_entries; i++)
		if (entry[i].kind == KTAU_KIND_TIMER)
			sum += entry[i].excl;
	KUNIT_EXPECT_EQ(test, sum, rec->outer_ticks + rec->open_child_ticks);
}

#endif /* _KERNEL_KTAU_TEST_H */
