// SPDX-License-Identifier: LGPL-2.1-or-later
/* Difference and sum of lists. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ktau/ktau_datatype.h>

#include "packed.h"

static unsigned long long subtract(unsigned long long after, unsigned long long before)
{
	return after > before ? after - before : 0;
}

/* The figures of @after without those of its entry in @before, if there is one. */
static void diff_entries(const ktau_output *after, const ktau_output *before, o_ent *out)
{
	const ktau_timer *old;
	unsigned int i, j = 0;
	ktau_timer *now;

	memcpy(out, after->ent_lst, sizeof(*out) * after->size);
	for (i = 0; before && i < after->size; i++) {
		while (j < before->size && before->ent_lst[j].index < out[i].index)
			j++;
		if (j == before->size || before->ent_lst[j].index != out[i].index)
			continue;
		now = &out[i].entry.data.timer;
		old = &before->ent_lst[j].entry.data.timer;
		now->count = subtract(now->count, old->count);
		now->incl = subtract(now->incl, old->incl);
		now->excl = subtract(now->excl, old->excl);
	}
}

/* -1 without memory. */
static int diff_profile(const ktau_output *after, const ktau_output *before, ktau_output *out)
{
	*out = (ktau_output){ .size = after->size, .pid = after->pid };
	out->ent_lst = ktau__entries_create(after->size);
	if (!out->ent_lst)
		return -1;
	if (after->size)
		diff_entries(after, before, out->ent_lst);
	return 0;
}

int ktau_diff_profiles(ktau_output *plist1, int size1, ktau_output *plist2, int size2,
		       ktau_output **outlist)
{
	ktau_output *list;
	int i, j = 0;

	if (size1 < 0 || size2 < 0 || !outlist) {
		errno = EINVAL;
		return -1;
	}
	list = malloc(sizeof(*list) * size2 + 1);
	for (i = 0; list && i < size2; i++) {
		while (j < size1 && plist1[j].pid < plist2[i].pid)
			j++;
		if (!diff_profile(&plist2[i],
				  j < size1 && plist1[j].pid == plist2[i].pid ? &plist1[j] : NULL,
				  &list[i]))
			continue;
		while (i--)
			free(list[i].ent_lst);
		free(list);
		list = NULL;
	}
	if (!list)
		return -1;
	*outlist = list;
	return size2;
}

/* Where an index is, or would be, in a list of @size entries. */
static unsigned int find(const o_ent *entries, unsigned int size, unsigned int index)
{
	unsigned int low = 0, high = size, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (entries[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* -1 without room. */
static int add_entry(ktau_output *sum, unsigned int room, const o_ent *entry)
{
	unsigned int at = find(sum->ent_lst, sum->size, entry->index);
	o_ent *to = &sum->ent_lst[at];

	if (at < sum->size && to->index == entry->index) {
		to->entry.data.timer.count += entry->entry.data.timer.count;
		to->entry.data.timer.incl += entry->entry.data.timer.incl;
		to->entry.data.timer.excl += entry->entry.data.timer.excl;
		return 0;
	}
	if (sum->size == room)
		return -1;
	memmove(to + 1, to, sizeof(*to) * (sum->size - at));
	*to = *entry;
	sum->size++;
	return 0;
}

int aggr_many_profiles(const ktau_output *inprofiles, unsigned int no_profiles,
		       unsigned int max_prof_entries, ktau_output *outprofile)
{
	unsigned int i, j;

	outprofile->size = 0;
	for (i = 0; i < no_profiles; i++) {
		for (j = 0; j < inprofiles[i].size; j++) {
			if (!add_entry(outprofile, max_prof_entries, &inprofiles[i].ent_lst[j]))
				continue;
			errno = ENOSPC;
			return -1;
		}
	}
	return 0;
}
