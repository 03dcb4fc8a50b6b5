/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbers of KTAU_ENCODE_DELTA; see delta.c. */
#ifndef KTAU_INTERNAL_NUMBER_H
#define KTAU_INTERNAL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Most bytes of a number. */
#define KTAU__NUMBER_BYTES	10

/* Return: the end of the number. */
static inline uint8_t *ktau__write_number(uint8_t *to, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*to++ = value | 128;
	*to++ = value;
	return to;
}

/* Return: the end of the number; NULL if it has none, or more than 64 bits. */
static inline const uint8_t *ktau__read_number(const uint8_t *from, const uint8_t *end,
					       uint64_t *value)
{
	unsigned int shift;
	uint8_t byte;

	*value = 0;
	for (shift = 0; shift < 64 && from < end; shift += 7) {
		byte = *from++;
		*value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return shift == 63 && byte > 1 ? NULL : from;
	}
	return NULL;
}

/* A difference as an unsigned number: small if the difference is, negative or not. */
static inline uint64_t ktau__zigzag(uint64_t d)
{
	return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t ktau__unzigzag(uint64_t number)
{
	return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

#endif /* KTAU_INTERNAL_NUMBER_H */
