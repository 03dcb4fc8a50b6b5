/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: records in normal form, names, clock. The rules are in <ktau.h>. */
#ifndef KTAU_RECORD_H
#define KTAU_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau_file.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header; ktau_version() has the library's. */
#define KTAU_LIB_VERSION	"1.0.0"

const char *ktau_version(void);

/*
 * Records
 */

/**
 * union ktau_record - pointer to a record of any type
 *
 * rec->type says which member to use: KTAU_REC_STREAM, _PROFILE, _TRACE,
 * _END, _INFO, _EVENT; KTAU_REC_DIFF is in @profile too. A type that this
 * library does not know never comes out of a reader.
 */
union ktau_record {
	const struct ktau_rec *rec;
	const struct ktau_rec_stream *stream;
	const struct ktau_rec_profile *profile;
	const struct ktau_rec_trace *trace;
	const struct ktau_rec_end *end;
	const struct ktau_rec_info *info;
	const struct ktau_rec_event *event;
};

/* The p->nr_entries entries of a profile, in the kernel's order. */
static inline const struct ktau_entry *
ktau_profile_entries(const struct ktau_rec_profile *p)
{
	return (const struct ktau_entry *)((const char *)p + p->rec.head);
}

/* The p->nr_open frames in flight, innermost first. */
static inline const struct ktau_open *
ktau_profile_open(const struct ktau_rec_profile *p)
{
	return (const struct ktau_open *)(ktau_profile_entries(p) + p->nr_entries);
}

/* The t->nr_slots slots of a trace record, continuations included. */
static inline const struct ktau_slot *
ktau_trace_slots(const struct ktau_rec_trace *t)
{
	return (const struct ktau_slot *)((const char *)t + t->rec.head);
}

/* The command line of an info record, and the path of its symbols; "" if none. */
const char *ktau_info_command(const struct ktau_rec_info *info);
const char *ktau_info_symbols(const struct ktau_rec_info *info);

/* The name in an event record. */
const char *ktau_event_name(const struct ktau_rec_event *event);

/**
 * ktau_profile_find() - the entry of an event
 *
 * Return: the entry or NULL. Linear in the number of entries.
 */
const struct ktau_entry *ktau_profile_find(const struct ktau_rec_profile *p,
					   uint32_t id);

/**
 * ktau_profile_inflight() - how long a frame in flight has taken so far
 * @p: profile
 * @index: which of the p->nr_open frames, 0 is the innermost
 * @incl_ticks: time since it was entered, up to p->ticks; may be NULL
 * @excl_ticks: that without the frames inside, ended or in flight; may be NULL
 *
 * A difference that comes out negative is 0.
 *
 * Return: 0, -ERANGE for an @index out of the list.
 */
int ktau_profile_inflight(const struct ktau_rec_profile *p, uint32_t index,
			  uint64_t *incl_ticks, uint64_t *excl_ticks);

/**
 * ktau_profile_diff() - what was added between two profiles of one owner
 * @after: the later one; its frames in flight, ticks and groups are kept, and of
 *	its owner everything but utime_ns and stime_ns
 * @before: the earlier one; NULL counts from zero
 * @out: new record, to be freed with ktau_record_free()
 *
 * Counts and times are subtracted, events with nothing added are left out.
 * min and max of counters stay @after's.
 *
 * Return: 0, -ENOMEM, -EINVAL if the owners differ or @after has less of some
 * event than @before.
 */
int ktau_profile_diff(const struct ktau_rec_profile *after,
		      const struct ktau_rec_profile *before,
		      struct ktau_rec_profile **out);

/* Free what ktau_profile_diff(), ktau_snapshot_sum() or ktau_record_dup() gave. */
void ktau_record_free(void *record);

/* A copy of a record; NULL without memory. Free with ktau_record_free(). */
void *ktau_record_dup(const void *record);

/**
 * ktau_trace_next() - walk through a trace record, oldest first
 * @t: record
 * @slot: what the call before gave; NULL to begin
 *
 * Continuations (KTAU_TRACE_MORE) are stepped over.
 *
 * Return: the next leading slot, NULL at the end.
 */
const struct ktau_slot *ktau_trace_next(const struct ktau_rec_trace *t,
					const struct ktau_slot *slot);

/**
 * ktau_trace_more() - a continuation of a leading slot
 * @t: record
 * @slot: from ktau_trace_next()
 * @index: 1 for the first one
 *
 * @data of the result is bytes as written, never swapped.
 *
 * Return: NULL if there is none or the record ends before it.
 */
const struct ktau_slot_more *ktau_trace_more(const struct ktau_rec_trace *t,
					     const struct ktau_slot *slot,
					     unsigned int index);

/*
 * Names
 */

/* "tcp" for KTAU_GROUP_TCP; NULL if it is not exactly one known group. */
const char *ktau_group_name(uint32_t group);

/* The bit of a group's name, 0 if there is none of that name. */
uint32_t ktau_group_by_name(const char *name);

/* "timer" or "counter"; NULL else. */
const char *ktau_kind_name(uint32_t kind);

/* "ENTER", "SWITCH" ... for KTAU_TRACE_*; NULL else. */
const char *ktau_slot_type_name(uint8_t type);

/* "task", "softirq", "hardirq", "nmi" for KTAU_CTX_*; NULL else. */
const char *ktau_ctx_name(uint8_t ctx);

/**
 * ktau_display_name() - a symbol as people know it
 *
 * Takes off what the kernel's build puts before a system call's name
 * (__x64_sys_read, __ia32_compat_sys_read, __se_sys_read, __do_sys_read ...
 * become sys_read, compat_sys_read) and the dot of ppc64's entry points.
 *
 * Return: a pointer into @symbol.
 */
const char *ktau_display_name(const char *symbol);

/*
 * Clock
 */

/**
 * struct ktau_clock - the recorded machine's clock
 * @hz: ticks a second
 * @ticks: cycle counter at the moment of
 * @realtime_ns: CLOCK_REALTIME
 * @monotonic_ns: and CLOCK_MONOTONIC
 * @stable: constant rate, in step on all CPUs
 */
struct ktau_clock {
	uint64_t hz;
	uint64_t ticks;
	uint64_t realtime_ns;
	uint64_t monotonic_ns;
	bool stable;
};

/**
 * ktau_clock_init() - from a STREAM record
 *
 * Where the kernel gives no frequency, it is computed from the pairs of the
 * boot and of the stream.
 *
 * Return: 0, -ENODATA if there is no way to tell the frequency: conversions
 * then take a tick for a nanosecond.
 */
int ktau_clock_init(struct ktau_clock *clock, const struct ktau_rec_stream *stream);

/* A duration; at most UINT64_MAX. */
uint64_t ktau_clock_ns(const struct ktau_clock *clock, uint64_t ticks);

/* A moment, as CLOCK_REALTIME and CLOCK_MONOTONIC; 0 and UINT64_MAX bound it. */
uint64_t ktau_clock_realtime_ns(const struct ktau_clock *clock, uint64_t ticks);
uint64_t ktau_clock_monotonic_ns(const struct ktau_clock *clock, uint64_t ticks);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_RECORD_H */
