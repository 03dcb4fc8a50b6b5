// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of programs, such as those of LTTng-UST. They are in the trace of the thread that noted
 * them, and say nothing about what the kernel does.
 */
#include "lib/cli.h"
#include "import.h"

const struct import_point *import_program(struct import *im, const char *name)
{
	const struct import_point_key key = {
		name,
		IMPORT_PROGRAM,
		KTAU_SOURCE_PROGRAM,
		KTAU_GROUP_PROGRAM,
		0,
	};

	return import_point(im, &key);
}

/* The thread that has noted an event; NULL: not known. */
static struct import_task *find_task(struct import *im, const struct import_noted *noted)
{
	struct import_task *now = im->cpus[im->cpu].now;

	if (noted->tid >= 0)
		return noted->tid ? import_task(im, noted->tid, im->cpu) : NULL;
	if (now && !now->ended)
		return now;
	return noted->pid > 0 ? import_task(im, noted->pid, im->cpu) : NULL;
}

/* Keep each task once, if its last event was in this trace. */
static void compact(struct import *im, struct import_noters *noters, uint32_t trace)
{
	struct import_task *task;
	size_t i, nr = 0;

	im->round++;
	for (i = 0; i < noters->nr; i++) {
		task = noters->tasks[i];
		if (task->noted != trace + 1 || task->ended || task->listed == im->round)
			continue;
		task->listed = im->round;
		noters->tasks[nr++] = task;
	}
	noters->nr = nr;
}

static void list(struct import *im, struct import_task *task, uint32_t trace)
{
	struct import_noters *noters = &im->noters[trace];

	if (task->noted == trace + 1)
		return;
	if (noters->nr == noters->room)
		compact(im, noters, trace);
	if (2 * noters->nr >= noters->room) {
		noters->room = noters->room ? 2 * noters->room : 16;
		noters->tasks = cli_alloc(noters->tasks, noters->room, sizeof(*noters->tasks));
	}
	noters->tasks[noters->nr++] = task;
	task->noted = trace + 1;
}

void import_noted(struct import *im, const struct import_noted *noted)
{
	struct import_task *task = find_task(im, noted);

	if (!im->events++)
		im->begin_ns = im->ns;
	im->noted++;
	if (im->cpu >= im->nr_cpus)
		im->nr_cpus = im->cpu + 1;
	if (!task) {
		im->homeless++;
		return;
	}
	import_name(task, noted->comm);
	if (noted->pid > 0 && noted->pid <= INT32_MAX)
		task->owner.tgid = (int32_t)noted->pid;
	list(im, task, noted->trace);
	if (noted->point)
		import_fields(im, task, noted);
	import_flush(im);
}

void import_noted_lost(struct import *im, uint32_t trace, uint64_t nr, uint64_t to_ns)
{
	const uint64_t payload[] = { nr, to_ns > im->ns ? to_ns : im->ns };
	struct import_noters *noters = &im->noters[trace];
	size_t i;

	im->discarded += nr;
	compact(im, noters, trace);
	for (i = 0; i < noters->nr; i++) {
		import_slot(im, noters->tasks[i], KTAU_TRACE_FIELDS_LOST, payload,
			    sizeof(payload));
		noters->tasks[i]->noted = 0;
	}
	noters->nr = 0;
	import_flush(im);
}
