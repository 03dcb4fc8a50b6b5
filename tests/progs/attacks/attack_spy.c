// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_spy: a user spins to learn from its own trace when tasks of another user on the same
 * CPU are woken and run. Run as root.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

static struct seen seen;

struct result {
	uint64_t victim;
	bool only_spin;
	int err;
	size_t slots;
	size_t naming;
};

static struct result *result;

static void victim(void)
{
	for (;;)
		usleep(2000);
}

static void spin_ms(long ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static void spy(void)
{
	const struct seen_owner *self;

	for (;;) {
		spin_ms(300);
		if (result->only_spin)
			helper_reached();
		result->err = seen_get(TRACE, OF_SELF, 0, &seen);
		self = result->err ? NULL : seen_tid(&seen, getpid());
		result->slots = self ? self->nr_slots : 0;
		result->naming = seen_naming(&seen, self, result->victim);
		helper_reached();
	}
}

static void at_level(const struct helper *user, int level)
{
	set_level(level);
	control("ring=8192");
	helper_step(user);
	if (level > 0)
		tap_ok(result->err == -EACCES || result->err == -EPERM,
		       "attack spy: level %d: a user that reads its own trace gets: %s", level,
		       strerror(-result->err));
	else
		tap_ok(!result->err && result->slots && !result->naming,
		       "attack spy: level %d: %zu slots, of which %zu name another user's task",
		       level, result->slots, result->naming);
	control("ring=16384");
}

int main(void)
{
	const struct seen_owner *owner;
	struct helper asleep, user;
	int err;

	result = shared_alloc(sizeof(*result));
	pin(0);
	control("groups=irq,sched trace=on ring=16384");
	asleep = helper_start(VICTIM, victim);
	if (write(asleep.go, "g", 1) != 1)
		return 1;
	usleep(20000);
	err = seen_get(PROFILE, OF_LIST, asleep.pid, &seen);
	owner = err ? NULL : seen_tid(&seen, asleep.pid);
	if (!tap_ok(owner, "attack spy: the other user's task has a profile"))
		return 1;
	result->victim = seen_identity(owner);
	user = helper_start(ATTACKER, spy);

	at_level(&user, 2);
	at_level(&user, 0);
	/* Root must see the other task, or the test shows nothing. */
	result->only_spin = true;
	helper_step(&user);
	err = seen_get(TRACE, OF_LIST, user.pid, &seen);
	owner = err ? NULL : seen_tid(&seen, user.pid);
	tap_ok(seen_naming(&seen, owner, result->victim) > 10,
	       "attack spy: root sees the other user's task in %zu slots of that trace",
	       seen_naming(&seen, owner, result->victim));
	helper_end(&user);
	helper_end(&asleep);
	set_level(2);
	control("groups=none trace=off ring=1024");
	return tap_done();
}
