// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbols by address. All names of the map are kept, sorted by address and,
 * at one address, by how well they name a function; a look-up is two binary
 * searches. symtab_text.c and symtab_elf.c read the maps.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

/* No function is longer: what is further off belongs to no symbol. */
#define FUNCTION_MAX	0x40000
#define TEXT_MAX_BYTES	(1U << 30)
#define PAGE		4096

int ktau_symtab_create(struct ktau_symtab **symtab)
{
	*symtab = calloc(1, sizeof(**symtab));
	return *symtab ? 0 : -ENOMEM;
}

static void forget(struct ktau_symtab *s)
{
	struct ktau__error error = s->error;

	free(s->symbols);
	ktau__buffer_free(&s->names);
	free(s->path);
	memset(s, 0, sizeof(*s));
	s->error = error;
}

void ktau_symtab_destroy(struct ktau_symtab *s)
{
	if (!s)
		return;
	forget(s);
	free(s);
}

int ktau__symtab_name(struct ktau_symtab *s, const char *name, size_t bytes, uint32_t *offset)
{
	int err = 0;

	if (!s->names.size)		/* offset 0 is for "none" */
		err = ktau__buffer_append(&s->names, "", 1);
	if (!err && s->names.size + bytes + 1 > UINT32_MAX)
		err = -E2BIG;
	*offset = s->names.size;
	if (!err)
		err = ktau__buffer_append(&s->names, name, bytes);
	if (!err)
		err = ktau__buffer_append(&s->names, "", 1);
	return err;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(name, *list))
			return true;
	}
	return false;
}

/* Which of several names at one address to show: global, weak, local; few '_'. */
static uint32_t rank_of(char type, const char *name)
{
	static const char *const ends[] = {
		"_etext", "_einittext", "__init_end", "_end", "__end_rodata", NULL,
	};
	uint32_t underscores = strspn(name, "_");

	if (is_one_of(name, ends))
		return KTAU__RANK_END;
	if (!strchr("tTwWi", type))
		return KTAU__RANK_DATA;
	if (underscores > 9)
		underscores = 9;
	return (type == 'T' ? 0 : type == 't' || type == 'i' ? 20 : 40) + underscores;
}

int ktau__symtab_add(struct ktau_symtab *s, const struct ktau__mapped *mapped)
{
	size_t room = s->room ? s->room * 2 : 16384;
	struct ktau__symbol *symbol;
	const char *kept;
	int err;

	if (s->nr_symbols == s->room) {
		symbol = reallocarray(s->symbols, room, sizeof(*symbol));
		if (!symbol)
			return -ENOMEM;
		s->symbols = symbol;
		s->room = room;
	}
	symbol = &s->symbols[s->nr_symbols];
	err = ktau__symtab_name(s, mapped->name, mapped->name_bytes, &symbol->name);
	if (err)
		return err;
	kept = (const char *)s->names.data + symbol->name;
	symbol->address = mapped->address;
	symbol->module = mapped->module;
	symbol->order = s->nr_symbols++;
	symbol->rank = rank_of(mapped->type, kept);
	if (!mapped->module && !s->has_stext && !strcmp(kept, "_stext")) {
		s->stext = mapped->address;
		s->has_stext = true;
	}
	s->has_etext |= !mapped->module && !strcmp(kept, "_etext");
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct ktau__symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

#define ELF_MAGIC	"\177ELF"

/* @image NULL: an ELF file at @fd. */
static int load(struct ktau_symtab *s, const char *name, int fd, const void *image,
		size_t size)
{
	int err;

	s->path = strdup(name);
	if (!s->path)
		return -ENOMEM;
	if (image && !size)
		err = ktau__fail(&s->error, -EINVAL, "%.300s: empty", name);
	else if (!image || (size >= 4 && !memcmp(image, ELF_MAGIC, 4)))
		err = ktau__symtab_elf(s, fd, image, size);
	else
		err = ktau__symtab_text(s, image, size);
	if (!err) {
		qsort(s->symbols, s->nr_symbols, sizeof(*s->symbols), compare);
		s->loaded = true;
		return 0;
	}
	if (!s->error.text[0])
		ktau__fail(&s->error, err, "%.300s: %s", name, strerror(-err));
	forget(s);
	return err;
}

static int begin_load(struct ktau_symtab *s, const char *name)
{
	s->error.text[0] = 0;
	if (!s->loaded)
		return 0;
	return ktau__fail(&s->error, -EBUSY, "%.300s: a map is loaded already", name);
}

int ktau_symtab_load_memory(struct ktau_symtab *s, const void *data, size_t size,
			    const char *name)
{
	return begin_load(s, name) ?: load(s, name, -1, data ? data : "", size);
}

static int load_fd(struct ktau_symtab *s, const char *path, int fd)
{
	struct ktau__buffer text = { 0 };
	char magic[4];
	int err;

	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    !memcmp(magic, ELF_MAGIC, sizeof(magic)))
		return load(s, path, fd, NULL, 0);
	err = ktau__read_all(fd, TEXT_MAX_BYTES, &text);
	if (err)
		ktau__fail(&s->error, err, "%.300s: %s", path, strerror(-err));
	else
		err = load(s, path, -1, text.data, text.size);
	ktau__buffer_free(&text);
	return err;
}

