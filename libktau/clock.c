// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ticks to nanoseconds, in 64-bit arithmetic, because a PowerPC 440 has no wider one. */
#include "util.h"

#define NS	1000000000ULL

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * value * 1e9 / divisor, at most UINT64_MAX. The quotient and the remainder are scaled
 * separately. remainder * 1e9 fits into 64 bits if the divisor is below 2^34; a larger
 * divisor, which no clock has, loses low bits.
 */
static uint64_t scale(uint64_t value, uint64_t divisor)
{
	uint64_t whole = value / divisor, rest = value % divisor;

	if (whole > UINT64_MAX / NS)
		return UINT64_MAX;
	while (divisor >> 34) {
		divisor >>= 1;
		rest >>= 1;
	}
	return add(whole * NS, rest * NS / divisor);
}

int ktau_clock_init(struct ktau_clock *clock, const struct ktau_rec_stream *stream)
{
	uint64_t ticks = stream->ticks - stream->boot_ticks;
	uint64_t ns = stream->monotonic_ns - stream->boot_monotonic_ns;

	*clock = (struct ktau_clock){
		.hz = stream->clock_hz,
		.ticks = stream->ticks,
		.realtime_ns = stream->realtime_ns,
		.monotonic_ns = stream->monotonic_ns,
		.boottime_ns = stream->boottime_ns,
		.stable = stream->clock_flags & KTAU_CLOCK_STABLE,
	};
	if (clock->hz)
		return 0;
	if (stream->ticks > stream->boot_ticks &&
	    stream->monotonic_ns > stream->boot_monotonic_ns)
		clock->hz = scale(ticks, ns);
	if (clock->hz)
		return 0;
	clock->hz = NS;
	return -ENODATA;
}

uint64_t ktau_clock_ns(const struct ktau_clock *clock, uint64_t ticks)
{
	return clock->hz ? scale(ticks, clock->hz) : ticks;
}

ktau_sum_t ktau_clock_sum_ns(const struct ktau_clock *clock, ktau_sum_t ticks)
{
	const ktau_sum_t hz = clock->hz ? clock->hz : NS;

	/* No number of tasks reaches the 2^98 ticks that would overflow this. */
	if (sizeof(ticks) > sizeof(uint64_t))
		return ticks / hz * NS + ticks % hz * NS / hz;
	return ktau_clock_ns(clock, (uint64_t)ticks);
}

static uint64_t moment(const struct ktau_clock *clock, uint64_t ticks, uint64_t ns)
{
	uint64_t away;

	if (ticks >= clock->ticks)
		return add(ns, ktau_clock_ns(clock, ticks - clock->ticks));
	away = ktau_clock_ns(clock, clock->ticks - ticks);
	return away < ns ? ns - away : 0;
}

uint64_t ktau_clock_realtime_ns(const struct ktau_clock *clock, uint64_t ticks)
{
	return moment(clock, ticks, clock->realtime_ns);
}

uint64_t ktau_clock_monotonic_ns(const struct ktau_clock *clock, uint64_t ticks)
{
	return moment(clock, ticks, clock->monotonic_ns);
}

uint64_t ktau_clock_boottime_ns(const struct ktau_clock *clock, uint64_t ticks)
{
	return moment(clock, ticks, clock->boottime_ns);
}
