// SPDX-License-Identifier: LGPL-2.1-or-later
/* The pages that a thread shares with the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/ktau.h>
#include <linux/ktau_area.h>

#include "user.h"

/* A program with more privileges than its user gets no area, and therefore writes no files. */
static int request(struct ktau_regions *args)
{
	int fd, area;

	if (getauxval(AT_SECURE))
		return -EACCES;
	fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	area = ioctl(fd, KTAU_IOC_REGIONS, args);
	if (area < 0)
		area = -errno;
	close(fd);
	return area;
}

static size_t figures_bytes(void)
{
	return getpagesize() + KTAU_AREA_CELLS_BYTES;
}

/* NULL if the kernel has no figures to map, or a version that this library does not know. */
static const struct ktau_area_header *map_figures(int fd)
{
	const struct ktau_area_header *header;
	void *pages = mmap(NULL, figures_bytes(), PROT_READ, MAP_SHARED, fd, getpagesize());

	if (pages == MAP_FAILED)
		return NULL;
	header = pages;
	if (header->magic == KTAU_AREA_MAGIC && header->version == KTAU_AREA_VERSION)
		return header;
	munmap(pages, figures_bytes());
	return NULL;
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
	else
		u->figures = map_figures(fd);
	close(fd);
	if (u->status)
		return;
	if (u->max > args.nr_regions)
		u->max = args.nr_regions;
	u->serial = args.serial;
	u->word = page;
}

void ktau__area_close(struct ktau__user *u)
{
	uint32_t *word = (uint32_t *)u->word;

	if (u->figures)
		munmap((void *)(uintptr_t)u->figures, figures_bytes());
	u->figures = NULL;
	u->unshared = *word;
	u->word = &u->unshared;
	if (word != &u->unshared)
		munmap(word, getpagesize());
}
