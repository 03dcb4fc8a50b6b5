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

/*
 * Encodes records or decodes into records: both walk through a record in the same way. Once
 * @err is set, all functions return without doing anything.
 */
struct coder {
	bool decode;
	bool swap;			/* @record is in the other byte order */
	int err;
	const uint8_t *in;		/* decode: what is left of the encoded payload */
	const uint8_t *in_end;
	struct ktau__buffer *out;
	uint8_t *record;		/* plain; only written to if @decode */
	uint32_t at; /* bytes of it that are coded */
	struct ktau_rec rec;
	uint64_t head[NR_FORMS][HEAD_WORDS_MAX];
	struct ktau__slot_table *table;
};

/* ktau__delta_encode() has made room. */
static void put_number(struct ktau__buffer *out, uint64_t value)
{
	out->size = ktau__write_number(out->data + out->size, value) - out->data;
}

static int get_number(struct coder *c, uint64_t *value)
{
	const uint8_t *end = ktau__read_number(c->in, c->in_end, value);

	if (!end)
		return -EBADMSG;
	c->in = end;
	return 0;
}

static void code_number(struct coder *c, uint64_t *value)
{
	if (c->err)
		return;
	if (c->decode)
		c->err = get_number(c, value);
	else
		put_number(c->out, *value);
}

static void code_delta(struct coder *c, uint64_t *value, uint64_t base)
{
	uint64_t number = ktau__zigzag(*value - base);

	code_number(c, &number);
	if (c->decode)
		*value = base + ktau__unzigzag(number);
}

static void code_bytes(struct coder *c, size_t size)
{
	uint8_t *record = c->record + c->at;

	c->at += size;
	if (c->err || !size)
		return;
	if (!c->decode) {
		c->err = ktau__buffer_append(c->out, record, size);
	} else if ((size_t)(c->in_end - c->in) < size) {
		c->err = -EBADMSG;
	} else {
		memcpy(record, c->in, size);
		c->in += size;
	}
}

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

static void store(struct coder *c, uint32_t at, unsigned int bytes, uint64_t value)
{
	uint64_t v64 = ktau__swap64(value, c->swap);
	uint32_t v32 = ktau__swap32(value, c->swap);
	uint16_t v16 = ktau__swap16(value, c->swap);

	if (bytes < 8 && value >> 8 * bytes)
		c->err = -EBADMSG;
	else if (bytes == 8)
		memcpy(c->record + at, &v64, 8);
	else if (bytes == 4)
		memcpy(c->record + at, &v32, 4);
	else
		memcpy(c->record + at, &v16, 2);
}

/* The next field of the record, as a number or, with @base, as a delta to that. */
static uint64_t code_field(struct coder *c, unsigned int bytes, const uint64_t *base)
{
	uint64_t value = c->decode ? 0 : load(c, c->at, bytes);

	if (base)
		code_delta(c, &value, *base);
	else
		code_number(c, &value);
	if (c->decode && !c->err)
		store(c, c->at, bytes, value);
	c->at += bytes;
	return value;
}

/* Return: the end of the output. */
static uint8_t *encode_words(uint8_t *to, const uint8_t *words, uint32_t nr)
{
	uint64_t word;

	for (; nr; nr--, words += 8) {
		memcpy(&word, words, 8);
		to = ktau__write_number(to, word);
	}
	return to;
}

/* Profiles consist of little else, so this is written for speed. */
static void decode_words(struct coder *c, uint32_t nr)
{
	uint8_t *word = c->record + c->at;
	const uint8_t *from = c->in;
	uint64_t value;

	for (; from && nr; nr--, word += 8) {
		from = ktau__read_number(from, c->in_end, &value);
		value = ktau__swap64(value, c->swap);
		memcpy(word, &value, 8);
	}
	c->at = word - c->record;
	if (from)
		c->in = from;
	else
		c->err = -EBADMSG;
}

