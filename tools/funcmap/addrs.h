/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses in a byte stream become names, everything else stays as it is.
 *
 * An address is 8 to 16 hexadecimal digits, with 0x before them or not, that
 * no letter, digit or underscore touches, and that lie in a function of the
 * map. It becomes "name", "name+0x1c" or "name+0x1c[module]".
 */
#ifndef KTAU_TOOLS_ADDRS_H
#define KTAU_TOOLS_ADDRS_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

struct addrs;

/* Takes all bytes of one piece of output. 0 or -errno. */
typedef int (*addrs_write_fn)(void *arg, const char *data, size_t size);

/**
 * struct addrs_counts - what went by
 * @resolved: addresses that became names
 * @unresolved: numbers that look like kernel addresses (as many digits as the
 *	map's, highest bit set) but lie in no function
 */
struct addrs_counts {
	uint64_t resolved;
	uint64_t unresolved;
};

/* Memory is fixed from here on. NULL without memory. */
struct addrs *addrs_create(const struct ktau_symtab *symtab,
			   addrs_write_fn write, void *arg);
void addrs_destroy(struct addrs *a);

/* Where the next bytes go, and how many fit (never 0). */
char *addrs_space(struct addrs *a, size_t *size);

/* @size bytes were put there; 0 is the end of the input. 0 or -errno. */
int addrs_feed(struct addrs *a, size_t size);

const struct addrs_counts *addrs_counts(const struct addrs *a);

#endif
