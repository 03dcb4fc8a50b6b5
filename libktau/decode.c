// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Any writer's record into normal form: this machine's byte order, this
 * library's sizes of structures. A writer's shorter structure is filled up with
 * zeros, the tail of a longer one is left out. Nothing is believed: every
 * count is held against the size of the record, whose bytes the caller has.
 */
#include <stddef.h>

#include "internal.h"

uint16_t ktau__swap16(uint16_t value, bool swap)
{
	return swap ? __builtin_bswap16(value) : value;
}

uint32_t ktau__swap32(uint32_t value, bool swap)
{
	return swap ? __builtin_bswap32(value) : value;
}

uint64_t ktau__swap64(uint64_t value, bool swap)
{
	return swap ? __builtin_bswap64(value) : value;
}

/*
 * Structures as strings, one digit a field: its bytes. "s" is eight bytes of
 * text, which have no order.
 */
#define REC	"422"
#define OWNER	"8" "44" "4444" "44" "88888" "ss"
#define TEXT72	"sssssssss"

static const struct layout {
	uint16_t type;
	uint16_t size;
	const char *fields;
} layouts[] = {
	{ KTAU_REC_STREAM, sizeof(struct ktau_rec_stream),
	  REC "4211" "4444" "8" "44" "8888888888" },
	{ KTAU_REC_PROFILE, sizeof(struct ktau_rec_profile),
	  REC OWNER "888888" "444444" },
	{ KTAU_REC_DIFF, sizeof(struct ktau_rec_profile),
	  REC OWNER "888888" "444444" },
	{ KTAU_REC_TRACE, sizeof(struct ktau_rec_trace),
	  REC OWNER "88888" "4444" },
	{ KTAU_REC_END, sizeof(struct ktau_rec_end), REC "88888888" },
	{ KTAU_REC_INFO, sizeof(struct ktau_rec_info),
	  REC "888" "ssss" "4444" TEXT72 TEXT72 TEXT72 },
	{ KTAU_REC_EVENT, sizeof(struct ktau_rec_event), REC "4444" "8" },
};

static const char entry_fields[] = "44" "8888";
static const char open_fields[] = "44" "88";
static const char slot_fields[] = "88" "211" "22";
static const char slot_more_fields[] = "ss" "211" "4";

static void swap_fields(void *data, const char *fields)
{
	uint8_t *at = data;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	for (; *fields; fields++) {
		switch (*fields) {
		case '8':
			memcpy(&v64, at, 8);
			v64 = __builtin_bswap64(v64);
			memcpy(at, &v64, 8);
			at += 8;
			break;
		case '4':
			memcpy(&v32, at, 4);
			v32 = __builtin_bswap32(v32);
			memcpy(at, &v32, 4);
			at += 4;
			break;
		case '2':
			memcpy(&v16, at, 2);
			v16 = __builtin_bswap16(v16);
			memcpy(at, &v16, 2);
			at += 2;
			break;
		case '1':
			at++;
			break;
		default:
			at += 8;
		}
	}
}

struct ktau_rec ktau__decode_rec(const void *data, bool swap)
{
	struct ktau_rec rec;

	memcpy(&rec, data, sizeof(rec));
	rec.size = ktau__swap32(rec.size, swap);
	rec.type = ktau__swap16(rec.type, swap);
	rec.head = ktau__swap16(rec.head, swap);
	return rec;
}

const char *ktau__bad_rec(const struct ktau_rec *rec)
{
	if (rec->size < sizeof(*rec) || rec->size % 8)
		return "record with an impossible size";
	if (rec->size > KTAU_BLOCK_MAX)
		return "record larger than any can be";
	if (rec->head < sizeof(*rec) || rec->head % 8 || rec->head > rec->size)
		return "record with an impossible fixed part";
	return NULL;
}

static const struct layout *find_layout(uint16_t type)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].type == type)
			return &layouts[i];
	}
	return NULL;
}

/* One array behind a fixed part: where it is read from and what it becomes. */
struct array {
	const uint8_t *data;
	uint64_t left;		/* bytes of the record from @data on */
	struct ktau__buffer *out;
	bool swap;
};

static void swap_slot(void *slot)
{
	const struct ktau_slot *s = slot;

	/* The type is one byte, at the same place in both kinds of slots. */
	swap_fields(slot, s->type == KTAU_TRACE_MORE ? slot_more_fields : slot_fields);
}

static int take_array(struct array *array, uint32_t nr, uint32_t size,
		      uint32_t our_size, const char *fields)
{
	uint64_t bytes = (uint64_t)nr * size;
	uint64_t keep = ktau__min(size, our_size);
	uint8_t *to;
	uint32_t i;
	int err;

	if (!nr)
		return 0;
	if (size < 8 || size % 8 || bytes > array->left)
		return -EBADMSG;
	err = ktau__buffer_reserve(array->out, array->out->size + (size_t)nr * our_size);
	if (err)
		return err;
	to = array->out->data + array->out->size;
	if (size == our_size)
		memcpy(to, array->data, bytes);
	for (i = 0; i < nr && size != our_size; i++) {
		memcpy(to + (size_t)i * our_size, array->data + (size_t)i * size, keep);
		memset(to + (size_t)i * our_size + keep, 0, our_size - keep);
	}
	for (i = 0; i < nr && array->swap; i++, to += our_size) {
		if (fields == slot_fields)
			swap_slot(to);
		else
			swap_fields(to, fields);
	}
	array->data += bytes;
	array->left -= bytes;
	array->out->size += (size_t)nr * our_size;
	return 0;
}

