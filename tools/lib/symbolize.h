/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of events: those that the kernel recorded, completed from a symbol map where the kernel
 * recorded only an address.
 */
#ifndef KTAU_TOOLS_SYMBOLIZE_H
#define KTAU_TOOLS_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

struct symbolizer;

/* @symtab may be NULL. The caller keeps ownership of both arguments. Never returns NULL. */
struct symbolizer *symbolize_create(const struct ktau_events *events,
				    const struct ktau_symtab *symtab);
void symbolize_destroy(struct symbolizer *names);

/*
 * The name of an event, never NULL; "event_700" if it is unknown. Valid until the event changes.
 */
const char *symbolize_event(struct symbolizer *names, uint32_t id);

/*
 * The name of an event of a program with its fields, as recorded; NULL if the event is not one
 * of those.
 */
const char *symbolize_fields(const struct symbolizer *names, uint32_t id);

/* The group of an event, such as "syscall"; "-" if the event is unknown. */
const char *symbolize_group(struct symbolizer *names, uint32_t id);

/* Estimated cost of KTAU's hooks, in ticks, for @count activations of an event. */
uint64_t symbolize_hook_ticks(const struct symbolizer *names, const struct ktau_rec_stream *stream,
			      uint32_t id, uint64_t count);

/*
 * The group of the regions and events of programs, which no kernel has: its bit is above those of
 * modules.
 */
#define SYMBOLIZE_USER KTAU_GROUP_PROGRAM

/* The name of a group; a number such as "0x4000" if it has no name. */
const char *symbolize_group_text(struct symbolizer *names, uint32_t group);
uint32_t symbolize_group_bit(const struct symbolizer *names, uint32_t id);

/*
 * Address of _stext in the map itself, before any relocation; 0 if the map has none and cannot
 * be relocated. Used to undo the relocation before a file that does not record where its kernel
 * ran.
 */
uint64_t symbolize_map_stext(const struct ktau_symtab *symtab);

/*
 * symbolize_load_map() loads the map at @path. The other function compares it with what a file
 * says about its kernel: it relocates the map to the file's _stext, and compares the build-id or
 * the events. Both print messages and return 0 or -1.
 */
int symbolize_load_map(struct ktau_symtab **symtab, const char *path);
int symbolize_fit_map(struct ktau_symtab *symtab, const char *file,
		      const struct ktau_reader *reader);

/**
 * struct symbolize_map - a map that is compared with files while they are read
 * @symtab: the map, NULL: none
 * @file: the current file
 * @fitted: it was compared with the current file
 * @misfit: it is that of another kernel; there is a message
 */
struct symbolize_map {
	struct ktau_symtab *symtab;
	const char *file;
	bool fitted, misfit;
};

/* Called before the records of a file. */
void symbolize_map_begin(struct symbolize_map *map, const char *file);

/*
 * Called for each record, before it is used: the map is relocated by the first stream, and compared
 * at its end. Return: false if the map is that of another kernel, so that names are wrong.
 */
bool symbolize_map_record(struct symbolize_map *map, const struct ktau_reader *reader,
			  const union ktau_record *record);

#endif
