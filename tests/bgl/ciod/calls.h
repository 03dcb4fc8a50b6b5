/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CIOD_CALLS_H
#define CIOD_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* The data of a reply. */
struct ciod_reply {
	unsigned char *data;	/* has room for CIOD_MAX_DATA */
	size_t bytes;
};

struct ciod_args;

/*
 * Execute a decoded call with one system call. Return: its result, or -errno. A call with a
 * descriptor that the peer has not opened, or with a flag that the protocol does not define, fails
 * without a system call.
 */
int64_t ciod_execute(uint32_t call, const struct ciod_args *args, struct ciod_reply *reply);

#endif
