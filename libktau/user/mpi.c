// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libktau-mpi: calls of MPI that communicate, synchronise or do I/O are regions, by the
 * profiling interface of MPI: they replace the functions MPI_..., and call PMPI_....
 *
 * mpi-calls has their list; the build takes the prototypes from <mpi.h>.
 */
#include <mpi.h>

#include "ktau_user.h"

#define CALL(name, parameters, arguments)	\
	int name parameters			\
	{					\
		KTAU_USER_SCOPE(#name);		\
		return P##name arguments;	\
	}

#include <ktau-mpi-calls.h>
