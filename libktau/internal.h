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
#include <sys/types.h>

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

/* buffer.c: the text for an error code. */
struct ktau__error {
	char text[512];
};

/* Sets the text and returns @code. */
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

/* map.c: value -> index; open addressing. */
struct ktau__map {
	struct ktau__map_slot *slots;
	size_t nr_slots;	/* power of two, or 0 */
	size_t used;
	uint64_t seed;
};

#define KTAU__MAP_NONE	SIZE_MAX

size_t ktau__map_get(const struct ktau__map *map, uint64_t value);
int ktau__map_put(struct ktau__map *map, uint64_t value, size_t index);
void ktau__map_clear(struct ktau__map *map);
void ktau__map_free(struct ktau__map *map);

/* registry.c: the newest record for each key, in the order in which keys came first. */
struct ktau__registry {
	struct ktau__map map;
	struct ktau__registered *entries;
	size_t nr;
	size_t room;
};

const void *ktau__registry_find(const struct ktau__registry *registry, uint64_t key);

/* The record after that of @key, NULL at the end. */
const void *ktau__registry_next(const struct ktau__registry *registry, uint64_t key);
const void *ktau__registry_first(const struct ktau__registry *registry);

/* Keep a copy of @record. */
int ktau__registry_put(struct ktau__registry *registry, uint64_t key, const void *record);

/* True if the registry has this very record. */
bool ktau__registry_has(const struct ktau__registry *registry, uint64_t key,
			const void *record);
void ktau__registry_clear(struct ktau__registry *registry);
void ktau__registry_free(struct ktau__registry *registry);

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

/* Continue at @offset; -ESPIPE for a pipe. */
int ktau__source_seek(struct ktau__source *source, uint64_t offset);

/*
 * Up to @size bytes at @offset, without moving. Returns how many there are, -ESPIPE for
 * a pipe, -errno.
 */
ssize_t ktau__source_peek(const struct ktau__source *source, uint64_t offset, void *data,
			  size_t size);

/* Have @size bytes at source->data; source->size is less only at the end. */
int ktau__source_need(struct ktau__source *source, size_t size);
void ktau__source_take(struct ktau__source *source, size_t size);

