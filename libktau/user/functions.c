// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The points of functions, by address. All threads share the table; an entry never moves, and
 * once all are taken, further functions have no regions.
 */
#include <stdlib.h>

#include "user.h"

#define NR_FUNCTIONS	8192	/* a power of two */

struct function {
	const void *address;
	uint32_t point;
	char *name;
};

static struct function functions[NR_FUNCTIONS];

static bool take(struct function *f, const void *address)
{
	const void *old = __atomic_load_n(&f->address, __ATOMIC_RELAXED);

	if (!old && __atomic_compare_exchange_n(&f->address, &old, address, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return true;
	return old == address;
}

static struct function *find(const void *address)
{
	uint64_t first = ((uintptr_t)address >> 2) * 0x9e3779b97f4a7c15ULL >> 32, i;
	struct function *f;

	for (i = 0; i < NR_FUNCTIONS; i++) {
		f = &functions[(first + i) % NR_FUNCTIONS];
		if (take(f, address))
			return f;
	}
	return NULL;
}

uint32_t ktau__function_point(const void *address)
{
	struct function *f = find(address);

	return f ? ktau__point_id(&f->point) : 0;
}

/* Two threads may look up the name at the same time; one of them frees its copy. */
const char *ktau__function_name(const void *address)
{
	struct function *f = find(address);
	char *name = __atomic_load_n(&f->name, __ATOMIC_ACQUIRE), *none = NULL;

	if (name)
		return name;
	name = ktau__symbol_name(address);
	if (!name || __atomic_compare_exchange_n(&f->name, &none, name, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
		return name;
	free(name);
	return none;
}

/*
 * The names stay allocated, because a thread may be reading them. Each time that an object is
 * unloaded, some bytes are lost for each of its functions that had a region.
 */
void ktau__functions_unloaded(void)
{
	struct function *f;

	for (f = functions; f < functions + NR_FUNCTIONS; f++) {
		if (!f->address || ktau__is_loaded(f->address))
			continue;
		__atomic_store_n(&f->name, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&f->point, 0, __ATOMIC_RELAXED);
	}
}
