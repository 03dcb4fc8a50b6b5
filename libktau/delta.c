// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * KTAU_ENCODE_DELTA: small numbers instead of ticks, ids and serials.
 *
 * The encoded payload is a sequence of encoded records. A writer encodes before it
 * compresses, and a reader decodes after it has decompressed. The elements:
 *
 *	number	an unsigned integer, 7 bits a byte, least significant first; a set
 *		top bit means that another byte follows; at most 10 bytes, and bits
 *		beyond the 64th are zero
 *	delta	the difference of two 64-bit integers modulo 2^64 as a signed one,
 *		d, written as the number (d << 1) ^ (d >> 63), the shift to the right
 *		being arithmetic
 *	byte	as it is
 *	word	8 bytes of the record as one integer in the file's byte order
 *
 * An encoded record:
 *
 *	number	the record's size / 8
 *	number	its type
 *	number	the size of its fixed part (head) / 8
 *	byte	form: 0 or 1
 *
 * Form 0: the rest of the record, after its first 8 bytes, as it is. Form 1 is for
 * PROFILE, DIFF and TRACE records whose fixed part has at most 1024 bytes. The words
 * of the fixed part after its first 8 bytes follow; each is a delta to the word at the
 * same place of the previous record of form 1 and the same type in this payload, or
 * to 0 where there is none or it has no such word. Then for PROFILE and DIFF, with
 * the record's own element sizes, the entries:
 *
 *	delta	id, to that of the entry before it, 0 for the first
 *	byte	kind
 *	byte	flags
 *	number	reserved
 *	number	each other word of the entry, in order
 *
 * and the frames in flight:
 *
 *	number	id
 *	number	flags
 *	delta	start_ticks, to @ticks of the record
 *	number	each other word, in order
 *
 * The slots of TRACE are in delta_slots.h.
 *
 * Bytes of the record after these arrays follow as they are. A writer uses form 0
 * where the arrays do not fit the record. Neither the encoded nor the decoded payload
 * is larger than KTAU_BLOCK_MAX.
 */
#include <stddef.h>
#include <stdlib.h>

#include "decode.h"
#include "delta.h"
#include "delta_slots.h"
#include "number.h"
#include "swap.h"

#define HEAD_WORDS_MAX	128

/* Larger records are written in form 0: in form 1, a record can take twice its size. */
#define FORM_1_MAX	(KTAU_BLOCK_MAX / 4)

/* The three types that have form 1. */
enum { FORM_PROFILE, FORM_DIFF, FORM_TRACE, NR_FORMS };

/* What both directions keep between the records of a payload, and need of the current one. */
struct coder {
	bool swap;			/* @record is in the other byte order */
	uint8_t *record;		/* plain */
	struct ktau_rec rec;
	uint64_t head[NR_FORMS][HEAD_WORDS_MAX];
	struct ktau__slot_table *table;
};

static uint64_t load(const struct coder *c, uint32_t at, unsigned int bytes)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (bytes) {
	case 8:
		memcpy(&v64, c->record + at, 8);
		return ktau__swap64(v64, c->swap);
	case 4:
		memcpy(&v32, c->record + at, 4);
		return ktau__swap32(v32, c->swap);
	default:
		memcpy(&v16, c->record + at, 2);
		return ktau__swap16(v16, c->swap);
	}
}

static int form_of(uint16_t type)
{
	switch (type) {
	case KTAU_REC_PROFILE:
		return FORM_PROFILE;
	case KTAU_REC_DIFF:
		return FORM_DIFF;
	case KTAU_REC_TRACE:
		return FORM_TRACE;
	default:
		return NR_FORMS;
	}
}

/* A field of the fixed part, 0 if the fixed part is too short to have it. */
static uint32_t head32(const struct coder *c, size_t offset)
{
	return offset + 4 <= c->rec.head ? load(c, offset, 4) : 0;
}

/* The arrays of a PROFILE or DIFF. */
struct arrays {
	uint32_t nr_entries;
	uint32_t entry_size;
	uint32_t nr_open;
	uint32_t open_size;
};

/* True if an array of @nr elements fits into the record after its first @used bytes. */
static bool fits(const struct coder *c, uint64_t used, uint64_t nr, uint32_t size)
{
	return !nr || (size % 8 == 0 && nr * size <= c->rec.size - used);
}

