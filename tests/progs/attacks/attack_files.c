// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_files [NUMBER]: a user opens as many descriptors as it can. Their memory must be
 * bounded and charged to the user. Run as root.
 */
#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define MAX_BYTES (16U << 20)

static struct seen seen;
static unsigned int nr_files = 1000;

struct result {
	unsigned int opened;
	unsigned int read;
	uint64_t charged;
	int err;
};

static struct result *result;

/* Each descriptor is read from, because the first read may allocate its buffer. */
static void open_all(void)
{
	int first = -1;
	char byte;

	for (result->opened = 0; result->opened < nr_files; result->opened++) {
		int fd = seen_open(PROFILE, OF_SELF, 0);

		if (first < 0)
			first = fd;
		if (fd < 0) {
			result->err = -fd;
			break;
		}
		if (read(fd, &byte, 1) == 1)
			result->read++;
		else
			result->err = errno;
	}
	result->charged = user_bytes(first);
}

static uint64_t free_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kb = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %llu", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb << 10;
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	uint64_t before, taken;
	struct helper user;

	if (argc > 1)
		nr_files = (unsigned int)atoi(argv[1]);
	limit.rlim_cur = limit.rlim_max = nr_files + 64;
	setrlimit(RLIMIT_NOFILE, &limit);
	result = shared_alloc(sizeof(*result));
	set_level(2);
	control("groups=syscall");
	user = helper_start(ATTACKER, open_all);
	usleep(100000);
	before = free_bytes();
	helper_step(&user);
	taken = free_bytes();
	taken = taken < before ? before - taken : 0;
	tap_ok(taken <= MAX_BYTES,
	       "attack files: %u of %u descriptors opened, %u read from, use %llu kB: %s",
	       result->opened, nr_files, result->read, (unsigned long long)taken >> 10,
	       strerror(result->err));
	tap_ok(result->charged >= (uint64_t)result->opened * 4096,
	       "attack files: %llu kB are charged to the user",
	       (unsigned long long)result->charged >> 10);
	tap_ok(!seen_get(PROFILE, OF_SELF, 0, &seen) && seen_profiles(&seen) == 1,
	       "attack files: root can still read");
	helper_end(&user);
	control("groups=none");
	return tap_done();
}
