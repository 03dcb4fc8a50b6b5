/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: symbols by address. The rules are in <ktau.h>. */
#ifndef KTAU_SYMTAB_H
#define KTAU_SYMTAB_H

#include <ktau_reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktau_symtab;

/**
 * struct ktau_symbol - the symbol that an address belongs to
 * @name: name; owned by the table
 * @module: module, NULL for the kernel itself; owned by the table
 * @address: start of the symbol in the recorded boot
 * @offset: distance of the address from that
 */
struct ktau_symbol {
	const char *name;
	const char *module;
	uint64_t address;
	uint64_t offset;
};

/* Create an empty table, and destroy it. */
int ktau_symtab_create(struct ktau_symtab **symtab);
void ktau_symtab_destroy(struct ktau_symtab *symtab);

/**
 * ktau_symtab_load() - read a symbol map
 * @symtab: table; must be empty
 * @path: System.map, /proc/kallsyms or a copy of it, or vmlinux (ELF with symbols),
 *	recognised by content; NULL is /proc/kallsyms
 *
 * Return: 0; errors of open(2) and read(2); -EINVAL for a map that is empty,
 * truncated, unsorted or garbage; -EPERM for a kallsyms whose addresses are all
 * hidden; -EBUSY if a map is loaded; -EOPNOTSUPP for an ELF file if the library was built
 * without libelf; -ENOMEM. ktau_symtab_error() has file, line and reason.
 */
int ktau_symtab_load(struct ktau_symtab *symtab, const char *path);

/* Read a map from memory; @name is for messages. */
int ktau_symtab_load_memory(struct ktau_symtab *symtab, const void *data, size_t size,
			    const char *name);

/**
 * ktau_symtab_relocate() - move the map to the addresses of the recorded kernel
 * @symtab: map
 * @stext: _stext of the recorded boot (STREAM or INFO record); 0 if not known
 *
 * With 0 nothing moves.
 *
 * Return: 1 if the map moved, 0 if it did not have to or @stext is 0, -ENOENT if the map
 * has no _stext, -ESTALE if it cannot be the map of that kernel: its addresses are those of
 * another architecture, or the distance is not a multiple of the page size.
 */
int ktau_symtab_relocate(struct ktau_symtab *symtab, uint64_t stext);

/**
 * ktau_symtab_verify() - check that this is the map of the recorded kernel
 * @symtab: map, relocated
 * @info: INFO record with the build-id, or NULL
 * @events: recorded events, or NULL
 *
 * Compares build-ids if both sides have one. Otherwise checks that events have the exact
 * addresses of symbols, of which one in ten may be a label inside a function. Addresses in
 * modules that the map lacks are not compared.
 *
 * Return: 1 if it is, 0 if there was nothing to compare, -ESTALE if it is not, with the
 * difference in ktau_symtab_error().
 */
int ktau_symtab_verify(struct ktau_symtab *symtab, const struct ktau_rec_info *info,
		       const struct ktau_events *events);

/* Find the nearest symbol at or below a text address. 1 if found, 0 if in no function. */
int ktau_symtab_lookup(const struct ktau_symtab *symtab, uint64_t address,
		       struct ktau_symbol *symbol);

/* Find the first symbol with a name. 1 if found, 0 if not. Takes linear time. */
int ktau_symtab_find(const struct ktau_symtab *symtab, const char *name,
		     struct ktau_symbol *symbol);

/* The number of symbols. */
size_t ktau_symtab_count(const struct ktau_symtab *symtab);

/* The map's own build-id (vmlinux only). Returns its length, 0 if it has none. */
size_t ktau_symtab_build_id(const struct ktau_symtab *symtab, const uint8_t **id);

/* File, line and reason of the last error. */
const char *ktau_symtab_error(const struct ktau_symtab *symtab);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_SYMTAB_H */