/* Return: whether they fit the record. */
static bool find_arrays(const struct coder *c, struct arrays *a)
{
	a->nr_entries = head32(c, offsetof(struct ktau_rec_profile, nr_entries));
	a->entry_size = head32(c, offsetof(struct ktau_rec_profile, entry_size));
	a->nr_open = head32(c, offsetof(struct ktau_rec_profile, nr_open));
	a->open_size = head32(c, offsetof(struct ktau_rec_profile, open_size));
	if ((a->nr_entries && a->entry_size < 8) || (a->nr_open && a->open_size < 16) ||
	    !fits(c, c->rec.head, a->nr_entries, a->entry_size))
		return false;
	return fits(c, c->rec.head + (uint64_t)a->nr_entries * a->entry_size, a->nr_open,
		    a->open_size);
}

/* The time that the frames in flight are relative to. */
static uint64_t profile_ticks(const struct coder *c)
{
	const size_t at = offsetof(struct ktau_rec_profile, ticks);

	return at + 8 <= c->rec.head ? load(c, at, 8) : 0;
}

static struct ktau__slots find_slots(const struct coder *c)
{
	return (struct ktau__slots){
		.data = c->record + c->rec.head,
		.nr = head32(c, offsetof(struct ktau_rec_trace, nr_slots)),
		.bytes = head32(c, offsetof(struct ktau_rec_trace, slots_bytes)),
		.swap = c->swap,
	};
}

/*
 * Writing, in this machine's byte order
 */

struct ktau__encoder {
	struct coder coder;
	struct ktau__slot_table table;
};

struct ktau__encoder *ktau__encoder_create(void)
{
	struct ktau__encoder *encoder = malloc(sizeof(*encoder));

	if (encoder)
		ktau__encoder_start(encoder);
	return encoder;
}

void ktau__encoder_destroy(struct ktau__encoder *encoder)
{
	free(encoder);
}

void ktau__encoder_start(struct ktau__encoder *encoder)
{
	encoder->coder = (struct coder){ .table = &encoder->table };
	ktau__slots_start(&encoder->table);
}

/* The functions below return the end of the output. */

static uint8_t *write_delta(uint8_t *to, uint64_t value, uint64_t base)
{
	return ktau__write_number(to, ktau__zigzag(value - base));
}

static uint8_t *write_words(uint8_t *to, const uint8_t *words, uint32_t nr)
{
	uint64_t word;

	for (; nr; nr--, words += 8) {
		memcpy(&word, words, 8);
		to = ktau__write_number(to, word);
	}
	return to;
}

static uint8_t *write_head(struct coder *c, int form, uint8_t *to)
{
	uint64_t *previous = c->head[form], word;
	uint32_t i, nr = c->rec.head / 8;

	for (i = 1; i < nr; i++) {
		word = load(c, 8 * i, 8);
		to = write_delta(to, word, previous[i]);
		previous[i] = word;
	}
	for (i = nr; i < HEAD_WORDS_MAX; i++)
		previous[i] = 0;
	return to;
}

static uint8_t *write_entries(const struct coder *c, const struct arrays *a, uint8_t *to)
{
	const uint8_t *at = c->record + c->rec.head;
	struct ktau_entry entry;
	uint16_t id = 0;
	uint32_t i;

	for (i = 0; i < a->nr_entries; i++, at += a->entry_size) {
		memcpy(&entry, at, 8);
		to = write_delta(to, entry.id, id);
		id = entry.id;
		*to++ = entry.kind;
		*to++ = entry.flags;
		to = ktau__write_number(to, entry.reserved);
		to = write_words(to, at + 8, a->entry_size / 8 - 1);
	}
	return to;
}

static uint8_t *write_open(const struct coder *c, const struct arrays *a, uint8_t *to)
{
	uint32_t at = c->rec.head + a->nr_entries * a->entry_size, i;
	uint64_t ticks = profile_ticks(c);

	for (i = 0; i < a->nr_open; i++, at += a->open_size) {
		to = ktau__write_number(to, load(c, at, 4));
		to = ktau__write_number(to, load(c, at + 4, 4));
		to = write_delta(to, load(c, at + 8, 8), ticks);
		to = write_words(to, c->record + at + 16, a->open_size / 8 - 2);
	}
	return to;
}

