// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbols by address. All names of the map are kept, sorted by address and, at one address,
 * by how well they name a function. A look-up takes two binary searches.
 */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buffer.h"
#include "fail.h"
#include "symtab_elf.h"

/* No function is longer: an address further from a symbol belongs to none. */
#define FUNCTION_MAX	0x40000
#define TEXT_MAX_BYTES	(1U << 30)
#define PAGE		4096

/* symtab.c: a map under construction. */
struct symbol {
	uint64_t address;
	uint32_t name;		/* offset in @names */
	uint32_t module;	/* offset in @names, 0 for none */
	uint32_t order; /* in the map, so that sorting is stable */
	uint32_t rank; /* at one address, the name of the lowest rank is shown */
};

/* Ranks of symbols that are not functions. */
#define RANK_DATA		100
#define RANK_END 101 /* the end of a range: no address belongs to it */

struct ktau_symtab {
	struct symbol *symbols;
	size_t nr_symbols;
	size_t room;
	struct ktau__buffer names;
	uint64_t stext; /* the map's address of _stext */
	uint64_t slide;		/* recorded kernel - map */
	bool has_stext;
	bool has_etext;
	bool loaded;
	uint8_t build_id[32];
	size_t build_id_bytes;
	char *path;
	struct ktau__error error;
};

/* A symbol as a map has it: @type as nm(1) prints it, @module 0 for the kernel. */
struct mapped {
	uint64_t address;
	const char *name;
	size_t name_bytes;
	uint32_t module;
	char type;
};

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

static int add_name(struct ktau_symtab *s, const char *name, size_t bytes, uint32_t *offset)
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

/* The lowest rank is shown: global, then weak, then local names; few underscores first. */
static uint32_t rank_of(char type, const char *name)
{
	static const char *const ends[] = {
		"_etext", "_einittext", "__init_end", "_end", "__end_rodata", NULL,
	};
	uint32_t underscores = strspn(name, "_");

	if (is_one_of(name, ends))
		return RANK_END;
	if (!strchr("tTwWi", type))
		return RANK_DATA;
	if (underscores > 9)
		underscores = 9;
	return (type == 'T' ? 0 : type == 't' || type == 'i' ? 20 : 40) + underscores;
}

static int add_symbol(struct ktau_symtab *s, const struct mapped *mapped)
{
	size_t room = s->room ? s->room * 2 : 16384;
	struct symbol *symbol;
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
	err = add_name(s, mapped->name, mapped->name_bytes, &symbol->name);
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

/*
 * Maps as text
 */

/* A line of a map, parsed. */
struct line {
	struct mapped symbol;
	const char *module;
	size_t module_bytes;
};

static const char *read_address(const char **at, const char *end, uint64_t *address)
{
	static const char digits[] = "0123456789abcdef";
	const char *start = *at, *digit;

	*address = 0;
	for (; *at < end && **at != ' '; (*at)++) {
		digit = memchr(digits, tolower((unsigned char)**at), 16);
		if (!digit)
			return "does not begin with a hexadecimal address";
		*address = *address << 4 | (digit - digits);
	}
	if (*at == start || *at - start > 16)
		return "does not begin with a hexadecimal address";
	return NULL;
}

static const char *read_module(const char *at, const char *end, struct line *line)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	line->module_bytes = 0;
	if (at == end)
		return NULL;
	if (end - at < 3 || at[0] != '[' || end[-1] != ']')
		return "has something other than [module] after the name";
	line->module = at + 1;
	line->module_bytes = end - at - 2;
	return NULL;
}

/* Parse a line: NULL, or what is wrong with it. */
static const char *read_line(const char *at, const char *end, struct line *line)
{
	const char *why = read_address(&at, end, &line->symbol.address);

	if (why)
		return why;
	if (end - at < 4 || at[0] != ' ' || at[2] != ' ' || !isgraph((unsigned char)at[1]))
		return "is not \"<address> <type> <name>\"";
	line->symbol.type = at[1];
	line->symbol.name = at += 3;
	while (at < end && *at != '\t' && *at != ' ') {
		if (!isgraph((unsigned char)*at))
			return "has a name with control characters";
		at++;
	}
	line->symbol.name_bytes = at - line->symbol.name;
	if (!line->symbol.name_bytes)
		return "has no name";
	return read_module(at, end, line);
}

/* Symbols of a module are adjacent, so the last name is usually the right one. */
static int module_name(struct ktau_symtab *s, const struct line *line, uint32_t *offset)
{
	const char *last;

	if (*offset) {
		last = (const char *)s->names.data + *offset;
		if (strlen(last) == line->module_bytes &&
		    !memcmp(last, line->module, line->module_bytes))
			return 0;
	}
	return add_name(s, line->module, line->module_bytes, offset);
}

/* Check the map as a whole: 0, or the error. */
static int judge(struct ktau_symtab *s, bool any_address)
{
	if (!any_address)
		return ktau__fail(&s->error, -EPERM, "%.300s: all addresses are 0: hidden "
				  "from this user (kernel.kptr_restrict, CAP_SYSLOG)", s->path);
	if (!s->nr_symbols)
		return ktau__fail(&s->error, -EINVAL, "%.300s: absolute symbols only", s->path);
	if (s->has_stext && !s->has_etext)
		return ktau__fail(&s->error, -EINVAL, "%.300s: truncated: _stext is in it, "
				  "_etext is not", s->path);
	return 0;
}