static void code_words(struct coder *c, uint32_t nr)
{
	if (c->decode) {
		if (!c->err)
			decode_words(c, nr);
	} else {
		c->out->size = encode_words(c->out->data + c->out->size, c->record + c->at, nr) -
			       c->out->data;
		c->at += nr * 8;
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

static void code_head(struct coder *c, int form)
{
	uint64_t *previous = c->head[form];
	uint32_t i, nr = c->rec.head / 8;

	for (i = 1; !c->err && i < nr; i++)
		previous[i] = code_field(c, 8, &previous[i]);
	for (i = nr; i < HEAD_WORDS_MAX; i++)
		previous[i] = 0;
}

/* A field of the fixed part, 0 if the fixed part is too short to have it. */
static uint32_t head32(const struct coder *c, size_t offset)
{
	return offset + 4 <= c->rec.head ? load(c, offset, 4) : 0;
}

/* True if an array of @nr elements fits into the record after its first @used bytes. */
static bool fits(const struct coder *c, uint32_t used, uint64_t nr, uint32_t size)
{
	return !nr || (size % 8 == 0 && nr * size <= c->rec.size - used);
}

static bool profile_fits(const struct coder *c)
{
	uint64_t nr_entries = head32(c, offsetof(struct ktau_rec_profile, nr_entries));
	uint32_t entry_size = head32(c, offsetof(struct ktau_rec_profile, entry_size));
	uint32_t nr_open = head32(c, offsetof(struct ktau_rec_profile, nr_open));
	uint32_t open_size = head32(c, offsetof(struct ktau_rec_profile, open_size));

	if ((nr_entries && entry_size < 8) || (nr_open && open_size < 16) ||
	    !fits(c, c->rec.head, nr_entries, entry_size))
		return false;
	return fits(c, c->rec.head + nr_entries * entry_size, nr_open, open_size);
}

static void code_profile(struct coder *c)
{
	uint32_t nr_entries = head32(c, offsetof(struct ktau_rec_profile, nr_entries));
	uint32_t entry_size = head32(c, offsetof(struct ktau_rec_profile, entry_size));
	uint32_t nr_open = head32(c, offsetof(struct ktau_rec_profile, nr_open));
	uint32_t open_size = head32(c, offsetof(struct ktau_rec_profile, open_size));
	uint64_t ticks = 0, id = 0;

	if (offsetof(struct ktau_rec_profile, ticks) + 8 <= c->rec.head)
		ticks = load(c, offsetof(struct ktau_rec_profile, ticks), 8);
	for (; !c->err && nr_entries; nr_entries--) {
		id = code_field(c, 2, &id);
		code_bytes(c, 2);
		code_field(c, 4, NULL);
		code_words(c, entry_size / 8 - 1);
	}
	for (; !c->err && nr_open; nr_open--) {
		code_field(c, 4, NULL);
		code_field(c, 4, NULL);
		code_field(c, 8, &ticks);
		code_words(c, open_size / 8 - 2);
	}
}

static void code_trace(struct coder *c)
{
	const struct ktau__slots slots = {
		.data = c->record + c->rec.head,
		.nr = head32(c, offsetof(struct ktau_rec_trace, nr_slots)),
		.bytes = head32(c, offsetof(struct ktau_rec_trace, slots_bytes)),
		.swap = c->swap,
	};
	uint8_t *to;

	if (!c->decode) {
		to = ktau__slots_encode(c->table, c->out->data + c->out->size, &slots);
		c->out->size = to - c->out->data;
	} else if (slots.bytes <= c->rec.size - c->rec.head) {
		c->in = ktau__slots_decode(c->table, c->in, c->in_end, &slots);
	} else {
		c->in = NULL;
	}
	if (c->decode && !c->in)
		c->err = -EBADMSG;
	c->at += slots.bytes;
}

static void code_form_1(struct coder *c)
{
	int form = form_of(c->rec.type);

	if (form == NR_FORMS || c->rec.head > HEAD_WORDS_MAX * 8) {
		c->err = -EBADMSG;
		return;
	}
	code_head(c, form);
	if (c->err)
		return;
	if (form == FORM_TRACE)
		code_trace(c);
	else if (profile_fits(c))
		code_profile(c);
	else
		c->err = -EBADMSG;
}

/* The rest of a record whose first 8 bytes are done. */
static int code_record(struct coder *c, uint8_t form)
{
	c->at = sizeof(c->rec);
	if (form)
		code_form_1(c);
	if (!c->err)
		code_bytes(c, c->rec.size - c->at);
	return c->err;
}

static bool has_form_1(const struct coder *c)
{
	int form = form_of(c->rec.type);

	if (form == NR_FORMS || c->rec.head > HEAD_WORDS_MAX * 8 || c->rec.size > FORM_1_MAX)
		return false;
	return form == FORM_TRACE || profile_fits(c);
}

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

int ktau__encoder_put(struct ktau__encoder *encoder, const void *record, uint16_t type,
		      struct ktau__buffer *out)
{
	struct coder *c = &encoder->coder;
	bool form;
	int err;

	c->out = out;
	c->record = (uint8_t *)record;
	c->rec = ktau__decode_rec(record, false);
	c->rec.type = type;
	/* No word of it takes more than a number. */
	err = ktau__buffer_reserve(out, out->size + 1 +
				   (3 + c->rec.size / 8) * KTAU__NUMBER_BYTES);
	if (err)
		return err;
	form = has_form_1(c);
	put_number(out, c->rec.size / 8);
	put_number(out, c->rec.type);
	put_number(out, c->rec.head / 8);
	out->data[out->size++] = form;
	return code_record(c, form);
}

/* Decode the start of a record: 0 with c->rec, @form and room for it in c->out. */
static int get_head(struct coder *c, uint8_t *form)
{
	uint64_t size, type, head;
	uint8_t *record;
	int err = get_number(c, &size) ?: get_number(c, &type) ?: get_number(c, &head);

	if (err || c->in == c->in_end || size > KTAU_BLOCK_MAX / 8 || type > UINT16_MAX ||
	    head > UINT16_MAX / 8)
		return -EBADMSG;
	*form = *c->in++;
	c->rec = (struct ktau_rec){ .size = size * 8, .type = type, .head = head * 8 };
	if (*form > 1 || ktau__bad_rec(&c->rec) || c->out->size + c->rec.size > KTAU_BLOCK_MAX)
		return -EBADMSG;
	err = ktau__buffer_reserve(c->out, c->out->size + c->rec.size);
	if (err)
		return err;
	record = c->out->data + c->out->size;
	memset(record, 0, sizeof(c->rec));
	c->record = record;
	store(c, 0, 4, c->rec.size);
	store(c, 4, 2, c->rec.type);
	store(c, 6, 2, c->rec.head);
	return 0;
}

int ktau__delta_decode(const uint8_t *data, size_t size, bool swap, struct ktau__buffer *out)
{
	struct ktau__slot_table table;
	struct coder c = {
		.decode = true, .swap = swap, .in = data, .in_end = data + size, .out = out,
		.table = &table,
	};
	uint8_t form;
	int err = 0;

	out->size = 0;
	ktau__slots_start(&table);
	while (!err && c.in < c.in_end) {
		err = get_head(&c, &form);
		if (!err)
			err = code_record(&c, form);
		if (!err)
			out->size += c.rec.size;
	}
	return err;
}
