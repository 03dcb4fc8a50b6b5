/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CIOD_SERVE_H
#define CIOD_SERVE_H

#include <stdatomic.h>

#include "ciod/job.h"

#define CIOD_MAX_UNKNOWN 16	/* connections that have not shown the token */
#define CIOD_MAX_CONNECTIONS (CIOD_MAX_NODES + 1 + CIOD_MAX_UNKNOWN)

/*
 * Memory that the daemon shares with the processes of its connections. The process of a
 * compute node has unmapped it before it executes a call.
 */
enum ciod_outcome { CIOD_RUNNING, CIOD_ENDED, CIOD_FAILED };
enum { CIOD_UNKNOWN = -1, CIOD_DROPPED = -2 };

struct ciod_shared {
	atomic_int outcome;	/* enum ciod_outcome; set once */
	atomic_bool has_control;
	atomic_uint nodes;	/* connected; the daemon subtracts those that end */
	/* enum ciod_role, or one of the two above. Only from CIOD_UNKNOWN to another */
	atomic_int role[CIOD_MAX_CONNECTIONS];
};

/* How a connection ended: the exit status of its process. */
enum ciod_end {
	CIOD_BYE,
	CIOD_END,		/* and with it the job */
	CIOD_REFUSED,		/* no hello in time, or not of this job */
	CIOD_SECOND_CONTROL,
	CIOD_TOO_MANY_NODES,
	CIOD_VANISHED,
	CIOD_BROKEN,		/* against the protocol */
	CIOD_NOT_CONFINED,	/* chroot, setuid: nothing was executed */
	CIOD_NR_ENDS
};

/*
 * The whole life of a connection, in a process of its own. It has two descriptors
 * beside the standard ones: the peer, and the job's root until it is confined to that.
 * @slot is its place in the shared memory.
 */
enum { CIOD_PEER = 3, CIOD_ROOT_FOLDER = 4 };
enum ciod_end ciod_serve(const struct ciod_job *job, struct ciod_shared *shared, int slot);

#endif
