/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts messages of ciod/proto.h to arguments and back, for ciod and cnk. Nothing here makes a
 * system call.
 */
#ifndef CIOD_WIRE_H
#define CIOD_WIRE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "ciod/proto.h"

/* Arguments of a request. Each kind is numbered separately, in the order of the signature. */
struct ciod_args {
	uint32_t fd[2];
	uint64_t number[5];
	const char *path[2];		/* inside the message */
	const unsigned char *data;	/* inside the message */
	uint32_t data_bytes;
};

/* The name of a call, and its signature; NULL if the number is unknown. */
const char *ciod_name(uint32_t call);
const char *ciod_signature(uint32_t call);

void ciod_put16(unsigned char *to, uint16_t value);
void ciod_put32(unsigned char *to, uint32_t value);
void ciod_put64(unsigned char *to, uint64_t value);
uint16_t ciod_get16(const unsigned char *from);
uint32_t ciod_get32(const unsigned char *from);
uint64_t ciod_get64(const unsigned char *from);

/*
 * Decode the body of a request, which is everything after the header. Return: 0, or -1 unless the
 * body matches the signature of the call exactly.
 */
int ciod_decode(uint32_t call, const unsigned char *body, size_t bytes, struct ciod_args *args);

/*
 * Encode a whole request with the arguments of the signature: f and i are a uint32_t, n is a
 * uint64_t, p is a char *, d is a void * and a uint32_t. Return: its length, or 0 if it does not
 * fit into @room or a path is longer than CIOD_MAX_PATH.
 */
size_t ciod_encode(unsigned char *to, size_t room, uint32_t call, va_list args);

/* Convert flags of openat. Return: -1 for flags that the protocol does not define. */
int64_t ciod_flags_to_wire(int here);
int ciod_flags_from_wire(uint64_t wire);

#endif
