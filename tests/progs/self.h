/* SPDX-License-Identifier: GPL-2.0-only */
/* For loads that compare what they know with a profile: reading it. */
#ifndef KTAU_TESTS_SELF_H
#define KTAU_TESTS_SELF_H

#include <stdio.h>
#include <sys/types.h>

#include <ktau.h>

/* If one of these fails, it prints why and ends the program. */
_Noreturn void self_die(const char *what, int err);
FILE *self_file(const char *path);
void self_open(void);
void self_close(void);

/* Records of a new stream of profiles. */
void self_start(const struct ktau_query *query);
int self_next(union ktau_record *record);

/* A thread's profile now, 0 for the caller's; the identity of each is checked. */
struct ktau_rec_profile *self_profile(pid_t tid);

/* The owner of a profile; NULL if the stream did not describe it. */
const struct ktau_rec_owner *self_owner(uint64_t serial);

/* What was added from @before to @now, which are both freed. */
struct ktau_rec_profile *self_added(struct ktau_rec_profile *before,
				    struct ktau_rec_profile *now);

/* The entry of an event by name; all zero if it has not run there. */
struct ktau_entry self_entry(const struct ktau_rec_profile *p, const char *name);

/* The sum of the entries whose names begin so. */
struct ktau_entry self_sum(const struct ktau_rec_profile *p, const char *prefix);

double self_seconds(uint64_t ticks);

/* The two ends of a TCP connection over loopback. */
void self_connection(int end[2]);

/* How many tests have failed, and a line for each test. */
extern void self_expect(const char *what, uint64_t got, uint64_t want);

#endif /* KTAU_TESTS_SELF_H */
