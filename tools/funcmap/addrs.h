/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces addresses in a byte stream by names; everything else is copied unchanged.
 *
 * An address consists of 8 to 16 hexadecimal digits, optionally preceded by 0x, that are not next
 * to a letter, digit or underscore, and lies in a function of the map. It is replaced by "name",
 * "name+0x1c" or "name+0x1c[module]".
 */
#ifndef KTAU_TOOLS_ADDRS_H
#define KTAU_TOOLS_ADDRS_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

struct addrs;

/* Writes all bytes of a piece of output. Return: 0 or -errno. */
typedef int (*addrs_write_fn)(void *arg, const char *data, size_t size);

/**
 * struct addrs_counts - statistics
 * @resolved: addresses replaced by names
 * @unresolved: numbers that look like kernel addresses (as many digits as in the map,
 *	highest bit set) but are not in any function
 */
struct addrs_counts {
	uint64_t resolved;
	uint64_t unresolved;
};

/* Allocates all memory that is needed. Return: NULL if there is none. */
struct addrs *addrs_create(const struct ktau_symtab *symtab,
			   addrs_write_fn write, void *arg);
void addrs_destroy(struct addrs *a);

/* Where to put the next bytes, and how many fit (never 0). */
char *addrs_space(struct addrs *a, size_t *size);

/* Process @size bytes that were put there; 0 is the end of the input. Return: 0 or -errno. */
int addrs_feed(struct addrs *a, size_t size);

const struct addrs_counts *addrs_counts(const struct addrs *a);

#endif
