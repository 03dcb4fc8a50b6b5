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

/*
 * NULL if the kernel has no figures to map, or a version that this library does not know. A reader
 * that was interrupted may be using those at @at, so there must be zeros then.
 */
static const struct ktau_area_header *map_figures(int fd, void *at)
{
	const struct ktau_area_header *header;
	void *pages = mmap(at, figures_bytes(), PROT_READ,
			   MAP_SHARED | (at ? MAP_FIXED : 0), fd, getpagesize());

	header = pages;
	if (pages != MAP_FAILED && header->magic == KTAU_AREA_MAGIC &&
	    header->version == KTAU_AREA_VERSION)
		return header;
	if (at)
		ktau__map_zeros(at, figures_bytes(), MAP_FIXED);
	else if (pages != MAP_FAILED)
		munmap(pages, figures_bytes());
	return NULL;
}

/* Map the pages at these addresses, or anywhere if they are NULL. */
static void open_at(struct ktau__user *u, void *page, void *figures)
{
	struct ktau_regions args = { .size = sizeof(args), .nr_regions = u->max };
	int fd = request(&args);

	u->status = fd < 0 ? fd : 0;
	if (fd < 0)
		return;
	page = mmap(page, getpagesize(), PROT_READ | PROT_WRITE,
		    MAP_SHARED | (page ? MAP_FIXED : 0), fd, 0);
	if (page == MAP_FAILED)
		u->status = -errno;
	else
		u->figures = map_figures(fd, figures);
	close(fd);
	if (u->status)
		return;
	if (u->max > args.nr_regions)
		u->max = args.nr_regions;
	u->serial = args.serial;
	u->word = page;
}

void ktau__area_open(struct ktau__user *u)
{
	open_at(u, NULL, NULL);
}

bool ktau__map_zeros(void *at, size_t bytes, int fixed)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1,
		    0) == at;
}

void ktau__area_renew(struct ktau__user *u)
{
	void *page = u->word == &u->unshared ? NULL : (void *)u->word;
	void *figures = (void *)(uintptr_t)u->figures;

	/* The child has not inherited the mapping of the figures. */
	if (figures && !ktau__map_zeros(figures, figures_bytes(), MAP_FIXED_NOREPLACE))
		figures = NULL;
	u->figures = NULL;
	open_at(u, page, figures);
	if (page && u->status)
		ktau__map_zeros(page, getpagesize(), MAP_FIXED);
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
