/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of ciod/proto.h to arguments and back: what ciod and cnk
 * share. Nothing here makes a system call.
 */
#ifndef CIOD_WIRE_H
#define CIOD_WIRE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "ciod/proto.h"

/* What a request asks for. Each kind is numbered by itself, in the signature's order. */
struct ciod_args {
	uint32_t fd[2];
	uint64_t number[5];
	const char *path[2];		/* inside the message */
	const unsigned char *data;	/* inside the message */
	uint32_t data_bytes;
};

/* The name of a call, and its signature; NULL if there is none of that number. */
const char *ciod_name(uint32_t call);
const char *ciod_signature(uint32_t call);

void ciod_put16(unsigned char *to, uint16_t value);
void ciod_put32(unsigned char *to, uint32_t value);
void ciod_put64(unsigned char *to, uint64_t value);
uint16_t ciod_get16(const unsigned char *from);
uint32_t ciod_get32(const unsigned char *from);
uint64_t ciod_get64(const unsigned char *from);

/*
 * Decode a request's body: everything after the header. Returns 0, or -1 if
 * it is not, to the last byte, what the call's signature says.
 */
int ciod_decode(uint32_t call, const unsigned char *body, size_t bytes, struct ciod_args *args);

/*
 * A whole request with the arguments of the signature: f and i are a uint32_t, n is a
 * uint64_t, p a char *, d a void * and a uint32_t. Returns its bytes, or 0 if they do not
 * fit into @room or a path is longer than CIOD_MAX_PATH.
 */
size_t ciod_encode(unsigned char *to, size_t room, uint32_t call, va_list args);

/* Flags of openat. Those that the protocol does not have are -1. */
int64_t ciod_flags_to_wire(int here);
int ciod_flags_from_wire(uint64_t wire);

#endif