/* decode.c: any writer's record -> normal form. */
static inline uint16_t ktau__swap16(uint16_t value, bool swap)
{
	return swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t ktau__swap32(uint32_t value, bool swap)
{
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t ktau__swap64(uint64_t value, bool swap)
{
	return swap ? __builtin_bswap64(value) : value;
}

/*
 * Reverse the bytes of each field of @size bytes at @data. @fields has one digit for
 * each field, its size; "s" is eight bytes of text, which have no order. What lies
 * beyond the last field stays.
 */
void ktau__swap_fields(void *data, size_t size, const char *fields);

struct ktau_rec ktau__decode_rec(const void *data, bool swap);

/* NULL if a record can have this size and fixed part, else what is wrong with it. */
const char *ktau__bad_rec(const struct ktau_rec *rec);

/*
 * 1: @out holds the normal form of the @rec.size bytes at @data; 0: of an unknown
 * type; -EBADMSG: contradicts itself, *@why says how; -ENOMEM. Size and fixed part
 * have been checked.
 */
int ktau__decode(const void *data, bool swap, struct ktau__buffer *out, const char **why);

/* slot.c: true if @nr slots take exactly @bytes; reverse the bytes of such slots. */
bool ktau__check_slots(const void *slots, uint32_t nr, uint32_t bytes);
void ktau__swap_slots(void *slots, uint32_t nr);

/* pack.c: compression. -EOPNOTSUPP for a method that is not built in. */
int ktau__pack(uint8_t method, const uint8_t *data, size_t size, struct ktau__buffer *out);

/* Exactly @raw bytes into @out: 0, -EBADMSG, -ENOMEM, -EOPNOTSUPP. */
int ktau__unpack(uint8_t method, const uint8_t *data, size_t size, size_t raw,
		 struct ktau__buffer *out);

/* delta.c: KTAU_ENCODE_DELTA. 0, -EBADMSG, -ENOMEM. */
int ktau__delta_encode(const uint8_t *data, size_t size, struct ktau__buffer *out);
int ktau__delta_decode(const uint8_t *data, size_t size, bool swap, struct ktau__buffer *out);

/* The first size of struct ktau_block; it has only grown since. */
#define KTAU__BLOCK_BYTES	48

/* blocks.c: the blocks of a *.ktau file. */
struct ktau__blocks {
	bool swap;
	bool skipped;		/* records of a block that was stepped over are missing */
	uint8_t boot_id[16];
	uint32_t next_sequence;
	uint64_t begin;		/* offset of the first block */
	uint64_t end;		/* offset after the last whole block ... */
	uint32_t end_sequence;	/* ... and the number for the next one there */
	struct ktau_damage damage;
	struct ktau_unknown unknown;
	struct ktau__error first;	/* what was damaged first */
	struct ktau__buffer unpacked;
	struct ktau__buffer decoded;
};

void ktau__blocks_free(struct ktau__blocks *blocks);

/* Says what is wrong at a place; only the first one's text is kept. */
void ktau__damage(struct ktau__blocks *blocks, uint64_t offset, uint64_t bytes,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* 0, or -EBADMSG, -EPROTONOSUPPORT with *@why. Takes the header from @source. */
int ktau__blocks_start(struct ktau__blocks *blocks, struct ktau__source *source,
		       const char **why);

/* A payload as records. */
struct ktau__payload {
	const uint8_t *data;
	size_t size;
	size_t taken;		/* bytes of the source that it came from */
};

/*
 * The next whole block of records: 1, 0 at the end, -errno. Its bytes stay in
 * the source until ktau__source_take(source, payload->taken).
 */
int ktau__blocks_next(struct ktau__blocks *blocks, struct ktau__source *source,
		      struct ktau__payload *payload);

/* Go to where ktau_reader_seek_time() goes. 0, -errno. */
int ktau__blocks_seek_time(struct ktau__blocks *blocks, struct ktau__source *source,
			   uint64_t from_ns);

/* Of a header as it is in the file, @size bytes. */
uint32_t ktau__block_crc(const void *header, size_t size);

/* events.c: NULL if an EVENT record in normal form is possible, else why not. */
const char *ktau__bad_event(const struct ktau_rec_event *event);
void ktau__events_clear(struct ktau_events *events);

/* profile.c: a profile under construction, entries in ascending order. */
struct ktau__sum {
	struct ktau_rec_profile head;
	struct ktau_entry *entries;
	uint32_t nr;
	uint32_t room;
};

/* What to do with an entry of a kind that cannot be added. */
enum ktau__foreign { KTAU__FOREIGN_DROP, KTAU__FOREIGN_REPLACE };

void ktau__head_add(struct ktau_rec_profile *to, const struct ktau_rec_profile *from);
int ktau__sum_entries(struct ktau__sum *sum, const struct ktau_rec_profile *from,
		      enum ktau__foreign foreign);

/* A PROFILE record with @sum's head and entries and @frames' frames in flight, or NULL. */
struct ktau_rec_profile *ktau__sum_record(const struct ktau__sum *sum,
					  const struct ktau_rec_profile *frames);
void ktau__sum_free(struct ktau__sum *sum);

/* @base + @diff as a new PROFILE record with @diff's frames. */
int ktau__profile_add(const struct ktau_rec_profile *base,
		      const struct ktau_rec_profile *diff,
		      struct ktau_rec_profile **sum);

/* True if the ids of all entries ascend. */
bool ktau__profile_ordered(const struct ktau_rec_profile *p);

/* info.c: the present boot of this machine. 0, -errno. */
int ktau__boot_id(uint8_t id[16]);

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
