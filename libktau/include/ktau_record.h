/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: records in normal form, clock. The rules are in <ktau.h>. */
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
 * rec->type selects the member: KTAU_REC_STREAM, _EVENT, _CGROUP, _OWNER, _PROFILE, _TRACE,
 * _GONE, _REGION, _END, _INFO, _GAP; KTAU_REC_DIFF also uses @profile. Readers skip records of
 * types that this library does not know.
 */
union ktau_record {
	const struct ktau_rec *rec;
	const struct ktau_rec_stream *stream;
	const struct ktau_rec_event *event;
	const struct ktau_rec_cgroup *cgroup;
	const struct ktau_rec_owner *owner;
	const struct ktau_rec_profile *profile;
	const struct ktau_rec_trace *trace;
	const struct ktau_rec_gone *gone;
	const struct ktau_rec_region *region;
	const struct ktau_rec_end *end;
	const struct ktau_rec_info *info;
	const struct ktau_rec_gap *gap;
};

/* Free a record that a function of this library has allocated. */
void ktau_record_free(void *record);

/* Copy a record; NULL if there is no memory. Free with ktau_record_free(). */
void *ktau_record_dup(const void *record);

/*
 * The p->nr_entries entries of a profile, in ascending order of their ids. With a later version of
 * the library they may be larger than struct ktau_entry: see ktau_profile_entry().
 */
static inline const struct ktau_entry *
ktau_profile_entries(const struct ktau_rec_profile *p)
{
	return (const struct ktau_entry *)((const char *)p + p->rec.head);
}

/* The entry at @index, below p->nr_entries, of any version of the library. */
static inline const struct ktau_entry *
ktau_profile_entry(const struct ktau_rec_profile *p, uint32_t index)
{
	return (const struct ktau_entry *)((const char *)ktau_profile_entries(p) +
					   (size_t)index * p->entry_size);
}

/*
 * The p->nr_open frames in flight that are listed, innermost first. With a later version of the
 * library they may be larger than struct ktau_open: see ktau_profile_frame().
 */
static inline const struct ktau_open *
ktau_profile_open(const struct ktau_rec_profile *p)
{
	return (const struct ktau_open *)ktau_profile_entry(p, p->nr_entries);
}

/* The frame in flight at @index, below p->nr_open, of any version of the library. */
static inline const struct ktau_open *
ktau_profile_frame(const struct ktau_rec_profile *p, uint32_t index)
{
	return (const struct ktau_open *)((const char *)ktau_profile_open(p) +
					  (size_t)index * p->open_size);
}

/* The gone->nr_serials serials of owners that are now part of other records. */
static inline const uint64_t *ktau_gone_serials(const struct ktau_rec_gone *gone)
{
	return (const uint64_t *)((const char *)gone + gone->rec.head);
}

/* The region->nr_entries entries of a region, in ascending order of their ids. */
static inline const struct ktau_entry *
ktau_region_entries(const struct ktau_rec_region *region)
{
	return (const struct ktau_entry *)((const char *)region + region->rec.head);
}

/* The entry at @index, below region->nr_entries, of any version of the library. */
static inline const struct ktau_entry *
ktau_region_entry(const struct ktau_rec_region *region, uint32_t index)
{
	return (const struct ktau_entry *)((const char *)ktau_region_entries(region) +
					   (size_t)index * region->entry_size);
}

/* The command line of an INFO record, its symbol source and job id; "" if none. */
const char *ktau_info_command(const struct ktau_rec_info *info);
const char *ktau_info_symbols(const struct ktau_rec_info *info);
const char *ktau_info_job(const struct ktau_rec_info *info);

/* The name in an EVENT record. */
const char *ktau_event_name(const struct ktau_rec_event *event);

/* The path in a CGROUP record; "" if the group was removed. */
const char *ktau_cgroup_path(const struct ktau_rec_cgroup *cgroup);

/* The path of the program in an OWNER record; "" if unknown. */
const char *ktau_owner_path(const struct ktau_rec_owner *owner);

