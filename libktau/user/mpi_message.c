// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages of MPI as events. */
#include "ktau_user.h"
#include "mpi_message.h"

/* MPI_GROUP_NULL stands for MPI_COMM_WORLD, and MPI_GROUP_EMPTY for an unknown group. */
MPI_Group ktau__mpi_get_peers(MPI_Comm comm)
{
	MPI_Group peers;
	int inter = 0;

	if (comm == MPI_COMM_WORLD)
		return MPI_GROUP_NULL;
	if (PMPI_Comm_test_inter(comm, &inter) ||
	    (inter ? PMPI_Comm_remote_group(comm, &peers) : PMPI_Comm_group(comm, &peers)))
		return MPI_GROUP_EMPTY;
	return peers;
}

void ktau__mpi_put_peers(MPI_Group peers)
{
	if (peers != MPI_GROUP_NULL && peers != MPI_GROUP_EMPTY)
		PMPI_Group_free(&peers);
}

/* Return: @rank of @peers in MPI_COMM_WORLD, -1 if it is not there. */
static int world_rank(int rank, MPI_Group peers)
{
	MPI_Group world;
	int found = -1;

	if (peers == MPI_GROUP_NULL)
		return rank;
	if (peers == MPI_GROUP_EMPTY)
		return -1;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(peers, 1, &rank, world, &found);
	PMPI_Group_free(&world);
	return found == MPI_UNDEFINED ? -1 : found;
}

struct ktau__mpi_message ktau__mpi_message(int count, MPI_Datatype datatype, int dest,
					   MPI_Comm comm)
{
	MPI_Group peers = ktau__mpi_get_peers(comm);
	struct ktau__mpi_message message = { .peer = world_rank(dest, peers) };
	int size = 0;

	ktau__mpi_put_peers(peers);
	PMPI_Type_size(datatype, &size);
	message.bytes = (uint64_t)count * (unsigned int)size;
	return message;
}

void ktau__mpi_note_send(const struct ktau__mpi_message *message)
{
	static struct ktau_user_point send = { "MPI send", 0 };

	ktau_user_message(&send, message->peer, message->bytes);
}

/* A request that was inactive has an empty status, whose source is MPI_ANY_SOURCE. */
void ktau__mpi_note_receive(const MPI_Status *status, MPI_Group peers)
{
	static struct ktau_user_point receive = { "MPI receive", 0 };
	int bytes = 0, cancelled = 0;

	PMPI_Test_cancelled(status, &cancelled);
	if (cancelled || status->MPI_SOURCE == MPI_PROC_NULL ||
	    status->MPI_SOURCE == MPI_ANY_SOURCE)
		return;
	PMPI_Get_count(status, MPI_BYTE, &bytes);
	ktau_user_message(&receive, world_rank(status->MPI_SOURCE, peers),
			  bytes == MPI_UNDEFINED ? 0 : (uint64_t)bytes);
}
