/* SPDX-License-Identifier: GPL-2.0-only */
/* A call that a program waits for, and an open file of the I/O node. */
#ifndef CNK_CALL_H
#define CNK_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ciod/proto.h"

/* Results of a call, beside a value and -errno. */
#define CNK_LOCAL	INT64_MIN	/* the local kernel executes it */
#define CNK_ANSWERED	(INT64_MIN + 1)	/* the program has its answer already */

/*
 * An open file of the I/O node. In the programs that have it open, one end of a socket pair
 * takes its place: descriptors are then duplicated, inherited, passed on and closed by
 * the local kernel alone. The inode of that end says which file it is. When the last
 * descriptor is closed, the other end reports that its peer has gone.
 */
struct cnk_file {
	struct cnk_file *next;	/* in the same hash bucket */
	uint64_t inode;
	uint32_t remote;	/* ciod's descriptor */
	int flags;		/* for F_GETFL */
	int watch;		/* the end that cnk keeps */
};

/* A system call that a program waits for. */
struct cnk_call {
	uint64_t id;
	pid_t pid;			/* the thread */
	const uint64_t *args;
	const struct cnk_file *file;	/* if the call has a descriptor of the I/O node */
	uint32_t fd[2];			/* what to ship before path[] */
	const char *path[2];
};

/* What handles a call. */
typedef int64_t cnk_handler(struct cnk_call *call);

#define CNK_N(value)	((uint64_t)(value))
#define CNK_I(value)	((uint32_t)(value))

static inline size_t cnk_at_most(uint64_t bytes)
{
	return bytes < CIOD_MAX_DATA ? bytes : CIOD_MAX_DATA;
}

#endif
