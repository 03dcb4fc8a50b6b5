/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ciod: one process that listens, and one for each connection, which executes the
 * calls of its compute node. Only the latter ever reads what a peer sends, and it
 * has given up all rights but the job's before it reads a path.
 */
#ifndef CIOD_H
#define CIOD_H

#include <limits.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ciod/proto.h"

/* What the job file says. */
struct ciod_job {
	char token[CIOD_TOKEN_BYTES];
	struct in_addr peer;
	uid_t uid;
	gid_t gid;
	char root[PATH_MAX];
	unsigned int port;
	unsigned int wait_seconds;	/* for the first control connection */
	unsigned int nodes;		/* compute connections at a time */
	bool lost_node_continues;	/* the job goes on without a node that is lost */
};

#define CIOD_MAX_NODES	1024
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

/* What becomes the reply's data. */
struct ciod_reply {
	unsigned char *data;	/* room for CIOD_MAX_DATA */
	size_t bytes;
};

/* 0, or 1 after saying file, line and reason. */
int ciod_read_job(const char *path, struct ciod_job *job);

/*
 * The whole life of a connection, in a process of its own. It has two descriptors
 * beside the standard ones: the peer, and the job's root until it is confined to that.
 * @slot is its place in the shared memory.
 */
enum { CIOD_PEER = 3, CIOD_ROOT_FOLDER = 4 };
enum ciod_end ciod_serve(const struct ciod_job *job, struct ciod_shared *shared, int slot);

struct ciod_args;

/*
 * Execute a call that was decoded, by one system call. Returns its result, or
 * -errno. A call whose descriptor is none of the peer's, or with a flag that the protocol
 * does not have, fails without a system call.
 */
int64_t ciod_execute(uint32_t call, const struct ciod_args *args, struct ciod_reply *reply);

#endif
