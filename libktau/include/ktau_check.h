/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: do the records agree with themselves? The rules are in <ktau.h>. */
#ifndef KTAU_CHECK_H
#define KTAU_CHECK_H

#include <ktau_record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktau_check;

enum ktau_finding_code {
	KTAU_FINDING_IDENTITY,		/* sum of excl + refused != outer + open */
	KTAU_FINDING_ENTRY,		/* id, kind, order of min and max, excl > incl */
	KTAU_FINDING_OPEN,		/* frames in flight contradict the profile */
	KTAU_FINDING_BACKWARD,		/* a later profile of a task has less */
	KTAU_FINDING_NESTING,		/* an exit that is not of the innermost frame */
	KTAU_FINDING_SLOT,		/* a slot's fields, time or continuations */
	KTAU_FINDING_LOSS,		/* first, lost, written do not add up */
	KTAU_FINDING_STREAM,		/* records outside a stream, wrong nr_records */
	KTAU_NR_FINDINGS
};

/**
 * struct ktau_finding - one contradiction
 * @code: what kind
 * @owner: whose, NULL if it is about the stream
 * @number: slot number for those of traces, event id for entries, else 0
 * @text: in words, without owner
 */
struct ktau_finding {
	enum ktau_finding_code code;
	const struct ktau_owner *owner;
	uint64_t number;
	const char *text;
};

/**
 * struct ktau_check_counts - what was looked at
 * @streams: streams
 * @profiles: profile records, differences included
 * @traces: trace records
 * @slots: slots in them
 * @lost: slots that they, and the ENDs of streams, say were lost: told, so no
 *	finding
 * @refused: activations that found no room, of the last profile of each owner
 * @clamped: negative durations, likewise
 * @tasks: different serials
 * @findings: by code
 */
struct ktau_check_counts {
	uint64_t streams;
	uint64_t profiles;
	uint64_t traces;
	uint64_t slots;
	uint64_t lost;
	uint64_t refused;
	uint64_t clamped;
	uint64_t tasks;
	uint64_t findings[KTAU_NR_FINDINGS];
};

typedef void (*ktau_finding_fn)(void *arg, const struct ktau_finding *finding);

/* "identity", "nesting" ... ; NULL for a number out of range. */
const char *ktau_finding_name(enum ktau_finding_code code);

/**
 * ktau_check_create() - a checker
 * @check: new handle
 * @found: called for each finding during ktau_check_record(); may be NULL
 * @arg: handed to @found
 */
int ktau_check_create(struct ktau_check **check, ktau_finding_fn found, void *arg);

/* Free a checker. */
void ktau_check_destroy(struct ktau_check *check);

/**
 * ktau_check_record() - hold one more record against those before it
 *
 * Feed all records of a source in order. The rules are in ktau_check(3).
 *
 * Return: number of findings in this record, -ENOMEM.
 */
int ktau_check_record(struct ktau_check *check, const union ktau_record *record);

/* Records are missing here (a damaged file): open stacks are forgotten. */
void ktau_check_gap(struct ktau_check *check);

/* What was looked at and found so far. */
const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *check);

/* Identity of one profile alone: 0, or -EBADMSG with both sides. */
int ktau_check_identity(const struct ktau_rec_profile *profile,
			uint64_t *excl_side, uint64_t *outer_side);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_CHECK_H */