/* Write the record in form 1, except for what follows its arrays; *@done: bytes of it. */
static uint8_t *write_form_1(struct coder *c, const struct arrays *a, uint8_t *to, uint32_t *done)
{
	int form = form_of(c->rec.type);
	struct ktau__slots slots;

	to = write_head(c, form, to);
	*done = c->rec.head;
	if (form == FORM_TRACE) {
		slots = find_slots(c);
		*done += slots.bytes;
		return ktau__slots_encode(c->table, to, &slots);
	}
	*done += a->nr_entries * a->entry_size + a->nr_open * a->open_size;
	to = write_entries(c, a, to);
	return write_open(c, a, to);
}

static bool has_form_1(const struct coder *c, struct arrays *a)
{
	int form = form_of(c->rec.type);

	if (form == NR_FORMS || c->rec.head > HEAD_WORDS_MAX * 8 || c->rec.size > FORM_1_MAX)
		return false;
	return form == FORM_TRACE || find_arrays(c, a);
}

int ktau__encoder_put(struct ktau__encoder *encoder, const void *record, uint16_t type,
		      struct ktau__buffer *out)
{
	struct coder *c = &encoder->coder;
	uint32_t done = sizeof(c->rec);
	struct arrays arrays;
	size_t numbers;
	uint8_t *to;
	int err;

	c->record = (uint8_t *)record;
	c->rec = ktau__decode_rec(record, false);
	c->rec.type = type;
	numbers = 3 + c->rec.size / 8;	/* no word of it takes more */
	err = ktau__buffer_reserve(out, out->size + 1 + numbers * KTAU__NUMBER_BYTES);
	if (err)
		return err;
	to = ktau__write_number(out->data + out->size, c->rec.size / 8);
	to = ktau__write_number(to, c->rec.type);
	to = ktau__write_number(to, c->rec.head / 8);
	*to = has_form_1(c, &arrays);
	if (*to++)
		to = write_form_1(c, &arrays, to, &done);
	memcpy(to, c->record + done, c->rec.size - done);
	out->size = to + (c->rec.size - done) - out->data;
	return 0;
}

/*
 * Reading. Once @err is set, all functions return without doing anything.
 */

struct decoder {
	struct coder coder;
	int err;
	const uint8_t *in;		/* what is left of the encoded payload */
	const uint8_t *in_end;
	struct ktau__buffer *out;
	uint32_t at;			/* bytes of the record that are decoded */
};

static uint64_t read_number(struct decoder *d)
{
	const uint8_t *end;
	uint64_t value = 0;

	if (d->err)
		return 0;
	end = ktau__read_number(d->in, d->in_end, &value);
	if (end)
		d->in = end;
	else
		d->err = -EBADMSG;
	return value;
}

static void read_bytes(struct decoder *d, size_t size)
{
	if (d->err)
		return;
	if ((size_t)(d->in_end - d->in) < size) {
		d->err = -EBADMSG;
		return;
	}
	memcpy(d->coder.record + d->at, d->in, size);
	d->in += size;
	d->at += size;
}

/* Write the next field of the record. */
static void store(struct decoder *d, unsigned int bytes, uint64_t value)
{
	uint64_t v64 = ktau__swap64(value, d->coder.swap);
	uint32_t v32 = ktau__swap32(value, d->coder.swap);
	uint16_t v16 = ktau__swap16(value, d->coder.swap);
	uint8_t *to = d->coder.record + d->at;

	if (d->err)
		return;
	if (bytes < 8 && value >> 8 * bytes)
		d->err = -EBADMSG;
	else if (bytes == 8)
		memcpy(to, &v64, 8);
	else if (bytes == 4)
		memcpy(to, &v32, 4);
	else
		memcpy(to, &v16, 2);
	d->at += bytes;
}

static void read_field(struct decoder *d, unsigned int bytes)
{
	store(d, bytes, read_number(d));
}

static uint64_t read_delta(struct decoder *d, unsigned int bytes, uint64_t base)
{
	uint64_t value = base + ktau__unzigzag(read_number(d));

	store(d, bytes, value);
	return value;
}

