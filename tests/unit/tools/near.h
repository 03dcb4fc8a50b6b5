/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures that may differ by a little; after cmocka.h. */
#ifndef KTAU_TOOLS_NEAR_H
#define KTAU_TOOLS_NEAR_H

#include <stdint.h>

static inline void assert_near(uint64_t value, uint64_t expected, uint64_t by)
{
	if (value + by < expected || value > expected + by)
		fail_msg("%llu, not %llu", (unsigned long long)value,
			 (unsigned long long)expected);
}

#endif
