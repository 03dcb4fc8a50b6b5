/* SPDX-License-Identifier: GPL-2.0-only */
/* Credentials of a test's process: user, capabilities, a user namespace of its own. */
#ifndef KTAU_TESTS_SUBJECT_H
#define KTAU_TESTS_SUBJECT_H

#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#define CAP(name) (1ULL << CAP_##name)
#define ALL_CAPS ((2ULL << CAP_LAST_CAP) - 1)
#define NOT_EFFECTIVE (1ULL << 63) /* the other bits are permitted only */

struct subject {
	const char *name;
	uid_t id;	/* user and group, all four of each */
	uint64_t caps;	/* permitted, and effective unless NOT_EFFECTIVE */
	bool namespace; /* a user namespace of its own, with all capabilities in it */
};

static inline bool subject_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint64_t permitted = caps & ALL_CAPS, effective = caps & NOT_EFFECTIVE ? 0 : permitted;
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)effective, (uint32_t)permitted, 0 },
		{ (uint32_t)(effective >> 32), (uint32_t)(permitted >> 32), 0 },
	};

	return !syscall(SYS_capset, &head, data);
}

static inline void subject_become(const struct subject *s)
{
	if (setgroups(0, NULL) || prctl(PR_SET_KEEPCAPS, 1) || setresgid(s->id, s->id, s->id) ||
	    setresuid(s->id, s->id, s->id) || !subject_caps(s->caps) ||
	    (s->namespace && unshare(CLONE_NEWUSER))) {
		perror(s->name);
		_exit(1);
	}
}

#endif /* KTAU_TESTS_SUBJECT_H */
