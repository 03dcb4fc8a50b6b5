/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trace of a thread's regions and events: a file ktau-user-trace.HOST.PID.TID, which
 * libktau-user writes and the tools read. It has a header and a ring of slots, in the byte
 * order of the machine. Times are in ticks of the kernel's clock.
 */
#ifndef KTAU_INTERNAL_TRACE_FORMAT_H
#define KTAU_INTERNAL_TRACE_FORMAT_H

#include <stdint.h>

#define KTAU__TRACE_PREFIX	"ktau-user-trace."
#define KTAU__TRACE_MAGIC	0x315254555541544bULL	/* "KTUAUTR1" in little-endian order */
#define KTAU__TRACE_MIN_SLOTS	64
#define KTAU__TRACE_MAX_SLOTS	(1U << 20)
#define KTAU__TRACE_EVENTS	64

/* Added to the number of a region: the library itself is at work in this region. */
#define KTAU__TRACE_OWN		256

/* Types of slots. */
#define KTAU__TRACE_REGION	1	/* from now on the thread is in region @number */
#define KTAU__TRACE_MARK	2	/* event @number */
#define KTAU__TRACE_VALUE	3	/* event @number with @value */
#define KTAU__TRACE_MESSAGE	4	/* event @number: @value bytes to or from @peer */

/**
 * struct ktau__trace_header - the beginning of the file
 * @magic: KTAU__TRACE_MAGIC
 * @serial: serial of the thread
 * @written: number of slots written so far; slot n is at index n modulo @nr_slots
 * @nr_slots: a power of two
 * @boot: the boot id as text, without a final zero
 */
struct ktau__trace_header {
	uint64_t magic;
	uint64_t serial;
	uint64_t written;
	uint32_t nr_slots;
	char boot[36];
};

/**
 * struct ktau__trace_slot - one entry
 * @ticks: when it happened
 * @value: depends on the type
 * @number: region, possibly plus KTAU__TRACE_OWN, or event; named in ktau-user.HOST.PID.TID
 * @type: KTAU__TRACE_*
 * @peer: rank of a message
 */
struct ktau__trace_slot {
	uint64_t ticks;
	uint64_t value;
	uint16_t number;
	uint16_t type;
	int32_t peer;
};

_Static_assert(sizeof(struct ktau__trace_header) == 64, "ktau__trace_header");
_Static_assert(sizeof(struct ktau__trace_slot) == 24, "ktau__trace_slot");

#endif /* KTAU_INTERNAL_TRACE_FORMAT_H */
