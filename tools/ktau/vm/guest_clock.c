// SPDX-License-Identifier: GPL-2.0-only
#include "guest_clock.h"

bool guest_clock_is_valid(const struct guest_clock *c)
{
	return c->ratio && c->frac_bits < 64;
}

/* The upper and lower half of a * b. */
static uint64_t multiply(uint64_t a, uint64_t b, uint64_t *low)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	uint64_t other = a0 * b1 + (uint32_t)middle;

	*low = a * b;
	return a1 * b1 + (middle >> 32) + (other >> 32);
}

uint64_t guest_clock_to_guest(const struct guest_clock *c, uint64_t host)
{
	uint64_t low, high = multiply(host, c->ratio, &low);

	if (c->frac_bits)
		low = low >> c->frac_bits | high << (64 - c->frac_bits);
	return low + c->offset;
}

/* (@high * 2^64 + @low) / @divisor, rounded up, at most UINT64_MAX. */
static uint64_t divide_up(uint64_t high, uint64_t low, uint64_t divisor)
{
	uint64_t quotient = 0, carry;
	int i;

	if (high >= divisor)
		return UINT64_MAX;
	for (i = 0; i < 64; i++) {
		carry = high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (carry || high >= divisor) {
			high -= divisor;
			quotient |= 1;
		}
	}
	return quotient + (high && quotient != UINT64_MAX);
}

uint64_t guest_clock_to_host(const struct guest_clock *c, uint64_t guest)
{
	uint64_t scaled = guest - c->offset;

	if (c->ratio == 1ULL << c->frac_bits)
		return scaled;
	return divide_up(c->frac_bits ? scaled >> (64 - c->frac_bits) : 0, scaled << c->frac_bits,
			 c->ratio);
}
