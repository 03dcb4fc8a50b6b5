/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a kernel with KASLR was loaded. When it panics, it prints
 * "Kernel Offset: 0x600000 from 0xffffffff81000000", after the addresses that this concerns.
 */
#ifndef KTAU_FUNCMAP_OFFSET_H
#define KTAU_FUNCMAP_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct offset_scan - lines seen so far
 * @line: the current line, as far as it fits
 * @nr: number of bytes in it
 * @found: a line named an address
 * @several: lines named different addresses
 * @text: the first such address: where the kernel's _text was
 */
struct offset_scan {
	char line[256];
	size_t nr;
	bool found, several;
	uint64_t text;
};

/* Examine the next @nr bytes of a text. All members 0 is a valid start. */
void offset_feed(struct offset_scan *scan, const char *bytes, size_t nr);

/* Examine a whole file from @at on, without moving its position. Return: 0 or -errno. */
int offset_read(struct offset_scan *scan, int fd, int64_t at);

#endif
