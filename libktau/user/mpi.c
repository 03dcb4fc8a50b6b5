// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libktau-mpi: makes MPI calls that communicate, synchronise or do I/O regions. As the
 * profiling interface of MPI intends, it replaces the functions MPI_..., and calls PMPI_....
 *
 * mpi-calls lists them; the build takes the prototypes from <mpi.h>.
 *
 * If the thread has a trace, messages between two processes are events in it: sent ones when
 * the call begins, received ones when it returns. The calls with requests and matched probes are
 * in mpi_request.c. The event "MPI rank" has the rank of this process.
 */
#include <mpi.h>

#include "ktau_user.h"
#include "mpi_message.h"

static void note_send(int count, MPI_Datatype datatype, int dest, MPI_Comm comm)
{
	struct ktau__mpi_message message;

	if (!ktau_user_is_traced() || dest == MPI_PROC_NULL)
		return;
	message = ktau__mpi_message(count, datatype, dest, comm);
	ktau__mpi_note_send(&message);
}

/* Note the message that a call has received, unless it has returned an error. Return: @err. */
static int note_receive(int err, const MPI_Status *status, MPI_Comm comm)
{
	MPI_Group peers;

	if (err != MPI_SUCCESS || !ktau_user_is_traced() || status->MPI_SOURCE == MPI_PROC_NULL)
		return err;
	peers = ktau__mpi_get_peers(comm);
	ktau__mpi_note_receive(status, peers);
	ktau__mpi_put_peers(peers);
	return err;
}

/* Note the rank of this process after MPI_Init(). Return: @err. */
static int note_rank(int err)
{
	int rank;

	if (err == MPI_SUCCESS && !PMPI_Comm_rank(MPI_COMM_WORLD, &rank))
		KTAU_USER_VALUE("MPI rank", (uint64_t)rank);
	return err;
}

#define CALL(name, parameters, arguments)	\
	int name parameters			\
	{					\
		KTAU_USER_SCOPE(#name);		\
		return P##name arguments;	\
	}

#define SEND(name, parameters, arguments)			\
	int name parameters					\
	{							\
		KTAU_USER_SCOPE(#name);				\
		note_send(count, datatype, dest, comm);		\
		return P##name arguments;			\
	}

/* @note_sent: a statement before the call, for calls that also send */
#define RECEIVING(name, parameters, arguments, note_sent)			\
	int name parameters							\
	{									\
		KTAU_USER_SCOPE(#name);						\
		MPI_Status own;							\
		note_sent;							\
		status = status == MPI_STATUS_IGNORE ? &own : status;		\
		return note_receive(P##name arguments, status, comm);		\
	}

#define RECEIVE(name, parameters, arguments) \
	RECEIVING(name, parameters, arguments, )

#define SENDRECV(name, parameters, arguments) \
	RECEIVING(name, parameters, arguments, note_send(sendcount, sendtype, dest, comm))

#define REPLACE(name, parameters, arguments) \
	RECEIVING(name, parameters, arguments, note_send(count, datatype, dest, comm))

#define INIT(name, parameters, arguments)		\
	int name parameters				\
	{						\
		KTAU_USER_SCOPE(#name);			\
		return note_rank(P##name arguments);	\
	}

#include <ktau-mpi-calls.h>
