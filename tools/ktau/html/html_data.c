// SPDX-License-Identifier: GPL-2.0-only
/* The data of an HTML report. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "html_data.h"

/* Seven bits of a number go into a byte. */
enum { NUMBER_BYTES = (8 * sizeof(ktau_sum_t) + 6) / 7 };

static void put_group(struct section_out *s)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *b = s->rest;
	char text[4] = {
		digits[b[0] >> 2],
		digits[(b[0] & 3) << 4 | b[1] >> 4],
		digits[(b[1] & 15) << 2 | b[2] >> 6],
		digits[b[2] & 63],
	};

	if (s->nr_rest < 3)
		text[3] = '=';
	if (s->nr_rest < 2)
		text[2] = '=';
	fwrite(text, 1, sizeof(text), s->out);
	memset(s->rest, 0, sizeof(s->rest));
	s->nr_rest = 0;
}

void section_begin(struct section_out *s, FILE *out, const char *id)
{
	*s = (struct section_out){ .out = out };
	fprintf(out, "<script type=\"application/octet-stream\" id=\"data-%s\">", id);
}

void section_end(struct section_out *s)
{
	if (s->nr_rest)
		put_group(s);
	fputs("</script>\n", s->out);
}

void section_bytes(struct section_out *s, const void *bytes, size_t nr)
{
	const unsigned char *b = bytes;

	for (; nr; nr--) {
		s->rest[s->nr_rest++] = *b++;
		if (s->nr_rest == 3)
			put_group(s);
	}
}

static size_t encode(ktau_sum_t value, unsigned char *bytes)
{
	size_t nr = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[nr++] = (unsigned char)(value | 0x80);
	bytes[nr++] = (unsigned char)value;
	return nr;
}

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

void section_number(struct section_out *s, ktau_sum_t value)
{
	unsigned char bytes[NUMBER_BYTES];

	section_bytes(s, bytes, encode(value, bytes));
}

void section_signed(struct section_out *s, int64_t value)
{
	section_number(s, zigzag(value));
}

void packed_number(struct packed *p, ktau_sum_t value)
{
	if (p->room - p->nr < NUMBER_BYTES) {
		p->room = p->room ? p->room * 2 : 64;
		p->bytes = cli_alloc(p->bytes, p->room, 1);
	}
	p->nr += encode(value, p->bytes + p->nr);
}

void packed_signed(struct packed *p, int64_t value)
{
	packed_number(p, zigzag(value));
}

void packed_deinit(struct packed *p)
{
	free(p->bytes);
	*p = (struct packed){ 0 };
}

uint64_t texts_number(struct texts *t, const char *text)
{
	uint64_t key = hash_text(text);
	size_t index;

	for (; (index = hash_get(&t->by_hash, key)); key++)
		if (!strcmp(t->texts[index - 1], text))
			return index - 1;
	if (t->nr == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->texts = cli_alloc(t->texts, t->room, sizeof(*t->texts));
	}
	t->texts[t->nr++] = strcpy(cli_alloc(NULL, strlen(text) + 1, 1), text);
	hash_put(&t->by_hash, key, t->nr);
	return t->nr - 1;
}

void texts_write(const struct texts *t, struct section_out *s)
{
	size_t i, bytes;

	section_number(s, t->nr);
	for (i = 0; i < t->nr; i++) {
		bytes = strlen(t->texts[i]);
		section_number(s, bytes);
		section_bytes(s, t->texts[i], bytes);
	}
}

void texts_deinit(struct texts *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		free(t->texts[i]);
	free(t->texts);
	hash_deinit(&t->by_hash);
	*t = (struct texts){ 0 };
}
