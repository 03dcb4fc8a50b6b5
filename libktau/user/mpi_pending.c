// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tables of requests of MPI that are pending. */
#include <stdbool.h>
#include <stdlib.h>

#include "mpi_pending.h"

static struct ktau__mpi_pending **chain_of(struct ktau__mpi_table *t, uintptr_t handle)
{
	return &t->chain[handle * 0x9e3779b97f4a7c15ULL >> (64 - KTAU__MPI_CHAINS_LOG2)];
}

static void set_nr(struct ktau__mpi_table *t, size_t nr)
{
	__atomic_store_n(&t->nr, nr, __ATOMIC_RELAXED);
}

/* A thread that has the handle of a request in the table does not see 0 here. */
static bool is_empty(struct ktau__mpi_table *t)
{
	return !__atomic_load_n(&t->nr, __ATOMIC_RELAXED);
}

static struct ktau__mpi_pending *take_locked(struct ktau__mpi_table *t, uintptr_t handle)
{
	struct ktau__mpi_pending **at = chain_of(t, handle), *p;

	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	p = *at;
	if (p) {
		*at = p->next;
		p->next = NULL;
		set_nr(t, t->nr - 1);
	}
	return p;
}

static void release(struct ktau__mpi_pending *p)
{
	if (!p)
		return;
	ktau__mpi_put_peers(p->peers);
	free(p);
}

struct ktau__mpi_pending *ktau__mpi_pending(uintptr_t handle)
{
	struct ktau__mpi_pending *p = malloc(sizeof(*p));

	if (p)
		*p = (struct ktau__mpi_pending){ .handle = handle, .peers = MPI_GROUP_NULL };
	return p;
}

void ktau__mpi_put(struct ktau__mpi_table *t, struct ktau__mpi_pending *p)
{
	struct ktau__mpi_pending **at = chain_of(t, p->handle), *old;

	pthread_mutex_lock(&t->lock);
	old = take_locked(t, p->handle);
	p->next = *at;
	*at = p;
	set_nr(t, t->nr + 1);
	pthread_mutex_unlock(&t->lock);
	release(old);
}

struct ktau__mpi_pending *ktau__mpi_take(struct ktau__mpi_table *t, uintptr_t handle)
{
	struct ktau__mpi_pending *p;

	if (is_empty(t))
		return NULL;
	pthread_mutex_lock(&t->lock);
	p = take_locked(t, handle);
	pthread_mutex_unlock(&t->lock);
	return p;
}

struct ktau__mpi_pending *ktau__mpi_take_all(struct ktau__mpi_table *t, int count,
					     const MPI_Request requests[])
{
	struct ktau__mpi_pending *list = NULL, **end = &list;
	int i;

	if (is_empty(t) || !requests)
		return NULL;
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < count; i++) {
		*end = take_locked(t, (uintptr_t)requests[i]);
		if (!*end)
			continue;
		(*end)->index = i;
		end = &(*end)->next;
	}
	pthread_mutex_unlock(&t->lock);
	return list;
}

void ktau__mpi_settle(struct ktau__mpi_table *t, struct ktau__mpi_pending *p, uintptr_t handle)
{
	if (p && p->handle == handle)
		ktau__mpi_put(t, p);
	else
		release(p);
}

void ktau__mpi_settle_all(struct ktau__mpi_table *t, struct ktau__mpi_pending *list,
			  const MPI_Request requests[])
{
	struct ktau__mpi_pending *next;

	for (; list; list = next) {
		next = list->next;
		ktau__mpi_settle(t, list, (uintptr_t)requests[list->index]);
	}
}
