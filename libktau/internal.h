/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the library share. Internal functions are ktau__*: they
 * may not collide in a static program and are hidden in the shared library.
 */
#ifndef KTAU_INTERNAL_H
#define KTAU_INTERNAL_H

/* __u64 is unsigned long long everywhere: one printf() format. */
#define __SANE_USERSPACE_TYPES__

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <ktau.h>

#define KTAU_PROC	"/proc/ktau"

static inline uint64_t ktau__pad8(uint64_t bytes)
{
	return (bytes + 7) & ~(uint64_t)7;
}

static inline uint64_t ktau__min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t ktau__max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* buffer.c: the words that go with an error code. */
struct ktau__error {
	char text[512];
};

/* Says why and gives @code back, so that it can be returned at once. */
int ktau__fail(struct ktau__error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* buffer.c: memory that grows; doubling keeps appending linear. */
struct ktau__buffer {
	uint8_t *data;
	size_t size;
	size_t room;
};

int ktau__buffer_reserve(struct ktau__buffer *buffer, size_t room);
int ktau__buffer_append(struct ktau__buffer *buffer, const void *data, size_t size);
void ktau__buffer_free(struct ktau__buffer *buffer);

/* map.c: (family, value) -> index; open addressing. */
struct ktau__map {
	struct ktau__map_slot *slots;
	size_t nr_slots;	/* power of two, or 0 */
	size_t used;
	uint64_t seed;
};

#define KTAU__MAP_NONE	SIZE_MAX

size_t ktau__map_get(const struct ktau__map *map, uint32_t family, uint64_t value);
int ktau__map_put(struct ktau__map *map, uint32_t family, uint64_t value, size_t index);
void ktau__map_clear(struct ktau__map *map);
void ktau__map_free(struct ktau__map *map);

/* The key of an owner: live and dead are the same task, by its serial. */
static inline uint32_t ktau__owner_class(const struct ktau_owner *owner)
{
	return owner->kind == KTAU_OWNER_DEAD ? KTAU_OWNER_TASK : owner->kind;
}

static inline uint64_t ktau__owner_value(const struct ktau_owner *owner)
{
	if (owner->kind == KTAU_OWNER_CPU)
		return owner->cpu;
	return owner->kind == KTAU_OWNER_REAPED ? 0 : owner->serial;
}

/* source.c: bytes from a descriptor or memory, looked at before they are taken. */
struct ktau__source {
	int fd;			/* -1: memory */
	bool own_fd;
	bool eof;
	uint64_t offset;	/* of @data in the source */
	const uint8_t *data;	/* what is there ... */
	size_t size;		/* ... and how much */
	struct ktau__buffer buffer;
};

void ktau__source_fd(struct ktau__source *source, int fd, bool own);
void ktau__source_memory(struct ktau__source *source, const void *data, size_t size);
void ktau__source_close(struct ktau__source *source);
int ktau__source_rewind(struct ktau__source *source);

/* Have @size bytes at source->data; source->size is less only at the end. */
int ktau__source_need(struct ktau__source *source, size_t size);
void ktau__source_take(struct ktau__source *source, size_t size);

/* decode.c: any writer's record -> normal form. */
uint16_t ktau__swap16(uint16_t value, bool swap);
uint32_t ktau__swap32(uint32_t value, bool swap);
uint64_t ktau__swap64(uint64_t value, bool swap);

struct ktau_rec ktau__decode_rec(const void *data, bool swap);

/* NULL if the frame of a record is possible, else what is wrong with it. */
const char *ktau__bad_rec(const struct ktau_rec *rec);

/*
 * 1: @out holds the normal form of the @rec.size bytes at @data; 0: of a type
 * not known; -EBADMSG: contradicts itself, *@why says how; -ENOMEM. The frame
 * has been checked.
 */
int ktau__decode(const void *data, bool swap, struct ktau__buffer *out, const char **why);

/* blocks.c: the blocks of a *.ktau file. */
struct ktau__blocks {
	bool swap;
	uint32_t next_sequence;
	uint64_t nr;		/* whole blocks so far */
	uint64_t end;		/* offset behind the last whole block ... */
	uint32_t end_sequence;	/* ... and the number for the next one there */
	struct ktau_damage damage;
	struct ktau__error first;	/* what was damaged first */
	struct ktau__buffer inflated;
};

/* Says what is wrong at a place; only the first one's text is kept. */
void ktau__damage(struct ktau__blocks *blocks, uint64_t offset, uint64_t bytes,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* 0, or -EBADMSG, -EPROTONOSUPPORT with *@why. Takes the header from @source. */
int ktau__blocks_start(struct ktau__blocks *blocks, struct ktau__source *source,
		       const char **why);

/*
 * The next whole block of records: 1, 0 at the end, -errno. Its bytes stay in
 * the source until ktau__source_take(source, *taken).
 */
int ktau__blocks_next(struct ktau__blocks *blocks, struct ktau__source *source,
		      const uint8_t **payload, size_t *size, size_t *taken);

uint32_t ktau__block_crc(const struct ktau_block *block);

/* events.c: between the table and EVENT records; 0 for a name that is too long. */
#define KTAU__EVENT_BYTES	(sizeof(struct ktau_rec_event) + 256)

size_t ktau__event_record(const struct ktau_event *event, uint8_t *record);
bool ktau__event_record_good(const struct ktau_rec_event *record);
int ktau__events_record(struct ktau_events *events, const struct ktau_rec_event *record);

/* record.c: adds @from's figures to @to, a table of KTAU_NR_IDS entries. */
void ktau__entry_add(struct ktau_entry *to, const struct ktau_entry *from);

/* symtab.c: a map under construction. */
struct ktau__symbol {
	uint64_t address;
	uint32_t name;		/* offset in @names */
	uint32_t module;	/* likewise, 0 for none */
	uint32_t order;		/* in the source, so that sorting is stable */
	uint32_t rank;		/* of names at one address the lowest is shown */
};

/* Symbols that cannot be the name of a function. */
#define KTAU__RANK_DATA		100
#define KTAU__RANK_END		101	/* end of a range: nothing belongs to it */

struct ktau_symtab {
	struct ktau__symbol *symbols;
	size_t nr_symbols;
	size_t room;
	struct ktau__buffer names;
	uint64_t stext;		/* where the map has it */
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
struct ktau__mapped {
	uint64_t address;
	const char *name;
	size_t name_bytes;
	uint32_t module;
	char type;
};

/* 0, -ENOMEM, -E2BIG. */
int ktau__symtab_add(struct ktau_symtab *symtab, const struct ktau__mapped *mapped);
int ktau__symtab_name(struct ktau_symtab *symtab, const char *name, size_t bytes,
		      uint32_t *offset);
int ktau__symtab_text(struct ktau_symtab *symtab, const char *text, size_t size);

#ifndef KTAU_NO_LIBELF
/* From @image, or if that is NULL from @fd: a vmlinux is too large to copy. */
int ktau__symtab_elf(struct ktau_symtab *symtab, int fd, const void *image, size_t size);
#else
static inline int ktau__symtab_elf(struct ktau_symtab *symtab, int fd, const void *image,
				   size_t size)
{
	(void)fd, (void)image, (void)size;
	return ktau__fail(&symtab->error, -EOPNOTSUPP,
			  "%.300s: an ELF file, and libktau was built without libelf",
			  symtab->path);
}
#endif

/* control.c: the GNU build-id in a sequence of ELF notes. */
size_t ktau__note_build_id(const void *notes, size_t size, const uint8_t **id);

/* buffer.c: a file of unknown size, at most @max bytes. */
int ktau__read_all(int fd, size_t max, struct ktau__buffer *buffer);

#endif /* KTAU_INTERNAL_H */
