/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Byte order. */
#ifndef KTAU_INTERNAL_SWAP_H
#define KTAU_INTERNAL_SWAP_H

#include "util.h"

static inline uint16_t ktau__swap16(uint16_t value, bool swap)
{
	return swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t ktau__swap32(uint32_t value, bool swap)
{
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t ktau__swap64(uint64_t value, bool swap)
{
	return swap ? __builtin_bswap64(value) : value;
}

/*
 * Reverse the bytes of each field of @size bytes at @data. @fields has a character for each
 * field: its size as a digit, or "s" for eight bytes of text, which have no byte order.
 * Anything after the last field is left alone.
 */
void ktau__swap_fields(void *data, size_t size, const char *fields);

#endif /* KTAU_INTERNAL_SWAP_H */
