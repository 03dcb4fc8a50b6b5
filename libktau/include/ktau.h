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

/* ------------------------------------------------------------------ */
/* Records								*/
/* ------------------------------------------------------------------ */

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
 * @after: the later one; its owner, frames in flight, ticks, groups are kept
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

/* ------------------------------------------------------------------ */
/* Names								*/
/* ------------------------------------------------------------------ */

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

/* ------------------------------------------------------------------ */
/* Reader: records from a kernel, a file, memory			*/
/* ------------------------------------------------------------------ */

struct ktau_reader;

/**
 * struct ktau_query - what to ask a running kernel for
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @target: KTAU_TARGET_* bits
 * @flags: KTAU_SELECT_* bits
 * @nr_tids: number of @tids, for KTAU_TARGET_LIST
 * @tids: thread ids in the caller's pid namespace, any order
 * @dead_since: of the dead, only those with this dead_seq or a later one: give
 *	dead_next of the END record before it to see each dead task once
 */
struct ktau_query {
	uint32_t content;
	uint32_t target;
	uint32_t flags;
	uint32_t nr_tids;
	const int32_t *tids;
	uint64_t dead_since;
};

/**
 * struct ktau_damage - what of a source could not be used
 * @bad_blocks: blocks with a wrong checksum, or whose records were wrong
 * @lost_bytes: bytes that belong to no good block or record
 * @first_offset: where the first of them is
 * @truncated: the source ends inside a block, a record or a stream
 * @missing_blocks: blocks that a jump of the sequence numbers shows to be gone
 */
struct ktau_damage {
	uint64_t bad_blocks;
	uint64_t lost_bytes;
	uint64_t first_offset;
	uint64_t missing_blocks;
	bool truncated;
};

int ktau_reader_create(struct ktau_reader **reader);
void ktau_reader_destroy(struct ktau_reader *reader);

/*
 * Open a source. A reader that has one already leaves it first. All return 0
 * or -errno with the reason in ktau_reader_error(): errors of open(2), read(2)
 * and KTAU_IOC_SELECT, -EBADMSG for what is not KTAU data (or empty),
 * -EPROTONOSUPPORT for a version that this library does not know.
 */

/**
 * ktau_reader_open_live() - read from the running kernel
 *
 * Opens /proc/ktau/profile or trace, selects @query, starts a stream.
 * -EPERM, -ENOENT (no KTAU in this kernel), -EINVAL, -E2BIG.
 */
int ktau_reader_open_live(struct ktau_reader *reader, const struct ktau_query *query);

/* The next stream on the same descriptor; query->content must be the same. */
int ktau_reader_restart(struct ktau_reader *reader, const struct ktau_query *query);

/* A *.ktau file, or streams as saved by cat /proc/ktau/profile; "-" is stdin. */
int ktau_reader_open_file(struct ktau_reader *reader, const char *path);

/* The same from an open descriptor, which may be a pipe and stays the caller's. */
int ktau_reader_open_fd(struct ktau_reader *reader, int fd, const char *name);

/* The same from memory, which stays the caller's and must outlive its use. */
int ktau_reader_open_memory(struct ktau_reader *reader, const void *data, size_t size);

/**
 * ktau_reader_next() - the next record
 * @reader: reader
 * @record: set to the record, which is valid until the next call
 *
 * Unknown record types are stepped over. Damage does not stop the reading of
 * a *.ktau file: every block that is whole comes out. When all has come out and
 * something was damaged, -EBADMSG comes instead of 0, so a loop over
 * "while ((err = ktau_reader_next(r, &rec)) > 0)" uses everything usable and
 * still knows. A live stream ends behind its END record: 0.
 *
 * Memory use is bounded by one block and one record.
 *
 * Return: 1 with a record, 0 at the end, -EBADMSG at the end of a damaged
 * source, -ENOMEM, errors of read(2).
 */
int ktau_reader_next(struct ktau_reader *reader, union ktau_record *record);

const char *ktau_reader_error(const struct ktau_reader *reader);

/* What was unusable so far; complete when ktau_reader_next() has ended. */
const struct ktau_damage *ktau_reader_damage(const struct ktau_reader *reader);

/* The descriptor, to poll(2) on; -1 for memory. */
int ktau_reader_fd(const struct ktau_reader *reader);

/* True if the data was written in the other byte order. */
bool ktau_reader_swapped(const struct ktau_reader *reader);

/*
 * What has come out so far, kept by the reader: the newest STREAM and INFO
 * record (NULL if none yet; valid until the next ktau_reader_next()), and the
 * events of all EVENT records (never NULL; valid as long as the reader).
 */
