// SPDX-License-Identifier: GPL-2.0-only
#include "import.h"

/* Some compilers have no type of 128 bits. */
uint64_t import_ns(uint64_t cycles, uint64_t hz)
{
	const uint64_t second = 1000000000;
	uint64_t seconds, rest, ns;

	hz = hz ? hz : second;
	seconds = cycles / hz;
	rest = cycles % hz;
	if (seconds >= IMPORT_MOST_NS / second)
		return IMPORT_MOST_NS;
	for (; hz > UINT64_MAX / second; hz >>= 1)
		rest >>= 1;
	ns = seconds * second + rest * second / hz;
	return ns < IMPORT_MOST_NS ? ns : IMPORT_MOST_NS;
}

void import_time(struct import *im, uint64_t ns, uint32_t cpu)
{
	if (ns < im->ns)
		im->clamped++;
	else
		im->ns = ns;
	im->cpu = cpu;
}