static int decode_profile(struct array *array, const char **why)
{
	struct ktau_rec_profile *p = (void *)array->out->data;
	uint32_t entry_size = p->entry_size, nr_open = p->nr_open;
	uint32_t open_size = p->open_size;
	int err;

	p->owner.comm[sizeof(p->owner.comm) - 1] = 0;
	p->entry_size = sizeof(struct ktau_entry);
	p->open_size = sizeof(struct ktau_open);
	*why = "profile with more entries than its size allows";
	err = take_array(array, p->nr_entries, entry_size, sizeof(struct ktau_entry),
			 entry_fields);
	if (err)
		return err;
	*why = "profile with more open frames than its size allows";
	return take_array(array, nr_open, open_size, sizeof(struct ktau_open), open_fields);
}

static int decode_trace(struct array *array, const char **why)
{
	struct ktau_rec_trace *t = (void *)array->out->data;
	uint32_t slot_size = t->slot_size;

	t->owner.comm[sizeof(t->owner.comm) - 1] = 0;
	t->slot_size = sizeof(struct ktau_slot);
	*why = "trace with more slots than its size allows";
	return take_array(array, t->nr_slots, slot_size, sizeof(struct ktau_slot),
			  slot_fields);
}

static bool is_text(const uint8_t *text, uint64_t bytes)
{
	return !bytes || (!text[bytes - 1] && strlen((const char *)text) == bytes - 1);
}

static int take_text(struct array *array, uint64_t bytes)
{
	static const uint8_t zeros[8];
	int err;

	err = ktau__buffer_append(array->out, array->data, bytes);
	if (err)
		return err;
	return ktau__buffer_append(array->out, zeros,
				   ktau__pad8(array->out->size) - array->out->size);
}

static int decode_info(struct array *array, const char **why)
{
	struct ktau_rec_info *info = (void *)array->out->data;
	uint64_t bytes = (uint64_t)info->command_bytes + info->symbols_bytes;

	*why = "info record with texts that do not fit";
	if (bytes > array->left || info->build_id_bytes > sizeof(info->build_id) ||
	    !is_text(array->data, info->command_bytes) ||
	    !is_text(array->data + info->command_bytes, info->symbols_bytes))
		return -EBADMSG;
	info->hostname[sizeof(info->hostname) - 1] = 0;
	info->release[sizeof(info->release) - 1] = 0;
	info->machine[sizeof(info->machine) - 1] = 0;
	return take_text(array, bytes);
}

static int decode_event(struct array *array, const char **why)
{
	struct ktau_rec_event *event = (void *)array->out->data;
	int err;

	*why = "event record with an impossible name";
	if (event->name_bytes < 2 || event->name_bytes > array->left ||
	    !is_text(array->data, event->name_bytes))
		return -EBADMSG;
	err = take_text(array, event->name_bytes);
	if (err)
		return err;
	*why = "impossible event";
	return ktau__event_record_good((void *)array->out->data) ? 0 : -EBADMSG;
}

static int decode_stream(struct array *array, const char **why)
{
	struct ktau_rec_stream *stream = (void *)array->out->data;

	*why = "stream in another byte order or of another version";
	if (stream->magic != KTAU_MAGIC || stream->version != KTAU_ABI_VERSION)
		return -EBADMSG;
	return 0;
}

static int decode_arrays(struct array *array, uint16_t type, const char **why)
{
	switch (type) {
	case KTAU_REC_STREAM:
		return decode_stream(array, why);
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		return decode_profile(array, why);
	case KTAU_REC_TRACE:
		return decode_trace(array, why);
	case KTAU_REC_INFO:
		return decode_info(array, why);
	case KTAU_REC_EVENT:
		return decode_event(array, why);
	default:
		return 0;
	}
}

int ktau__decode(const void *data, bool swap, struct ktau__buffer *out, const char **why)
{
	struct ktau_rec rec = ktau__decode_rec(data, swap);
	const struct layout *layout = find_layout(rec.type);
	struct array array = {
		.data = (const uint8_t *)data + rec.head,
		.left = rec.size - rec.head,
		.out = out,
		.swap = swap,
	};
	size_t keep;
	int err;

	if (!layout)
		return 0;
	err = ktau__buffer_reserve(out, layout->size);
	if (err)
		return err;
	keep = ktau__min(rec.head, layout->size);
	memcpy(out->data, data, keep);
	memset(out->data + keep, 0, layout->size - keep);
	if (swap)
		swap_fields(out->data, layout->fields);
	out->size = layout->size;
	((struct ktau_rec *)out->data)->head = layout->size;
	err = decode_arrays(&array, rec.type, why);
	if (err)
		return err;
	((struct ktau_rec *)out->data)->size = out->size;
	return 1;
}
