/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The archive of ktau-land: DIR/HOST/FILE. A part is appended only at the end of its file, so parts
 * may arrive twice. Names and offsets come from hosts and are not trusted.
 */
#ifndef KTAUD_SHIP_APPEND_H
#define KTAUD_SHIP_APPEND_H

#include <stddef.h>
#include <stdint.h>

#include "target.h"

/**
 * enum append_result - what became of a part
 * @APPEND_LANDED: the file has it now
 * @APPEND_DUPLICATE: the file had it
 * @APPEND_GAP: a part before it is missing
 * @APPEND_OTHER: the file has other bytes at this place
 * @APPEND_REFUSED: a name or the offset is invalid
 * @APPEND_FULL: the file cannot be written; errno has the reason
 * @APPEND_UNREADABLE: what the file has cannot be compared; errno has the reason
 */
enum append_result {
	APPEND_LANDED,
	APPEND_DUPLICATE,
	APPEND_GAP,
	APPEND_OTHER,
	APPEND_REFUSED,
	APPEND_FULL,
	APPEND_UNREADABLE,
};

/**
 * struct append_part - a part of a file
 * @host: folder
 * @file: name of the file in it
 * @offset: decimal number
 * @data: contents
 * @bytes: length of @data, at most TARGET_PART
 */
struct append_part {
	const char *host;
	const char *file;
	const char *offset;
	const void *data;
	size_t bytes;
};

/**
 * struct append_state - a file after a part was handled
 * @bytes: its size
 * @head: its first bytes
 * @head_bytes: length of @head
 */
struct append_state {
	uint64_t bytes;
	unsigned char head[TARGET_HEAD];
	size_t head_bytes;
};

/* @state is set except after APPEND_REFUSED, APPEND_FULL and APPEND_UNREADABLE. */
enum append_result append(int dir, const struct append_part *part, struct append_state *state);

#endif /* KTAUD_SHIP_APPEND_H */
