// SPDX-License-Identifier: GPL-2.0-only
/* Names of events. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "hash.h"
#include "program_event.h"
#include "symbolize.h"

enum { MADE_BYTES = 320,
       GROUP_BYTES = 12 };

struct symbolizer {
	const struct ktau_events *events;
	const struct ktau_symtab *symtab;
	struct hash made;   /* names put together here, by id */
	struct hash groups; /* names for unnamed groups, by group */
};

struct symbolizer *symbolize_create(const struct ktau_events *events,
				    const struct ktau_symtab *symtab)
{
	struct symbolizer *names = cli_alloc(NULL, 1, sizeof(*names));

	*names = (struct symbolizer){ .events = events, .symtab = symtab };
	return names;
}

static void free_texts(struct hash *texts)
{
	size_t i;

	for (i = 0; i < texts->room; i++)
		free((char *)texts->entries[i].value);
	hash_deinit(texts);
}

void symbolize_destroy(struct symbolizer *names)
{
	if (!names)
		return;
	free_texts(&names->made);
	free_texts(&names->groups);
	free(names);
}

/* Allocate @bytes for the text of @key. */
static char *text_of(struct hash *texts, uint64_t key, size_t bytes)
{
	char *text = (char *)hash_get(texts, key);

	if (!text) {
		text = cli_alloc(NULL, bytes, 1);
		hash_put(texts, key, (uintptr_t)text);
	}
	return text;
}

static const char *__attribute__((format(printf, 3, 4)))
make_name(struct symbolizer *names, uint32_t id, const char *format, ...)
{
	char *text = text_of(&names->made, id, MADE_BYTES);
	va_list args;

	va_start(args, format);
	vsnprintf(text, MADE_BYTES, format, args);
	va_end(args);
	return text;
}

/*
 * A kernel without kallsyms records names such as "sys_39" and "timer:0xffffffff81001234". Find
 * the address to look up, and how much of the name to keep before the symbol.
 */
static bool needs_symbol(const struct ktau_rec_event *event, uint64_t *address, int *keep)
{
	const char *name = ktau_event_name(event);
	const char *hex = strstr(name, "0x");
	char *end;

	*address = event->address;
	*keep = 0;
	if (hex && (hex == name || hex[-1] == ':')) {
		*address = strtoull(hex, &end, 16);
		*keep = (int)(hex - name);
		return !*end;
	}
	if (strncmp(name, "sys_", 4))
		return false;
	return event->address && !name[4 + strspn(name + 4, "0123456789")];
}

const char *symbolize_event(struct symbolizer *names, uint32_t id)
{
	const struct ktau_rec_event *event = ktau_events_find(names->events, id);
	struct ktau_symbol sym;
	uint64_t address;
	int keep;

	if (!event)
		return make_name(names, id, "event_%" PRIu32, id);
	if (event->kind == KTAU_KIND_FIELDS)
		return make_name(names, id, "%.*s",
				 (int)program_name_bytes(ktau_event_name(event)),
				 ktau_event_name(event));
	if (!names->symtab || !needs_symbol(event, &address, &keep) ||
	    ktau_symtab_lookup(names->symtab, address, &sym) <= 0)
		return ktau_display_name(ktau_event_name(event));
	if (sym.offset)
		return make_name(names, id, "%.*s%s+0x%" PRIx64, keep,
				 ktau_event_name(event), ktau_display_name(sym.name),
				 sym.offset);
	return make_name(names, id, "%.*s%s", keep, ktau_event_name(event),
			 ktau_display_name(sym.name));
}

const char *symbolize_fields(const struct symbolizer *names, uint32_t id)
{
	const struct ktau_rec_event *event = ktau_events_find(names->events, id);

	return event && event->kind == KTAU_KIND_FIELDS ? ktau_event_name(event) : NULL;
}

uint64_t symbolize_hook_ticks(const struct symbolizer *names, const struct ktau_rec_stream *stream,
			      uint32_t id, uint64_t count)
{
	return ktau_hook_ticks(stream, ktau_events_find(names->events, id), count);
}

uint32_t symbolize_group_bit(const struct symbolizer *names, uint32_t id)
{
	const struct ktau_rec_event *event = ktau_events_find(names->events, id);

	return event ? event->group : 0;
}

const char *symbolize_group_text(struct symbolizer *names, uint32_t group)
{
	const char *known = group == SYMBOLIZE_USER ? "user" : ktau_group_name(group);
	char *text;

	if (known)
		return known;
	text = text_of(&names->groups, group, GROUP_BYTES);
	snprintf(text, GROUP_BYTES, "%#" PRIx32, group);
	return text;
}

const char *symbolize_group(struct symbolizer *names, uint32_t id)
{
	uint32_t group = symbolize_group_bit(names, id);

	return group ? symbolize_group_text(names, group) : "-";
}

int symbolize_load_map(struct ktau_symtab **symtab, const char *path)
{
	int err = ktau_symtab_create(symtab);

	if (err) {
		complain("out of memory");
		return -1;
	}
	err = ktau_symtab_load(*symtab, path);
	if (!err)
		return 0;
	complain("%s", ktau_symtab_error(*symtab));
	ktau_symtab_destroy(*symtab);
	*symtab = NULL;
	return -1;
}

uint64_t symbolize_map_stext(const struct ktau_symtab *symtab)
{
	struct ktau_symbol sym;

	return ktau_symtab_find(symtab, "_stext", &sym) > 0 ? sym.address : 0;
}

/* _stext of the recorded boot: from the stream or, if missing there, from the collector. */
static uint64_t recorded_stext(const struct ktau_reader *reader)
{
	const struct ktau_rec_stream *stream = ktau_reader_stream(reader);
	const struct ktau_rec_info *info = ktau_reader_info(reader);

	if (stream && stream->stext)
		return stream->stext;
	return info ? info->stext : 0;
}

int symbolize_fit_map(struct ktau_symtab *symtab, const char *file,
		      const struct ktau_reader *reader)
{
	int err = ktau_symtab_relocate(symtab, recorded_stext(reader));

	if (err >= 0)
		err = ktau_symtab_verify(symtab, ktau_reader_info(reader),
					 ktau_reader_events(reader));
	if (err >= 0)
		return 0;
	complain("%s (map for %s)", ktau_symtab_error(symtab), file);
	return -1;
}

void symbolize_map_begin(struct symbolize_map *map, const char *file)
{
	map->file = file;
	map->fitted = false;
}

bool symbolize_map_record(struct symbolize_map *map, const struct ktau_reader *reader,
			  const union ktau_record *record)
{
	if (!map->symtab || map->fitted || map->misfit)
		return !map->misfit;
	/* An error of this is found again at the end of the stream. */
	if (record->rec->type == KTAU_REC_STREAM)
		ktau_symtab_relocate(map->symtab, recorded_stext(reader));
	if (record->rec->type != KTAU_REC_END)
		return true;
	map->fitted = true;
	map->misfit = symbolize_fit_map(map->symtab, map->file, reader);
	return !map->misfit;
}
