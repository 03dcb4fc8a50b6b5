/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The position in each ring up to which its slots have been written to files.
 *
 * The kernel reports as lost what was overwritten before it was consumed. It does not know what
 * was consumed and never written: by another reader, or by a ktaud that was killed. So ktaud
 * compares the positions of each record with those of the ring's previous one, and adds what is
 * missing between them to the record's loss.
 */
#ifndef KTAUD_POSITIONS_H
#define KTAUD_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

/**
 * struct position - how far a ring has been written
 * @serial: its owner; 0: this entry of the table is free
 * @next: position of the first slot that has not been written
 * @ticks: time of the slot before it
 * @used: changed since the last sweep
 */
struct position {
	uint64_t serial;
	uint64_t next;
	uint64_t ticks;
	bool used;
};

/**
 * struct positions - all rings
 * @table: hash table by serial
 * @room: its length, a power of two
 * @nr: number of used entries
 * @repeats: streams may contain slots that have been written, which are to be left out
 * @since_ticks: then: of rings that are not in @table, those before this time have been written
 * @missing: total number of positions that were missing between records
 */
struct positions {
	struct position *table;
	size_t room;
	size_t nr;
	bool repeats;
	uint64_t since_ticks;
	uint64_t missing;
};

void positions_clear(struct positions *positions);

/* Note a record that has been written. Return: 0 or -ENOMEM. */
int positions_note(struct positions *positions, const struct ktau_rec_trace *trace);

/**
 * positions_follow() - compare a record with the previous one of its ring
 * @positions: what has been written
 * @trace: the record, which is going to be written
 * @now_ticks: time at which a loss without slots after it ends
 * @own: set to a corrected copy for ktau_record_free(), or NULL
 *
 * Return: 1 if @trace, or *@own if there is one, is to be written; 0 if it contains nothing that
 * has not been written; -ENOMEM.
 */
int positions_follow(struct positions *positions, const struct ktau_rec_trace *trace,
		     uint64_t now_ticks, struct ktau_rec_trace **own);

#endif /* KTAUD_POSITIONS_H */
