/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KTAUD_TEST_BOOT_ID_H
#define KTAUD_TEST_BOOT_ID_H

#include <stdint.h>
#include <stdio.h>

/* The current boot in the form of a STREAM record; ktaud accepts no other. */
static inline void read_boot_id(uint8_t id[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	unsigned int i, byte;

	for (i = 0; file && i < 16; i++) {
		if (fscanf(file, i >= 4 && i <= 10 && !(i & 1) ? "-%2x" : "%2x", &byte) != 1)
			break;
		id[i] = byte;
	}
	if (file)
		fclose(file);
}

#endif /* KTAUD_TEST_BOOT_ID_H */