const struct ktau_rec_stream *ktau_reader_stream(const struct ktau_reader *reader);
const struct ktau_rec_info *ktau_reader_info(const struct ktau_reader *reader);
const struct ktau_events *ktau_reader_events(const struct ktau_reader *reader);

/* ------------------------------------------------------------------ */
/* Events: ids and their names						*/
/* ------------------------------------------------------------------ */

struct ktau_events;

/**
 * struct ktau_event - one named instrumentation point
 * @id: event id, below KTAU_NR_IDS
 * @group: KTAU_GROUP_* bit, 0 if unknown
 * @kind: KTAU_KIND_*
 * @address: of the function, 0 if there is none or it is hidden
 * @name: as recorded, no blanks
 */
struct ktau_event {
	uint32_t id;
	uint32_t group;
	uint32_t kind;
	uint64_t address;
	const char *name;
};

int ktau_events_create(struct ktau_events **events);
void ktau_events_destroy(struct ktau_events *events);

/**
 * ktau_events_load() - read the kernel's event table
 * @events: where to
 * @path: text as in /proc/ktau/events; NULL is that file
 *
 * What is there already is replaced id by id.
 *
 * Return: number of events read; errors of open(2) and read(2), -EINVAL for a
 * bad line (its number is in ktau_events_error(); the lines before it are in).
 */
int ktau_events_load(struct ktau_events *events, const char *path);

/* One event, copied. -EINVAL: bad id, kind, name (empty, blanks, >255 bytes). */
int ktau_events_add(struct ktau_events *events, const struct ktau_event *event);

/* NULL if the id has no event. Valid until that id is replaced. */
const struct ktau_event *ktau_events_find(const struct ktau_events *events, uint32_t id);

/* Walk in the order of ids: NULL begins, NULL ends. */
const struct ktau_event *ktau_events_next(const struct ktau_events *events,
					  const struct ktau_event *event);
unsigned int ktau_events_count(const struct ktau_events *events);
const char *ktau_events_error(const struct ktau_events *events);

/* ------------------------------------------------------------------ */
/* Snapshot: a whole profile stream in memory				*/
/* ------------------------------------------------------------------ */

struct ktau_snapshot;

