/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CIOD_CALLS_H
#define CIOD_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* What becomes the reply's data. */
struct ciod_reply {
	unsigned char *data;	/* room for CIOD_MAX_DATA */
	size_t bytes;
};

struct ciod_args;

/*
 * Execute a call that was decoded, by one system call. Returns its result, or
 * -errno. A call whose descriptor is none of the peer's, or with a flag that the protocol
 * does not have, fails without a system call.
 */
int64_t ciod_execute(uint32_t call, const struct ciod_args *args, struct ciod_reply *reply);

#endif
