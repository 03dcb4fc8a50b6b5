// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_container: a container must not get information about the host. Start times are
 * those of its time namespace, and counts of the whole machine are hidden. Run as root.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define OFFSET_S 100000
#define MAX_KEYS 64
#define TENANT 1003 /* a user without losses */

static struct seen seen;

struct stats {
	size_t nr;
	char key[MAX_KEYS][64];
	unsigned long long value[MAX_KEYS];
};

struct result {
	bool done;
	int err;
	int64_t age_ms;
	uint64_t losses;
	uint64_t denied;
	struct stats stats;
};

static struct result *result;

static void read_stats(struct stats *stats)
{
	FILE *file = fopen("/proc/ktau/stats", "re");

	stats->nr = 0;
	while (file && stats->nr < MAX_KEYS &&
	       fscanf(file, "%63s %llu", stats->key[stats->nr], &stats->value[stats->nr]) == 2)
		stats->nr++;
	if (file)
		fclose(file);
}

/* Whether a count describes the machine and not the work of its users. */
static bool is_public(const char *key)
{
	static const char *const parts[] = { "clock", "mticks", "limit_bytes", "cap_bytes" };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(key, parts[i]))
			return true;
	return false;
}

/* Print the counts of the host that the container got, and return their number. */
static unsigned int leaked(void)
{
	unsigned int nr = 0;
	struct stats host;
	size_t i, j;

	read_stats(&host);
	for (i = 0; i < result->stats.nr; i++)
		for (j = 0; j < host.nr; j++) {
			if (strcmp(host.key[j], result->stats.key[i]) || is_public(host.key[j]) ||
			    host.value[j] < 4 || result->stats.value[i] <= host.value[j] / 2)
				continue;
			printf("# %s %llu inside, %llu outside\n", host.key[j],
			       result->stats.value[i], host.value[j]);
			nr++;
		}
	return nr;
}

static void inside_pids(void)
{
	result->err = seen_get(PROFILE, OF_ALL | OF_EXITED | OF_EVICTED, 0, &seen);
	result->losses = seen.losses;
	result->denied = seen.denied;
	read_stats(&result->stats);
	result->done = true;
}

static void container(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return;
	pid = fork();
	if (!pid) {
		inside_pids();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Lose slots on the host. */
static void lose(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		if (!fork()) {
			make_calls(200);
			_exit(0);
		}
		wait(NULL);
	}
}

static void counts(void)
{
	struct helper user, other;
	unsigned int nr;

	control("groups=syscall trace=on ring=64");
	control("exited_limit=4k");
	other = helper_start(VICTIM, lose);
	helper_step(&other);
	helper_end(&other);
	tap_ok(stat_of("lost_evicted") > 0, "attack container: the host has lost slots");
	user = helper_start(TENANT, container);
	helper_step(&user);
	tap_ok(result->done && !result->losses && !result->denied,
	       "attack container: inside, END has %llu lost and %llu denied",
	       (unsigned long long)result->losses, (unsigned long long)result->denied);
	nr = leaked();
	tap_ok(result->done && !nr, "attack container: inside, stats has %u counts of the host",
	       nr);
	helper_end(&user);
	control("exited_limit=16M");
}

static void inside_time(void)
{
	const struct seen_owner *owner;
	struct timespec now;

	result->err = seen_get(PROFILE, OF_SELF, 0, &seen);
	owner = seen_tid(&seen, (int32_t)getpid());
	clock_gettime(CLOCK_BOOTTIME, &now);
	result->done = !result->err && owner;
	if (owner)
		result->age_ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000 -
				 (int64_t)(owner->start_ns / 1000000);
}

/* The offset is set before the first process of the namespace. */
static void time_namespace(void)
{
	int fd, status;
	char line[64];
	pid_t pid;

	if (unshare(CLONE_NEWTIME)) {
		printf("# attack container: no time namespaces: test left out\n");
		return;
	}
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	snprintf(line, sizeof(line), "boottime %d 0\n", OFFSET_S);
	if (!tap_ok(write(fd, line, strlen(line)) > 0,
		    "attack container: a time namespace is created"))
		return;
	close(fd);
	result->done = false;
	control("groups=syscall trace=off");
	pid = fork();
	if (!pid) {
		inside_time();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	tap_ok(result->done && result->age_ms >= 0 && result->age_ms < 10000,
	       "attack container: in a time namespace a process is %lld ms old at its start",
	       (long long)result->age_ms);
}

int main(void)
{
	result = shared_alloc(sizeof(*result));
	set_level(2);
	counts();
	time_namespace();
	control("groups=none trace=off ring=1024");
	return tap_done();
}
