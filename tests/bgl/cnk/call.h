/* SPDX-License-Identifier: GPL-2.0-only */
/* A call on which a program is waiting, and an open file on the I/O node. */
#ifndef CNK_CALL_H
#define CNK_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ciod/proto.h"

/* Results of a call other than a value and -errno. */
#define CNK_LOCAL	INT64_MIN	/* the local kernel executes it */
#define CNK_ANSWERED	(INT64_MIN + 1)	/* the program has already been answered */

/*
 * An open file on the I/O node. In the programs that have it open, it is represented by one end
 * of a socket pair, so the local kernel alone duplicates, inherits, passes on and closes
 * descriptors. The inode of that end identifies the file. When the last descriptor is closed,
 * the other end reports a hangup.
 */
struct cnk_file {
	struct cnk_file *next;	/* in the same hash bucket */
	uint64_t inode;
	uint32_t remote;	/* ciod's descriptor */
	int flags;		/* for F_GETFL */
	int watch;		/* the end that cnk keeps */
};

/* A system call on which a program is waiting. */
struct cnk_call {
	uint64_t id;
	pid_t pid;			/* the thread */
	const uint64_t *args;
	const struct cnk_file *file;	/* set if the call has a descriptor on the I/O node */
	uint32_t fd[2];			/* to be shipped before path[] */
	const char *path[2];
};

/* The handler of a shipped call. */
typedef int64_t cnk_handler(struct cnk_call *call);

#define CNK_N(value)	((uint64_t)(value))
#define CNK_I(value)	((uint32_t)(value))

static inline size_t cnk_at_most(uint64_t bytes)
{
	return bytes < CIOD_MAX_DATA ? bytes : CIOD_MAX_DATA;
}

#endif
