/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau: profiles and traces of kernel routines, read from a running kernel
 * or from a file, on any machine from any machine.
 *
 * What holds for every function:
 *  - int functions return 0 (some 1 or a count, said there) or -errno.
 *  - Nothing prints, exits, changes a signal or keeps a global variable. A
 *    handle may be used by one thread at a time; different handles by
 *    different threads at once.
 *  - Handles are made by ktau_*_create() and freed by ktau_*_destroy(), which
 *    takes NULL. What a function returns through a const pointer belongs to
 *    the handle; the text at the function says how long it stays.
 *  - ktau_*_error() says in words what went wrong last on a handle (file,
 *    byte or line, reason); "" if nothing did.
 *  - Times are ticks of the recorded machine's cycle counter unless the name
 *    ends in _ns; struct ktau_clock converts.
 *
 * Records. All readers give records in normal form: the layout of
 * <linux/ktau.h> and <ktau_file.h> in this machine's byte order with this
 * library's structure sizes, whatever wrote them. Every count in them has been
 * checked against the record's size. A record is one piece of memory of
 * rec->size bytes: memcpy() copies it whole.
 */
#ifndef KTAU_H
#define KTAU_H

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

/*
 * Control and statistics of the running kernel
 */

/**
 * ktau_control_write() - switch groups, modes, sizes, tasks
 * @words: as for /proc/ktau/control, e.g. "+tcp -irq trace=on"
 *
 * Return: 0, -EINVAL (nothing of it applied, reason in the kernel log), -EPERM,
 * -ENOENT (no KTAU in this kernel), -E2BIG (longer than 64 KiB).
 */
int ktau_control_write(const char *words);

/**
 * ktau_control_get() - one setting
 * @key: such as "groups", "profile", "ring"
 * @value: buffer for its text
 * @size: bytes of it
 *
 * Return: 0, -ENOENT (no KTAU or no such key; errno of open(2) else),
 * -ENOSPC if the text did not fit.
 */
int ktau_control_get(const char *key, char *value, size_t size);

/* One figure of /proc/ktau/stats. -ENOENT: no KTAU or no such name. */
int ktau_stats_get(const char *name, uint64_t *value);

/**
 * ktau_stats_each() - all figures of /proc/ktau/stats
 * @each: called for every line in order; another value than 0 ends the walk
 * @arg: handed to @each
 *
 * Return: 0, what @each returned, -errno.
 */
int ktau_stats_each(int (*each)(void *arg, const char *name, uint64_t value), void *arg);

/* The running kernel's GNU build-id. Returns its length, -ENOENT, -errno. */
int ktau_build_id(uint8_t *id, size_t size);

#ifdef __cplusplus
}
#endif

#include <ktau_reader.h>
#include <ktau_snapshot.h>
#include <ktau_symtab.h>
#include <ktau_writer.h>
#include <ktau_check.h>

#endif /* KTAU_H */
