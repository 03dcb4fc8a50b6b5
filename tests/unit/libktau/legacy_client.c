// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses every name of libktau-legacy that TAU uses, in C and in C++. The order of the headers
 * is TAU's, and its test puts a <ktau_proc_interface.h> before that of the library.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <linux/ktau/ktau_cont_data.h>
#include <ktau_proc_interface.h>
#ifdef __cplusplus
}
#endif
#include <linux/ktau/ktau_proc_data.h>
#include <linux/ktau/ktau_proc_external.h>
#include <linux/ktau/ktau_datatype.h>
#include <linux/ktau/ktau_merge.h>

#ifdef __cplusplus
extern "C" {
#endif
/* TAU declares it once more. NOLINTNEXTLINE(readability-redundant-declaration) */
int ktau_diff_profiles(ktau_output *plist1, int size1, ktau_output *plist2, int size2,
		       ktau_output **outlist);
#ifdef __cplusplus
}
#endif

/* The layout is part of the interface: compiled programs depend on it. */
#ifdef __LP64__
typedef char size_of_output[sizeof(ktau_output) == 24 ? 1 : -1];
typedef char size_of_entry[sizeof(o_ent) == 56 ? 1 : -1];
typedef char size_of_data[sizeof(ktau_data) == 32 ? 1 : -1];
#endif
typedef char shctr_excl[KTAU_SHCTR_TYPE_EXCL == 5 ? 1 : -1];
typedef char shctr_incl[KTAU_SHCTR_TYPE_INCL == 6 ? 1 : -1];
typedef char shctr_num[KTAU_SHCTR_TYPE_NUM == 7 ? 1 : -1];
typedef char types[KTAU_TYPE_PROFILE == 0 && KTAU_TIMER == 0 && KTAU_EVENT == 1 ? 1 : -1];
typedef char groups[merge_kernel == 0 && merge_icmp == 9 && merge_max_grp == 10 ? 1 : -1];

static ktau_state *no_state;

/* TAU's header has inline functions that read these fields. */
static unsigned long long read_state(const ktau_state *state, int group)
{
	return state->state[state->active_index].ktime[group] +
	       state->state[state->active_index].kexcl[group] +
	       state->state[state->active_index].knumcalls[group];
}

static void print(const ktau_output *p)
{
	const o_ent *e;
	unsigned int i;

	for (i = 0; i < p->size; i++) {
		e = p->ent_lst + i;
		printf("%d %u %lx %u %llu %g %g %llu %d\n", (int)p->pid, e->index, e->entry.addr,
		       e->entry.type, e->entry.data.timer.count, (double)e->entry.data.timer.excl,
		       (double)e->entry.data.timer.incl, e->entry.data.event.count,
		       p->trace_lst != NULL);
	}
}

static int use_profiles(void)
{
	long size = read_size(KTAU_TYPE_PROFILE, 0, NULL, 0, 0, NULL, -1);
	ktau_output *list, *diff, sum;
	o_ent entries[64];
	char *buffer;
	long nr;

	if (size <= 0)
		return -1;
	buffer = (char *)malloc(size);
	if (!buffer)
		return -1;
	size = read_data(KTAU_TYPE_PROFILE, 0, NULL, 0, buffer, size, 0, NULL);
	nr = unpack_bindata(KTAU_TYPE_PROFILE, buffer, size, &list);
	sum.ent_lst = entries;
	if (nr > 0 && ktau_diff_profiles(list, nr, list, nr, &diff) > 0 &&
	    !aggr_many_profiles(diff, nr, 64, &sum))
		print(&sum);
	return 0;
}

static int use_counters(void)
{
	int type = KTAU_SHCTR_TYPE_NUM;
	unsigned long long value;
	unsigned long addr = 0x10000;
	ktau_ushcont *container;
	ktau_ush_ctr *counter;

	container = ktau_add_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, 2000);
	if (!container)
		return -1;
	if (!ktau_get_counter(container, "KTAU_MULTICTR", 1, &addr, &counter) &&
	    !ktau_copy_counter_type(counter, &value, 1, &type) && !ktau_put_counter(counter))
		printf("%llu\n", value);
	return ktau_del_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, container);
}

int main(void)
{
	int no_ktau;

	if (no_state && read_state(no_state, merge_max_grp - 1))
		return 1;
	if (!use_profiles() && !use_counters())
		return 0;
	no_ktau = errno == ENOENT;
	perror("profiles");
	return no_ktau ? 77 : 1;
}
