// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of programs, such as those of LTTng-UST. They are in the trace of the thread that noted
 * them, and say nothing about what the kernel does.
 */
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
	if (noted->tid >= 0)
		return noted->tid ? import_task(im, noted->tid, im->cpu) : NULL;
	if (im->cpus[im->cpu].now)
		return im->cpus[im->cpu].now;
	return noted->pid > 0 ? import_task(im, noted->pid, im->cpu) : NULL;
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
	task->noted = noted->trace + 1;
	if (noted->point)
		import_fields(im, task, noted);
	import_flush(im);
}

void import_noted_lost(struct import *im, uint32_t trace, uint64_t nr, uint64_t to_ns)
{
	const uint64_t payload[] = { nr, to_ns > im->ns ? to_ns : im->ns };
	size_t i;

	im->discarded += nr;
	for (i = 0; i < im->nr_tasks; i++)
		if (im->tasks[i]->noted == trace + 1 && !im->tasks[i]->ended)
			import_slot(im, im->tasks[i], KTAU_TRACE_FIELDS_LOST, payload,
				    sizeof(payload));
	import_flush(im);
}
