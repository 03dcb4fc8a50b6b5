// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_memcg: KTAU's memory for the processes of a cgroup is charged to the cgroup. Run as
 * root. Exit status 77: the kernel has no memory controller.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define CGROUPS "/run/attack-cgroups"
#define GROUP CGROUPS "/one"
#define PROCESSES 60

static void crowd(void)
{
	int ends[2], i;
	char byte;

	if (pipe(ends))
		_exit(1);
	for (i = 0; i < PROCESSES; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		make_calls(1000);
		if (write(ends[1], "d", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	for (i = 0; i < PROCESSES; i++)
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
}

/* Kernel memory charged to the group; -1 if the kernel does not report it. */
static long long charged(void)
{
	FILE *file = fopen(GROUP "/memory.stat", "re");
	long long value = -1;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "kernel %lld", &value) == 1)
			break;
	if (file)
		fclose(file);
	return value;
}

/* The memory that the processes add, as charged to the group and as counted by KTAU. */
static bool measure(long long *more, long long *counted)
{
	struct helper user = helper_start(ATTACKER, crowd);
	bool done = write_number(GROUP "/cgroup.procs", user.pid);

	*more = charged();
	*counted = (long long)stat_of("memory_bytes");
	done = done && helper_step(&user);
	/* Each CPU caches charges, and memory.stat is updated in batches. */
	usleep(2500000);
	*more = charged() - *more;
	*counted = (long long)stat_of("memory_bytes") - *counted;
	helper_end(&user);
	usleep(500000);
	return done;
}

int main(void)
{
	long long plain, traced, counted;

	if ((mkdir(CGROUPS, 0755) || mount("none", CGROUPS, "cgroup2", 0, NULL)))
		return 77;
	{
		int fd = open(CGROUPS "/cgroup.subtree_control", O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "+memory", 7) != 7)
			return 77;
		close(fd);
	}
	if (mkdir(GROUP, 0755) || charged() < 0)
		return 77;
	control("exited_limit=64k");
	if (!tap_ok(measure(&plain, &counted), "attack memcg: processes run in a cgroup"))
		return 1;
	control("groups=syscall trace=on ring=1024");
	measure(&traced, &counted);
	control("groups=none trace=off");
	control("exited_limit=16M");
	tap_ok(traced - plain >= counted / 2 && counted > 0,
	       "attack memcg: the cgroup is charged %lld kB more, KTAU counts %lld kB",
	       (traced - plain) >> 10, counted >> 10);
	return tap_done();
}
