/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CIOD_JOB_H
#define CIOD_JOB_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
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

/* 0, or 1 after saying file, line and reason. */
int ciod_read_job(const char *path, struct ciod_job *job);

#endif
