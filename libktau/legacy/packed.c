// SPDX-License-Identifier: LGPL-2.1-or-later
/* Profiles in one piece of memory, and as a list. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ktau_proc_interface.h>

#include "packed.h"

#define MAGIC	0x4b4c4547U

struct head {
	uint32_t magic;
	uint32_t nr_profiles;
};

struct profile {
	int32_t pid;
	uint32_t nr_rows;
};

static bool is_wanted(const struct ktau__wanted *wanted, pid_t pid)
{
	size_t i;

	for (i = 0; i < wanted->nr_pids; i++)
		if (wanted->pids[i] == pid)
			return true;
	return !wanted->nr_pids;
}

/* The end of the tasks that have had one pid. */
static size_t end_of_pid(const struct ktau__tasks *tasks, size_t first)
{
	size_t end = first;

	while (end < tasks->nr && tasks->task[end].pid == tasks->task[first].pid)
		end++;
	return end;
}

/* Append the sum of the tasks from @first to @end. */
static char *pack_pid(const struct ktau__tasks *tasks, size_t first, size_t end, char *out)
{
	struct profile profile = { .pid = tasks->task[first].pid };
	struct ktau__row *rows = (struct ktau__row *)(out + sizeof(profile));
	size_t nr = 0;

	for (; first < end; first++) {
		if (tasks->task[first].nr_rows)
			memcpy(rows + nr, tasks->task[first].rows,
			       tasks->task[first].nr_rows * sizeof(*rows));
		nr += tasks->task[first].nr_rows;
	}
	profile.nr_rows = ktau__rows_fold(rows, nr);
	memcpy(out, &profile, sizeof(profile));
	return (char *)(rows + profile.nr_rows);
}

/* At most this many bytes: exactly, if no two tasks have had one pid. */
static size_t room_for(const struct ktau__tasks *tasks)
{
	size_t i, room = sizeof(struct head);

	for (i = 0; i < tasks->nr; i++)
		room += sizeof(struct profile) +
			tasks->task[i].nr_rows * sizeof(struct ktau__row);
	return room;
}

int ktau__pack_tasks(const struct ktau__tasks *tasks, const struct ktau__wanted *wanted,
	       char **data, size_t *size)
{
	struct head head = { .magic = MAGIC };
	size_t first, end;
	char *out;

	*data = malloc(room_for(tasks));
	if (!*data)
		return -ENOMEM;
	out = *data + sizeof(head);
	for (first = 0; first < tasks->nr; first = end) {
		end = end_of_pid(tasks, first);
		if (!is_wanted(wanted, tasks->task[first].pid))
			continue;
		out = pack_pid(tasks, first, end, out);
		head.nr_profiles++;
	}
	memcpy(*data, &head, sizeof(head));
	*size = out - *data;
	return 0;
}

/* Take @bytes from the front of the buffer; false if it does not have them. */
static bool take(const char **buffer, size_t *size, void *data, size_t bytes)
{
	if (*size < bytes)
		return false;
	memcpy(data, *buffer, bytes);
	*buffer += bytes;
	*size -= bytes;
	return true;
}

o_ent *ktau__entries_create(unsigned int nr)
{
	o_ent *entries = malloc(((size_t)nr + 1) * sizeof(*entries));

	if (entries)
		entries[nr] = (o_ent){ .index = UINT_MAX };
	return entries;
}

static void set_entry(o_ent *entry, const struct ktau__row *row)
{
	*entry = (o_ent){ .index = row->index,
			  .entry = { .addr = row->addr, .type = KTAU_TIMER } };
	entry->entry.data.timer.count = row->count;
	entry->entry.data.timer.incl = row->incl;
	entry->entry.data.timer.excl = row->excl;
}

/* 0, -EBADMSG, -ENOMEM. */
static int unpack_profile(const char **buffer, size_t *size, ktau_output *out)
{
	struct profile profile;
	struct ktau__row row;
	uint32_t i;

	if (!take(buffer, size, &profile, sizeof(profile)) ||
	    profile.nr_rows > *size / sizeof(row))
		return -EBADMSG;
	*out = (ktau_output){ .size = profile.nr_rows, .pid = profile.pid };
	out->ent_lst = ktau__entries_create(profile.nr_rows);
	if (!out->ent_lst)
		return -ENOMEM;
	for (i = 0; i < profile.nr_rows; i++) {
		take(buffer, size, &row, sizeof(row));
		set_entry(&out->ent_lst[i], &row);
	}
	return 0;
}

static long unpack(const char *buffer, size_t size, ktau_output **output)
{
	struct head head;
	ktau_output *list;
	uint32_t i;
	int err = 0;

	if (!take(&buffer, &size, &head, sizeof(head)) || head.magic != MAGIC ||
	    head.nr_profiles > size / sizeof(struct profile))
		return -EBADMSG;
	list = calloc((size_t)head.nr_profiles + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < head.nr_profiles && !err; i++)
		err = unpack_profile(&buffer, &size, &list[i]);
	if (!err) {
		*output = list;
		return head.nr_profiles;
	}
	while (i--)
		free(list[i].ent_lst);
	free(list);
	return err;
}

long unpack_bindata(int type, char *buffer, unsigned long size, ktau_output **output)
{
	long nr = -EINVAL;

	if (type == KTAU_TYPE_PROFILE && buffer && output)
		nr = unpack(buffer, size, output);
	if (nr >= 0)
		return nr;
	errno = -nr;
	return -1;
}
