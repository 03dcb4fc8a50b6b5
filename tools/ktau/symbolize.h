/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of events: what the kernel recorded, completed from a symbol map where
 * the kernel had only an address.
 */
#ifndef KTAU_TOOLS_SYMBOLIZE_H
#define KTAU_TOOLS_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

struct symbolizer;

/* @symtab may be NULL; both stay the caller's. Never NULL. */
struct symbolizer *symbolize_create(const struct ktau_events *events,
				    const struct ktau_symtab *symtab);
void symbolize_destroy(struct symbolizer *names);

/* Never NULL; "event_700" if nothing is known. Valid until the event changes. */
const char *symbolize_event(struct symbolizer *names, uint32_t id);

/* The group of an event: "syscall" ...; "-" if the event is unknown. */
const char *symbolize_group(struct symbolizer *names, uint32_t id);

/* Ticks that KTAU itself has cost in @count activations of an event, estimated. */
uint64_t symbolize_hook_ticks(const struct symbolizer *names, const struct ktau_rec_stream *stream,
			      uint32_t id, uint64_t count);

/* A group as a word; as a number, "0x4000", if it has no name. */
const char *symbolize_group_text(struct symbolizer *names, uint32_t group);
uint32_t symbolize_group_bit(const struct symbolizer *names, uint32_t id);

/*
 * Where the map itself has _stext, as long as it has not been moved: there it
 * goes back before another file, that may not know where its kernel ran. 0: it
 * has none and cannot be moved.
 */
uint64_t symbolize_map_stext(const struct ktau_symtab *symtab);

/*
 * Load the map at @path and hold it against what a file says of its kernel:
 * moved to its _stext, build-id or events compared. Complaints are made.
 * 0 or -1.
 */
int symbolize_load_map(struct ktau_symtab **symtab, const char *path);
int symbolize_fit_map(struct ktau_symtab *symtab, const char *file,
		      const struct ktau_reader *reader);

#endif
