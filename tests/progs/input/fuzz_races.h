/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared state of the processes of fuzz_races, and the process that starts and ends them. */
#ifndef KTAU_TESTS_FUZZ_RACES_H
#define KTAU_TESTS_FUZZ_RACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Descriptors of every process, which survive an exec. */
#define SHARED_FD 900	/* of struct races_shared */
#define BUS_FD 901	/* for sending descriptors */
#define BUS_TAKE_FD 902 /* for receiving descriptors */

#define CGROUPS "/sys/fs/cgroup"

enum races_count {
	RACES_CALLS,
	RACES_OPENED,
	RACES_OPEN_REFUSED,
	RACES_SELECTED,
	RACES_SELECT_REFUSED,
	RACES_JUDGED,	   /* streams */
	RACES_OWN_RECORDS, /* profiles and rings of users in these streams */
	RACES_PASSED,
	RACES_FORKED,
	RACES_THREADED,
	RACES_SET_UID,
	RACES_UNSHARED,
	RACES_SET,   /* settings */
	RACES_MOVED, /* between control groups */
	RACES_NR_COUNTS,
};

/**
 * struct races_shared - memory of all processes
 * @until: time at which to end if there have been actions of each kind
 * @latest: time at which to end in any case
 * @calls: number of calls after which to end, or 0
 * @group: process group of all
 * @program: path of this program
 * @set_uid_program: path of its copy that is set-uid root
 * @count: number of actions of each kind
 * @failures: number of failures
 * @failure: message of the first failure
 */
struct races_shared {
	time_t until;
	time_t latest;
	uint64_t calls;
	pid_t group;
	char program[128];
	char set_uid_program[128];
	_Atomic uint64_t count[RACES_NR_COUNTS];
	_Atomic uint64_t failures;
	char failure[256];
};

/**
 * races_main() - start the processes, and check that they leave nothing behind
 * @argc: of main()
 * @argv: likewise
 * @worker: body of each process, called with its number and the seed
 *
 * Return: what main() returns.
 */
int races_main(int argc, char **argv, void (*worker)(unsigned int nr, uint64_t seed));

#endif /* KTAU_TESTS_FUZZ_RACES_H */
