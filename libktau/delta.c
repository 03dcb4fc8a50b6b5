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
 * For TRACE, the slots:
 *
 *	delta	ticks, to the slot before it; for the first one of the record to the
 *		last slot of the previous TRACE record of form 1, or 0
 *	delta	id, to that of the same slot
 *	byte	type
 *	byte	words
 *	number	cpu
 *	byte	ctx
 *	byte	flags
 *	number	each word of the payload, in order
 *
 * Bytes of the record after these arrays follow as they are. A writer uses form 0
 * where the arrays do not fit the record. Neither the encoded nor the decoded payload
 * is larger than KTAU_BLOCK_MAX.
 */
#include <stddef.h>

#include "decode.h"
#include "delta.h"
#include "slot.h"
#include "swap.h"

#define HEAD_WORDS_MAX	128

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
	uint64_t ticks;			/* of the last slot */
	uint64_t id;
};

/* Most bytes of a number. */
#define NUMBER_BYTES	10

/* Return: the end of the number. */
static inline uint8_t *write_number(uint8_t *to, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*to++ = value | 128;
	*to++ = value;
	return to;
}

/* ktau__delta_encode() has made room. */
static void put_number(struct ktau__buffer *out, uint64_t value)
{
	out->size = write_number(out->data + out->size, value) - out->data;
}

/* Return: the end of the number; NULL if it has none, or more than 64 bits. */
static inline const uint8_t *read_number(const uint8_t *from, const uint8_t *end,
					 uint64_t *value)
{
	unsigned int shift;
	uint8_t byte;

	*value = 0;
	for (shift = 0; shift < 64 && from < end; shift += 7) {
		byte = *from++;
		*value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return shift == 63 && byte > 1 ? NULL : from;
	}
	return NULL;
}

static int get_number(struct coder *c, uint64_t *value)
{
	const uint8_t *end = read_number(c->in, c->in_end, value);

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

/* A difference as an unsigned number: small if the difference is, negative or not. */
static inline uint64_t zigzag(uint64_t d)
{
	return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static void code_delta(struct coder *c, uint64_t *value, uint64_t base)
{
	uint64_t number = zigzag(*value - base);

	code_number(c, &number);
	if (c->decode)
		*value = base + (number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
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
		to = write_number(to, word);
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
		from = read_number(from, c->in_end, &value);
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

static bool trace_fits(const struct coder *c)
{
	uint32_t nr = head32(c, offsetof(struct ktau_rec_trace, nr_slots));
	uint32_t bytes = head32(c, offsetof(struct ktau_rec_trace, slots_bytes));

	return bytes <= c->rec.size - c->rec.head &&
	       ktau__check_slots(c->record + c->rec.head, nr, bytes);
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

static void decode_slot(struct coder *c, uint32_t end)
{
	unsigned int words;

	if (end - c->at < sizeof(struct ktau_slot)) {
		c->err = -EBADMSG;
		return;
	}
	c->ticks = code_field(c, 8, &c->ticks);
	c->id = code_field(c, 2, &c->id);
	code_bytes(c, 2);
	if (c->err)
		return;
	words = c->record[c->at - 1];
	if (words < 2 || (words - 2) * 8 > end - c->at - 4) {
		c->err = -EBADMSG;
		return;
	}
	code_field(c, 2, NULL);
	code_bytes(c, 2);
	code_words(c, words - 2);
}

/*
 * The same for a slot that has been checked. Traces consist of little else, so this is
 * written for speed. Return: the end of the output.
 */
static uint8_t *encode_slot(struct coder *c, uint8_t *to)
{
	const uint8_t *from = c->record + c->at;
	struct ktau_slot slot;

	memcpy(&slot, from, sizeof(slot));
	to = write_number(to, zigzag(slot.ticks - c->ticks));
	to = write_number(to, zigzag(slot.id - c->id));
	c->ticks = slot.ticks;
	c->id = slot.id;
	*to++ = slot.type;
	*to++ = slot.words;
	to = write_number(to, slot.cpu);
	*to++ = slot.ctx;
	*to++ = slot.flags;
	c->at += slot.words * 8;
	return encode_words(to, from + sizeof(slot), slot.words - 2);
}

static void encode_slots(struct coder *c, uint32_t nr)
{
	uint8_t *to = c->out->data + c->out->size;

	for (; nr; nr--)
		to = encode_slot(c, to);
	c->out->size = to - c->out->data;
}

static void code_trace(struct coder *c)
{
	uint32_t nr = head32(c, offsetof(struct ktau_rec_trace, nr_slots));
	uint32_t bytes = head32(c, offsetof(struct ktau_rec_trace, slots_bytes));

	if (bytes > c->rec.size - c->rec.head)
		c->err = -EBADMSG;
	if (!c->decode)
		encode_slots(c, nr);
	for (; !c->err && c->decode && nr; nr--)
		decode_slot(c, c->rec.head + bytes);
	if (c->at != c->rec.head + bytes)
		c->err = -EBADMSG;
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

	if (form == NR_FORMS || c->rec.head > HEAD_WORDS_MAX * 8)
		return false;
	return form == FORM_TRACE ? trace_fits(c) : profile_fits(c);
}

/* Make room for the longest encoding of @rec: no word of it takes more than a number. */
static int reserve(struct ktau__buffer *out, const struct ktau_rec *rec)
{
	size_t numbers = 3 + rec->size / 8;

	return ktau__buffer_reserve(out, out->size + numbers * NUMBER_BYTES + 1);
}

int ktau__delta_encode(const uint8_t *data, size_t size, struct ktau__buffer *out)
{
	struct coder c = { .out = out };
	uint8_t form;
	int err = 0;

	out->size = 0;
	while (!err && size) {
		if (size < sizeof(c.rec))
			return -EINVAL;
		c.record = (uint8_t *)data;
		c.rec = ktau__decode_rec(data, false);
		if (ktau__bad_rec(&c.rec) || c.rec.size > size)
			return -EINVAL;
		err = reserve(out, &c.rec);
		if (err)
			return err;
		form = has_form_1(&c);
		put_number(out, c.rec.size / 8);
		put_number(out, c.rec.type);
		put_number(out, c.rec.head / 8);
		out->data[out->size++] = form;
		err = code_record(&c, form);
		data += c.rec.size;
		size -= c.rec.size;
	}
	return err;
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
	struct coder c = {
		.decode = true, .swap = swap, .in = data, .in_end = data + size, .out = out,
	};
	uint8_t form;
	int err = 0;

	out->size = 0;
	while (!err && c.in < c.in_end) {
		err = get_head(&c, &form);
		if (!err)
			err = code_record(&c, form);
		if (!err)
			out->size += c.rec.size;
	}
	return err;
}
