/* SPDX-License-Identifier: GPL-2.0-only */
/* For loads that compare what they know with a profile: reading it. */
#ifndef KTAU_TESTS_OWN_H
#define KTAU_TESTS_OWN_H

#include <stdio.h>
#include <sys/types.h>

#include <ktau.h>

/* If one of these fails, it prints why and ends the program. */
_Noreturn void own_die(const char *what, int err);
FILE *own_file(const char *path);
void own_open(void);
void own_close(void);

/* Records of a new stream of profiles. */
void own_start(const struct ktau_query *query);
int own_next(union ktau_record *record);

/* A thread's profile now, 0 for the caller's; the identity of each is checked. */
struct ktau_rec_profile *own_profile(pid_t tid);

/* The owner of a profile; NULL if the stream did not describe it. */
const struct ktau_rec_owner *own_owner(uint64_t serial);

/* What was added from @before to @now, which are both freed. */
struct ktau_rec_profile *own_added(struct ktau_rec_profile *before,
				   struct ktau_rec_profile *now);

/* The entry of an event by name; all zero if it has not run there. */
struct ktau_entry own_entry(const struct ktau_rec_profile *p, const char *name);

/* The sum of the entries whose names begin so. */
struct ktau_entry own_sum(const struct ktau_rec_profile *p, const char *prefix);

double own_seconds(uint64_t ticks);

/* The two ends of a TCP connection over loopback. */
void own_connection(int end[2]);

/* How many tests have failed, and a line for each test. */
extern int own_failures;
void own_expect(const char *what, uint64_t got, uint64_t want);

#endif /* KTAU_TESTS_OWN_H */
