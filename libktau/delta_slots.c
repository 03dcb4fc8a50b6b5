// SPDX-License-Identifier: LGPL-2.1-or-later
/* The slots of TRACE records in KTAU_ENCODE_DELTA; delta_slots.h describes them. */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include <ktau.h>

#include "delta_slots.h"
#include "number.h"
#include "swap.h"

#define TIME_BYTES	7		/* bits of the first byte */
#define TIME_BACK	8
#define GIVEN_ENTRY	16
#define GIVEN_PAYLOAD	32

#define NEW_ENTRY	255

void ktau__slots_start(struct ktau__slot_table *table)
{
	table->ticks = 0;
	table->nr = 0;
	table->turn = 0;
	memset(table->found, 0, sizeof(table->found));
	/* No slot is equal to it: it would have no words. */
	table->last = &table->entry[0];
	*table->last = (struct ktau__slot_entry){ .next = table->last };
}

static struct ktau__slot_entry *add_entry(struct ktau__slot_table *table, uint64_t fields)
{
	struct ktau__slot_entry *entry = &table->entry[table->turn];

	*entry = (struct ktau__slot_entry){ .fields = fields, .next = &table->entry[0] };
	table->turn = (table->turn + 1) % KTAU__SLOT_ENTRIES;
	if (table->nr < KTAU__SLOT_ENTRIES)
		table->nr++;
	return entry;
}

static void use_entry(struct ktau__slot_table *table, struct ktau__slot_entry *entry)
{
	table->last->next = entry;
	table->last = entry;
}

/*
 * Writing
 */

static uint8_t *write_fields(uint8_t *to, const struct ktau_slot *slot)
{
	*to++ = NEW_ENTRY;
	to = ktau__write_number(to, slot->id);
	*to++ = slot->type;
	*to++ = slot->words;
	to = ktau__write_number(to, slot->cpu);
	*to++ = slot->ctx;
	*to++ = slot->flags;
	return to;
}

/* The entry for @fields, written to *@to. */
static struct ktau__slot_entry *write_entry(struct ktau__slot_table *table, uint8_t **to,
					    const struct ktau_slot *slot, uint64_t fields)
{
	/* The golden ratio spreads the fields over the upper bits. */
	uint8_t *found = &table->found[fields * 0x9e3779b97f4a7c15ULL >> 56];
	struct ktau__slot_entry *entry = &table->entry[*found];

	if (*found < table->nr && entry->fields == fields) {
		*(*to)++ = *found;
		return entry;
	}
	entry = add_entry(table, fields);
	*found = entry - table->entry;
	*to = write_fields(*to, slot);
	return entry;
}

/* Return: the end of the payload; @to if it is that of @entry. */
static uint8_t *write_payload(struct ktau__slot_entry *entry, uint8_t *to, const uint8_t *words,
			      unsigned int nr)
{
	uint64_t word, difference, any = 0;
	uint8_t *begin = to;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		memcpy(&word, words + 8 * i, 8);
		difference = word;
		if (i < KTAU__SLOT_KEPT) {
			difference -= entry->payload[i];
			entry->payload[i] = word;
		}
		any |= difference;
		to = ktau__write_number(to, ktau__zigzag(difference));
	}
	return any ? to : begin;
}

/* Return: the end of the time, with its bits in *@first. */
static uint8_t *write_time(uint8_t *to, uint64_t since, uint8_t *first)
{
	unsigned int bytes;

	*first = 0;
	if (since >> 63) {
		*first = TIME_BACK;
		since = -since;
	}
	bytes = (71 - __builtin_clzll(since | 1)) / 8;
	*first |= bytes - 1;
	since = htole64(since);
	memcpy(to, &since, sizeof(since));
	return to + bytes;
}

/* Where the next bytes of each part go. */
struct output {
	uint8_t *first;
	uint8_t *time;
	uint8_t *rest;
};

static void write_slot(struct ktau__slot_table *table, struct output *out, const uint8_t *data)
{
	struct ktau__slot_entry *entry = table->last->next;
	uint8_t first, *payload;
	struct ktau_slot slot;
	uint64_t fields;

	memcpy(&slot, data, sizeof(slot));
	memcpy(&fields, data + 8, sizeof(fields));
	out->time = write_time(out->time, slot.ticks - table->ticks, &first);
	table->ticks = slot.ticks;
	if (entry->fields != fields) {
		first |= GIVEN_ENTRY;
		entry = write_entry(table, &out->rest, &slot, fields);
	}
	use_entry(table, entry);
	payload = out->rest;
	out->rest = write_payload(entry, payload, data + sizeof(slot), slot.words - 2);
	if (out->rest != payload)
		first |= GIVEN_PAYLOAD;
	*out->first++ = first;
}

uint8_t *ktau__slots_encode(struct ktau__slot_table *table, uint8_t *to,
			    const struct ktau__slots *slots)
{
	/* The times end where the rest begins at the latest, which then moves down to them. */
	struct output out = {
		.first = to,
		.time = to + slots->nr,
		.rest = to + slots->nr * (1 + sizeof(uint64_t)),
	};
	const uint8_t *rest = out.rest, *data = slots->data;
	uint32_t nr;

	for (nr = slots->nr; nr; nr--) {
		write_slot(table, &out, data);
		data += data[offsetof(struct ktau_slot, words)] * 8;
	}
	memmove(out.time, rest, out.rest - rest);
	return out.time + (out.rest - rest);
}

