/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing messages in the wire format of protocol buffers. A message is built in memory and then
 * put into another message, or written to a file, as a field.
 */
#ifndef KTAU_TOOLS_PROTOBUF_H
#define KTAU_TOOLS_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An all-zero structure is an empty message. */
struct message {
	uint8_t *data;
	size_t nr, room;
};

void message_deinit(struct message *m);
void message_clear(struct message *m);

/* Put a field by its number. Negative int32 and int64 values are cast. */
void message_varint(struct message *m, uint32_t field, uint64_t value);
void message_string(struct message *m, uint32_t field, const char *text);
void message_bytes(struct message *m, uint32_t field, const void *data, size_t nr);
void message_put(struct message *m, uint32_t field, const struct message *inner);

/* Put a number of fixed size. */
void message_fixed64(struct message *m, uint32_t field, uint64_t value);

/* Put a packed repeated field. */
void message_packed(struct message *m, uint32_t field, const uint64_t *values, size_t nr);

/* Write @m as a field of the top-level message; the caller checks @out for errors. */
void message_write(const struct message *m, uint32_t field, FILE *out);

#endif