/* True if both streams are of the same boot. */
bool ktau_same_boot(const struct ktau_rec_stream *a, const struct ktau_rec_stream *b);

/*
 * Profiles
 */

/**
 * ktau_profile_find() - the entry of an event
 *
 * Return: the entry or NULL. Takes logarithmic time.
 */
const struct ktau_entry *ktau_profile_find(const struct ktau_rec_profile *p,
					   uint32_t id);

/**
 * ktau_profile_inflight() - the duration so far of a frame in flight
 * @p: profile
 * @index: index of the frame, below p->nr_open; 0 is the innermost
 * @incl_ticks: time since it was entered, up to p->ticks; may be NULL
 * @excl_ticks: the same without the frames inside, ended or in flight; may be NULL
 *
 * A negative difference is returned as 0.
 *
 * Return: 0, -ERANGE if @index is not in the list.
 */
int ktau_profile_inflight(const struct ktau_rec_profile *p, uint32_t index,
			  uint64_t *incl_ticks, uint64_t *excl_ticks);

/**
 * ktau_profile_diff() - the increase between two profiles of one owner
 * @after: the later one; its frames in flight, ticks and groups are kept
 * @before: the earlier one; NULL counts from zero
 * @out: new record; free with ktau_record_free()
 *
 * Counts, times and the parts of the account are subtracted, and events to which nothing
 * was added are left out. The longest activation, and the minimum and maximum of counters,
 * are those of @after. An entry of an unknown kind is copied from @after, or left out if
 * @before has an equal one. A part of an entry is marked as measured only if both sides
 * measured it.
 *
 * Return: 0, -ENOMEM, -EINVAL if the owners differ, if @after has less of some
 * event than @before, or if entries are not in ascending order.
 */
int ktau_profile_diff(const struct ktau_rec_profile *after,
		      const struct ktau_rec_profile *before,
		      struct ktau_rec_profile **out);

/*
 * Traces
 */

/* The first slot of a trace record; the others follow at s->words * 8 bytes each. */
static inline const struct ktau_slot *
ktau_trace_slots(const struct ktau_rec_trace *t)
{
	return (const struct ktau_slot *)((const char *)t + t->rec.head);
}

/**
 * ktau_trace_next() - iterate over the slots of a trace record, oldest first
 * @t: record
 * @slot: the slot of the previous call; NULL to begin
 *
 * Slots of unknown types are included.
 *
 * Return: the next slot, NULL at the end.
 */
const struct ktau_slot *ktau_trace_next(const struct ktau_rec_trace *t,
					const struct ktau_slot *slot);

/* The payload, s->words - 2 words, for types that this library does not know. */
static inline const __u64 *ktau_slot_payload(const struct ktau_slot *s)
{
	return (const __u64 *)(s + 1);
}

static inline unsigned int ktau_slot_payload_words(const struct ktau_slot *s)
{
	return s->words > 2 ? s->words - 2 : 0;
}

/*
 * The payload of a slot. Each function returns false, with zeros in the output, if the slot
 * is of another type or has no such payload. Fields that the writer did not have are zero.
 */
bool ktau_slot_address(const struct ktau_slot *slot, uint64_t *address);  /* ENTER */
bool ktau_slot_result(const struct ktau_slot *slot, int64_t *result);	  /* EXIT */
bool ktau_slot_count(const struct ktau_slot *slot, uint64_t *value);	  /* COUNT */
bool ktau_slot_switch(const struct ktau_slot *slot, struct ktau_slot_switch *out);
bool ktau_slot_waking(const struct ktau_slot *slot, struct ktau_slot_waking *out);
bool ktau_slot_woken(const struct ktau_slot *slot, struct ktau_slot_woken *out);
bool ktau_slot_fork(const struct ktau_slot *slot, struct ktau_slot_fork *out);
bool ktau_slot_net(const struct ktau_slot *slot, struct ktau_slot_net *out); /* SEND, RECV */
bool ktau_slot_kvm(const struct ktau_slot *slot, struct ktau_slot_kvm *out); /* ENTER, EXIT */
bool ktau_slot_kvm_clock(const struct ktau_slot *slot, struct ktau_slot_kvm_clock *out);
bool ktau_slot_exit_code(const struct ktau_slot *slot, int32_t *code);	  /* TASK_EXIT */
bool ktau_slot_cgroup(const struct ktau_slot *slot, uint64_t *id);	  /* CGROUP */
bool ktau_slot_groups(const struct ktau_slot *slot, uint32_t *groups);	  /* GROUPS */

