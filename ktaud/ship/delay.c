// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>

#include "delay.h"

#define NS_PER_MS 1000000
#define MAX_RETRY_NS 30000000000ULL

uint64_t ship_delay_ns(uint64_t every_ns, uint64_t last_ns, bool good)
{
	if (good)
		return every_ns;
	return last_ns < MAX_RETRY_NS / 2 ? 2 * last_ns : MAX_RETRY_NS;
}

int ship_delay_ms(uint64_t ns)
{
	return ns / NS_PER_MS < INT_MAX ? (int)(ns / NS_PER_MS) : INT_MAX;
}

uint64_t ship_delay_jitter_ns(uint64_t ns, unsigned long random)
{
	return ns - (ns / 2 >> 16) * (random & 0xffff);
}
