// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control groups: in the traces of ftrace, and in exports of KTAU. LTTng has no event for them. A
 * group is known when a task is moved to it, or is created by one that was.
 */
#include <string.h>

#include "lib/cli.h"
#include "import.h"

/* Groups whose paths are kept, and the longest path. */
enum { MOST_GROUPS = 65536, PATH_BYTES = 4096 };

/* The first path of a group is kept. Return: whether it has one. */
static bool describe(struct import *im, uint64_t id, const char *path)
{
	const size_t bytes = strnlen(path, PATH_BYTES) + 1;
	struct import_cgroup *cgroup;

	if (hash_get(&im->by_cgroup, id))
		return true;
	if (!id || *path != '/' || bytes > PATH_BYTES || im->nr_cgroups == MOST_GROUPS)
		return false;
	if (im->nr_cgroups == im->cgroups_room) {
		im->cgroups_room = im->cgroups_room ? 2 * im->cgroups_room : 16;
		im->cgroups = cli_alloc(im->cgroups, im->cgroups_room, sizeof(*im->cgroups));
	}
	cgroup = &im->cgroups[im->nr_cgroups++];
	*cgroup = (struct import_cgroup){ id, cli_alloc(NULL, 1, bytes) };
	memcpy(cgroup->path, path, bytes);
	hash_put(&im->by_cgroup, id, im->nr_cgroups);
	return true;
}

/* As by KTAU, a task that another one has moved has the slot when it runs next. */
void import_attach(struct import *im, const struct import_class *class,
		   const struct import_event *e)
{
	struct import_task *mover = import_current(im, e);
	struct import_task *task = import_task(im, e->number(e->fields, "tid", -1), im->cpu);
	const uint64_t id = (uint64_t)e->number(e->fields, "dst_id", 0);

	(void)class;
	if (!task)
		return;
	/* A task may not be in a group that no record describes. */
	task->moved = describe(im, id, e->text(e->fields, "dst_path"));
	task->owner.cgroup = task->moved ? id : 0;
	task->dirty = true;
	if (task == mover)
		import_moved(im, task);
}

void import_moved(struct import *im, struct import_task *task)
{
	if (!task->moved)
		return;
	task->moved = false;
	import_known(im, task);
	import_slot(im, task, KTAU_TRACE_CGROUP, &task->owner.cgroup, sizeof(task->owner.cgroup));
}

int import_put_cgroups(struct import *im)
{
	struct {
		struct ktau_rec_cgroup head;
		char path[PATH_BYTES + 8];
	} r;
	size_t i, bytes;
	int err = 0;

	for (i = 0; !err && i < im->nr_cgroups; i++) {
		bytes = strlen(im->cgroups[i].path) + 1;
		memset(&r, 0, sizeof(r));
		r.head = (struct ktau_rec_cgroup){
			.rec = { (uint32_t)((sizeof(r.head) + bytes + 7) & ~(size_t)7),
				 KTAU_REC_CGROUP, sizeof(r.head) },
			.id = im->cgroups[i].id,
			.path_bytes = (uint32_t)bytes,
		};
		memcpy(r.path, im->cgroups[i].path, bytes);
		err = ktau_writer_put(im->writer, &r);
	}
	return err;
}
