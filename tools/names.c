// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "names.h"

enum { MADE_BYTES = 320 };

struct names {
	const struct ktau_events *events;
	const struct ktau_symtab *symtab;
	char *made[KTAU_NR_IDS];	/* names that had to be put together */
};

struct names *names_create(const struct ktau_events *events,
			   const struct ktau_symtab *symtab)
{
	struct names *names = cmd_alloc(NULL, 1, sizeof(*names));

	memset(names, 0, sizeof(*names));
	names->events = events;
	names->symtab = symtab;
	return names;
}

void names_destroy(struct names *names)
{
	int i;

	if (!names)
		return;
	for (i = 0; i < KTAU_NR_IDS; i++)
		free(names->made[i]);
	free(names);
}

static const char *__attribute__((format(printf, 3, 4)))
make_name(struct names *names, uint32_t id, const char *format, ...)
{
	static char unknown[24];
	va_list args;

	if (id >= KTAU_NR_IDS) {
		snprintf(unknown, sizeof(unknown), "event_%" PRIu32, id);
		return unknown;
	}
	if (!names->made[id])
		names->made[id] = cmd_alloc(NULL, MADE_BYTES, 1);
	va_start(args, format);
	vsnprintf(names->made[id], MADE_BYTES, format, args);
	va_end(args);
	return names->made[id];
}

/*
 * A kernel without kallsyms records "sys_39" and "timer:0xffffffff81001234":
 * what is to be looked up, and how much of the name stays before it.
 */
static bool needs_symbol(const struct ktau_event *event, uint64_t *address, int *keep)
{
	const char *hex = strstr(event->name, "0x");
	char *end;

	*address = event->address;
	*keep = 0;
	if (hex && (hex == event->name || hex[-1] == ':')) {
		*address = strtoull(hex, &end, 16);
		*keep = (int)(hex - event->name);
		return !*end;
	}
	if (strncmp(event->name, "sys_", 4))
		return false;
	return event->address && !event->name[4 + strspn(event->name + 4, "0123456789")];
}

const char *names_event(struct names *names, uint32_t id)
{
	const struct ktau_event *event = ktau_events_find(names->events, id);
	struct ktau_symbol sym;
	uint64_t address;
	int keep;

	if (!event)
		return make_name(names, id, "event_%" PRIu32, id);
	if (!names->symtab || !needs_symbol(event, &address, &keep) ||
	    ktau_symtab_lookup(names->symtab, address, &sym) <= 0)
		return ktau_display_name(event->name);
	if (sym.offset)
		return make_name(names, id, "%.*s%s+0x%" PRIx64, keep, event->name,
				 ktau_display_name(sym.name), sym.offset);
	return make_name(names, id, "%.*s%s", keep, event->name,
			 ktau_display_name(sym.name));
}

uint32_t names_group_bit(const struct names *names, uint32_t id)
{
	const struct ktau_event *event = ktau_events_find(names->events, id);

	return event ? event->group : 0;
}

const char *names_group(const struct names *names, uint32_t id)
{
	const char *group = ktau_group_name(names_group_bit(names, id));

	return group ? group : "-";
}

int names_load_map(struct ktau_symtab **symtab, const char *path)
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

uint64_t names_map_stext(const struct ktau_symtab *symtab)
{
	struct ktau_symbol sym;

	return ktau_symtab_find(symtab, "_stext", &sym) > 0 ? sym.address : 0;
}

/* _stext of the recorded boot: the stream's, else what the collector saw. */
static uint64_t recorded_stext(const struct ktau_reader *reader)
{
	const struct ktau_rec_stream *stream = ktau_reader_stream(reader);
	const struct ktau_rec_info *info = ktau_reader_info(reader);

	if (stream && stream->stext)
		return stream->stext;
	return info ? info->stext : 0;
}

int names_fit_map(struct ktau_symtab *symtab, const char *file,
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
