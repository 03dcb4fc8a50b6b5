/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* KTAU_ENCODE_DELTA. */
#ifndef KTAU_INTERNAL_DELTA_H
#define KTAU_INTERNAL_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

/* Encodes the records of one payload after the other. */
struct ktau__encoder;

/* NULL without memory. */
struct ktau__encoder *ktau__encoder_create(void);
void ktau__encoder_destroy(struct ktau__encoder *encoder);

/* The next record is the first one of a payload. */
void ktau__encoder_start(struct ktau__encoder *encoder);

/*
 * Append @record, which ktau__bad_record() has accepted, as one of @type. 0; -ENOMEM, and nothing
 * has been done.
 */
int ktau__encoder_put(struct ktau__encoder *encoder, const void *record, uint16_t type,
		      struct ktau__buffer *out);

/* 0, -EBADMSG, -ENOMEM. */
int ktau__delta_decode(const uint8_t *data, size_t size, bool swap, struct ktau__buffer *out);

#endif /* KTAU_INTERNAL_DELTA_H */
