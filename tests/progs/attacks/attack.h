/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared code of the attack tests: reading a stream without the library, settings, and
 * processes of other users. Of these files only attack_abi.c uses the interface's header.
 */
#ifndef KTAU_TESTS_ATTACK_H
#define KTAU_TESTS_ATTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACKER 1000
#define VICTIM 1001

#define PROFILE "/proc/ktau/profile"
#define TRACE "/proc/ktau/trace"

#define NO_EVENT 0xffffffffU

/* The tasks that a stream selects; OF_DEFAULT makes no selection, like cat(1). */
#define OF_DEFAULT 0U
#define OF_SELF (1U << 0)
#define OF_LIST (1U << 1)
#define OF_ALL (1U << 2)
#define OF_EXITED (1U << 3)
#define OF_EVICTED (1U << 4)
#define OF_CPUS (1U << 5)
#define CONSUME (1U << 6) /* of a trace: consume the slots */

enum seen_source { SEEN_LINE,
		   SEEN_TIMER,
		   SEEN_WORK };
enum seen_kind { SEEN_TASK,
		 SEEN_EXITED,
		 SEEN_CPU,
		 SEEN_EVICTED,
		 SEEN_OTHER };

/* One owner and its records in the stream. */
struct seen_owner {
	uint64_t serial;
	uint64_t start_ns;
	enum seen_kind kind;
	int32_t tid;
	uint32_t uid;
	bool idle;
	bool has_profile;
	bool has_trace;
	uint64_t outer_ticks;
	uint64_t open_child_ticks;
	uint64_t refused_ticks;
	size_t first_entry;
	size_t nr_entries;
	size_t first_slot;
	size_t nr_slots;
};

struct seen_entry {
	unsigned int id;
	bool timer;
	uint64_t count;
	uint64_t incl;
	uint64_t excl;
};

/* @enters: the slot begins an activation; @other: the task that it names, or 0. */
struct seen_slot {
	unsigned int id;
	bool enters;
	uint64_t other;
};

#define SEEN_OWNERS 16384
#define SEEN_ENTRIES (1U << 18)
#define SEEN_SLOTS (1U << 18)

struct seen {
	uint64_t clock_hz;
	bool rounded; /* the times of profiles */
	uint64_t denied;
	uint64_t torn;	 /* owners without a consistent snapshot */
	uint64_t gone; /* owners that are included in others now; @refused_gone are not listed */
	uint64_t refused_gone;
	uint64_t losses; /* sum of END's counts of lost and refused data */
	size_t nr_owners;
	size_t nr_entries;
	size_t nr_slots;
	struct seen_owner owner[SEEN_OWNERS];
	struct seen_entry entry[SEEN_ENTRIES];
	struct seen_slot slot[SEEN_SLOTS];
};

/* Open and select: a descriptor or -errno. @tid is used with OF_LIST only. */
int seen_open(const char *path, unsigned int what, int32_t tid);

/* Read a stream to its end: 0, -errno, or -EPROTO for one that is malformed. */
int seen_read(int fd, struct seen *seen);

/* Bytes charged to the opener of a descriptor, and its limit; 0 if KTAU_IOC_INFO fails. */
uint64_t user_bytes(int fd);
uint64_t user_limit(int fd);

/* Open, select, read to the end and close. */
int seen_get(const char *path, unsigned int what, int32_t tid, struct seen *seen);

/* The first owner with @tid, or NULL. */
const struct seen_owner *seen_tid(const struct seen *seen, int32_t tid);

/* The owner with @serial, or NULL. Unlike tids, serials are unique. */
const struct seen_owner *seen_serial(const struct seen *seen, uint64_t serial);

/* The word with which a trace slot names @owner. */
uint64_t seen_identity(const struct seen_owner *owner);

/* Activations of @event: in one owner's profile, in all profiles, in one owner's trace. */
uint64_t seen_count(const struct seen *seen, const struct seen_owner *owner, const char *event);
uint64_t seen_total(const struct seen *seen, const char *event);
uint64_t seen_traced(const struct seen *seen, const struct seen_owner *owner, const char *event);

/* Whether a profile has an event of @source other than the shared one of its kind. */
bool seen_has(const struct seen *seen, enum seen_source source);

/* Number of owners with a profile in the stream. */
size_t seen_profiles(const struct seen *seen);

/* Whether an entry is an interrupt, a softirq, or work done by one. */
bool seen_is_interrupt(const struct seen_entry *entry);

/* Slots of @owner that name @other. */
size_t seen_naming(const struct seen *seen, const struct seen_owner *owner, uint64_t other);

/* Write to /proc/ktau/control, as root: ends the program if that fails. */
__attribute__((format(printf, 1, 2))) void control(const char *format, ...);

/* A number of /proc/ktau/stats, by its name there. */
uint64_t stat_of(const char *name);

/* kernel.ktau_paranoid; false if the kernel does not have it. */
bool set_level(int level);
bool get_level(int *level);

/* Write a number to a file, as root. */
bool write_number(const char *path, long long value);

/* Become an ordinary user, irreversibly. */
void become(uid_t id);

/* Keep the calling task on one CPU. */
void pin(int cpu);

/* @nr calls of getppid(2), which nothing else here makes. */
void make_calls(unsigned int nr);
#define CALLED "getppid"

/* Memory that processes share; zeroed. */
void *shared_alloc(size_t bytes);

/*
 * A process of another user that runs @body in step with this one: helper_step() lets it
 * run to its next helper_reached(), or to the end of @body, and returns once it is there.
 */
struct helper {
	pid_t pid;
	int go;
	int done;
};

struct helper helper_start(uid_t id, void (*body)(void));
bool helper_step(const struct helper *helper);
void helper_end(const struct helper *helper);
void helper_reached(void);

#endif /* KTAU_TESTS_ATTACK_H */
