// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/report/account.h"
#include "top_vms.h"

enum { V_VM, V_THREAD, V_TID, V_GUEST, V_VMM, V_PREEMPTED, V_IDLE, V_NR };

static const struct column columns[V_NR] = {
	[V_VM] = { NULL, "VM", COLUMN_TEXT },
	[V_THREAD] = { NULL, "THREAD", COLUMN_TEXT },
	[V_TID] = { NULL, "TID", COLUMN_SIGNED },
	[V_GUEST] = { NULL, "GUEST", COLUMN_SHARE },
	[V_VMM] = { NULL, "VMM", COLUMN_SHARE },
	[V_PREEMPTED] = { NULL, "PREEMPTED", COLUMN_SHARE },
	[V_IDLE] = { NULL, "IDLE", COLUMN_SHARE },
};

/* Longer command lines are cut. The option is the first one of those that libvirt writes. */
enum { CMDLINE_BYTES = 65536 };

/* Names */

static char *checked(char *text)
{
	if (text)
		return text;
	complain("out of memory");
	exit(CLI_FAILED);
}

/* Copy a value to @out, which is as long, and go to the next one. Two commas stand for one. */
static const char *copy_value(const char *from, char *out)
{
	while (*from && (*from != ',' || from[1] == ',')) {
		from += *from == ',';
		*out++ = *from++;
	}
	*out = 0;
	return *from ? from + 1 : from;
}

/* The guest's name: the value of guest=, or the first one if it has no key. */
static char *name_in(const char *values)
{
	static const char key[] = "guest=";
	char *value = checked(malloc(strlen(values) + 1)), *name = NULL;
	const char *rest = values;
	bool first = true;

	for (; *rest && !name; first = false) {
		rest = copy_value(rest, value);
		if (!strncmp(value, key, strlen(key)))
			name = checked(strdup(value + strlen(key)));
		else if (first && !strchr(value, '='))
			name = checked(strdup(value));
	}
	free(value);
	if (name && *name)
		return name;
	free(name);
	return NULL;
}

char *top_vms_qemu_name(const char *cmdline, size_t bytes)
{
	const char *word = cmdline, *end = cmdline + bytes, *next;
	bool is_next = false;

	/* A word without its zero has been cut. */
	for (; word < end && (next = memchr(word, 0, (size_t)(end - word))); word = next + 1) {
		if (is_next)
			return name_in(word);
		is_next = !strcmp(word, "-name") || !strcmp(word, "--name");
	}
	return NULL;
}

/* Read a file of /proc. Return: the number of bytes, 0 if it cannot be read. */
static size_t read_proc(int32_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	size_t bytes;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return 0;
	bytes = fread(text, 1, size, f);
	fclose(f);
	return bytes;
}

/*
 * Whether /proc has this thread. The pid may be that of another one by now, or of another PID
 * namespace.
 */
static bool is_in_proc(const struct ktau_rec_owner *thread)
{
	char file[32], comm[sizeof(thread->comm) + 1];
	size_t bytes, length = strnlen(thread->comm, sizeof(thread->comm));

	snprintf(file, sizeof(file), "task/%" PRId32 "/comm", thread->tid);
	bytes = read_proc(thread->tgid, file, comm, sizeof(comm));
	return bytes == length + 1 && !memcmp(comm, thread->comm, length);
}

static char *name_from_proc(const struct ktau_rec_owner *thread)
{
	char *cmdline, *name;

	if (!is_in_proc(thread))
		return NULL;
	cmdline = cli_alloc(NULL, CMDLINE_BYTES, 1);
	name = top_vms_qemu_name(cmdline, read_proc(thread->tgid, "cmdline", cmdline,
						    CMDLINE_BYTES));
	free(cmdline);
	return name;
}

