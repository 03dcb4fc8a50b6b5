// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_setuid SET-UID-COPY: a set-uid program makes calls as root, drops its privileges and
 * executes another program. Its user must not see those calls; root must. Run as root, with
 * the path of a copy of this program that is set-uid root.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define CALLS 40

static struct seen seen;
static const char *plain_program, *set_uid_program;

struct result {
	pid_t pid;
	int err;
	bool found;
	uint64_t calls;
	uint64_t traced;
};

static struct result *result;

/* As the set-uid program. */
static int drop_and_exec(const char *next)
{
	uid_t uid = getuid();

	if (geteuid() || !uid)
		return 2;
	make_calls(CALLS);
	if (setresuid(uid, uid, uid))
		return 3;
	execl(next, next, "rest", NULL);
	return 4;
}

static _Noreturn void rest(void)
{
	raise(SIGSTOP);
	for (;;)
		pause();
}

/* As the user. */
static void attack(void)
{
	const struct seen_owner *owner;
	uint64_t before = 0;
	int status;
	pid_t pid;

	if (!seen_get(PROFILE, OF_ALL | OF_EXITED, 0, &seen))
		before = seen_total(&seen, CALLED);
	pid = fork();
	if (!pid) {
		execl(set_uid_program, set_uid_program, "drop", plain_program, NULL);
		_exit(5);
	}
	waitpid(pid, &status, WUNTRACED);
	result->pid = WIFSTOPPED(status) ? pid : 0;
	result->err = seen_get(PROFILE, OF_LIST, pid, &seen);
	owner = seen_tid(&seen, pid);
	result->found = owner && owner->nr_entries;
	result->calls = seen_count(&seen, owner, CALLED);
	if (!seen_get(TRACE, OF_LIST, pid, &seen))
		result->traced = seen_traced(&seen, seen_tid(&seen, pid), CALLED);
	if (!result->calls && !seen_get(PROFILE, OF_ALL | OF_EXITED, 0, &seen))
		result->calls = seen_total(&seen, CALLED) - before;
}

int main(int argc, char **argv)
{
	uint64_t before, calls;
	struct helper user;

	if (argc == 3 && !strcmp(argv[1], "drop"))
		return drop_and_exec(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "rest"))
		rest();
	if (argc != 2 || getuid()) {
		fprintf(stderr, "usage: attack_setuid SET-UID-COPY, as root\n");
		return 2;
	}
	plain_program = argv[0];
	set_uid_program = argv[1];
	result = shared_alloc(sizeof(*result));
	set_level(0);
	control("groups=syscall trace=on ring=1024");
	user = helper_start(ATTACKER, attack);
	seen_get(PROFILE, OF_ALL | OF_EXITED | OF_EVICTED, 0, &seen);
	before = seen_total(&seen, CALLED);
	helper_step(&user);
	tap_ok(result->pid && !result->err && result->found,
	       "attack setuid: the user sees the profile of the program executed afterwards");
	tap_ok(!result->calls, "attack setuid: of %d calls made as root the user sees %llu in "
			       "profiles",
	       CALLS, (unsigned long long)result->calls);
	tap_ok(!result->traced, "attack setuid: the user sees %llu of them in the trace",
	       (unsigned long long)result->traced);
	seen_get(PROFILE, OF_ALL | OF_EXITED | OF_EVICTED, 0, &seen);
	calls = seen_total(&seen, CALLED) - before;
	tap_ok(calls == CALLS, "attack setuid: root sees %llu of them", (unsigned long long)calls);
	kill(result->pid, SIGKILL);
	helper_end(&user);
	set_level(2);
	control("groups=none trace=off");
	return tap_done();
}
