/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading profiles, for loads that compare known figures with their own profile. */
#ifndef KTAU_TESTS_SELF_H
#define KTAU_TESTS_SELF_H

#include <stdio.h>
#include <sys/types.h>

#include <ktau.h>

/* If one of these functions fails, it prints the reason and ends the program. */
_Noreturn void self_die(const char *what, int err);
FILE *self_file(const char *path);
void self_open(void);

/* The same on another source than the kernel's own. */
typedef int self_opener(struct ktau_reader *reader, const struct ktau_query *query);
void self_open_with(self_opener *open);

void self_close(void);

/* Records of a new stream of profiles. */
void self_start(const struct ktau_query *query);
int self_next(union ktau_record *record);

/* A thread's current profile, 0 for the caller's; fails the test if its times do not add up. */
struct ktau_rec_profile *self_profile(pid_t tid);

/* The owner of a profile; NULL if the stream did not describe it. */
const struct ktau_rec_owner *self_owner(uint64_t serial);

/* The difference between @before and @now; frees both. */
struct ktau_rec_profile *self_added(struct ktau_rec_profile *before,
				    struct ktau_rec_profile *now);

/* The entry of an event by name; all zero if it has not run. */
struct ktau_entry self_entry(const struct ktau_rec_profile *p, const char *name);

/* The sum of the entries whose names begin with @prefix. */
struct ktau_entry self_sum(const struct ktau_rec_profile *p, const char *prefix);

/*
 * Map memory whose pages do not exist yet. All other pages of this process do, until
 * self_unmap_fresh(): reading a profile causes no faults.
 */
char *self_map_fresh(size_t bytes);
void self_unmap_fresh(char *fresh, size_t bytes);

/* How often the events of one group have occurred. */
uint64_t self_group_count(const struct ktau_rec_profile *p, uint32_t group);

double self_seconds(uint64_t ticks);

/* A number of /proc/ktau/stats. */
uint64_t self_stat(const char *name);

/* The two ends of a TCP connection over loopback. */
void self_connection(int end[2]);

/* One test: @got must equal @want. */
extern void self_expect(const char *what, uint64_t got, uint64_t want);

/*
 * One test: of two durations in s, @inner lies within @outer. With exact time it must also be
 * at least 98 % of it.
 */
void self_expect_within(const char *what, double inner, double outer);

#endif /* KTAU_TESTS_SELF_H */
