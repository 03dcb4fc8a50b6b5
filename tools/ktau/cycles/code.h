/* SPDX-License-Identifier: GPL-2.0-only */
/* The code that was traced: pieces of files, each at an address. Files are mapped, not read. */
#ifndef KTAU_CYCLES_CODE_H
#define KTAU_CYCLES_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution.h"

/* Bytes of code at an address. */
struct code_piece {
	uint64_t start, end;
	const uint8_t *data;
};

/**
 * struct code - the code of a recording; all zero: empty
 * @pieces: ascending and disjoint
 * @nr: length of @pieces
 */
struct code {
	struct code_piece *pieces;
	size_t nr;

	/* code.c */
	size_t room;
	struct code_mapping *mappings;
};

void code_deinit(struct code *code);

/**
 * code_add_file() - add a part of a file
 * @code: where there is code at the same address already, that remains
 * @path: file
 * @offset: of the first byte in the file
 * @length: bytes; 0: up to the end of the file
 * @address: of the first byte when it ran
 *
 * Return: 0, or -1 with a message.
 */
int code_add_file(struct code *code, const char *path, uint64_t offset, uint64_t length,
		  uint64_t address);

/*
 * Add what a program had mapped: @length bytes from @offset of the file at @address, as far as the
 * file goes. A file that cannot be read adds nothing.
 */
void code_add_mapping(struct code *code, const char *path, uint64_t offset, uint64_t length,
		      uint64_t address);

/* Add the executable sections of an ELF file, in the same way. */
int code_add_elf(struct code *code, const char *path);

/* Copy up to @bytes from @address; returns how many there are. */
size_t code_read(const struct code *code, uint64_t address, void *data, size_t bytes);

/*
 * The length in bytes of the instruction at @address of a range, from its code; at least 1, at
 * most up to the end of the range.
 */
uint64_t code_instruction_bytes(const struct code *code, const struct cycles_range *range,
				uint64_t address);

/* Whether a file that is mapped would be destroyed by writing @path. Prints a message. */
bool code_is_input(const struct code *code, const char *path);

/* Map a file for reading. The mapping lasts as long as @code. NULL with a message. */
const uint8_t *code_map(struct code *code, const char *path, uint64_t *bytes);

#endif
