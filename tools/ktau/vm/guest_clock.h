/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cycle counter of a guest as a function of that of its host, in arithmetic of 64 bits, because
 * a PowerPC 440 has no wider one.
 */
#ifndef KTAU_TOOLS_VM_GUEST_CLOCK_H
#define KTAU_TOOLS_VM_GUEST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct guest_clock - guest = (host * ratio >> frac_bits) + offset, modulo 2^64
 * @offset: offset of the guest's counter
 * @ratio: ticks of the guest per tick of the host, a fixed-point number; not 0
 * @frac_bits: its fractional bits, below 64
 */
struct guest_clock {
	uint64_t offset, ratio;
	uint32_t frac_bits;
};

/* Whether it can be used: what is in files may be anything. */
bool guest_clock_is_valid(const struct guest_clock *c);

uint64_t guest_clock_to_guest(const struct guest_clock *c, uint64_t host);

/* The first tick of the host at which the guest's counter is at least @guest. */
uint64_t guest_clock_to_host(const struct guest_clock *c, uint64_t guest);

#endif
