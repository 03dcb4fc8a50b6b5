/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KTAU: the figures of a thread with regions, as the thread reads them without a system
 * call. docs/dev/abi.md describes how the descriptor of KTAU_IOC_REGIONS is mapped.
 */
#ifndef _UAPI_LINUX_KTAU_AREA_H
#define _UAPI_LINUX_KTAU_AREA_H

#include <linux/types.h>

#define KTAU_AREA_MAGIC		0x4155544bU	/* "KTUA" */
#define KTAU_AREA_VERSION	1
#define KTAU_AREA_EVENTS	1024		/* only events with lower ids have cells */
#define KTAU_AREA_TIMERS	640		/* events with lower ids are timers */
#define KTAU_AREA_REGIONS	256		/* as many as KTAU_REGIONS_MAX */
#define KTAU_AREA_CELLS_BYTES	524288		/* all blocks, at most */
#define KTAU_AREA_BLOCK_CELLS	8
#define KTAU_AREA_BLOCKS	128		/* as many as KTAU_AREA_EVENTS need */

/**
 * struct ktau_area_region - where the cells of a region are
 * @index: number of the block with its index; 0 if it has no cells yet
 * @reserved: 0
 * @refused: activations for which there was no room, modulo 2^32
 */
struct ktau_area_region {
	__u16 index;
	__u16 reserved;
	__u32 refused;
};

/**
 * struct ktau_area_header - the first page of the figures
 * @magic: KTAU_AREA_MAGIC
 * @version: KTAU_AREA_VERSION
 * @nr_regions: number of regions, region 0 included
 * @cells_at: position of block 0, in bytes from the start of the header
 * @serial: the thread's serial
 * @ticks_per_second: unit of the times
 * @region: for each region; 0 is what happened outside of all of them
 */
struct ktau_area_header {
	__u32 magic;
	__u32 version;
	__u32 nr_regions;
	__u32 cells_at;
	__aligned_u64 serial;
	__aligned_u64 ticks_per_second;
	struct ktau_area_region region[KTAU_AREA_REGIONS];
};

/**
 * struct ktau_area_cell - one event in one region
 * @count: activations that have ended, or values
 * @incl: timer: inclusive ticks; counter: sum
 * @excl: timer: exclusive ticks; counter: minimum
 * @longest: timer: ticks of the longest activation; counter: maximum
 */
struct ktau_area_cell {
	__aligned_u64 count;
	__aligned_u64 incl;
	__aligned_u64 excl;
	__aligned_u64 longest;
};

/**
 * struct ktau_area_index - a block with the index of a region
 * @block: for each KTAU_AREA_BLOCK_CELLS events, the number of the block with their cells;
 *	0 if none of them has happened yet
 */
struct ktau_area_index {
	__u16 block[KTAU_AREA_BLOCKS];
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct ktau_area_region) == 8, "ktau_area_region");
_Static_assert(sizeof(struct ktau_area_header) == 2080, "ktau_area_header");
_Static_assert(sizeof(struct ktau_area_cell) == 32, "ktau_area_cell");
_Static_assert(sizeof(struct ktau_area_index) == 256, "ktau_area_index");
#endif

#endif /* _UAPI_LINUX_KTAU_AREA_H */
