/* SPDX-License-Identifier: GPL-2.0-only */
/* The regions of threads, and what the kernel did in them in a period. */
#ifndef KTAU_TOOLS_REGIONS_H
#define KTAU_TOOLS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

/* The two ends of a period. */
#define REGIONS_BEFORE	1U
#define REGIONS_AFTER	2U

struct regions;

/* @dir has the files with names; NULL: the current directory. */
struct regions *regions_create(const char *dir);
void regions_destroy(struct regions *regions);

/* Forget the records of these ends. */
void regions_clear(struct regions *regions, unsigned int ends);

/* Begin the next period: the later end becomes the earlier one. */
void regions_turn(struct regions *regions);

/*
 * Add a STREAM, PROFILE, DIFF or REGION record to these ends; others are ignored. @reader has just
 * returned it. The regions that follow a thread's profile replace those of its earlier profile.
 */
void regions_put(struct regions *regions, const struct ktau_reader *reader,
		 const union ktau_record *record, unsigned int ends);

/**
 * regions_choose() - choose which threads regions_sum() adds up
 * @key: returns the key of a thread, or 0 to leave it out; threads with the same key are added
 *	up. By default the key is the pid.
 * @data: for @key
 */
void regions_choose(struct regions *regions,
		    uint64_t (*key)(void *data, const struct ktau_rec_owner *owner), void *data);

/**
 * struct region_sum - one event in one region of the threads with the same key
 * @key: their key
 * @owner: owner of one of these threads
 * @path: the region with the regions around it, such as "main => foo"
 * @id: the event
 * @timer: it is a timer, not a counter
 * @count: activations, or values
 * @incl: inclusive ticks, or the sum of the values
 * @excl: exclusive ticks
 */
struct region_sum {
	uint64_t key;
	const struct ktau_rec_owner *owner;
	char *path;
	uint32_t id;
	bool timer;
	uint64_t count;
	ktau_sum_t incl, excl;
};

struct region_sums {
	struct region_sum *sum;
	size_t nr;
};

/*
 * What happened in regions between the two ends, sorted by key and path, and within a region by
 * descending exclusive time. @stream is that of the later end. Owners belong to @regions.
 */
void regions_sum(const struct regions *regions, const struct ktau_rec_stream *stream,
		 struct region_sums *sums);
void region_sums_deinit(struct region_sums *sums);

#endif
