/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau-mpi: messages as events in the trace of the thread. Processes are numbered by their
 * ranks in MPI_COMM_WORLD.
 */
#ifndef KTAU_INTERNAL_MPI_MESSAGE_H
#define KTAU_INTERNAL_MPI_MESSAGE_H

#include <stdint.h>

#include <mpi.h>

/* A message, as the sender knows it. @peer: -1 if it is not in MPI_COMM_WORLD */
struct ktau__mpi_message {
	int peer;
	uint64_t bytes;
};

/*
 * The group whose ranks the messages of @comm have. It remains valid when the program frees
 * @comm, until ktau__mpi_put_peers().
 */
MPI_Group ktau__mpi_get_peers(MPI_Comm comm);
void ktau__mpi_put_peers(MPI_Group peers);

struct ktau__mpi_message ktau__mpi_message(int count, MPI_Datatype datatype, int dest,
					   MPI_Comm comm);

void ktau__mpi_note_send(const struct ktau__mpi_message *message);

/* Note a message that was received, unless @status shows that none was. */
void ktau__mpi_note_receive(const MPI_Status *status, MPI_Group peers);

#endif /* KTAU_INTERNAL_MPI_MESSAGE_H */
