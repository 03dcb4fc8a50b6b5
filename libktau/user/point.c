// SPDX-License-Identifier: LGPL-2.1-or-later
/* The numbers of points, which all threads share. */
#include "user.h"

static uint32_t last_point;

uint32_t ktau__point_id(uint32_t *id)
{
	uint32_t old = __atomic_load_n(id, __ATOMIC_RELAXED), new;

	if (old)
		return old;
	new = __atomic_add_fetch(&last_point, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(id, &old, new, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return new;
	return old;
}
