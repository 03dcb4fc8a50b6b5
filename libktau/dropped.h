/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exited tasks that a snapshot has dropped but still includes in its sum. */
#ifndef KTAU_INTERNAL_DROPPED_H
#define KTAU_INTERNAL_DROPPED_H

#include "buffer.h"
#include "delta.h"
#include "map.h"
#include "profile.h"

struct ktau__dropped {
	struct ktau__map by_serial;	/* serial -> offset in @tasks */
	struct ktau__buffer tasks;
	size_t removed_bytes;		/* of @tasks: removed, still in @by_serial */
	size_t nr;			/* without the removed ones */
	struct ktau__encoder *encoder;	/* NULL before the first */
	struct ktau__buffer coded;	/* the last one that was put */
};

/* Keep the figures of @owned in place of those of the same serial. 0, -ENOMEM. */
int ktau__dropped_put(struct ktau__dropped *dropped, const struct ktau_owned *owned);
bool ktau__dropped_has(const struct ktau__dropped *dropped, uint64_t serial);
void ktau__dropped_remove(struct ktau__dropped *dropped, uint64_t serial);

/* Call @fn for the profile of each. 0, -ENOMEM, or what @fn has returned to end. */
int ktau__dropped_each(const struct ktau__dropped *dropped, ktau_profile_fn fn, void *arg);

/* Add what their OWNER records count to @total. */
void ktau__dropped_count(const struct ktau__dropped *dropped, struct ktau_rec_owner *total);
void ktau__dropped_clear(struct ktau__dropped *dropped);
void ktau__dropped_free(struct ktau__dropped *dropped);

#endif /* KTAU_INTERNAL_DROPPED_H */
