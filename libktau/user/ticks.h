/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-user: the clock of the kernel's trace, read in user mode. */
#ifndef KTAU_INTERNAL_TICKS_H
#define KTAU_INTERNAL_TICKS_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#define KTAU__HAVE_TICKS 1

static inline uint64_t ktau__ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define KTAU__HAVE_TICKS 1

static inline uint64_t ktau__ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#elif defined(__powerpc__)
#define KTAU__HAVE_TICKS 1

static inline uint64_t ktau__ticks(void)
{
	return __builtin_ppc_get_timebase();
}
#else
#define KTAU__HAVE_TICKS 0

static inline uint64_t ktau__ticks(void)
{
	return 0;
}
#endif

#endif /* KTAU_INTERNAL_TICKS_H */