static int read_text(struct ktau_symtab *s, const char *text, size_t size)
{
	const char *end = text + size, *why, *eol;
	uint32_t module = 0;
	bool any_address = false, absolute;
	uint64_t last = 0;
	struct line line = { 0 };
	size_t nr;
	int err;

	for (nr = 1; text < end; nr++, text = eol + 1) {
		eol = memchr(text, '\n', end - text);
		why = eol ? read_line(text, eol, &line) : "is cut off: no end of line";
		absolute = line.symbol.type == 'A' || line.symbol.type == 'a';
		if (!why && !line.module_bytes && !absolute) {
			if (line.symbol.address < last)
				why = "goes back to a lower address: the map is not sorted";
			last = line.symbol.address;
		}
		if (why)
			return ktau__fail(&s->error, -EINVAL, "%.300s: line %zu %s",
					  s->path, nr, why);
		any_address |= line.symbol.address != 0;
		/* Absolute symbols are numbers, not addresses. */
		if (absolute)
			continue;
		err = line.module_bytes ? module_name(s, &line, &module) : 0;
		line.symbol.module = line.module_bytes ? module : 0;
		if (!err)
			err = add_symbol(s, &line.symbol);
		if (err)
			return err;
	}
	return judge(s, any_address);
}

/*
 * Maps as ELF files
 */

static int add_elf_symbol(void *arg, const struct ktau__elf_symbol *symbol)
{
	const struct mapped mapped = {
		.address = symbol->address,
		.name = symbol->name,
		.name_bytes = strlen(symbol->name),
		.type = symbol->type,
	};

	return add_symbol(arg, &mapped);
}

static int read_elf(struct ktau_symtab *s, int fd, const void *image, size_t size)
{
	struct ktau__elf_sink sink = { .symbol = add_elf_symbol, .arg = s };
	int err = ktau__elf_read(fd, image, size, &sink);

	if (err == -EOPNOTSUPP)
		return ktau__fail(&s->error, err, "%.300s: an ELF file, and libktau was built "
				  "without libelf", s->path);
	if (err == -EINVAL)
		return ktau__fail(&s->error, err, "%.300s: damaged ELF file", s->path);
	if (!err && !s->nr_symbols)
		return ktau__fail(&s->error, -EINVAL, "%.300s: ELF file without symbols (stripped "
				  "or truncated)", s->path);
	memcpy(s->build_id, sink.build_id, sizeof(s->build_id));
	s->build_id_bytes = sink.build_id_bytes;
	return err;
}

/*
 * Look-ups
 */

static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

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
		err = read_elf(s, fd, image, size);
	else
		err = read_text(s, image, size);
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

/* The number of symbols at or below an address. */
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
static const struct symbol *nearest(const struct ktau_symtab *s, uint64_t address)
{
	size_t nr = upper_bound(s, address);
	const struct symbol *symbol;
	uint64_t start;

	if (!nr)
		return NULL;
	start = s->symbols[nr - 1].address;
	symbol = &s->symbols[start ? upper_bound(s, start - 1) : 0];
	if (symbol->rank >= RANK_DATA || address - start >= FUNCTION_MAX)
		return NULL;
	return symbol;
}

static const char *name_of(const struct ktau_symtab *s, uint32_t offset)
{
	return (const char *)s->names.data + offset;
}

static void fill(const struct ktau_symtab *s, const struct symbol *from,
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
	const struct symbol *found = nearest(s, address - s->slide);

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
		return ktau__fail(&s->error, -ENOENT, "%.300s: no symbol _stext to "
				  "relocate the map", s->path ? s->path : "no map");
	/* No kernel moves from 32-bit addresses to 64-bit ones, or back. */
	if (!(stext >> 32) != !(s->stext >> 32))
		return ktau__fail(&s->error, -ESTALE, "%.300s: map of another architecture: its "
				  "_stext is %016" PRIx64 ", the recorded one %016" PRIx64,
				  s->path, s->stext, stext);
	if (slide % PAGE)
		return ktau__fail(&s->error, -ESTALE, "%.300s: map of another kernel: its "
				  "_stext is %016" PRIx64 ", the recorded one %016" PRIx64
				  ", not a whole number of pages apart", s->path, s->stext, stext);
	s->slide = slide;
	return slide != 0;
}

/* True if the recorded address @address can be in the kernel's own text. */
static bool in_kernel(const struct ktau_symtab *s, uint64_t address)
{
	return s->nr_symbols && address - s->slide >= s->symbols[0].address &&
	       (!s->has_stext || address - s->slide >= s->stext);
}

/* In "timer:wake_up_fn" the part after the colon is the function. */
static const char *function_part(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

enum verdict { NOT_COMPARED, AGREES, OFF_SYMBOL };

static enum verdict compare_event(const struct ktau_symtab *s, const struct ktau_rec_event *event)
{
	uint64_t address = event->address - s->slide;
	const struct symbol *symbol;
	struct ktau_symbol named;

	if (!event->address || !in_kernel(s, event->address))
		return NOT_COMPARED;
	symbol = nearest(s, address);
	if (symbol && symbol->module && s->slide)
		return NOT_COMPARED;
	if (symbol && symbol->address == address)
		return AGREES;
	/* On no symbol: the address is in a module that the map lacks, or the map is wrong. */
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
	/* One in ten may be a label inside a function. */
	if (count[OFF_SYMBOL] * 10 <= compared)
		return 1;
	return ktau__fail(&s->error, -ESTALE, "%.200s: map of another kernel: %u of %u "
			  "recorded functions match no symbol in it, the first is %.100s "
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
