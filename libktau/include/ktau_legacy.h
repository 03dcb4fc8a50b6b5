/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of the original libktau, so that a program written for it compiles
 * and runs: read_size(), read_data(), purge_data(), unpack_bindata(),
 * unpack_free(). New programs use <ktau.h>.
 *
 * What differs from the original: addresses have 64 bits; counts saturate
 * instead of wrapping; purge_data() works (it takes a baseline that later reads
 * of this program subtract; nothing changes in the kernel); errors are -errno
 * as everywhere here; tolerance and flags, never implemented there, are ignored.
 */
#ifndef KTAU_LEGACY_H
#define KTAU_LEGACY_H

#include <sys/types.h>

#include <ktau.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to read. */
#define KTAU_PROFILE		0
#define KTAU_TRACE		1

/* @type of ktau_prof */
#define KTAU_TYPE_TIMER		0
#define KTAU_TYPE_EVENT		1

/* @type of ktau_trace */
#define KTAU_TRACE_START	0
#define KTAU_TRACE_STOP		1

/**
 * struct ktau_prof - one entry of a profile
 * @addr: address of the function, 0 if it has none or is hidden
 * @type: KTAU_TYPE_*
 * @data: figures, times in ticks; @start is 0 unless a frame is in flight
 * @nestingLevel: frames of this event in flight
 */
typedef struct ktau_prof {
	unsigned long long addr;
	unsigned int type;
	union {
		struct {
			unsigned int count;
			unsigned long long start;
			unsigned long long incl;
			unsigned long long excl;
		} timer;
		struct {
			unsigned int count;
		} event;
	} data;
	unsigned int nestingLevel;
} ktau_prof;

/* An entry with its event id. */
typedef struct o_ent {
	unsigned int index;
	ktau_prof entry;
} o_ent;

/* One record of a trace; a pair with @addr 0 spans what was lost. */
typedef struct ktau_trace {
	unsigned long long tsc;
	unsigned long long addr;
	unsigned int type;
} ktau_trace;

/**
 * struct ktau_output - one task
 * @size: number of elements
 * @pid: thread id
 * @ent_lst: entries, for KTAU_PROFILE
 * @trace_lst: records, for KTAU_TRACE
 */
typedef struct ktau_output {
	unsigned int size;
	pid_t pid;
	o_ent *ent_lst;
	ktau_trace *trace_lst;
} ktau_output;

/* Where the baseline of purge_data() is kept; NULL before the first call. */
struct ktau_legacy;

/**
 * struct ktau_legacy_query - whose data is wanted
 * @type: KTAU_PROFILE or KTAU_TRACE
 * @self: the calling thread alone
 * @nr: else this many of @pids; 0 is all tasks
 * @pids: thread ids
 */
struct ktau_legacy_query {
	int type;
	int self;
	unsigned int nr;
	const pid_t *pids;
};

/*
 * What the calls below are made of. @state points to a NULL at first;
 * ktau_legacy_release() frees what it has become.
 */
long ktau_legacy_size(struct ktau_legacy **state, const struct ktau_legacy_query *which,
		      float ratio);
long ktau_legacy_read(struct ktau_legacy **state, const struct ktau_legacy_query *which,
		      char *buffer, unsigned long size);
int ktau_legacy_purge(struct ktau_legacy **state, const struct ktau_legacy_query *which);
int ktau_legacy_unpack(int type, const char *buffer, unsigned long size, ktau_output **list);
void ktau_legacy_unpack_free(ktau_output *list, int nr);
void ktau_legacy_release(struct ktau_legacy **state);

/* One for the program, however many of its files include this. */
__attribute__((weak)) struct ktau_legacy *ktau_legacy_state;

/**
 * read_size() - bytes that read_data() needs now
 * @type: KTAU_PROFILE or KTAU_TRACE
 * @self_flag: the calling thread alone
 * @pid: list of thread ids, for @self_flag 0
 * @nopid: how many; 0 is all tasks
 * @tol_in: ignored
 * @p_flags: ignored
 * @compratio: how much more to ask for, as the tasks go on meanwhile: 0.5 is half
 *	as much again, which is also what a negative value gives
 *
 * Return: bytes, or -errno.
 */
static inline long read_size(int type, int self_flag, pid_t *pid, unsigned int nopid,
			     unsigned long tol_in, unsigned int *p_flags, float compratio)
{
	const struct ktau_legacy_query which = { type, self_flag, nopid, pid };

	(void)tol_in;
	(void)p_flags;
	return ktau_legacy_size(&ktau_legacy_state, &which, compratio);
}

/**
 * read_data() - read into a buffer of @size bytes
 *
 * Return: bytes used, -ENOSPC if there has come to be more, -errno.
 */
static inline long read_data(int type, int self_flag, pid_t *pid, unsigned int nopid,
			     char *buffer, unsigned long size, unsigned long tol_in,
			     unsigned int *p_flags)
{
	const struct ktau_legacy_query which = { type, self_flag, nopid, pid };

	(void)tol_in;
	(void)p_flags;
	return ktau_legacy_read(&ktau_legacy_state, &which, buffer, size);
}

/* From now on count from zero: 0, or -errno. A trace is read and thrown away. */
static inline int purge_data(int type, int self_flag, pid_t *pid, unsigned int nopid)
{
	const struct ktau_legacy_query which = { type, self_flag, nopid, pid };

	return ktau_legacy_purge(&ktau_legacy_state, &which);
}

/**
 * unpack_bindata() - what read_data() read, as a list of tasks
 * @type: as it was read
 * @bin_data: buffer
 * @size: its bytes; more than were used is as good
 * @plist: the list, to be freed with unpack_free()
 *
 * Return: number of tasks, -EBADMSG for what is no such data, -ENOMEM.
 */
static inline int unpack_bindata(int type, char *bin_data, unsigned long size,
				 ktau_output **plist)
{
	return ktau_legacy_unpack(type, bin_data, size, plist);
}

/* Free what unpack_bindata() gave, @nr being what it returned. */
static inline void unpack_free(int type, ktau_output *list, int nr)
{
	(void)type;
	ktau_legacy_unpack_free(list, nr);
}

#ifdef __cplusplus
}
#endif

#endif /* KTAU_LEGACY_H */
