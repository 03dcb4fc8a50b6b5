// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each process did in a period.
 *
 * Each task's difference is taken on its own and added to its process; the
 * sum over the whole machine comes from the sums of both snapshots, which
 * count exited tasks exactly once whether they were read or not. What is left
 * between the two was done by tasks that were evicted unread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "rows.h"
#include "scratch.h"

/*
 * What an owner did in the period: @diff, made for it; or all that it ever did,
 * which is a record of the snapshot's.
 */
struct done {
	struct ktau_owned owned;
	struct ktau_rec_profile *diff;
	const char *cgroup;
};

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED;
}

static const struct ktau_owned *earlier(const struct ktau_snapshot *before,
					const struct ktau_rec_owner *owner)
{
	return is_task(owner) ? ktau_snapshot_find(before, owner->serial) :
				ktau_snapshot_cpu(before, owner->cpu);
}

/* False: nothing of @after's owner belongs here. */
static bool difference(struct rows *rows, const struct ktau_snapshot *snapshot,
		       const struct ktau_owned *after, struct done *done)
{
	const struct ktau_owned *before = earlier(snapshot, after->owner);
	int err;

	*done = (struct done){ .owned = *after };
	if (!before)
		return true;
	if (before->owner->kind == KTAU_OWNER_EXITED)
		return false;
	err = ktau_profile_diff(after->profile, before->profile, &done->diff);
	if (err == -ENOMEM)
		cmd_alloc(NULL, SIZE_MAX, 1);
	done->owned.profile = done->diff;
	rows->backward += err != 0;
	return !err;
}

static bool is_below(const char *path, const char *group)
{
	size_t bytes = strlen(group);

	while (bytes && group[bytes - 1] == '/')
		bytes--;
	return path && !strncmp(path, group, bytes) && (!path[bytes] || path[bytes] == '/');
}