int ktau_symtab_load(struct ktau_symtab *s, const char *path)
{
	int err, fd;

	if (!path)
		path = "/proc/kallsyms";
	err = begin_load(s, path);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ktau__fail(&s->error, -errno, "%.300s: %s", path, strerror(errno));
	err = load_fd(s, path, fd);
	close(fd);
	return err;
}

/* How many symbols lie at or below an address. */
static size_t upper_bound(const struct ktau_symtab *s, uint64_t address)
{
	size_t low = 0, high = s->nr_symbols;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The best name at the nearest address at or below; NULL if that is no function. */
static const struct ktau__symbol *nearest(const struct ktau_symtab *s, uint64_t address)
{
	size_t nr = upper_bound(s, address);
	const struct ktau__symbol *symbol;
	uint64_t start;

	if (!nr)
		return NULL;
	start = s->symbols[nr - 1].address;
	symbol = &s->symbols[start ? upper_bound(s, start - 1) : 0];
	if (symbol->rank >= KTAU__RANK_DATA || address - start >= FUNCTION_MAX)
		return NULL;
	return symbol;
}

static const char *name_of(const struct ktau_symtab *s, uint32_t offset)
{
	return (const char *)s->names.data + offset;
}

static void fill(const struct ktau_symtab *s, const struct ktau__symbol *from,
		 uint64_t address, struct ktau_symbol *to)
{
	to->name = name_of(s, from->name);
	to->module = from->module ? name_of(s, from->module) : NULL;
	to->address = from->address + s->slide;
	to->offset = address - from->address;
}

int ktau_symtab_lookup(const struct ktau_symtab *s, uint64_t address,
		       struct ktau_symbol *symbol)
{
	const struct ktau__symbol *found = nearest(s, address - s->slide);

	/* Modules of another boot were loaded elsewhere. */
	if (!found || (found->module && s->slide))
		return 0;
	fill(s, found, address - s->slide, symbol);
	return 1;
}

int ktau_symtab_find(const struct ktau_symtab *s, const char *name,
		     struct ktau_symbol *symbol)
{
	size_t i;

	for (i = 0; i < s->nr_symbols; i++) {
		if (strcmp(name_of(s, s->symbols[i].name), name))
			continue;
		fill(s, &s->symbols[i], s->symbols[i].address, symbol);
		return 1;
	}
	return 0;
}

int ktau_symtab_relocate(struct ktau_symtab *s, uint64_t stext)
{
	uint64_t slide = stext - s->stext;

	if (!stext)
		return 0;
	if (!s->has_stext)
		return ktau__fail(&s->error, -ENOENT, "%.300s: no symbol _stext to place "
				  "the map by", s->path ? s->path : "no map");
	if (slide % PAGE)
		return ktau__fail(&s->error, -ESTALE, "%.300s: map of another kernel: its "
				  "_stext is %016" PRIx64 ", the recorded one %016" PRIx64
				  ", and no kernel moves by that", s->path, s->stext, stext);
	s->slide = slide;
	return slide != 0;
}

/* Is @address, a recorded one, where the kernel's own text may be? */
static bool in_kernel(const struct ktau_symtab *s, uint64_t address)
{
	return s->nr_symbols && address - s->slide >= s->symbols[0].address &&
	       (!s->has_stext || address - s->slide >= s->stext);
}

/* "timer:wake_up_fn" names a function behind the colon. */
static const char *function_part(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

enum verdict { NOT_COMPARED, AGREES, OFF_SYMBOL };

static enum verdict compare_event(const struct ktau_symtab *s, const struct ktau_rec_event *event)
{
	uint64_t address = event->address - s->slide;
	const struct ktau__symbol *symbol;
	struct ktau_symbol named;

	if (!event->address || !in_kernel(s, event->address))
		return NOT_COMPARED;
	symbol = nearest(s, address);
	if (symbol && symbol->module && s->slide)
		return NOT_COMPARED;
	if (symbol && symbol->address == address)
		return AGREES;
	/* Off the symbols: a module's that the map has not, or a wrong map. */
	if (!symbol && !ktau_symtab_find(s, function_part(ktau_event_name(event)), &named))
		return NOT_COMPARED;
	return OFF_SYMBOL;
}

static int verify_build_id(struct ktau_symtab *s, const struct ktau_rec_info *info)
{
	if (!info || !info->build_id_bytes || !s->build_id_bytes)
		return 0;
	if (info->build_id_bytes == s->build_id_bytes &&
	    !memcmp(info->build_id, s->build_id, s->build_id_bytes))
		return 1;
	return ktau__fail(&s->error, -ESTALE, "%.300s: of another kernel: its build-id is "
			  "%02x%02x%02x%02x..., the recorded one %02x%02x%02x%02x...", s->path,
			  s->build_id[0], s->build_id[1], s->build_id[2], s->build_id[3],
			  info->build_id[0], info->build_id[1], info->build_id[2],
			  info->build_id[3]);
}

int ktau_symtab_verify(struct ktau_symtab *s, const struct ktau_rec_info *info,
		       const struct ktau_events *events)
{
	unsigned int count[3] = { 0 }, compared;
	const struct ktau_rec_event *event = NULL, *off = NULL;
	int err = verify_build_id(s, info);

	if (err || !events)
		return err;
	while ((event = ktau_events_next(events, event))) {
		enum verdict verdict = compare_event(s, event);

		count[verdict]++;
		if (verdict == OFF_SYMBOL && !off)
			off = event;
	}
	compared = count[AGREES] + count[OFF_SYMBOL];
	if (!compared)
		return 0;
	/* One in ten may be a label inside of a function. */
	if (count[OFF_SYMBOL] * 10 <= compared)
		return 1;
	return ktau__fail(&s->error, -ESTALE, "%.200s: map of another kernel: %u of %u "
			  "recorded functions are on no symbol of it, first of them %.100s "
			  "at %016" PRIx64, s->path, count[OFF_SYMBOL], compared,
			  ktau_event_name(off), (uint64_t)off->address);
}

size_t ktau_symtab_count(const struct ktau_symtab *s)
{
	return s->nr_symbols;
}

size_t ktau_symtab_build_id(const struct ktau_symtab *s, const uint8_t **id)
{
	*id = s->build_id_bytes ? s->build_id : NULL;
	return s->build_id_bytes;
}

const char *ktau_symtab_error(const struct ktau_symtab *s)
{
	return s->error.text;
}
