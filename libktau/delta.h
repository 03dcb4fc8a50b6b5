/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* KTAU_ENCODE_DELTA. */
#ifndef KTAU_INTERNAL_DELTA_H
#define KTAU_INTERNAL_DELTA_H

#include "buffer.h"

/* 0, -EINVAL if @data is not a sequence of records, -ENOMEM. */
int ktau__delta_encode(const uint8_t *data, size_t size, struct ktau__buffer *out);

/* 0, -EBADMSG, -ENOMEM. */
int ktau__delta_decode(const uint8_t *data, size_t size, bool swap, struct ktau__buffer *out);

#endif /* KTAU_INTERNAL_DELTA_H */