/* The new name, zero-terminated: COMM and EXEC. */
bool ktau_slot_comm(const struct ktau_slot *slot, char comm[17]);

/* EXEC: serial of the profile that begins, 0 if the current profile continues. */
bool ktau_slot_exec(const struct ktau_slot *slot, uint64_t *serial);

/*
 * Losses: the counters of an END record that count from boot, by their names in
 * /proc/ktau/stats.
 */
#define KTAU_NR_LOSSES	16

/* "refused_memory_limit" ...; NULL from KTAU_NR_LOSSES on. */
const char *ktau_loss_name(unsigned int index);

/* The value of that counter; 0 from KTAU_NR_LOSSES on. */
uint64_t ktau_loss_value(const struct ktau_rec_end *end, unsigned int index);

/*
 * Clock
 */

/**
 * struct ktau_clock - the recorded machine's clock
 * @hz: ticks per second
 * @ticks: cycle counter at the moment of the three times that follow
 * @realtime_ns: CLOCK_REALTIME
 * @monotonic_ns: CLOCK_MONOTONIC
 * @boottime_ns: CLOCK_BOOTTIME
 * @stable: constant rate, in step on all CPUs
 */
struct ktau_clock {
	uint64_t hz;
	uint64_t ticks;
	uint64_t realtime_ns;
	uint64_t monotonic_ns;
	uint64_t boottime_ns;
	bool stable;
};

/**
 * ktau_clock_init() - initialise a clock from a STREAM record
 *
 * If the kernel reports no frequency, it is computed from the times of the boot and
 * of the stream.
 *
 * Return: 0, -ENODATA if the frequency is unknown: conversions then assume one
 * tick per nanosecond.
 */
int ktau_clock_init(struct ktau_clock *clock, const struct ktau_rec_stream *stream);

/* Convert a duration in ticks to nanoseconds, at most UINT64_MAX. */
uint64_t ktau_clock_ns(const struct ktau_clock *clock, uint64_t ticks);

/*
 * A sum over tasks. 64 bits hold 71,000 days of tasks at 3 GHz, which 1,500 tasks reach in 47 days.
 * A 32-bit compiler has no wider type.
 */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 ktau_sum_t;
#else
typedef uint64_t ktau_sum_t;
#endif

/* Convert a sum of durations in ticks to nanoseconds. */
ktau_sum_t ktau_clock_sum_ns(const struct ktau_clock *clock, ktau_sum_t ticks);

/* Convert a time in ticks to one of the clocks; the result is from 0 to UINT64_MAX. */
uint64_t ktau_clock_realtime_ns(const struct ktau_clock *clock, uint64_t ticks);
uint64_t ktau_clock_monotonic_ns(const struct ktau_clock *clock, uint64_t ticks);
uint64_t ktau_clock_boottime_ns(const struct ktau_clock *clock, uint64_t ticks);

/**
 * ktau_hook_mticks() - the time that KTAU itself takes for one activation of an event
 * @stream: STREAM record of the same boot, with the cost of each kind of hook and the modes
 * @event: the event; NULL for an unknown one, which is treated as a function
 *
 * An estimate: the cost of a pair of hooks measured at boot, with warm caches. A counter,
 * and schedule_wait, which is written at a switch, have no cost of their own.
 *
 * Return: thousandths of a tick.
 */
uint64_t ktau_hook_mticks(const struct ktau_rec_stream *stream,
			  const struct ktau_rec_event *event);

/* The ticks that @count activations take, rounded down. */
uint64_t ktau_hook_ticks(const struct ktau_rec_stream *stream,
			 const struct ktau_rec_event *event, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_RECORD_H */
