// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_landlock: a process confined by Landlock reads other tasks of its user, live and
 * exited. It must see neither. Run as root. Exit status 77: the kernel has no Landlock.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/landlock.h>

#include "attack.h"
#include "tap.h"

#define CALLS 9

static struct seen seen;

struct result {
	pid_t living;
	pid_t exited;
	bool sees_living;
	bool sees_exited;
	size_t nr_exited;
	bool sees_itself;
};

static struct result *result;

static void look(void)
{
	result->sees_living = !seen_get(PROFILE, OF_LIST, result->living, &seen) &&
			      seen_tid(&seen, result->living);
	result->sees_itself = !seen_get(PROFILE, OF_SELF, 0, &seen) &&
			      seen_tid(&seen, (int32_t)getpid());
	seen_get(PROFILE, OF_EXITED, 0, &seen);
	result->nr_exited = seen_profiles(&seen);
	result->sees_exited = seen_tid(&seen, result->exited);
}

static int ruleset(void)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK,
	};

	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

static void confined(void)
{
	look();
	helper_reached();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, ruleset(), 0))
		_exit(1);
	look();
}

static void living(void)
{
	make_calls(CALLS);
}

static pid_t begin_exited(void)
{
	pid_t pid = fork();

	if (!pid) {
		become(ATTACKER);
		make_calls(CALLS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

int main(void)
{
	struct helper other, user;

	if (ruleset() < 0)
		return 77;
	result = shared_alloc(sizeof(*result));
	set_level(2);
	control("groups=syscall");
	other = helper_start(ATTACKER, living);
	helper_step(&other);
	result->living = other.pid;
	result->exited = begin_exited();
	user = helper_start(ATTACKER, confined);
	tap_ok(helper_step(&user) && result->sees_living && result->sees_exited,
	       "attack landlock: unconfined, it sees a live and an exited task of its user");
	tap_ok(helper_step(&user) && result->sees_itself,
	       "attack landlock: confined, it sees itself");
	tap_ok(!result->sees_living, "attack landlock: confined, it sees no live task");
	tap_ok(!result->sees_exited && !result->nr_exited,
	       "attack landlock: confined, it sees no exited task: %zu", result->nr_exited);
	helper_end(&user);
	helper_end(&other);
	control("groups=none");
	return tap_done();
}
