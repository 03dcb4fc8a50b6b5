// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libktau-mpi: makes MPI calls that communicate, synchronise or do I/O regions. As the
 * profiling interface of MPI intends, it replaces the functions MPI_..., and calls PMPI_....
 *
 * mpi-calls lists them; the build takes the prototypes from <mpi.h>.
 *
 * If the thread has a trace, messages between two processes are events in it: sent ones when
 * the call begins, received ones when it returns. Messages that are received through a request or
 * a matched probe, or sent by MPI_Start(), are not noted. Processes are numbered by their ranks in
 * MPI_COMM_WORLD; the event "MPI rank" has that of this process.
 */
#include <mpi.h>

#include "ktau_user.h"

static struct ktau_user_point send = { "MPI send", 0 }, receive = { "MPI receive", 0 };

/* Return: @rank of @comm in MPI_COMM_WORLD, -1 if it is not there. */
static int world_rank(int rank, MPI_Comm comm)
{
	MPI_Group group, world;
	int found = -1, inter = 0;

	if (comm == MPI_COMM_WORLD)
		return rank;
	if (PMPI_Comm_test_inter(comm, &inter) ||
	    (inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)))
		return -1;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return found == MPI_UNDEFINED ? -1 : found;
}

static void note_send(int count, MPI_Datatype datatype, int dest, MPI_Comm comm)
{
	int size = 0;

	if (!ktau_user_is_traced() || dest == MPI_PROC_NULL)
		return;
	PMPI_Type_size(datatype, &size);
	ktau_user_message(&send, world_rank(dest, comm), (uint64_t)count * (unsigned int)size);
}

/* Note the message that a call has received, unless it has returned an error. Return: @err. */
static int note_receive(int err, const MPI_Status *status, MPI_Comm comm)
{
	int bytes = 0;

	if (err != MPI_SUCCESS || !ktau_user_is_traced() || status->MPI_SOURCE == MPI_PROC_NULL)
		return err;
	PMPI_Get_count(status, MPI_BYTE, &bytes);
	ktau_user_message(&receive, world_rank(status->MPI_SOURCE, comm),
			  bytes == MPI_UNDEFINED ? 0 : (uint64_t)bytes);
	return err;
}

/* The same after MPI_Init(), for the rank of this process. */
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
