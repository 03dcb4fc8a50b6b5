// SPDX-License-Identifier: GPL-2.0-only
/*
 * regions_renewed: a process with regions drops its privileges and executes another program. The
 * exec gives the task a new profile, because its user may read that one. The regions stay with the
 * old profile, and nothing that the new program does is accounted to them.
 *
 *	regions_renewed FILE UID	as root; FILE is this program, and UID may execute it
 *	regions_renewed			that program: 1000 calls
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define REGION	5

/* The count of event @id in @region, of the exited task with this serial. */
static uint64_t recorded(uint64_t serial, uint32_t region, uint32_t id)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_EXITED };
	const struct ktau_entry *e;
	union ktau_record record;
	uint64_t count = 0;
	uint32_t i;

	self_start(&query);
	while (self_next(&record) > 0) {
		if (record.rec->type != KTAU_REC_REGION || record.region->region != region ||
		    record.region->serial != serial)
			continue;
		e = ktau_region_entries(record.region);
		for (i = 0; i < record.region->nr_entries; i++)
			if (e[i].id == id)
				count += e[i].count;
	}
	return count;
}

/* Request regions, and enter one of them. Return: the serial. */
static uint64_t enter_region(void)
{
	struct ktau_regions args = { .size = sizeof(args) };
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	int area = fd < 0 ? -1 : ioctl(fd, KTAU_IOC_REGIONS, &args);
	volatile uint32_t *word;

	if (area < 0)
		self_die("KTAU_IOC_REGIONS", -errno);
	word = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, area, 0);
	if (word == MAP_FAILED)
		self_die("mmap", -errno);
	*word = REGION;
	return args.serial;
}

static _Noreturn void become(const char *file, int id, uint64_t *serial)
{
	*serial = enter_region();
	syscall(SYS_getppid);
	if (!setgid(id) && !setuid(id))
		execl(file, "regions_renewed", NULL);
	_exit(127);
}

static int calls(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	return geteuid() ? 0 : 1;
}

int main(int argc, char **argv)
{
	uint64_t *serial;
	int status;
	pid_t child;

	if (argc < 3)
		return calls();
	self_open();
	serial = mmap(NULL, sizeof(*serial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	child = fork();
	if (!child)
		become(argv[1], atoi(argv[2]), serial);
	waitpid(child, &status, 0);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "the program runs (status %#x)", status);
	self_expect("calls of the old program in its region",
		    recorded(*serial, REGION, SYS_getppid), 1);
	self_expect("its setuid()", recorded(*serial, REGION, SYS_setuid), 1);
	self_expect("its execve()", recorded(*serial, REGION, SYS_execve), 0);
	return tap_done();
}
