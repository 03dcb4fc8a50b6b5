/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau-legacy: counters of the calling thread: ktau-legacy(7).
 *
 * They are not declared in <ktau_proc_interface.h>, because TAU has its own header of that name,
 * which does not declare them and which the compiler finds first.
 */
#ifndef KTAU_LEGACY_CONT_DATA_H
#define KTAU_LEGACY_CONT_DATA_H

#include <linux/ktau/ktau_proc_data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What ktau_copy_counter_type() copies. */
enum ktau_shctr_type {
	KTAU_SHCTR_TYPE_EXCL = 5,	/* exclusive ticks */
	KTAU_SHCTR_TYPE_INCL,		/* inclusive ticks */
	KTAU_SHCTR_TYPE_NUM,		/* calls */
	KTAU_SHCTR_TYPE_MAX
};

typedef struct ktau_ushcont ktau_ushcont;
typedef struct ktau_ush_ctr ktau_ush_ctr;

/**
 * ktau_add_container() - create a container for counters of the calling thread
 * @type: KTAU_TYPE_PROFILE
 * @self: not 0
 * @pid: ignored
 * @nopids: ignored
 * @pflags: ignored
 * @size: not 0, otherwise ignored
 *
 * Opens a descriptor. A forked child must create its own container.
 *
 * Return: container; NULL (EINVAL, ENOMEM, ENOENT without KTAU in this kernel, EACCES,
 * errors of open(2)).
 */
ktau_ushcont *ktau_add_container(int type, int self, pid_t *pid, unsigned int nopids,
				 unsigned int *pflags, unsigned long size);

/* Free a container. 0, -1 (EBUSY: it has counters; EINVAL). */
int ktau_del_container(int type, int self, pid_t *pid, unsigned int nopids,
		       unsigned int *pflags, ktau_ushcont *pushcont);

/**
 * ktau_get_counter() - count routines in the thread that made the container
 * @pushcont: container
 * @name: ignored
 * @no_syms: number of @syms
 * @syms: addresses as in the symbol file, or their low 32 bits
 * @ppctr: set to the new counter
 *
 * It counts from zero. A routine that has not run since boot is counted once it runs.
 *
 * Return: 0, -1 (EINVAL, ENOMEM, errors of ktau_copy_counter_type()).
 */
int ktau_get_counter(ktau_ushcont *pushcont, const char *name, int no_syms,
		     unsigned long *syms, ktau_ush_ctr **ppctr);

/* Free a counter. 0, -1 (EINVAL). */
int ktau_put_counter(ktau_ush_ctr *pushctr);

/**
 * ktau_copy_counter_type() - read a counter, from any thread of the process
 * @pushctr: counter
 * @data: set to a figure for each of the first @no_data symbols
 * @no_data: number of @data, at most that of the symbols
 * @ctype: KTAU_SHCTR_TYPE_* for each of @data
 *
 * Two system calls. Once the thread has exited, the figures stay what they were when they
 * were last read.
 *
 * Return: 0, -1 (EINVAL; ECHILD in a child of the process that made it; EACCES; ENOMEM).
 */
int ktau_copy_counter_type(ktau_ush_ctr *pushctr, unsigned long long *data, int no_data,
			   int *ctype);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_LEGACY_CONT_DATA_H */
