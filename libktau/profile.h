/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of profiles. */
#ifndef KTAU_INTERNAL_PROFILE_H
#define KTAU_INTERNAL_PROFILE_H

#include "util.h"

/* Add the times and counts outside the entries. */
void ktau__head_add(struct ktau_rec_profile *to, const struct ktau_rec_profile *from);

/*
 * A copy of @after in which the times and counts are the increase since @before, which may be NULL.
 * 0, -ENOMEM, -EINVAL if the serials differ.
 */
int ktau__owner_diff(const struct ktau_rec_owner *after, const struct ktau_rec_owner *before,
		     struct ktau_rec_owner **out);

/* A PROFILE record with @head's fixed part, without entries and frames; NULL without memory. */
struct ktau_rec_profile *ktau__profile_create(const struct ktau_rec_profile *head);

/*
 * Merge the entries of @from, which ascend, into *@p, which has no frames. Entries of a kind
 * that this library cannot add are left out. The record may move. 0, -ENOMEM with part of it
 * added.
 */
int ktau__profile_add(struct ktau_rec_profile **p, const struct ktau_rec_profile *from);

/*
 * Add @diff, whose entries ascend, to the profile that it was taken from. The record may
 * move. 0, -ENOMEM with nothing added.
 */
int ktau__profile_apply(struct ktau_rec_profile **p, const struct ktau_rec_profile *diff);

/* A copy as PROFILE record with entries in ascending order, each id once. 0, -ENOMEM. */
int ktau__profile_copy(const struct ktau_rec_profile *profile, struct ktau_rec_profile **copy);

/* True if the ids of all entries ascend. */
bool ktau__profile_ordered(const struct ktau_rec_profile *p);

#endif /* KTAU_INTERNAL_PROFILE_H */
