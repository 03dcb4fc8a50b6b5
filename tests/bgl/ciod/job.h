/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CIOD_JOB_H
#define CIOD_JOB_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ciod/proto.h"

/* The contents of the job file. */
struct ciod_job {
	char token[CIOD_TOKEN_BYTES];
	struct in_addr peer;
	uid_t uid;
	gid_t gid;
	char root[PATH_MAX];
	unsigned int port;
	unsigned int wait_seconds;	/* to wait for the first control connection */
	unsigned int nodes;		/* maximum number of compute connections */
	bool lost_node_continues;	/* a lost node does not end the job */
};

#define CIOD_MAX_NODES	1024

/* Return: 0, or 1 after printing file, line and reason. */
int ciod_read_job(const char *path, struct ciod_job *job);

#endif
