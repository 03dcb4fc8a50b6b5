/* SPDX-License-Identifier: GPL-2.0-only */
/* A child whose references to pages are traced. */
#ifndef KTAU_TESTS_TRACER_H
#define KTAU_TESTS_TRACER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/ktau.h>
#include <linux/ktau_references.h>

enum { TRACER_PAGE = 4096 };

/* Where the pages are that the child uses. */
#define TRACER_BASE ((char *)0x100000000000)

/**
 * struct tracer_slot - a slot about pages at TRACER_BASE, or about an address space
 * @type: KTAU_TRACE_*
 * @flags: KTAU_REFERENCE_*, for SPACE its reason, for SKIPPED KTAU_SKIPPED_* / 256
 * @page: the page, relative to TRACER_BASE; 0 for SKIPPED if it is that of all pages
 * @to: MOVE: the new place, relative too
 * @pages: UNMAP, MOVE and SKIPPED: their number
 * @space: the space
 * @thread: the thread
 */
struct tracer_slot {
	uint8_t type, flags;
	int64_t page, to, pages;
	uint32_t space, thread;
};

/**
 * struct tracer - a child
 * @request: what is traced of it; @pids is filled in
 * @pages: private pages at TRACER_BASE, or without @touched maybe something else
 * @shared: they are shared
 * @touched: they are written before
 * @small: they are not huge
 * @work: what it does then
 * @arg: argument of @work
 * @watch: called in the parent meanwhile; may be NULL
 * @status: its status
 * @slots: the slots
 * @nr: their number
 * @lost: units that were lost
 */
struct tracer {
	struct ktau_references request;
	size_t pages;
	int shared, touched, small;
	void (*work)(struct tracer *tracer);
	void *arg;
	void (*watch)(struct tracer *tracer, pid_t child);
	int status;
	struct tracer_slot *slots;
	size_t nr;
	uint64_t lost;
};

/* Run the child and read all slots; ends the program after an error. */
void tracer_run(struct tracer *tracer);

/* Forget the slots. */
void tracer_free(struct tracer *tracer);

static inline void load(size_t page)
{
	(void)*(volatile char *)(TRACER_BASE + page * TRACER_PAGE);
}

static inline void store(size_t page, char value)
{
	*(volatile char *)(TRACER_BASE + page * TRACER_PAGE) = value;
}

#endif
