/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau-legacy: the functions of KTAU's first library that TAU links against. New programs
 * use <ktau.h> instead. ktau-legacy(7) describes all of it.
 *
 * Functions that fail return -1 (NULL) and set errno.
 */
#ifndef KTAU_LEGACY_PROC_INTERFACE_H
#define KTAU_LEGACY_PROC_INTERFACE_H

#include <stdio.h>

#include <linux/ktau/ktau_datatype.h>
#include <linux/ktau/ktau_proc_external.h>
#include <linux/ktau/ktau_proc_data.h>
#include <linux/ktau/ktau_cont_data.h>
#include <linux/ktau/ktau_merge.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KTAU_PROFILE 0
#define KTAU_TRACE 1

/**
 * read_size() - the size of the buffer for read_data()
 * @type: KTAU_TYPE_PROFILE
 * @self: not 0: the calling thread
 * @pid: thread ids, if @self is 0
 * @nopids: number of @pid; 0: every task that the caller may see
 * @tol: ignored
 * @pflags: ignored
 * @compratio: room for what is added until read_data(), as a fraction of the size;
 *	below 0: an eighth
 *
 * Return: bytes; -1 (EINVAL, ENOMEM, ENOENT without KTAU in this kernel, EACCES, other
 * errors of open(2) and read(2)).
 */
long read_size(int type, int self, pid_t *pid, unsigned int nopids, unsigned long tol,
	       unsigned int *pflags, float compratio);

/**
 * read_data() - read profiles
 * @type: KTAU_TYPE_PROFILE
 * @self: not 0: the calling thread
 * @pid: thread ids, if @self is 0
 * @nopids: number of @pid; 0: every task that the caller may see
 * @buffer: filled in
 * @size: bytes of it
 * @tol: ignored
 * @pflags: ignored
 *
 * Of the selected tasks, those that have exited since the process first called one of the
 * two functions are included.
 *
 * Return: bytes in @buffer; -1 (ENOSPC: @size is too small; errors of read_size()).
 */
long read_data(int type, int self, pid_t *pid, unsigned int nopids, char *buffer,
	       unsigned long size, unsigned long tol, unsigned int *pflags);

/**
 * unpack_bindata() - the list of profiles in a buffer of read_data()
 * @type: KTAU_TYPE_PROFILE
 * @size: bytes of it; what read_data() did not fill in is ignored
 * @output: set to a new list, in ascending order of pids without repetition; free() each
 *	ent_lst, then the list
 *
 * A list has every pid, and of each pid every index, that an earlier list of this process
 * has for the same selection.
 *
 * Return: number of profiles; -1 (EBADMSG: not from read_data(); EINVAL, ENOMEM).
 */
long unpack_bindata(int type, char *buffer, unsigned long size, ktau_output **output);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_LEGACY_PROC_INTERFACE_H */
