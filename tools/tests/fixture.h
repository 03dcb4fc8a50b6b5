/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records made by hand for the tests of the tools: a small machine whose
 * figures are round. A tick is a nanosecond there.
 */
#ifndef KTAU_TOOLS_FIXTURE_H
#define KTAU_TOOLS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#define MS		1000000ULL
#define SECOND		(1000 * MS)

/* CLOCK_REALTIME when the machine's other clocks were 0. */
#define REALTIME_NS	(1700000000 * SECOND)

/* Ids of the machine's events: machine.c has the machine. */
enum {
	ID_READ = 0, ID_WRITE = 1, ID_FORK = 57,
	ID_SCHEDULE = 512, ID_SCHEDULE_VOL = 513, ID_TIMER = 515,
	ID_TCP = 640, ID_TCP_BYTES = 641, ID_IRQ4 = 700, ID_CALLBACK = 701,
};

/* What every profile of the machine is made from. */
struct fixture_profile {
	struct ktau_owner owner;
	uint64_t ticks;
	uint64_t refused, refused_ticks, clamped;
	uint32_t nr_entries, nr_open;
	struct ktau_entry entries[8];
	struct ktau_open open[4];
};

struct ktau_owner fixture_owner(uint32_t kind, uint64_t serial, int32_t tgid, int32_t tid,
				const char *comm);

/* A timer that ended; a counter that had the same value each time. */
void fixture_timer(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		   uint64_t excl);
void fixture_counter(struct fixture_profile *p, uint32_t id, uint64_t count,
		     uint64_t value);

/* A frame in flight; the innermost one first. */
void fixture_open(struct fixture_profile *p, uint32_t id, uint64_t start, uint64_t child);

/* The record, with the identity made to hold; free with ktau_record_free(). */
struct ktau_rec_profile *fixture_record(const struct fixture_profile *p);

struct ktau_rec_stream fixture_stream(uint32_t content, uint64_t at_ns);
struct ktau_rec_end fixture_end(uint64_t nr_records, uint64_t dead_next);

/*
 * The machine's file: three streams of profiles, one of traces. 0 or -errno.
 * The file must not exist.
 */
int fixture_write(const char *path, unsigned int writer_flags);

/* A file whose second stream contradicts itself. */
int fixture_write_wrong(const char *path);

/* The machine's file in two, as when ktaud begins a new one. */
int fixture_write_parts(const char *first, const char *rest);

/* A file that does not say where its kernel ran. */
int fixture_write_nowhere(const char *path);

/* A stream as the kernel gives it, saved; its task has an evil name. */
int fixture_write_stream(const char *path);

#endif
