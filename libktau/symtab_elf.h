/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbols and the build-id of an ELF file. Needs libelf, which is optional. */
#ifndef KTAU_INTERNAL_SYMTAB_ELF_H
#define KTAU_INTERNAL_SYMTAB_ELF_H

#include "util.h"

/* A symbol as nm(1) would print it. */
struct ktau__elf_symbol {
	uint64_t address;
	const char *name;
	char type;
};

/**
 * struct ktau__elf_sink - what to do with the contents of an ELF file
 * @symbol: called for each symbol; a value other than 0 ends the reading
 * @arg: passed to @symbol
 * @build_id: set to the build-id
 * @build_id_bytes: its length, 0 if the file has none
 */
struct ktau__elf_sink {
	int (*symbol)(void *arg, const struct ktau__elf_symbol *symbol);
	void *arg;
	uint8_t build_id[32];
	size_t build_id_bytes;
};

#ifndef KTAU_NO_LIBELF
/*
 * Read the ELF file @image of @size bytes, or @fd if that is NULL: a vmlinux is too large to
 * copy. 0, -EINVAL for a damaged file, what @symbol returned.
 */
int ktau__elf_read(int fd, const void *image, size_t size, struct ktau__elf_sink *sink);
#else
static inline int ktau__elf_read(int fd, const void *image, size_t size,
				 struct ktau__elf_sink *sink)
{
	(void)fd, (void)image, (void)size, (void)sink;
	return -EOPNOTSUPP;
}
#endif

#endif /* KTAU_INTERNAL_SYMTAB_ELF_H */
