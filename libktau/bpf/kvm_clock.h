/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clock of a guest as a function of that of the BPF source. KVM knows how the guest's counter
 * follows from the host's TSC, and the timekeeper how CLOCK_MONOTONIC does; the combination is
 *
 *	guest = (ns * ratio >> KB_KVM_FRAC_BITS) + offset
 *
 * in arithmetic of 64 bits, for BPF programs and for a test.
 */
#ifndef KTAU_BPF_KVM_CLOCK_H
#define KTAU_BPF_KVM_CLOCK_H

#include "state.h"

/* The timekeeper: ns = @ns + ((TSC - @tsc) * @mult >> @shift) */
struct kb_timekeeper {
	__u64 tsc;
	__u64 ns;
	__u32 mult;
	__u32 shift;
};

/* KVM's part: guest = (TSC * @ratio >> @frac_bits) + @offset */
struct kb_guest_tsc {
	__u64 offset;
	__u64 ratio;
	__u32 frac_bits;
};

struct kb_kvm_clock {
	__u64 offset;
	__u64 ratio;
};

/* @a * @b >> @bits, modulo 2^64; @bits is from 1 to 63. */
static inline __u64 kb_multiply(__u64 a, __u64 b, __u32 bits)
{
	__u64 a0 = (__u32)a, a1 = a >> 32, b0 = (__u32)b, b1 = b >> 32;
	__u64 middle = a1 * b0 + (a0 * b0 >> 32);
	__u64 other = a0 * b1 + (__u32)middle;
	__u64 high = a1 * b1 + (middle >> 32) + (other >> 32);

	return a * b >> (bits & 63) | high << ((64 - bits) & 63);
}

/* TSC ticks per ns: 2^(@shift + KB_KVM_FRAC_BITS) / @mult, half of the bits at a time */
static inline __u64 kb_tsc_ratio(__u32 mult, __u32 shift)
{
	__u64 left = 1ULL << (shift & 63), ratio = left / mult;

	left = left % mult << KB_KVM_FRAC_BITS / 2;
	ratio = ratio << KB_KVM_FRAC_BITS / 2 | left / mult;
	left = left % mult << KB_KVM_FRAC_BITS / 2;
	return ratio << KB_KVM_FRAC_BITS / 2 | left / mult;
}

/* The guest's counter at a time of the host's TSC. */
static inline __u64 kb_guest_ticks(const struct kb_guest_tsc *g, __u64 tsc)
{
	if (g->ratio == 1ULL << (g->frac_bits & 63))
		return tsc + g->offset;
	return kb_multiply(tsc, g->ratio, g->frac_bits) + g->offset;
}

static inline __u64 kb_kvm_clock_at(const struct kb_kvm_clock *c, __u64 ns)
{
	return kb_multiply(ns, c->ratio, KB_KVM_FRAC_BITS) + c->offset;
}

/* Whether both rates together are above 8 ticks per ns, or nearly so: in sixteenths, rounded up. */
static inline int kb_is_too_fast(__u64 ratio, const struct kb_guest_tsc *g)
{
	__u64 host = (ratio >> (KB_KVM_FRAC_BITS - 4)) + 1;
	__u64 guest = (g->ratio >> (g->frac_bits - 4)) + 1;

	return host > 8 * 16 || guest > 8 * 256 || host * guest > 8 * 256;
}

/* Return: whether there is such a clock; a rate of 8 GHz or more is none. */
static inline int kb_make_kvm_clock(struct kb_kvm_clock *c, const struct kb_timekeeper *t,
				    const struct kb_guest_tsc *g)
{
	__u64 ratio;

	if (!t->mult || t->shift > 32 || (1ULL << t->shift) / t->mult >= 8 || !g->ratio ||
	    g->frac_bits < 4 || g->frac_bits > 63)
		return 0;
	ratio = kb_tsc_ratio(t->mult, t->shift);
	if (kb_is_too_fast(ratio, g))
		return 0;
	if (g->ratio != 1ULL << g->frac_bits)
		ratio = kb_multiply(ratio, g->ratio, g->frac_bits);
	c->ratio = ratio;
	c->offset = 0;
	c->offset = kb_guest_ticks(g, t->tsc) - kb_kvm_clock_at(c, t->ns);
	return ratio != 0;
}

#endif /* KTAU_BPF_KVM_CLOCK_H */
