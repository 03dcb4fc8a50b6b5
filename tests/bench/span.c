// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into the ranks of an MPI program, for make bench: rank 0 prints the ticks of the
 * cycle counter from the end of MPI_Init() to the start of MPI_Finalize(), so that the launch
 * is not measured.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

int PMPI_Init(int *argc, char ***argv);
int PMPI_Finalize(void);
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

static uint64_t begin;

int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	begin = __rdtsc();
	return ret;
}

int MPI_Finalize(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	uint64_t ticks = __rdtsc() - begin;

	if (rank && rank[0] == '0')
		fprintf(stderr, "span %llu\n", (unsigned long long)ticks);
	return PMPI_Finalize();
}