static bool matches(const struct task_filter *f, const struct registry *registry,
		    const struct ktau_rec_owner *owner)
{
	if (f->applied)
		return true;
	if (f->flags & KTAU_SELECT_CGROUP &&
	    !is_below(registry_cgroup(registry, owner->cgroup), f->cgroup))
		return false;
	if (f->flags & KTAU_SELECT_UID && owner->uid != f->uid)
		return false;
	return !(f->flags & KTAU_SELECT_TAG) || owner->tag == f->tag;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ids(const struct ktau_rec_owner *a, const struct ktau_rec_owner *b)
{
	int order = compare_u64((uint32_t)a->tgid, (uint32_t)b->tgid);

	/* A leader is as old as its oldest thread and comes first. */
	if (!order)
		order = compare_u64(a->start_ns, b->start_ns);
	if (!order)
		order = (b->tid == b->tgid) - (a->tid == a->tgid);
	return order ? order : compare_u64(a->serial, b->serial);
}

static int by_ids(const void *a, const void *b)
{
	const struct done *x = a, *y = b;

	return compare_ids(x->owned.owner, y->owned.owner);
}

static int compare_names(const struct ktau_rec_owner *a, const struct ktau_rec_owner *b)
{
	return strncmp(a->comm, b->comm, sizeof(a->comm));
}

static int by_name(const void *a, const void *b)
{
	const struct done *x = a, *y = b;
	int order = compare_names(x->owned.owner, y->owned.owner);

	return order ? order : by_ids(a, b);
}

static int by_cgroup(const void *a, const void *b)
{
	const struct done *x = a, *y = b;
	int order = strcmp(x->cgroup, y->cgroup);

	return order ? order : by_ids(a, b);
}

/* Does task @b, sorted after @a, belong to the same table? */
static bool together(const struct done *a, const struct done *b, enum rows_by by)
{
	const struct ktau_rec_owner *x = a->owned.owner, *y = b->owned.owner;

	switch (by) {
	case BY_THREAD:
		return false;
	case BY_NAME:
		return !compare_names(x, y);
	case BY_CGROUP:
		return !strcmp(a->cgroup, b->cgroup);
	case BY_PROCESS:
		break;
	}
	/* A second leader of the same number is a later process. */
	return y->tgid && x->tgid == y->tgid && y->tid != y->tgid;
}

static void begin_process(struct process *p, const struct done *first, enum rows_by by)
{
	memset(p, 0, sizeof(*p));
	p->owner = *first->owned.owner;
	p->cgroup = first->cgroup;
	p->label = by == BY_CGROUP ? p->cgroup : p->owner.comm;
}

typedef int (*order_fn)(const void *a, const void *b);

static void add_tasks(struct rows *rows, struct done *tasks, size_t nr, enum rows_by by,
		      struct scratch *s)
{
	static const order_fn orders[] = {
		[BY_PROCESS] = by_ids, [BY_THREAD] = by_ids, [BY_NAME] = by_name,
		[BY_CGROUP] = by_cgroup,
	};
	const struct ktau_rec_owner *owner;
	struct process *p;
	size_t i, next;

	qsort(tasks, nr, sizeof(*tasks), orders[by]);
	rows->processes = cmd_alloc(NULL, nr, sizeof(*rows->processes));
	rows->ids = cmd_alloc(NULL, nr, sizeof(*rows->ids));
	for (i = 0; i < nr; i = next) {
		p = &rows->processes[rows->nr++];
		begin_process(p, &tasks[i], by);
		p->ids = &rows->ids[i];
		for (next = i; next < nr; next++) {
			owner = tasks[next].owned.owner;
			if (next > i && !together(&tasks[next - 1], &tasks[next], by))
				break;
			rows->ids[next] = (struct task_ids){ owner->tgid, owner->tid };
			p->nr_ids++;
			p->tasks += owner->nr_tasks ? owner->nr_tasks : 1;
			p->live += owner->kind == KTAU_OWNER_TASK;
			scratch_add(s, &tasks[next].owned);
		}
		scratch_settle(s, p);
	}
}

static void add_cpu(struct rows *rows, const struct done *done, struct scratch *s)
{
	struct process *p;

	rows->cpus = cmd_alloc(rows->cpus, rows->nr_cpus + 1, sizeof(*rows->cpus));
	p = &rows->cpus[rows->nr_cpus++];
	memset(p, 0, sizeof(*p));
	p->owner = *done->owned.owner;
	p->label = p->cgroup = "";
	scratch_add(s, &done->owned);
	scratch_settle(s, p);
}

/* All differences; the caller frees those of tasks. */
static size_t differences(struct rows *rows, const struct period *period,
			  const struct task_filter *filter, struct done *tasks,
			  struct scratch *s)
{
	const struct ktau_owned *o = NULL;
	struct done done;
	size_t nr = 0;

	while ((o = ktau_snapshot_next(period->after, o))) {
		rows->unknown += o->owner->kind > KTAU_OWNER_EVICTED;
		if (!is_task(o->owner) && o->owner->kind != KTAU_OWNER_CPU)
			continue;
		if (is_task(o->owner) && !matches(filter, period->registry, o->owner))
			continue;
		if (!difference(rows, period->before, o, &done))
			continue;
		if (is_task(o->owner)) {
			rows->unlisted += less(o->profile->depth, o->profile->nr_open);
			done.cgroup = registry_cgroup_text(period->registry,
							   o->owner->cgroup);
			tasks[nr++] = done;
		} else {
			add_cpu(rows, &done, s);
			ktau_record_free(done.diff);
		}
	}
	return nr;
}

static void make_total(struct rows *rows, const struct ktau_rec_profile *after,
		       const struct ktau_rec_profile *before, const struct period *period,
		       struct scratch *s)
{
	const struct ktau_owned *o = NULL;

	/* A task may be in one sum and have been left out of the other. */
	scratch_add_entries(s, after);
	scratch_subtract(s, before);
	while ((o = ktau_snapshot_next(period->after, o)))
		if (o->owner->kind == KTAU_OWNER_TASK)
			scratch_add_open(s, o->profile);
	scratch_settle(s, &rows->total);
	rows->refused = less(after->refused, before->refused);
	rows->refused_ticks = less(after->refused_ticks, before->refused_ticks);
}

/* The total without what is known of each task. */
static void make_evicted(struct rows *rows, struct scratch *s)
{
	struct process total = rows->total;
	size_t i;

	scratch_add_process(s, &total);
	for (i = 0; i < s->nr; i++)
		s->routines[i].open = s->routines[i].open_incl = s->routines[i].open_excl = 0;
	for (i = 0; i < rows->nr; i++)
		scratch_subtract_process(s, &rows->processes[i]);
	scratch_settle(s, &rows->evicted);
	rows->evicted.owner.kind = KTAU_OWNER_EVICTED;
}

static int make_sums(struct rows *rows, const struct period *period, struct scratch *s)
{
	struct ktau_rec_profile *after = NULL, *before = NULL;
	int err = ktau_snapshot_sum(period->after, &after, NULL);

	if (!err)
		err = ktau_snapshot_sum(period->before, &before, NULL);
	if (!err) {
		make_total(rows, after, before, period, s);
		make_evicted(rows, s);
	}
	ktau_record_free(after);
	ktau_record_free(before);
	return err;
}

/* Of some tasks only: what was evicted is nobody's by name. */
static void sum_tasks(struct rows *rows, const struct done *tasks, size_t nr, struct scratch *s)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		scratch_add_process(s, &rows->processes[i]);
	scratch_settle(s, &rows->total);
	for (i = 0; i < nr; i++) {
		rows->refused += tasks[i].owned.profile->refused;
		rows->refused_ticks += tasks[i].owned.profile->refused_ticks;
	}
}

