// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <string.h>

#include "ciod/wire.h"

static const struct {
	const char *name;
	const char *signature;
} calls[CIOD_NR_CALLS] = {
#define ENTRY(name, number, signature) [number] = { #name, signature },
	CIOD_CALLS(ENTRY)
};

static const struct {
	int here;
	int wire;
} flags[] = {
	{ O_CREAT, CIOD_O_CREAT },
	{ O_EXCL, CIOD_O_EXCL },
	{ O_TRUNC, CIOD_O_TRUNC },
	{ O_APPEND, CIOD_O_APPEND },
	{ O_DIRECTORY, CIOD_O_DIRECTORY },
	{ O_NOFOLLOW, CIOD_O_NOFOLLOW },
	{ O_PATH, CIOD_O_PATH },
	{ O_SYNC, CIOD_O_SYNC },
	{ O_NOATIME, CIOD_O_NOATIME },
};

#define NR_FLAGS (sizeof(flags) / sizeof(flags[0]))

const char *ciod_name(uint32_t call)
{
	return call < CIOD_NR_CALLS ? calls[call].name : NULL;
}

const char *ciod_signature(uint32_t call)
{
	return call < CIOD_NR_CALLS ? calls[call].signature : NULL;
}

void ciod_put16(unsigned char *to, uint16_t value)
{
	to[0] = value >> 8;
	to[1] = value;
}

void ciod_put32(unsigned char *to, uint32_t value)
{
	ciod_put16(to, value >> 16);
	ciod_put16(to + 2, value);
}

void ciod_put64(unsigned char *to, uint64_t value)
{
	ciod_put32(to, value >> 32);
	ciod_put32(to + 4, value);
}

uint16_t ciod_get16(const unsigned char *from)
{
	return from[0] << 8 | from[1];
}

uint32_t ciod_get32(const unsigned char *from)
{
	return (uint32_t)ciod_get16(from) << 16 | ciod_get16(from + 2);
}

uint64_t ciod_get64(const unsigned char *from)
{
	return (uint64_t)ciod_get32(from) << 32 | ciod_get32(from + 4);
}

/* The rest of a body. */
struct cursor {
	const unsigned char *at;
	size_t left;
};

/* The next @bytes, or NULL if there are fewer. */
static const unsigned char *take(struct cursor *c, size_t bytes)
{
	const unsigned char *at = c->at;

	if (bytes > c->left)
		return NULL;
	c->at += bytes;
	c->left -= bytes;
	return at;
}

/* A length and that many bytes; NULL if there are fewer, or if the length exceeds @most. */
static const unsigned char *take_counted(struct cursor *c, uint32_t most, uint32_t *bytes)
{
	const unsigned char *length = take(c, 4);

	if (!length)
		return NULL;
	*bytes = ciod_get32(length);
	return *bytes <= most ? take(c, *bytes) : NULL;
}

static const char *take_path(struct cursor *c)
{
	const unsigned char *path;
	uint32_t bytes;

	path = take_counted(c, CIOD_MAX_PATH, &bytes);
	if (!path || !bytes || memchr(path, '\0', bytes) != path + bytes - 1)
		return NULL;
	return (const char *)path;
}

int ciod_decode(uint32_t call, const unsigned char *body, size_t bytes, struct ciod_args *args)
{
	struct cursor c = { body, bytes };
	const char *kind = ciod_signature(call);
	int fds = 0, numbers = 0, paths = 0;
	const unsigned char *field;

	if (!kind)
		return -1;
	memset(args, 0, sizeof(*args));
	for (; *kind; kind++) {
		if (*kind == 'f') {
			field = take(&c, 4);
			if (field)
				args->fd[fds++] = ciod_get32(field);
		} else if (*kind == 'i') {
			field = take(&c, 4);
			if (field)
				args->number[numbers++] = ciod_get32(field);
		} else if (*kind == 'n') {
			field = take(&c, 8);
			if (field)
				args->number[numbers++] = ciod_get64(field);
		} else if (*kind == 'p') {
			field = (const unsigned char *)take_path(&c);
			args->path[paths++] = (const char *)field;
		} else {
			field = take_counted(&c, CIOD_MAX_DATA, &args->data_bytes);
			args->data = field;
		}
		if (!field)
			return -1;
	}
	return c.left ? -1 : 0;
}

/* Put a length and that many bytes. Return: the total size, or 0 if there is no room. */
static size_t put_counted(unsigned char *to, size_t room, const void *from, uint32_t bytes)
{
	if (room < 4 || bytes > room - 4)
		return 0;
	ciod_put32(to, bytes);
	memcpy(to + 4, from, bytes);
	return 4 + (size_t)bytes;
}

static size_t put_path(unsigned char *to, size_t room, const char *path)
{
	size_t bytes = strlen(path) + 1;

	return bytes > CIOD_MAX_PATH ? 0 : put_counted(to, room, path, bytes);
}

size_t ciod_encode(unsigned char *to, size_t room, uint32_t call, va_list args)
{
	const char *kind = ciod_signature(call);
	size_t at = CIOD_HEAD_BYTES, step;
	const void *data;

	if (!kind || room < CIOD_HEAD_BYTES)
		return 0;
	for (; *kind; kind++, at += step) {
		step = *kind == 'n' ? 8 : 4;
		if (*kind == 'p') {
			step = put_path(to + at, room - at, va_arg(args, const char *));
		} else if (*kind == 'd') {
			data = va_arg(args, const void *);
			step = put_counted(to + at, room - at, data, va_arg(args, uint32_t));
		} else if (step > room - at) {
			step = 0;
		} else if (*kind != 'n') {
			ciod_put32(to + at, va_arg(args, uint32_t));
		} else {
			ciod_put64(to + at, va_arg(args, uint64_t));
		}
		if (!step)
			return 0;
	}
	ciod_put32(to, at);
	ciod_put32(to + 4, call);
	return at;
}

/*
 * Flags that only matter to the compute node's kernel are dropped. O_SYNC includes the bit of
 * O_DSYNC and is treated as O_DSYNC.
 */
int64_t ciod_flags_to_wire(int here)
{
	int64_t wire = here & O_ACCMODE;
	size_t i;

	here &= ~(O_ACCMODE | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_LARGEFILE | O_DIRECT);
	if (here & O_DSYNC)
		here |= O_SYNC;
	for (i = 0; i < NR_FLAGS; i++) {
		if ((here & flags[i].here) != flags[i].here)
			continue;
		wire |= flags[i].wire;
		here &= ~flags[i].here;
	}
	return here || (wire & CIOD_O_ACCMODE) == O_ACCMODE ? -1 : wire;
}

int ciod_flags_from_wire(uint64_t wire)
{
	int here = wire & CIOD_O_ACCMODE;
	size_t i;

	if (wire & ~(uint64_t)CIOD_O_ALL || here == O_ACCMODE)
		return -1;
	for (i = 0; i < NR_FLAGS; i++) {
		if (wire & flags[i].wire)
			here |= flags[i].here;
	}
	return here;
}
