/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The slots of TRACE records in KTAU_ENCODE_DELTA.
 *
 * A program makes the same calls again and again, so a slot often differs from an earlier one in
 * its time only. Writer and reader keep a table of at most 255 entries, each with the fields of a
 * slot after @ticks, the payload that such a slot had last, and the entry of the slot that
 * followed it last. Entries are numbered from 0 in the order in which they are given; the 256th
 * replaces entry 0, the next one entry 1, and so on. The table of a block's payload begins empty.
 * An encoded slot:
 *
 *	byte	bits 0 to 2: bytes of the time that follows, minus 1
 *		bit 3: the time is to be subtracted
 *		bit 4: the entry is given
 *		bit 5: the payload is given
 *		other bits: 0
 *	bytes	time since the slot before it, least significant byte first; for the first slot
 *		of a record, since the last one of the TRACE record of form 1 before it, or 0
 *
 * If the entry is given:
 *
 *	byte	its number, or 255 for a new one, of which follow
 *	number	id
 *	byte	type
 *	byte	words
 *	number	cpu
 *	byte	ctx
 *	byte	flags
 *
 * If not, it is the entry of the slot that followed when that of the slot before was used last,
 * entry 0 if none has. If the payload is given:
 *
 *	delta	each word, in order, to the same word of the entry's payload, of which a new
 *		entry has none. An entry keeps the first 8 words; where there is none, the delta
 *		is to 0.
 *
 * If not, the payload is that of the entry, and all other words are 0.
 */
#ifndef KTAU_INTERNAL_DELTA_SLOTS_H
#define KTAU_INTERNAL_DELTA_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define KTAU__SLOT_ENTRIES	255
#define KTAU__SLOT_KEPT		8

struct ktau__slot_entry {
	uint64_t fields;		/* of struct ktau_slot, after @ticks */
	uint64_t payload[KTAU__SLOT_KEPT];
	struct ktau__slot_entry *next;
};

/* @found is used by a writer only: the entry of a hash of the fields, which may be outdated. */
struct ktau__slot_table {
	uint64_t ticks;			/* of the last slot */
	struct ktau__slot_entry *last;	/* its entry */
	unsigned int nr;
	unsigned int turn;		/* the entry that the next new one becomes */
	uint8_t found[256];
	struct ktau__slot_entry entry[KTAU__SLOT_ENTRIES];
};

/* The slots of a record. @swap: they are in the other byte order. */
struct ktau__slots {
	uint8_t *data;
	uint32_t nr;
	uint32_t bytes;
	bool swap;
};

void ktau__slots_start(struct ktau__slot_table *table);

/*
 * Slots in this machine's byte order that ktau__check_slots() has accepted. @to has room for 10
 * bytes for each of their words. Return: the end of the encoded slots.
 */
uint8_t *ktau__slots_encode(struct ktau__slot_table *table, uint8_t *to,
			    const struct ktau__slots *slots);

/* Return: the end of the encoded slots; NULL if they are invalid or do not fill @slots. */
const uint8_t *ktau__slots_decode(struct ktau__slot_table *table, const uint8_t *from,
				  const uint8_t *end, const struct ktau__slots *slots);

#endif /* KTAU_INTERNAL_DELTA_SLOTS_H */
