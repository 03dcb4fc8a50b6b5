// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables FILE: bytes of KTAU's tables for each task in a stream of profiles, the dead
 * included, a line each, for make bench. A task has a state, and a chunk of cells for each
 * eight ids of which it has used one.
 */
#include <err.h>
#include <linux/ktau.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_IDS	8
#define CHUNK_BYTES	256
#define STATE_BYTES	2048	/* what the allocator gives for struct ktau_task */

static char buffer[1 << 20] __attribute__((aligned(8)));

static void print_bytes(const struct ktau_rec_profile *p)
{
	unsigned char used[KTAU_NR_IDS / CHUNK_IDS] = { 0 };
	const char *at = (const char *)p + p->rec.head;
	unsigned int i, bytes = STATE_BYTES;

	if (p->owner.kind != KTAU_OWNER_TASK && p->owner.kind != KTAU_OWNER_DEAD)
		return;
	for (i = 0; i < p->nr_entries; i++, at += p->entry_size)
		used[((const struct ktau_entry *)at)->id % KTAU_NR_IDS / CHUNK_IDS] = 1;
	for (i = 0; i < sizeof(used); i++)
		bytes += used[i] * CHUNK_BYTES;
	printf("%u\n", bytes);
}

int main(int argc, char **argv)
{
	struct ktau_rec *rec = (struct ktau_rec *)buffer;
	FILE *f;

	if (argc != 2 || !(f = fopen(argv[1], "r")))
		err(1, "usage: tables FILE: %s", argc == 2 ? argv[1] : "");
	while (fread(rec, sizeof(*rec), 1, f) == 1) {
		if (rec->size < sizeof(*rec) || rec->size > sizeof(buffer) ||
		    fread(rec + 1, rec->size - sizeof(*rec), 1, f) != 1)
			errx(1, "%s: not a stream of profiles", argv[1]);
		if (rec->type == KTAU_REC_PROFILE)
			print_bytes((struct ktau_rec_profile *)rec);
	}
	return 0;
}
