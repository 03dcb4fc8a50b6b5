// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libktau-mpi: makes MPI calls that communicate, synchronise or do I/O regions. As the
 * profiling interface of MPI intends, it replaces the functions MPI_..., and calls PMPI_....
 *
 * mpi-calls lists them; the build takes the prototypes from <mpi.h>.
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
