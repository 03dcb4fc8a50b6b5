// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_consume: a user reads its own trace to hide it from root. Reading must not consume,
 * and consuming must require CAP_PERFMON. Run as root.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define CALLS 100

static struct seen seen;
/* Results of seen_get(): of the two readings, and of consuming. */
static int *results;

static void body(void)
{
	make_calls(CALLS);
	helper_reached();
	results[0] = seen_get(TRACE, OF_SELF, 0, &seen);
	results[1] = seen_get(TRACE, OF_DEFAULT, 0, &seen);
	helper_reached();
	make_calls(CALLS);
	helper_reached();
	results[2] = seen_get(TRACE, OF_SELF | CONSUME, 0, &seen);
}

static uint64_t consumed_by_root(pid_t pid)
{
	if (seen_get(TRACE, OF_LIST | CONSUME, pid, &seen))
		return 0;
	return seen_traced(&seen, seen_tid(&seen, pid), CALLED);
}

int main(void)
{
	struct helper user;
	uint64_t got;

	results = shared_alloc(3 * sizeof(*results));
	tap_ok(set_level(0), "attack consume: level 0 permits a user to read its own trace");
	control("groups=syscall trace=on ring=1024");
	user = helper_start(ATTACKER, body);

	helper_step(&user);
	helper_step(&user);
	tap_ok(!results[0] && !results[1], "attack consume: a user reads its own trace");
	got = consumed_by_root(user.pid);
	tap_ok(got == CALLS,
	       "attack consume: after a user has read its trace, root sees %llu of %d calls",
	       (unsigned long long)got, CALLS);

	helper_step(&user);
	seen_get(TRACE, OF_DEFAULT, 0, &seen);
	got = consumed_by_root(user.pid);
	tap_ok(got == CALLS, "attack consume: after cat, root sees %llu of %d calls",
	       (unsigned long long)got, CALLS);

	got = consumed_by_root(user.pid);
	tap_ok(!got, "attack consume: after root has consumed them, root sees %llu",
	       (unsigned long long)got);

	helper_step(&user);
	tap_ok(results[2] == -EPERM || results[2] == -EACCES,
	       "attack consume: a user that consumes its own trace gets: %s",
	       strerror(-results[2]));
	helper_end(&user);
	set_level(2);
	control("groups=none trace=off");
	return tap_done();
}
