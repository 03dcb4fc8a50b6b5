// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_namespaces [TIMES]: a user creates namespaces one after another, each of which ends
 * with its only task. Records of exited tasks must not keep namespaces alive. Run as root.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define MAX_USER "/proc/sys/user/max_user_namespaces"
#define MAX_PID "/proc/sys/user/max_pid_namespaces"
#define PATIENCE 100 /* tries, because namespaces are freed after their last task */

static struct seen seen;
static unsigned int nr_times = 100;

struct result {
	unsigned int user;
	unsigned int pid;
	int err;
};

static struct result *result;

/* Unshare in a new process: 0 or the error. */
static int unshare_once(int flags)
{
	int status, err;
	pid_t pid = fork();

	if (!pid) {
		err = unshare(flags) ? errno : 0;
		if (!err && (flags & CLONE_NEWPID)) {
			pid = fork();
			if (!pid)
				_exit(0);
			if (pid < 0 || waitpid(pid, NULL, 0) != pid)
				err = errno;
		}
		_exit(err);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static unsigned int unshare_all(int flags)
{
	unsigned int i, tries;
	int err = 0;

	for (i = 0; i < nr_times; i++) {
		for (tries = 0; tries < PATIENCE; tries++) {
			err = unshare_once(flags);
			if (err != ENOSPC)
				break;
			usleep(10000);
		}
		if (err)
			break;
	}
	result->err = err;
	return i;
}

static void attack(void)
{
	result->user = unshare_all(CLONE_NEWUSER);
	helper_reached();
	result->pid = unshare_all(CLONE_NEWUSER | CLONE_NEWPID);
}

static unsigned int exited(void)
{
	unsigned int nr = 0;
	size_t i;

	seen_get(PROFILE, OF_EXITED, 0, &seen);
	for (i = 0; i < seen.nr_owners; i++)
		nr += seen.owner[i].has_profile && seen.owner[i].uid == ATTACKER &&
		      seen.owner[i].tid > 0;
	return nr;
}

int main(int argc, char **argv)
{
	struct helper attacker;
	unsigned int before, kept;

	result = shared_alloc(sizeof(*result));
	if (argc > 1) {
		nr_times = (unsigned int)atoi(argv[1]);
	} else {
		write_number(MAX_USER, 25);
		write_number(MAX_PID, 25);
	}
	control("groups=syscall trace=off");
	attacker = helper_start(ATTACKER, attack);
	before = exited();
	helper_step(&attacker);
	tap_ok(result->user == nr_times,
	       "attack namespaces: %u of %u user namespaces are created: %s", result->user,
	       nr_times, strerror(result->err));
	helper_step(&attacker);
	tap_ok(result->pid == nr_times,
	       "attack namespaces: %u of %u pid namespaces are created: %s", result->pid, nr_times,
	       strerror(result->err));
	kept = exited() - before;
	/* Of a large number the oldest may have been evicted. */
	tap_ok(kept >= (argc > 1 ? 1 : result->user + 2 * result->pid),
	       "attack namespaces: root sees %u exited tasks", kept);
	helper_end(&attacker);
	control("groups=none");
	return tap_done();
}
