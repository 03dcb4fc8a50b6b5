/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of profiles. */
#ifndef KTAU_INTERNAL_PROFILE_H
#define KTAU_INTERNAL_PROFILE_H

#include "util.h"

/* A profile under construction; the entries are in ascending order of their ids. */
struct ktau__sum {
	struct ktau_rec_profile head;
	struct ktau_entry *entries;
	uint32_t nr;
	uint32_t room;
};

/* What to do with an entry of a kind that cannot be added. */
enum ktau__foreign { KTAU__FOREIGN_DROP, KTAU__FOREIGN_REPLACE };

void ktau__head_add(struct ktau_rec_profile *to, const struct ktau_rec_profile *from);
int ktau__sum_entries(struct ktau__sum *sum, const struct ktau_rec_profile *from,
		      enum ktau__foreign foreign);

/* A PROFILE record of @sum with the frames in flight of @frames, which may be NULL. */
struct ktau_rec_profile *ktau__sum_record(const struct ktau__sum *sum,
					  const struct ktau_rec_profile *frames);
void ktau__sum_free(struct ktau__sum *sum);

/* @base + @diff as a new PROFILE record with @diff's frames. */
int ktau__profile_add(const struct ktau_rec_profile *base,
		      const struct ktau_rec_profile *diff,
		      struct ktau_rec_profile **sum);

/* True if the ids of all entries ascend. */
bool ktau__profile_ordered(const struct ktau_rec_profile *p);

#endif /* KTAU_INTERNAL_PROFILE_H */
