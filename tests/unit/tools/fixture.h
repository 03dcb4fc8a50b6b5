/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hand-made records for the tests of the tools: a small machine with round
 * figures. Its tick is a nanosecond.
 */
#ifndef KTAU_TOOLS_FIXTURE_H
#define KTAU_TOOLS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

#define MS		1000000ULL
#define SECOND		(1000 * MS)

/* Groups that the machine's kernel has and that are enabled. */
#define GROUPS		(0x1ffU | KTAU_GROUP_WAIT | KTAU_GROUP_ACCOUNT)

/* CLOCK_REALTIME at the time 0 of the machine's other clocks. */
#define REALTIME_NS	(1700000000 * SECOND)

/* Ids of the machine's events; machine.c describes the machine. */
enum {
	ID_READ = 0, ID_WRITE = 1, ID_FORK = 57,
	ID_SCHEDULE = 512, ID_SCHEDULE_VOL = 513, ID_TIMER = 515,
	ID_TCP = 640, ID_TCP_BYTES = 641, ID_WAIT = 642, ID_IRQ4 = 700, ID_CALLBACK = 40701,
	ID_WORK = 41000, ID_STRANGE = 65000,
};

/* Its control groups. */
enum { CGROUP_ROOT = 1, CGROUP_SERVER = 10, CGROUP_USER = 11, CGROUP_USER_A = 12,
       CGROUP_REMOVED = 13 };

/* The destination of records: a file of ktaud, or a saved stream. */
struct sink {
	struct ktau_writer *w;
	FILE *f;
};

int sink_put(struct sink *s, const void *record);

/*
 * The figures of a profile of the machine. The owner sleeps for the part of its life that is
 * not accounted for, unless it has no account.
 */
struct fixture_profile {
	struct ktau_rec_owner owner;
	uint64_t ticks;
	uint64_t user, kernel, irq, runq, guest, unmeasured;
	uint32_t missing;	/* groups that were disabled for a time */
	uint32_t more;		/* groups that were enabled besides those of the machine */
	uint64_t refused, refused_ticks, clamped;
	uint32_t nr_entries, nr_open;
	struct ktau_entry entries[8];
	struct ktau_open open[4];
};

extern const uint8_t fixture_boot_id[16];

struct ktau_rec_owner fixture_owner(uint32_t kind, uint64_t serial, int32_t tgid, int32_t tid,
				    const char *comm);

/* A timer without frames in flight; a counter with a constant value. */
void fixture_timer(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		   uint64_t excl);

/* A timer in which the owner slept. */
void fixture_waited(struct fixture_profile *p, uint32_t id, uint64_t count, uint64_t incl,
		    uint64_t excl);

void fixture_counter(struct fixture_profile *p, uint32_t id, uint64_t count,
		     uint64_t value);

/* A frame in flight; add the innermost one first. */
void fixture_open(struct fixture_profile *p, uint32_t id, uint64_t start, uint64_t child);

/* The record, with times that add up; free with ktau_record_free(). */
struct ktau_rec_profile *fixture_record(const struct fixture_profile *p);

/*
 * Begin a record of a profile whose @nr_entries entries follow it directly: clear both, and fill
 * in all that does not depend on the figures.
 */
void fixture_begin(struct ktau_rec_profile *p, const struct ktau_rec_owner *owner,
		   uint64_t start_ticks, uint32_t nr_entries);

struct ktau_rec_stream fixture_stream(uint32_t content, uint64_t at_ns);
struct ktau_rec_end fixture_end(uint64_t nr_records, uint64_t exited_next);

/* Put OWNER and PROFILE, and count the profile in @nr; put a record with a text after it. */
int fixture_put(struct sink *s, const struct fixture_profile *p, uint64_t *nr);
int fixture_put_event(struct sink *s, const struct ktau_rec_event *event, const char *name);
int fixture_put_cgroup(struct sink *s, uint64_t id, const char *path);
int fixture_put_owner(struct sink *s, const struct ktau_rec_owner *owner, const char *path);

/* Put @nr TCP events, "routine_0@suffix" and so on, with every third id from @first_id on. */
int fixture_put_routines(struct sink *s, uint32_t first_id, uint32_t nr, const char *suffix);

/* Put the events and control groups of the machine. */
int fixture_put_names(struct sink *s);

/* Put a stream of the machine's trace: a slot of every type, and one of an unknown type. */
int fixture_put_trace(struct sink *s);

/* Write a file of ktaud with the records that @write puts. */
int fixture_file(const char *path, unsigned int flags, int (*write)(struct sink *s));

/* Write a saved stream with the records that @write puts. */
int fixture_saved(const char *path, int (*write)(struct sink *s));

/*
 * The machine's file: three streams of profiles, one of traces. 0 or -errno.
 * The file must not exist.
 */
int fixture_write(const char *path, unsigned int writer_flags);

/* The same records as a saved stream, without the blocks of a file. */
int fixture_write_saved(const char *path);

/* A file whose second stream contradicts itself. */
int fixture_write_wrong(const char *path);

/* The machine's file in two parts, as after a rotation by ktaud. */
int fixture_write_parts(const char *first, const char *rest);

/* A file without the address of its kernel's text. */
int fixture_write_nowhere(const char *path);

/* A saved stream; the names of a task and of an event have terminal escapes. */
int fixture_write_stream(const char *path);

/* Saved streams: of a user at level 2, and of a kernel that is newer than the tools. */
int fixture_write_rounded(const char *path);
int fixture_write_unknown(const char *path);

/* A stream of another machine. */
int fixture_write_elsewhere(const char *path);

/* Streams of three hosts with two events of one name, which took longer on the third host. */
int fixture_write_node1(const char *path);
int fixture_write_node2(const char *path);
int fixture_write_node3(const char *path);

/* A fourth host that did not measure the events. */
int fixture_write_node4(const char *path);

/* A stream that was measured with BPF programs. */
int fixture_write_bpf(const char *path);

/* A stream in which not everything was measured. */
int fixture_write_partly(const char *path);

/* Streams of a task, in the second file without the groups tcp, irq and sched. */
int fixture_write_measured(const char *path);
int fixture_write_less_measured(const char *path);

/* A stream of tasks whose accounts are strange. */
int fixture_write_contrary(const char *path);

/* A task that is woken, with its trace. */
int fixture_write_woken(const char *path);

/* Two streams of a host: tasks that run virtual CPUs, and one that does not. */
int fixture_write_vms(const char *path);

/* The trace of a program on the machine, in a new folder. */
int fixture_write_marks(const char *folder);

/* The machine's next boot. */
int fixture_write_rebooted(const char *path);

#endif