/* The name that /proc has, or that of the process with its pid. */
static char *name_of(const struct ktau_rec_owner *thread, const struct ktau_snapshot *after,
		     bool live)
{
	const struct ktau_owned *leader = ktau_snapshot_find(after, thread->leader_serial);
	const char *comm = leader ? leader->owner->comm : thread->comm;
	char *name = live ? name_from_proc(thread) : NULL;

	if (!name && asprintf(&name, "%.16s/%" PRId32, comm, thread->tgid) < 0)
		name = NULL;
	return checked(name);
}

/* Rows */

/* A thread, and the name of its VM. */
struct row {
	const struct process *thread;
	char *name;
};

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->thread->label, y->thread->label);
	return order ? order : x->thread->owner.tid < y->thread->owner.tid ? -1 : 1;
}

static double share(const struct view *v, const struct process *p, int part)
{
	if (!account_has(v->stream, p, part) || !p->account.life)
		return (double)NAN;
	return share_of(p->account.parts[part], p->account.life);
}

static void add_row(const struct view *v, struct table *table, const struct row *r)
{
	const struct process *p = r->thread;
	union cell *row = table_row(table);

	row[V_VM].text = r->name;
	row[V_THREAD].text = p->label;
	row[V_TID].sign = p->owner.tid;
	row[V_GUEST].share = share(v, p, ACCOUNT_GUEST);
	/* Interrupts of the host hit the thread outside of the guest, too. */
	row[V_VMM].share = share(v, p, ACCOUNT_USER) + share(v, p, ACCOUNT_KERNEL) +
			   share(v, p, ACCOUNT_IRQ);
	row[V_PREEMPTED].share = share(v, p, ACCOUNT_RUNQ);
	row[V_IDLE].share = share(v, p, ACCOUNT_ASLEEP);
}

static bool is_wanted(const struct report *r, const struct ktau_rec_owner *thread)
{
	size_t i;

	for (i = 0; i < r->nr_pids; i++)
		if (r->pids[i] == thread->tgid || r->pids[i] == thread->tid)
			return true;
	return !r->nr_pids;
}

/* A thread that has been in a guest in its life is shown also if it slept in this period. */
static void add_threads(struct aggregate *threads, const struct view *v,
			const struct period *period)
{
	const struct ktau_owned *o = NULL;
	struct process *p;

	while ((o = ktau_snapshot_next(period->after, o)))
		if (o->owner->kind == KTAU_OWNER_TASK && o->profile->guest_ticks &&
		    is_wanted(v->r, o->owner))
			aggregate_live(threads, o,
				       ktau_snapshot_find(period->before, o->owner->serial));
	aggregate_finish_rows(threads);
	for (p = threads->processes; p < threads->processes + threads->nr; p++)
		p->account.throughout &=
			~(uint32_t)hash_get(&period->rows->missing, p->owner.serial);
}

void top_vms_init(struct top_vms *vms, const struct view *v, const struct period *period,
		  bool live)
{
	const struct process *p;
	struct row *rows;
	size_t nr = 0, i;

	aggregate_init(&vms->threads, BY_THREAD, period->rows->filter, period->registry);
	add_threads(&vms->threads, v, period);
	rows = cli_alloc(NULL, vms->threads.nr, sizeof(*rows));
	vms->names = cli_alloc(NULL, vms->threads.nr + 1, sizeof(*vms->names));
	for (p = vms->threads.processes; nr < vms->threads.nr; p++)
		rows[nr++] = (struct row){ p, name_of(&p->owner, period->after, live) };
	qsort(rows, nr, sizeof(*rows), by_name);
	table_init(&vms->table, "vms", columns, V_NR);
	for (i = 0; i < nr; i++) {
		vms->names[i] = rows[i].name;
		add_row(v, &vms->table, &rows[i]);
	}
	vms->names[nr] = NULL;
	free(rows);
}

void top_vms_deinit(struct top_vms *vms)
{
	size_t i;

	for (i = 0; vms->names[i]; i++)
		free(vms->names[i]);
	free(vms->names);
	table_deinit(&vms->table);
	aggregate_deinit(&vms->threads);
}
