/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every file of the library includes. Internal functions are named ktau__*, so that
 * they cannot collide in a static program; the shared library does not export them.
 */
#ifndef KTAU_INTERNAL_UTIL_H
#define KTAU_INTERNAL_UTIL_H

/* Makes __u64 unsigned long long on every architecture: one printf() format fits all. */
#define __SANE_USERSPACE_TYPES__

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ktau.h>

#define KTAU_PROC	"/proc/ktau"

static inline uint64_t ktau__pad8(uint64_t bytes)
{
	return (bytes + 7) & ~(uint64_t)7;
}

static inline uint64_t ktau__min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t ktau__max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif /* KTAU_INTERNAL_UTIL_H */
