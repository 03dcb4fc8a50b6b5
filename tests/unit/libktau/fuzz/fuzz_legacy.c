// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz libktau-legacy: unpack lists, and compute the difference and the sum of the results. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <ktau_proc_interface.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long unpack(const uint8_t *data, size_t size, ktau_output **list)
{
	char *copy = malloc(size + 1);
	long nr;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	nr = unpack_bindata(KTAU_TYPE_PROFILE, copy, size, list);
	free(copy);
	return nr;
}

static void free_list(ktau_output *list, long nr)
{
	while (nr--)
		free(list[nr].ent_lst);
	free(list);
}

/* The whole input is the earlier list. Its second half is the later one, if it is valid. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	o_ent room[8];
	ktau_output *before, *after, *diff, sum = { .ent_lst = room };
	long nr = unpack(data, size, &before), nr_after;

	if (nr < 0)
		return 0;
	nr_after = unpack(data + size / 2, size - size / 2, &after);
	aggr_many_profiles(before, nr, sizeof(room) / sizeof(room[0]), &sum);
	if (ktau_diff_profiles(before, nr, before, nr, &diff) != nr)
		abort();
	free_list(diff, nr);
	if (nr_after >= 0) {
		if (ktau_diff_profiles(before, nr, after, nr_after, &diff) != nr_after)
			abort();
		free_list(diff, nr_after);
		free_list(after, nr_after);
	}
	free_list(before, nr);
	return 0;
}
