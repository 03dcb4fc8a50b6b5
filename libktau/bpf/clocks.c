// SPDX-License-Identifier: LGPL-2.1-or-later
/* The clocks of the machine at one moment. */
#include <time.h>

#include "bpf.h"

#define CLOCK_RETRIES	10
#define CLOCK_NS	10000

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* If the program loses the CPU in between, the clocks do not belong together: read them again. */
void ktau__read_clocks(struct ktau__clocks *clocks)
{
	int i;

	for (i = 0; i < CLOCK_RETRIES; i++) {
		clocks->monotonic_ns = now_ns(CLOCK_MONOTONIC);
		clocks->realtime_ns = now_ns(CLOCK_REALTIME);
		clocks->boottime_ns = now_ns(CLOCK_BOOTTIME);
		clocks->tai_ns = now_ns(CLOCK_TAI);
		if (now_ns(CLOCK_MONOTONIC) - clocks->monotonic_ns < CLOCK_NS)
			break;
	}
}
