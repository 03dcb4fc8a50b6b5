/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any writer's record to normal form. */
#ifndef KTAU_INTERNAL_DECODE_H
#define KTAU_INTERNAL_DECODE_H

#include "buffer.h"

/* The first 8 bytes of a record, in this machine's byte order. */
struct ktau_rec ktau__decode_rec(const void *data, bool swap);

/* NULL if a record can have this size and this fixed part, else what is wrong. */
const char *ktau__bad_rec(const struct ktau_rec *rec);

/*
 * Convert the @rec.size bytes at @data, whose size and fixed part ktau__bad_rec() has
 * checked. Returns 1 with the normal form in @out; 0 for an unknown type; -EBADMSG with the
 * contradiction in *@why; -ENOMEM.
 */
int ktau__decode(const void *data, bool swap, struct ktau__buffer *out, const char **why);

/* NULL if a record is in normal form and can be in a file, else what is wrong with it. */
const char *ktau__bad_record(const union ktau_record *record);

#endif /* KTAU_INTERNAL_DECODE_H */
