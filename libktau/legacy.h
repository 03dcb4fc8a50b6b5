/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef KTAU_INTERNAL_LEGACY_H
#define KTAU_INTERNAL_LEGACY_H

#include "internal.h"

/* All of a reader as one stream with the event table in it, less the baseline. */
int ktau__legacy_pack(struct ktau_reader *reader, const struct ktau_snapshot *baseline,
		      struct ktau__buffer *out);

#endif /* KTAU_INTERNAL_LEGACY_H */
