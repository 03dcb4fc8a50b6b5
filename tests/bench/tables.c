// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables [-l] FILE: print the bytes of KTAU's tables for each task in a stream of profiles, a
 * line each; with -l without exited tasks. A task has
 *  - a state,
 *  - a chunk of cells for every block of eight ids of which it has used at least one,
 *  - from id 1024 on, a directory as large as a chunk for every block of 256 ids likewise,
 *  - for events with times inside them, a chunk for every nine such events.
 */
#include <err.h>
#include <linux/ktau.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_IDS	8
#define DIR_IDS		256
#define FIRST_DIR	(1024 / DIR_IDS)
#define CHUNK_BYTES	256
#define TIMES_EVENTS	9
#define STATE_BYTES	2184	/* bytes allocated for struct ktau_state */

static char buffer[1 << 20] __attribute__((aligned(8)));
static unsigned int groups[1 << 16]; /* by id */

/* The scheduler's events need no stored times: these follow from their other figures. */
static bool has_times(const struct ktau_entry *e)
{
	return e->kind == KTAU_KIND_TIMER && groups[e->id] != KTAU_GROUP_SCHED &&
	       (e->asleep || e->runq || e->irq);
}

/* Entries are in the order of their ids: those of a chunk or directory are adjacent. */
static void print_bytes(const struct ktau_rec_profile *p)
{
	const char *at = (const char *)p + p->rec.head;
	unsigned int i, chunk, last = -1U, dir, last_dir = -1U, bytes = STATE_BYTES, times = 0;

	for (i = 0; i < p->nr_entries; i++, at += p->entry_size) {
		times += has_times((const struct ktau_entry *)at);
		chunk = ((const struct ktau_entry *)at)->id / CHUNK_IDS;
		bytes += chunk == last ? 0 : CHUNK_BYTES;
		last = chunk;
		dir = chunk * CHUNK_IDS / DIR_IDS;
		bytes += dir < FIRST_DIR || dir == last_dir ? 0 : CHUNK_BYTES;
		last_dir = dir;
	}
	printf("%u\n", bytes + (times + TIMES_EVENTS - 1) / TIMES_EVENTS * CHUNK_BYTES);
}

static bool is_task(const struct ktau_rec_owner *owner, bool live)
{
	return owner->kind == KTAU_OWNER_TASK || (!live && owner->kind == KTAU_OWNER_EXITED);
}

int main(int argc, char **argv)
{
	struct ktau_rec *rec = (struct ktau_rec *)buffer;
	struct ktau_rec_owner task = { .serial = 0 };
	bool live = argc == 3 && !strcmp(argv[1], "-l");
	FILE *f;

	if (argc != 2 + live || !(f = fopen(argv[argc - 1], "r")))
		err(1, "usage: tables [-l] FILE: %s", argc > 1 ? argv[argc - 1] : "");
	while (fread(rec, sizeof(*rec), 1, f) == 1) {
		if (rec->size < sizeof(*rec) || rec->size > sizeof(buffer) ||
		    fread(rec + 1, rec->size - sizeof(*rec), 1, f) != 1)
			errx(1, "%s: not a stream of profiles", argv[argc - 1]);
		if (rec->type == KTAU_REC_EVENT)
			groups[((struct ktau_rec_event *)rec)->id & 0xffff] =
				((struct ktau_rec_event *)rec)->group;
		if (rec->type == KTAU_REC_OWNER && is_task((struct ktau_rec_owner *)rec, live))
			task = *(struct ktau_rec_owner *)rec;
		if (rec->type == KTAU_REC_PROFILE &&
		    ((struct ktau_rec_profile *)rec)->serial == task.serial)
			print_bytes((struct ktau_rec_profile *)rec);
	}
	return 0;
}
