/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: checks that records are consistent. General rules are in <ktau.h>. */
#ifndef KTAU_CHECK_H
#define KTAU_CHECK_H

#include <ktau_record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktau_check;

/* The rules; ktau_finding_meaning() says what each requires. */
enum ktau_finding_code {
	KTAU_FINDING_IDENTITY,
	KTAU_FINDING_ENTRY,
	KTAU_FINDING_OPEN,
	KTAU_FINDING_ACCOUNT,
	KTAU_FINDING_LONGEST,
	KTAU_FINDING_INSIDE,
	KTAU_FINDING_BACKWARD,
	KTAU_FINDING_BUSY,
	KTAU_FINDING_NESTING,
	KTAU_FINDING_SLOT,
	KTAU_FINDING_LOSS,
	KTAU_FINDING_STREAM,
	KTAU_FINDING_REFERENCE,
	KTAU_NR_FINDINGS
};

/**
 * struct ktau_finding - one violation
 * @code: the violated rule
 * @serial: serial of the owner; 0 if the violation concerns the stream
 * @owner: OWNER record of the owner; NULL if there is none
 * @number: for slots, the number of the slot in its record, counted from 0; for entries, the
 *	event id; for losses, the position; else 0
 * @text: a description without the owner
 */
struct ktau_finding {
	enum ktau_finding_code code;
	uint64_t serial;
	const struct ktau_rec_owner *owner;
	uint64_t number;
	const char *text;
};

/* Elements of the arrays below: more than there are losses and codes, so that both can grow. */
#define KTAU_CHECK_ROOM	64

/**
 * struct ktau_check_counts - what was checked
 * @streams: streams
 * @profiles: profile records, differences included
 * @periods: profiles that were compared with the one before of the same owner
 * @periods_of_all: periods in which all tasks were compared with all CPUs
 * @traces: trace records
 * @slots: slots in them
 * @lost: slots that trace records report as lost
 * @refused: activations for which there was no room, from the last profile of each owner
 * @clamped: clamped durations, from the last profile of each owner
 * @unmeasured: profiles without any time, entry or frame, although all groups that measure the
 *	life of a task were enabled all the time
 * @tasks: distinct serials of tasks, added up over the boots
 * @denied: tasks left out of the last stream of each kind because of permissions
 * @losses: increase of the counters of END records, by ktau_loss_name(), from the first
 *	stream of the source to the last one
 * @unknown: slots, entries and owners of unknown types and kinds
 * @findings: by code
 */
struct ktau_check_counts {
	uint64_t streams;
	uint64_t profiles;
	uint64_t periods;
	uint64_t periods_of_all;
	uint64_t traces;
	uint64_t slots;
	uint64_t lost;
	uint64_t refused;
	uint64_t clamped;
	uint64_t unmeasured;
	uint64_t tasks;
	uint64_t denied;
	uint64_t losses[KTAU_CHECK_ROOM];
	uint64_t unknown;
	uint64_t findings[KTAU_CHECK_ROOM];
};

typedef void (*ktau_finding_fn)(void *arg, const struct ktau_finding *finding);

/* "identity", "nesting" ...; NULL for a number out of range. */
const char *ktau_finding_name(enum ktau_finding_code code);

/* What the rule of that name requires, in one line; NULL for a number out of range. */
const char *ktau_finding_meaning(enum ktau_finding_code code);

/**
 * ktau_check_create() - create a checker
 * @check: new handle
 * @found: called for each finding during ktau_check_record(); may be NULL
 * @arg: passed to @found
 */
int ktau_check_create(struct ktau_check **check, ktau_finding_fn found, void *arg);

/* Free a checker. */
void ktau_check_destroy(struct ktau_check *check);

/**
 * ktau_check_record() - check one more record against those before it
 *
 * Pass all records of a source in order. The rules are in ktau_check(3).
 *
 * Return: number of findings in this record, -ENOMEM.
 */
int ktau_check_record(struct ktau_check *check, const union ktau_record *record);

/*
 * Tell the checker that records are missing here, because the file is damaged or the reader
 * skipped a block. Frames in flight are forgotten, and missing records are not reported.
 */
void ktau_check_gap(struct ktau_check *check);

/*
 * Tell the checker that the records that follow are from another file of the same boot, which
 * was written later. A file has its own descriptions, and its first DIFF counts from zero.
 */
void ktau_check_file(struct ktau_check *check);

/* What has been checked and found so far. */
const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *check);

/* Check the identity of one profile. 0, or -EBADMSG; both sides are set in any case. */
int ktau_check_identity(const struct ktau_rec_profile *profile,
			uint64_t *excl_side, uint64_t *outer_side);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_CHECK_H */