/* Profiles consist of little else, so this is written for speed. */
static void read_words(struct decoder *d, uint32_t nr)
{
	uint8_t *word = d->coder.record + d->at;
	const uint8_t *from = d->in;
	uint64_t value;

	if (d->err)
		return;
	for (; from && nr; nr--, word += 8) {
		from = ktau__read_number(from, d->in_end, &value);
		value = ktau__swap64(value, d->coder.swap);
		memcpy(word, &value, 8);
	}
	d->at = word - d->coder.record;
	if (from)
		d->in = from;
	else
		d->err = -EBADMSG;
}

static void read_head(struct decoder *d, int form)
{
	uint64_t *previous = d->coder.head[form];
	uint32_t i, nr = d->coder.rec.head / 8;

	for (i = 1; !d->err && i < nr; i++)
		previous[i] = read_delta(d, 8, previous[i]);
	for (i = nr; i < HEAD_WORDS_MAX; i++)
		previous[i] = 0;
}

static void read_profile(struct decoder *d)
{
	uint64_t ticks, id = 0;
	struct arrays a;

	if (!find_arrays(&d->coder, &a)) {
		d->err = -EBADMSG;
		return;
	}
	for (; !d->err && a.nr_entries; a.nr_entries--) {
		id = read_delta(d, 2, id);
		read_bytes(d, 2);
		read_field(d, 4);
		read_words(d, a.entry_size / 8 - 1);
	}
	ticks = profile_ticks(&d->coder);
	for (; !d->err && a.nr_open; a.nr_open--) {
		read_field(d, 4);
		read_field(d, 4);
		read_delta(d, 8, ticks);
		read_words(d, a.open_size / 8 - 2);
	}
}

static void read_trace(struct decoder *d)
{
	struct ktau__slots slots = find_slots(&d->coder);
	const uint8_t *end = NULL;

	if (slots.bytes <= d->coder.rec.size - d->coder.rec.head)
		end = ktau__slots_decode(d->coder.table, d->in, d->in_end, &slots);
	if (!end) {
		d->err = -EBADMSG;
		return;
	}
	d->in = end;
	d->at += slots.bytes;
}

static void read_form_1(struct decoder *d)
{
	int form = form_of(d->coder.rec.type);

	if (form == NR_FORMS || d->coder.rec.head > HEAD_WORDS_MAX * 8) {
		d->err = -EBADMSG;
		return;
	}
	read_head(d, form);
	if (d->err)
		return;
	if (form == FORM_TRACE)
		read_trace(d);
	else
		read_profile(d);
}

/* Decode the first 8 bytes of a record, make room for it, and return its form. */
static uint8_t begin_record(struct decoder *d)
{
	uint64_t size = read_number(d), type = read_number(d), head = read_number(d);
	struct coder *c = &d->coder;
	uint8_t form;

	if (d->err || d->in == d->in_end || size > KTAU_BLOCK_MAX / 8 || type > UINT16_MAX ||
	    head > UINT16_MAX / 8) {
		d->err = -EBADMSG;
		return 0;
	}
	form = *d->in++;
	c->rec = (struct ktau_rec){ .size = size * 8, .type = type, .head = head * 8 };
	if (form > 1 || ktau__bad_rec(&c->rec) || d->out->size + c->rec.size > KTAU_BLOCK_MAX)
		d->err = -EBADMSG;
	else
		d->err = ktau__buffer_reserve(d->out, d->out->size + c->rec.size);
	if (d->err)
		return 0;
	c->record = d->out->data + d->out->size;
	d->at = 0;
	store(d, 4, c->rec.size);
	store(d, 2, c->rec.type);
	store(d, 2, c->rec.head);
	return form;
}

int ktau__delta_decode(const uint8_t *data, size_t size, bool swap, struct ktau__buffer *out)
{
	struct ktau__slot_table table;
	struct decoder d = {
		.coder = { .swap = swap, .table = &table },
		.in = data, .in_end = data + size, .out = out,
	};

	out->size = 0;
	ktau__slots_start(&table);
	while (!d.err && d.in < d.in_end) {
		if (begin_record(&d))
			read_form_1(&d);
		read_bytes(&d, d.err ? 0 : d.coder.rec.size - d.at);
		if (!d.err)
			out->size += d.coder.rec.size;
	}
	return d.err;
}
