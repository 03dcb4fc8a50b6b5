/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of regions, from the files that libktau-user writes. */
#ifndef KTAU_TOOLS_REGION_NAMES_H
#define KTAU_TOOLS_REGION_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

struct region_names;

/*
 * The names in all files ktau-user.* of @path that are of the boot of @stream. Never NULL. If
 * several files have the same serial, it is reported, and none of them is used.
 */
struct region_names *region_names_load(const char *path, const struct ktau_rec_stream *stream);
void region_names_free(struct region_names *names);

/*
 * The region of the thread @serial with the regions around it, such as "main => foo"; "region 5"
 * if it has no name.
 */
void region_names_path(const struct region_names *names, uint64_t serial, uint32_t region,
		       char *path, size_t bytes);

/* The name of a region and the region around it, 0 if there is none; NULL if it is not known. */
const char *region_names_region(const struct region_names *names, uint64_t serial,
				uint32_t region, uint32_t *parent);

/* The name of an event that a thread has noted; NULL if it is not known. */
const char *region_names_event(const struct region_names *names, uint64_t serial, uint32_t event);

/* The id of a boot as text. */
void region_names_boot(char text[37], const uint8_t *id);

#endif
