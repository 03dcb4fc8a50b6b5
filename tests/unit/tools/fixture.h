/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records made by hand for the tests of the tools: a small machine whose
 * figures are round. A tick is a nanosecond there.
 */
#ifndef KTAU_TOOLS_FIXTURE_H
#define KTAU_TOOLS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

#define MS		1000000ULL
#define SECOND		(1000 * MS)

/* Groups that the machine has built and enabled. */
#define GROUPS		(0x1ffU | KTAU_GROUP_WAIT | KTAU_GROUP_ACCOUNT)

/* CLOCK_REALTIME when the machine's other clocks were 0. */
#define REALTIME_NS	(1700000000 * SECOND)

/* Ids of the machine's events: machine.c has the machine. */
enum {
	ID_READ = 0, ID_WRITE = 1, ID_FORK = 57,
	ID_SCHEDULE = 512, ID_SCHEDULE_VOL = 513, ID_TIMER = 515,
	ID_TCP = 640, ID_TCP_BYTES = 641, ID_WAIT = 642, ID_IRQ4 = 700, ID_CALLBACK = 40701,
	ID_STRANGE = 65000,
};

/* Its control groups. */
enum { CGROUP_ROOT = 1, CGROUP_SERVER = 10, CGROUP_USER = 11, CGROUP_USER_A = 12,
       CGROUP_REMOVED = 13 };

/* Where records go: a file of ktaud, or a saved stream. */
struct sink {
	struct ktau_writer *w;
	FILE *f;
};

int sink_put(struct sink *s, const void *record);

/*
 * What every profile of the machine is made from. The account has what is given, and the
 * owner sleeps for the rest of its life, unless it has no account at all.
 */
struct fixture_profile {
	struct ktau_rec_owner owner;
	uint64_t ticks;
	uint64_t user, kernel, irq, runq, guest, unmeasured;
	uint32_t missing;	/* groups that were off for a time */
	uint64_t refused, refused_ticks, clamped;
	uint32_t nr_entries, nr_open;
	struct ktau_entry entries[8];
	struct ktau_open open[4];
};

extern const uint8_t fixture_boot_id[16];

struct ktau_rec_owner fixture_owner(uint32_t kind, uint64_t serial, int32_t tgid, int32_t tid,
				    const char *comm);

/* A timer that ended; a counter that had the same value each time. */
void fixture_timer(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		   uint64_t excl);

/* A timer in which the owner slept. */
void fixture_waited(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		    uint64_t excl);

void fixture_counter(struct fixture_profile *p, uint32_t id, uint64_t count,
		     uint64_t value);

/* A frame in flight; the innermost one first. */
void fixture_open(struct fixture_profile *p, uint32_t id, uint64_t start, uint64_t child);

/* The record, with the identity made to hold; free with ktau_record_free(). */
struct ktau_rec_profile *fixture_record(const struct fixture_profile *p);

struct ktau_rec_stream fixture_stream(uint32_t content, uint64_t at_ns);
struct ktau_rec_end fixture_end(uint64_t nr_records, uint64_t exited_next);

/* OWNER and PROFILE; @nr counts the latter. Also with a text after the fixed part. */
int fixture_put(struct sink *s, const struct fixture_profile *p, uint64_t *nr);
int fixture_put_event(struct sink *s, const struct ktau_rec_event *event, const char *name);
int fixture_put_cgroup(struct sink *s, uint64_t id, const char *path);
int fixture_put_owner(struct sink *s, const struct ktau_rec_owner *owner, const char *path);

/* The events and control groups of the machine. */
int fixture_put_names(struct sink *s);

/* A stream of the machine's trace: a slot of every type, and one of an unknown one. */
int fixture_put_trace(struct sink *s);

/* A file of ktaud with what @write puts. */
int fixture_file(const char *path, unsigned int flags, int (*write)(struct sink *s));

/* A saved stream, likewise. */
int fixture_saved(const char *path, int (*write)(struct sink *s));

/*
 * The machine's file: three streams of profiles, one of traces. 0 or -errno.
 * The file must not exist.
 */
int fixture_write(const char *path, unsigned int writer_flags);

/* The same records as cat reads them from the kernel: nothing but the streams. */
int fixture_write_saved(const char *path);

/* A file whose second stream contradicts itself. */
int fixture_write_wrong(const char *path);

/* The machine's file in two, as when ktaud begins a new one. */
int fixture_write_parts(const char *first, const char *rest);

/* A file that does not say where its kernel ran. */
int fixture_write_nowhere(const char *path);

/* A saved stream; its task and an event have names that act on terminals. */
int fixture_write_stream(const char *path);

/* Saved streams of a user at level 2, and of a kernel that is newer than the tools. */
int fixture_write_rounded(const char *path);
int fixture_write_unknown(const char *path);

/* A stream of another machine. */
int fixture_write_elsewhere(const char *path);

/* A stream in which not everything was measured. */
int fixture_write_partly(const char *path);

/* A task that is woken, with its trace. */
int fixture_write_woken(const char *path);

/* The machine's next boot. */
int fixture_write_rebooted(const char *path);

#endif
