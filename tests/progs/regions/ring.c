// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring: an MPI program with known calls, for libktau-mpi.
 *
 * The program replaces some functions PMPI_..., which libktau-mpi calls, by its own, which make a
 * known number of system calls. So the kernel's counts in the region of an MPI call show how often
 * it was made. Open MPI polls while it waits; here PMPI_Recv() sleeps between two polls, as in an
 * MPI implementation that blocks.
 *
 *	mpirun -np 2 ring		each rank receives and sends 40 times, and calls
 *					MPI_Allreduce() 3 times
 *	mpirun -np 2 ring sleep		rank 0 receives once, from rank 1, which sleeps 100 ms
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#define ROUNDS	40

static void *next(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (!fn)
		abort();
	return fn;
}

int PMPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	int (*fn)(const void *buf, int count, MPI_Datatype type, int dest, int tag,
		  MPI_Comm comm) = next("PMPI_Send");

	syscall(SYS_getppid);
	return fn(buf, count, type, dest, tag, comm);
}

int PMPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	      MPI_Status *status)
{
	int (*fn)(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
		  MPI_Status *status) = next("PMPI_Recv");
	const struct timespec pause = { .tv_nsec = 4000000 };
	int there = 0;

	syscall(SYS_getppid);
	while (!PMPI_Iprobe(source, tag, comm, &there, MPI_STATUS_IGNORE) && !there)
		nanosleep(&pause, NULL);
	return fn(buf, count, type, source, tag, comm, status);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
		   MPI_Comm comm)
{
	int (*fn)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
		  MPI_Comm comm) = next("PMPI_Allreduce");

	syscall(SYS_getppid);
	return fn(sendbuf, recvbuf, count, type, op, comm);
}

static void receive(int *value, int from)
{
	MPI_Recv(value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ring(int rank, int size)
{
	int value = 0, sum, i;

	for (i = 0; i < ROUNDS; i++) {
		if (rank)
			receive(&value, rank - 1);
		value++;
		MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
		if (!rank)
			receive(&value, size - 1);
	}
	for (i = 0; i < 3; i++)
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d is pid %d, and has %d\n", rank, (int)getpid(), sum);
}

static void sleeper(int rank)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	struct timespec from, to;
	int value = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (rank) {
		nanosleep(&pause, NULL);
		MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	} else {
		receive(&value, 1);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("rank %d is pid %d, and took %ld\n", rank, (int)getpid(),
	       (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 1)
		sleeper(rank);
	else
		ring(rank, size);
	MPI_Finalize();
	return 0;
}
