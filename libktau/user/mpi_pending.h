/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau-mpi: what the call that creates a request knows, and the later ones do not.
 *
 * A call that may complete requests takes them out of their table before it calls MPI, because
 * afterwards another thread may get the same handle for a new request. It then puts back those
 * that still exist. MPI forbids that two threads use a request at the same time.
 *
 * A thread without a trace adds nothing, so without traces the tables are empty, and lookups end
 * there. A table grows by one entry for each request.
 */
#ifndef KTAU_INTERNAL_MPI_PENDING_H
#define KTAU_INTERNAL_MPI_PENDING_H

#include <pthread.h>
#include <stdint.h>

#include <mpi.h>

#include "mpi_message.h"

#define KTAU__MPI_CHAINS_LOG2	10

/*
 * A request, or a message that a matched probe has found.
 *
 * @next: in its chain, or in the list of the call that has taken it
 * @handle: MPI_Request or MPI_Message, which is an integer or a pointer
 * @index: in the array of requests of that call
 * @peers: if it receives
 * @message: if it sends
 */
struct ktau__mpi_pending {
	struct ktau__mpi_pending *next;
	uintptr_t handle;
	int index;
	MPI_Group peers;
	struct ktau__mpi_message message;
};

/*
 * @lock: guards all fields
 * @nr: also read without it
 * @chain: hash chains; a handle is in the table at most once
 */
struct ktau__mpi_table {
	pthread_mutex_t lock;
	size_t nr;
	struct ktau__mpi_pending *chain[1 << KTAU__MPI_CHAINS_LOG2];
};

/* Return: NULL without memory; otherwise ktau__mpi_put() has to add it to a table. */
struct ktau__mpi_pending *ktau__mpi_pending(uintptr_t handle);

/* It replaces an entry with the same handle: a request that was completed unseen. */
void ktau__mpi_put(struct ktau__mpi_table *t, struct ktau__mpi_pending *p);

/* Return: NULL if @handle is not in the table. */
struct ktau__mpi_pending *ktau__mpi_take(struct ktau__mpi_table *t, uintptr_t handle);

/* Return: a list of those @requests that are in the table, by ascending index. */
struct ktau__mpi_pending *ktau__mpi_take_all(struct ktau__mpi_table *t, int count,
					     const MPI_Request requests[]);

/*
 * After the call, put @p, which may be NULL, back if MPI has left the handle of the program as it
 * was, and free it otherwise: MPI sets the handle of a request that no longer exists to NULL.
 */
void ktau__mpi_settle(struct ktau__mpi_table *t, struct ktau__mpi_pending *p, uintptr_t handle);
void ktau__mpi_settle_all(struct ktau__mpi_table *t, struct ktau__mpi_pending *list,
			  const MPI_Request requests[]);

#endif /* KTAU_INTERNAL_MPI_PENDING_H */
