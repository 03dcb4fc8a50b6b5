/* SPDX-License-Identifier: GPL-2.0-only */
/* Binary search. */
#ifndef KTAU_TOOLS_BISECT_H
#define KTAU_TOOLS_BISECT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether element @i of an array is before what is searched for. */
typedef bool bisect_is_before(const void *array, size_t i, const void *key);

/*
 * The first of @nr elements that is not before @key, @nr if all are. The elements are in order:
 * none that is before it follows one that is not.
 */
static inline size_t bisect(const void *array, size_t nr, const void *key,
			    bisect_is_before *is_before)
{
	size_t low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (is_before(array, middle, key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