int ktau_snapshot_create(struct ktau_snapshot **snapshot);
void ktau_snapshot_destroy(struct ktau_snapshot *snapshot);
void ktau_snapshot_clear(struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_read() - take in the next profile stream of a reader
 * @snapshot: where to
 * @reader: where from; trace streams and other records are passed by
 *
 * May be called again with the same snapshot for the next stream: what comes
 * takes the place of what was there for the same task, KTAU_REC_DIFF records
 * are added to it, a dead task's last profile stays, and live tasks that a
 * complete stream (END, KTAU_TARGET_ALL) does not have any more are removed.
 * Within one stream a task that died in the middle of it comes twice: the dead
 * one wins. Time and memory are linear in the number of tasks.
 *
 * Return: 1 with a stream, 0 at the end (nothing taken in), -errno of
 * ktau_reader_next() (what came before it is in), -ENOMEM.
 */
int ktau_snapshot_read(struct ktau_snapshot *snapshot, struct ktau_reader *reader);

/**
 * ktau_snapshot_add() - take in one record
 *
 * For programs that read records themselves: STREAM, PROFILE, DIFF and END are
 * used, others are passed by.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_add(struct ktau_snapshot *snapshot, const union ktau_record *record);

/* The newest STREAM and END record; NULL if there was none. */
const struct ktau_rec_stream *ktau_snapshot_stream(const struct ktau_snapshot *snapshot);
const struct ktau_rec_end *ktau_snapshot_end(const struct ktau_snapshot *snapshot);

/*
 * All owners (live and dead tasks, CPUs, the reaped) in the order in which they
 * came first: NULL begins, NULL ends. Pointers to profiles stay valid until the
 * snapshot changes.
 */
const struct ktau_rec_profile *
ktau_snapshot_next(const struct ktau_snapshot *snapshot,
		   const struct ktau_rec_profile *profile);
size_t ktau_snapshot_count(const struct ktau_snapshot *snapshot);

/* One owner; NULL if it is not there. By tid: a live one before a dead one,
 * the latest to start before others; not for tid 0.
 */
const struct ktau_rec_profile *
ktau_snapshot_find(const struct ktau_snapshot *snapshot, uint64_t serial);
const struct ktau_rec_profile *
ktau_snapshot_find_tid(const struct ktau_snapshot *snapshot, int32_t tid);
const struct ktau_rec_profile *
ktau_snapshot_cpu(const struct ktau_snapshot *snapshot, uint32_t cpu);
const struct ktau_rec_profile *
ktau_snapshot_reaped(const struct ktau_snapshot *snapshot);

/**
 * ktau_snapshot_diff() - what happened between two snapshots of one boot
 * @after: the later one
 * @before: the earlier one
 * @diff: new snapshot; the caller destroys it
 *
 * Owner by owner as ktau_profile_diff(): tasks that are new in @after are taken
 * whole, tasks only in @before are left out, so are tasks that had died in
 * @before already. Sums over all tasks are exact only by subtracting
 * ktau_snapshot_sum() of both: that includes the reaped.
 *
 * Return: 0, -ENOMEM, -EINVAL if the snapshots are of different boots or in
 * the wrong order.
 */
int ktau_snapshot_diff(const struct ktau_snapshot *after,
		       const struct ktau_snapshot *before,
		       struct ktau_snapshot **diff);

/**
 * ktau_snapshot_sum() - one kernel-wide profile
 * @snapshot: of what
 * @sum: new record, entries in the order of ids, owner.kind KTAU_OWNER_REAPED,
 *	no frames in flight; free with ktau_record_free()
 *
 * Live, dead and reaped tasks are added, those dead that the reaped total
 * already holds are counted once, the tables of the CPUs (a second view of
 * the same time) are left out. The identity holds for the sum as well.
 *
 * Return: 0, -ENOMEM.
 */
int ktau_snapshot_sum(const struct ktau_snapshot *snapshot,
		      struct ktau_rec_profile **sum);

/* ------------------------------------------------------------------ */
/* Symbols								*/
/* ------------------------------------------------------------------ */

struct ktau_symtab;

/**
 * struct ktau_symbol - what an address belongs to
 * @name: symbol; belongs to the table
 * @module: module, NULL for the kernel itself; belongs to the table
 * @address: where the symbol begins in the recorded boot
 * @offset: how far behind that the address is
 */
struct ktau_symbol {
	const char *name;
	const char *module;
	uint64_t address;
	uint64_t offset;
};

int ktau_symtab_create(struct ktau_symtab **symtab);
void ktau_symtab_destroy(struct ktau_symtab *symtab);

/**
 * ktau_symtab_load() - read a symbol map
 * @symtab: where to; must be empty
 * @path: System.map, /proc/kallsyms or a copy, vmlinux (ELF with symbols):
 *	told apart by content; NULL is /proc/kallsyms
 *
 * Return: 0; errors of open(2) and read(2); -EINVAL for a map that is empty,
 * truncated, unsorted or garbage; -EPERM for a kallsyms whose addresses are all
 * hidden; -EBUSY if a map is loaded; -ENOMEM. ktau_symtab_error() has file, line
 * and reason.
 */
int ktau_symtab_load(struct ktau_symtab *symtab, const char *path);

/* The same from a text in memory; @name is for messages. */
int ktau_symtab_load_memory(struct ktau_symtab *symtab, const void *data, size_t size,
			    const char *name);

/**
 * ktau_symtab_relocate() - move the map to where the recorded kernel was
 * @symtab: map
 * @stext: _stext of the recorded boot (STREAM or INFO record); 0 if not known
 *
 * With 0 nothing moves.
 *
 * Return: 1 if the map moved, 0 if it fits as it is or @stext is 0, -ENOENT if
 * the map has no _stext, -ESTALE if the distance is not one that a kernel of
 * this map can have been moved by (not a multiple of the page size).
 */
int ktau_symtab_relocate(struct ktau_symtab *symtab, uint64_t stext);

/**
 * ktau_symtab_verify() - is this the map of the recorded kernel?
 * @symtab: map, relocated
 * @info: INFO record with the build-id, or NULL
 * @events: recorded events, or NULL
 *
 * Compares build-ids if both sides have one. Else looks whether the addresses
 * of the events fall exactly on symbols, and whether these have the recorded
 * names.
 *
 * Return: 1 if it is, 0 if there was nothing to compare, -ESTALE if it is not;
 * ktau_symtab_error() says what differs.
 */
int ktau_symtab_verify(struct ktau_symtab *symtab, const struct ktau_rec_info *info,
		       const struct ktau_events *events);

/* Nearest symbol at or below a text address. 1 if found, 0 if in no function. */
int ktau_symtab_lookup(const struct ktau_symtab *symtab, uint64_t address,
		       struct ktau_symbol *symbol);

/* First symbol of that name. 1 if found, 0 if not. Linear. */
int ktau_symtab_find(const struct ktau_symtab *symtab, const char *name,
		     struct ktau_symbol *symbol);

size_t ktau_symtab_count(const struct ktau_symtab *symtab);

/* The map's own build-id (vmlinux only). Returns its length, 0 if it has none. */
size_t ktau_symtab_build_id(const struct ktau_symtab *symtab, const uint8_t **id);

const char *ktau_symtab_error(const struct ktau_symtab *symtab);

/* ------------------------------------------------------------------ */
/* Writer: *.ktau files							*/
/* ------------------------------------------------------------------ */

struct ktau_writer;

/* @flags of ktau_writer_open() */
#define KTAU_WRITER_APPEND	(1U << 0)	/* go on in a file that exists */
#define KTAU_WRITER_ZLIB	(1U << 1)	/* compress blocks */

int ktau_writer_create(struct ktau_writer **writer);

/* Closes without flushing: what was not flushed is dropped. */
void ktau_writer_destroy(struct ktau_writer *writer);

/**
 * ktau_writer_open() - start a file
 * @writer: writer
 * @path: file, created with mode 0640
 * @flags: KTAU_WRITER_*
 *
 * Without APPEND the file must not exist (-EEXIST). With it, a file that
 * exists is checked, what follows its last whole block is cut off, and the
 * next block goes there; a file in the other byte order is -EINVAL, one that is
 * no *.ktau file -EBADMSG and left as it is. The file is locked against other
 * writers (flock(2)): -EWOULDBLOCK.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_open(struct ktau_writer *writer, const char *path, unsigned int flags);

/**
 * ktau_writer_put() - one more record
 * @writer: writer
 * @record: in normal form (from a reader, a snapshot, or built by the caller)
 *
 * Collects records in memory and writes a block when it is full.
 *
 * Return: 0, -EINVAL for a record that is not in order, errors of write(2)
 * with the record not taken.
 */
int ktau_writer_put(struct ktau_writer *writer, const void *record);

/* A profile as KTAU_REC_DIFF record: from ktau_profile_diff(). */
int ktau_writer_put_diff(struct ktau_writer *writer, const struct ktau_rec_profile *diff);

/* An event as KTAU_REC_EVENT record. */
int ktau_writer_put_event(struct ktau_writer *writer, const struct ktau_event *event);

/**
 * struct ktau_info - what the caller knows for the INFO record
 * @period_ns: as in struct ktau_rec_info
 * @stext: likewise, from a STREAM record
 * @command: command line, NULL if none
 * @symbols: path of the symbol source, NULL if none
 */
struct ktau_info {
	uint64_t period_ns;
	uint64_t stext;
	const char *command;
	const char *symbols;
};

/* An INFO record; time, host, release, machine, build-id are this machine's. */
int ktau_writer_put_info(struct ktau_writer *writer, const struct ktau_info *info);

/**
 * ktau_writer_flush() - everything put so far to the file
 * @writer: writer
 * @sync: wait until it is on the disk as well (fdatasync(2))
 *
 * On -ENOSPC, -EIO and so on the file is cut back to its last whole block. The
 * records stay in memory and the next flush tries again, or ktau_writer_drop()
 * gives them up.
 *
 * Return: 0 or -errno.
 */
int ktau_writer_flush(struct ktau_writer *writer, bool sync);

/* Give up what is not written. Returns the number of records dropped. */
uint64_t ktau_writer_drop(struct ktau_writer *writer);

/* Flush with sync and close. On error the file is closed all the same. */
int ktau_writer_close(struct ktau_writer *writer);

/* Bytes of the file so far, without what is still in memory. */
uint64_t ktau_writer_bytes(const struct ktau_writer *writer);
const char *ktau_writer_error(const struct ktau_writer *writer);

/* ------------------------------------------------------------------ */
/* Clock								*/
/* ------------------------------------------------------------------ */

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

/* ------------------------------------------------------------------ */
/* Control and statistics of the running kernel				*/
/* ------------------------------------------------------------------ */

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

/* ------------------------------------------------------------------ */
/* Checker: do the records agree with themselves?			*/
/* ------------------------------------------------------------------ */

struct ktau_check;

enum ktau_finding_code {
	KTAU_FINDING_IDENTITY,		/* sum of excl + refused != outer + open */
	KTAU_FINDING_ENTRY,		/* id, kind, order of min and max, excl > incl */
	KTAU_FINDING_OPEN,		/* frames in flight contradict the profile */
	KTAU_FINDING_BACKWARD,		/* a later profile of a task has less */
	KTAU_FINDING_NESTING,		/* an exit that is not of the innermost frame */
	KTAU_FINDING_SLOT,		/* a slot's fields, or its continuations */
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
 * @lost: slots that they say were lost: told, so no finding
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

const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *check);

/* Identity of one profile alone: 0, or -EBADMSG with both sides. */
int ktau_check_identity(const struct ktau_rec_profile *profile,
			uint64_t *excl_side, uint64_t *outer_side);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_H */
