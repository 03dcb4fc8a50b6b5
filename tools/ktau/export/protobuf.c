// SPDX-License-Identifier: GPL-2.0-only
/* Writing protocol buffers. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "protobuf.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH_DELIMITED = 2, VARINT_BYTES = 10 };

void message_deinit(struct message *m)
{
	free(m->data);
	*m = (struct message){ 0 };
}

void message_clear(struct message *m)
{
	m->nr = 0;
}

static void reserve(struct message *m, size_t nr)
{
	if (m->nr + nr <= m->room)
		return;
	m->room = 2 * m->room + nr;
	m->data = cli_alloc(m->data, m->room, 1);
}

/* Seven bits per byte, lowest first; the top bit means that more bytes follow. */
static size_t encode(uint8_t *to, uint64_t value)
{
	size_t nr = 0;

	for (; value >= 0x80; value >>= 7)
		to[nr++] = (uint8_t)(value | 0x80);
	to[nr++] = (uint8_t)value;
	return nr;
}

static void put_varint(struct message *m, uint64_t value)
{
	reserve(m, VARINT_BYTES);
	m->nr += encode(m->data + m->nr, value);
}

void message_varint(struct message *m, uint32_t field, uint64_t value)
{
	put_varint(m, (uint64_t)field << 3 | VARINT);
	put_varint(m, value);
}

void message_fixed64(struct message *m, uint32_t field, uint64_t value)
{
	size_t i;

	put_varint(m, (uint64_t)field << 3 | FIXED64);
	reserve(m, sizeof(value));
	for (i = 0; i < sizeof(value); i++)
		m->data[m->nr++] = (uint8_t)(value >> 8 * i);
}

void message_bytes(struct message *m, uint32_t field, const void *data, size_t nr)
{
	put_varint(m, (uint64_t)field << 3 | LENGTH_DELIMITED);
	put_varint(m, nr);
	reserve(m, nr);
	if (nr)
		memcpy(m->data + m->nr, data, nr);
	m->nr += nr;
}

void message_string(struct message *m, uint32_t field, const char *text)
{
	message_bytes(m, field, text, strlen(text));
}

void message_put(struct message *m, uint32_t field, const struct message *inner)
{
	message_bytes(m, field, inner->data, inner->nr);
}

void message_packed(struct message *m, uint32_t field, const uint64_t *values, size_t nr)
{
	struct message packed = { 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		put_varint(&packed, values[i]);
	message_put(m, field, &packed);
	message_deinit(&packed);
}

void message_write(const struct message *m, uint32_t field, FILE *out)
{
	uint8_t head[2 * VARINT_BYTES];
	size_t nr = encode(head, (uint64_t)field << 3 | LENGTH_DELIMITED);

	nr += encode(head + nr, m->nr);
	fwrite(head, 1, nr, out);
	fwrite(m->data, 1, m->nr, out);
}
