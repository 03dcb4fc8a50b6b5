/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_LINK_H
#define CNK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ciod/proto.h"

struct cnk_data {
	void *to;
	size_t room;
	size_t bytes;	/* received */
};

int cnk_connect(const char *address, const char *port, const char *token);
/*
 * Ship a call and wait for its reply. Return: its result, or -errno; -EIO if the connection is
 * lost. Data in the reply is stored in @data. The other arguments are those of the call's
 * signature, with the types that ciod_encode() takes.
 */
int64_t cnk_ship(enum ciod_call call, struct cnk_data *data, ...);
/* Say goodbye, and write the counts of shipped calls to "@path.PID" unless @path is NULL. */
int cnk_disconnect(const char *path);

#endif
