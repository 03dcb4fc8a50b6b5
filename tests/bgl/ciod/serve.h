/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CIOD_SERVE_H
#define CIOD_SERVE_H

#include <stdatomic.h>

#include "ciod/job.h"

#define CIOD_MAX_UNKNOWN 16	/* connections that have not sent the token */
#define CIOD_MAX_CONNECTIONS (CIOD_MAX_NODES + 1 + CIOD_MAX_UNKNOWN)

/*
 * Memory that the daemon shares with the processes of its connections. The process of a compute
 * node unmaps it before it executes calls.
 */
enum ciod_outcome { CIOD_RUNNING, CIOD_ENDED, CIOD_FAILED };
enum { CIOD_UNKNOWN = -1, CIOD_DROPPED = -2 };

struct ciod_shared {
	atomic_int outcome;	/* enum ciod_outcome; set once */
	atomic_bool has_control;
	atomic_uint nodes;	/* connected; the daemon subtracts nodes that have ended */
	/*
	 * enum ciod_role, or one of the two values above. Changes only once, from CIOD_UNKNOWN.
	 */
	atomic_int role[CIOD_MAX_CONNECTIONS];
};

/* How a connection ended, as the exit status of its process. */
enum ciod_end {
	CIOD_BYE,
	CIOD_END,		/* ended the job */
	CIOD_REFUSED,		/* no hello in time, or not part of this job */
	CIOD_SECOND_CONTROL,
	CIOD_TOO_MANY_NODES,
	CIOD_VANISHED,
	CIOD_BROKEN,		/* violated the protocol */
	CIOD_NOT_CONFINED,	/* chroot or setuid failed; nothing was executed */
	CIOD_NR_ENDS
};

/*
 * Serve a connection, in a process of its own. Besides the standard descriptors it has two: the
 * peer, and the job's root until the process is confined to it. @slot is its index in the shared
 * memory.
 */
enum { CIOD_PEER = 3, CIOD_ROOT_FOLDER = 4 };
enum ciod_end ciod_serve(const struct ciod_job *job, struct ciod_shared *shared, int slot);

#endif