/*
 * Reading
 */

/* What is left of the parts, and of the room for slots. */
struct input {
	const uint8_t *first;
	const uint8_t *time;
	const uint8_t *at;		/* of the rest; NULL once it is invalid */
	const uint8_t *end;
	uint8_t *to;
	uint8_t *to_end;
	bool swap;
};

static uint8_t read_byte(struct input *in)
{
	if (!in->at || in->at == in->end) {
		in->at = NULL;
		return 0;
	}
	return *in->at++;
}

static uint64_t read_number(struct input *in)
{
	uint64_t value = 0;

	if (in->at)
		in->at = ktau__read_number(in->at, in->end, &value);
	return value;
}

static uint16_t read_number16(struct input *in)
{
	uint64_t value = read_number(in);

	if (value > UINT16_MAX)
		in->at = NULL;
	return value;
}

static uint64_t read_time(struct input *in, uint8_t first)
{
	unsigned int i, bytes = (first & TIME_BYTES) + 1;
	uint64_t since = 0;

	for (i = 0; i < bytes; i++)
		since |= (uint64_t)in->time[i] << 8 * i;
	in->time += bytes;
	return first & TIME_BACK ? -since : since;
}

static struct ktau__slot_entry *read_fields(struct ktau__slot_table *table, struct input *in)
{
	struct ktau_slot slot;
	uint64_t fields;

	slot.id = ktau__swap16(read_number16(in), in->swap);
	slot.type = read_byte(in);
	slot.words = read_byte(in);
	slot.cpu = ktau__swap16(read_number16(in), in->swap);
	slot.ctx = read_byte(in);
	slot.flags = read_byte(in);
	if (!in->at || slot.words < 2)
		return NULL;
	memcpy(&fields, &slot.id, sizeof(fields));
	return add_entry(table, fields);
}

/* Return: the entry of the next slot, NULL if there is none. */
static struct ktau__slot_entry *read_entry(struct ktau__slot_table *table, struct input *in,
					   uint8_t first)
{
	unsigned int number;

	if (!(first & GIVEN_ENTRY))
		return table->nr ? table->last->next : NULL;
	number = read_byte(in);
	if (number == NEW_ENTRY)
		return read_fields(table, in);
	return number < table->nr ? &table->entry[number] : NULL;
}

static void read_payload(struct ktau__slot_entry *entry, struct input *in, unsigned int nr,
			 bool given)
{
	uint64_t word;
	unsigned int i;

	for (i = 0; i < nr && in->at; i++) {
		word = i < KTAU__SLOT_KEPT ? entry->payload[i] : 0;
		if (given)
			word += ktau__unzigzag(read_number(in));
		if (i < KTAU__SLOT_KEPT)
			entry->payload[i] = word;
		word = ktau__swap64(word, in->swap);
		memcpy(in->to, &word, sizeof(word));
		in->to += sizeof(word);
	}
}

static bool read_slot(struct ktau__slot_table *table, struct input *in)
{
	uint8_t first = *in->first++;
	struct ktau__slot_entry *entry;
	unsigned int words;
	uint64_t ticks;

	table->ticks += read_time(in, first);
	entry = read_entry(table, in, first);
	if (!entry)
		return false;
	use_entry(table, entry);
	words = ((uint8_t *)&entry->fields)[3];
	if ((size_t)(in->to_end - in->to) < words * 8)
		return false;
	ticks = ktau__swap64(table->ticks, in->swap);
	memcpy(in->to, &ticks, sizeof(ticks));
	memcpy(in->to + 8, &entry->fields, sizeof(entry->fields));
	in->to += sizeof(struct ktau_slot);
	read_payload(entry, in, words - 2, first & GIVEN_PAYLOAD);
	return in->at;
}

/* Return: where the rest begins, NULL if it does not. */
static const uint8_t *find_rest(const struct input *in)
{
	const uint8_t *first;
	size_t bytes = 0;

	for (first = in->first; first < in->time; first++) {
		if (*first & ~(TIME_BYTES | TIME_BACK | GIVEN_ENTRY | GIVEN_PAYLOAD))
			return NULL;
		bytes += (*first & TIME_BYTES) + 1;
	}
	return bytes > (size_t)(in->end - in->time) ? NULL : in->time + bytes;
}

const uint8_t *ktau__slots_decode(struct ktau__slot_table *table, const uint8_t *from,
				  const uint8_t *end, const struct ktau__slots *slots)
{
	struct input in = {
		.first = from,
		.end = end,
		.to = slots->data,
		.to_end = slots->data + slots->bytes,
		.swap = slots->swap,
	};
	uint32_t nr;

	if (slots->nr > (size_t)(end - from))
		return NULL;
	in.time = from + slots->nr;
	in.at = find_rest(&in);
	if (!in.at)
		return NULL;
	for (nr = slots->nr; nr; nr--)
		if (!read_slot(table, &in))
			return NULL;
	return in.to == in.to_end ? in.at : NULL;
}
