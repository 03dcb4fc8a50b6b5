/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-legacy: lists of profiles, their difference and their sum: ktau-legacy(7). */
#ifndef KTAU_LEGACY_DATATYPE_H
#define KTAU_LEGACY_DATATYPE_H

#include <sys/types.h>

#include <linux/ktau/ktau_merge.h>

#ifdef __cplusplus
extern "C" {
#endif

/* @type of h_ent. Every entry that this library makes is a timer. */
#define KTAU_TIMER	0
#define KTAU_EVENT	1

/* Times are ticks of the cycle counter. @start is 0. */
typedef struct ktau_timer {
	unsigned long long count;
	unsigned long long start;
	unsigned long long incl;
	unsigned long long excl;
} ktau_timer;

typedef struct ktau_event {
	unsigned long long count;
} ktau_event;

typedef union ktau_data {
	ktau_timer timer;
	ktau_event event;
} ktau_data;

typedef struct h_ent {
	unsigned long addr;	/* as in the symbol file of ktau events --format=tau */
	unsigned int type;
	ktau_data data;
} h_ent;

typedef struct o_ent {
	unsigned int index;
	h_ent entry;
} o_ent;

/* There are no traces: @trace_lst is NULL. */
typedef struct ktau_trace ktau_trace;

typedef struct ktau_output {
	unsigned int size;	/* entries of @ent_lst, in ascending order of @index */
	pid_t pid;		/* thread id; 0: all idle tasks */
	o_ent *ent_lst;		/* followed by one with the index UINT_MAX */
	ktau_trace *trace_lst;
} ktau_output;

/**
 * ktau_diff_profiles() - what was added between two lists
 * @plist1: the earlier list, in ascending order of pids
 * @size1: number of its profiles
 * @plist2: the later list, in ascending order of pids
 * @size2: number of its profiles
 * @outlist: set to a new list; free() each ent_lst, then the list
 *
 * Profiles and entries that only the later list has are copied, those that only the earlier
 * one has are left out. A negative difference is set to 0.
 *
 * Return: number of profiles in @outlist, -1 (ENOMEM, EINVAL).
 */
int ktau_diff_profiles(ktau_output *plist1, int size1, ktau_output *plist2, int size2,
		       ktau_output **outlist);

/**
 * aggr_many_profiles() - the sum of the profiles of a list
 * @inprofiles: list
 * @no_profiles: number of its profiles
 * @max_prof_entries: number of entries for which outprofile->ent_lst has room
 * @outprofile: its size and entries are set
 *
 * Return: 0, -1 (ENOSPC: more than @max_prof_entries different indices).
 */
int aggr_many_profiles(const ktau_output *inprofiles, unsigned int no_profiles,
		       unsigned int max_prof_entries, ktau_output *outprofile);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_LEGACY_DATATYPE_H */