int rows_init(struct rows *rows, const struct period *period, enum rows_by by,
	      const struct task_filter *filter)
{
	size_t room = ktau_snapshot_count(period->after), nr, i;
	struct done *tasks = cmd_alloc(NULL, room, sizeof(*tasks));
	struct scratch s = { 0 };
	int err = 0;

	memset(rows, 0, sizeof(*rows));
	rows->total.label = rows->total.cgroup = "";
	rows->evicted.label = "(evicted)";
	rows->evicted.cgroup = "";
	nr = differences(rows, period, filter, tasks, &s);
	add_tasks(rows, tasks, nr, by, &s);
	rows->unknown += s.unknown;
	if (filter->flags)
		sum_tasks(rows, tasks, nr, &s);
	else
		err = make_sums(rows, period, &s);
	for (i = 0; i < nr; i++)
		ktau_record_free(tasks[i].diff);
	free(tasks);
	scratch_deinit(&s);
	return err;
}

void rows_deinit(struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		free(rows->processes[i].routines);
	for (i = 0; i < rows->nr_cpus; i++)
		free(rows->cpus[i].routines);
	free(rows->evicted.routines);
	free(rows->total.routines);
	free(rows->processes);
	free(rows->ids);
	free(rows->cpus);
}

uint64_t rows_own_ticks(const struct process *p, const struct names *names,
			const struct ktau_rec_stream *stream)
{
	const struct routine *r;
	uint64_t own = 0;

	for (r = p->routines; r < p->routines + p->nr_routines; r++)
		if (r->kind == KTAU_KIND_TIMER)
			own += names_hook_ticks(names, stream, r->id, r->count);
	return own;
}

static void subtract(struct process *p, const struct names *names,
		     const struct ktau_rec_stream *stream)
{
	struct routine *r;
	uint64_t own;

	for (r = p->routines; r < p->routines + p->nr_routines; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		own = names_hook_ticks(names, stream, r->id, r->count);
		r->incl = less(r->incl, own);
		r->excl = less(r->excl, own);
	}
}

void rows_subtract(struct rows *rows, const struct names *names,
		   const struct ktau_rec_stream *stream)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		subtract(&rows->processes[i], names, stream);
	for (i = 0; i < rows->nr_cpus; i++)
		subtract(&rows->cpus[i], names, stream);
	subtract(&rows->evicted, names, stream);
	subtract(&rows->total, names, stream);
}
