// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page that a thread shares with the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "user.h"

static int request(struct ktau_regions *args)
{
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC), area;

	if (fd < 0)
		return -errno;
	area = ioctl(fd, KTAU_IOC_REGIONS, args);
	if (area < 0)
		area = -errno;
	close(fd);
	return area;
}

void ktau__area_open(struct ktau__user *u)
{
	struct ktau_regions args = { .size = sizeof(args), .nr_regions = u->max };
	int fd = request(&args);
	void *page;

	u->status = fd < 0 ? fd : 0;
	if (fd < 0)
		return;
	page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		u->status = -errno;
	close(fd);
	if (u->status)
		return;
	/* After an exec a thread has as many regions as before. */
	if (u->max > args.nr_regions)
		u->max = args.nr_regions;
	u->serial = args.serial;
	u->word = page;
}

void ktau__area_close(struct ktau__user *u)
{
	uint32_t *word = (uint32_t *)u->word;

	u->unshared = *word;
	u->word = &u->unshared;
	if (word != &u->unshared)
		munmap(word, getpagesize());
}
