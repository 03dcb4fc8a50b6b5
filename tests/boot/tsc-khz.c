// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the rate of the cycle counter in kHz. QEMU's emulated CPUs show the host's
 * counter to the guest, which cannot measure its rate on a busy host.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* The same moment on both clocks, from the shortest of many readings. */
static void moment(int64_t *ns, uint64_t *ticks)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc();
		int64_t t = now_ns();
		uint64_t took = __rdtsc() - before;

		if (took < best) {
			best = took;
			*ns = t;
			*ticks = before + took / 2;
		}
	}
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int64_t ns0, ns1;
	uint64_t ticks0, ticks1;

	moment(&ns0, &ticks0);
	nanosleep(&pause, NULL);
	moment(&ns1, &ticks1);
	printf("%.0f\n", (double)(ticks1 - ticks0) * 1e6 / (double)(ns1 - ns0));
	return 0;
}
