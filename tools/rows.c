// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each process did in a period.
 *
 * Each task's difference is taken on its own and added to its process; the
 * sum over the whole machine comes from the sums of both snapshots, which
 * count the dead exactly once whether anybody has read them or not. What is
 * left between the two is what the reaped have done unseen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "rows.h"

/* One process on its way: a table by id. */
struct scratch {
	struct routine routines[KTAU_NR_IDS];
	bool used[KTAU_NR_IDS];
};

static struct routine *slot(struct scratch *s, uint32_t id, uint32_t kind)
{
	struct routine *r = &s->routines[id];

	if (!s->used[id]) {
		s->used[id] = true;
		r->id = id;
		r->kind = kind;
		r->min = UINT64_MAX;
	}
	return r;
}

static void add_entry(struct scratch *s, const struct ktau_entry *e)
{
	struct routine *r;

	if (e->id >= KTAU_NR_IDS)
		return;
	r = slot(s, e->id, e->kind);
	r->count += e->count;
	r->incl += e->incl;
	if (e->kind == KTAU_KIND_COUNTER) {
		if (e->min < r->min)
			r->min = e->min;
		if (e->max > r->max)
			r->max = e->max;
	} else {
		r->excl += e->excl;
	}
}

/* Of a recursion only the outermost frame counts as inclusive time. */
static bool outermost(const struct ktau_rec_profile *p, uint32_t index)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	for (i = index + 1; i < p->nr_open; i++)
		if (open[i].id == open[index].id)
			return false;
	return true;
}

static void add_open(struct scratch *s, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint64_t incl, excl;
	struct routine *r;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		if (open[i].id >= KTAU_NR_IDS || ktau_profile_inflight(p, i, &incl, &excl))
			continue;
		r = slot(s, open[i].id, KTAU_KIND_TIMER);
		r->open++;
		r->open_excl += excl;
		if (outermost(p, i))
			r->open_incl += incl;
	}
}

static void add_profile(struct scratch *s, const struct ktau_rec_profile *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++)
		add_entry(s, &ktau_profile_entries(p)[i]);
	if (p->owner.kind == KTAU_OWNER_TASK)
		add_open(s, p);
}

/* Moves the scratch table into @process and empties it. */
static void settle(struct scratch *s, struct process *process)
{
	size_t nr = 0;
	uint32_t id;

	for (id = 0; id < KTAU_NR_IDS; id++)
		nr += s->used[id];
	process->routines = cmd_alloc(NULL, nr, sizeof(*process->routines));
	for (id = 0; id < KTAU_NR_IDS; id++) {
		if (!s->used[id])
			continue;
		process->routines[process->nr_routines++] = s->routines[id];
		if (s->routines[id].kind == KTAU_KIND_TIMER)
			process->pairs += s->routines[id].count;
	}
	memset(s, 0, sizeof(*s));
}

static const struct ktau_rec_profile *earlier(const struct ktau_snapshot *before,
					      const struct ktau_owner *owner)
{
	switch (owner->kind) {
	case KTAU_OWNER_TASK:
	case KTAU_OWNER_DEAD:
		return ktau_snapshot_find(before, owner->serial);
	case KTAU_OWNER_CPU:
		return ktau_snapshot_cpu(before, owner->cpu);
	}
	return NULL;
}

/*
 * What an owner did in the period: @diff, made for it; or all that it ever did,
 * which is a record of the snapshot's.
 */
struct done {
	const struct ktau_rec_profile *profile;
	struct ktau_rec_profile *diff;
};

/* False: nothing of @after's owner belongs here. */
static bool difference(struct rows *rows, const struct ktau_snapshot *snapshot,
		       const struct ktau_rec_profile *after, struct done *done)
{
	const struct ktau_rec_profile *before = earlier(snapshot, &after->owner);
	int err;

	*done = (struct done){ .profile = after };
	if (!before)
		return true;
	if (before->owner.kind == KTAU_OWNER_DEAD)
		return false;
	err = ktau_profile_diff(after, before, &done->diff);
	if (err == -ENOMEM)
		cmd_alloc(NULL, SIZE_MAX, 1);
	done->profile = done->diff;
	rows->backward += err != 0;
	return !err;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ids(const struct ktau_owner *a, const struct ktau_owner *b)
{
	int order = compare_u64((uint32_t)a->tgid, (uint32_t)b->tgid);

	/* A leader is as old as its oldest thread and stands first. */
	if (!order)
		order = compare_u64(a->start_ns, b->start_ns);
	if (!order)
		order = (b->tid == b->tgid) - (a->tid == a->tgid);
	return order ? order : compare_u64(a->serial, b->serial);
}

static int by_ids(const void *a, const void *b)
{
	const struct done *x = a, *y = b;

	return compare_ids(&x->profile->owner, &y->profile->owner);
}

static int by_name(const void *a, const void *b)
{
	const struct ktau_owner *x = &((const struct done *)a)->profile->owner;
	const struct ktau_owner *y = &((const struct done *)b)->profile->owner;
	int order = strncmp(x->comm, y->comm, sizeof(x->comm));

	return order ? order : compare_ids(x, y);
}

/* Does task @b, sorted behind @a, belong to the same table? */
static bool together(const struct ktau_owner *a, const struct ktau_owner *b, enum rows_by by)
{
	switch (by) {
	case BY_THREAD:
		return false;
	case BY_NAME:
		return !strncmp(a->comm, b->comm, sizeof(a->comm));
	case BY_PROCESS:
		break;
	}
	/* A second leader of the same number is a later process. */
	return b->tgid && a->tgid == b->tgid && b->tid != b->tgid;
}

static bool is_task(const struct ktau_rec_profile *p)
{
	return p->owner.kind == KTAU_OWNER_TASK || p->owner.kind == KTAU_OWNER_DEAD;
}

static void add_tasks(struct rows *rows, struct done *tasks, size_t nr, enum rows_by by,
		      struct scratch *s)
{
	const struct ktau_owner *owner;
	struct process *p;
	size_t i, next;

	qsort(tasks, nr, sizeof(*tasks), by == BY_NAME ? by_name : by_ids);
	rows->processes = cmd_alloc(NULL, nr, sizeof(*rows->processes));
	rows->ids = cmd_alloc(NULL, nr, sizeof(*rows->ids));
	for (i = 0; i < nr; i = next) {
		p = &rows->processes[rows->nr++];
		memset(p, 0, sizeof(*p));
		p->owner = tasks[i].profile->owner;
		p->ids = &rows->ids[i];
		for (next = i; next < nr; next++) {
			owner = &tasks[next].profile->owner;
			if (next > i &&
			    !together(&tasks[next - 1].profile->owner, owner, by))
				break;
			rows->ids[next] = (struct task_ids){ owner->tgid, owner->tid };
			p->tasks++;
			p->live += owner->kind == KTAU_OWNER_TASK;
			add_profile(s, tasks[next].profile);
		}
		settle(s, p);
	}
}

static void add_cpu(struct rows *rows, const struct ktau_rec_profile *diff, struct scratch *s)
{
	struct process *p;

	rows->cpus = cmd_alloc(rows->cpus, rows->nr_cpus + 1, sizeof(*rows->cpus));
	p = &rows->cpus[rows->nr_cpus++];
	memset(p, 0, sizeof(*p));
	p->owner = diff->owner;
	add_profile(s, diff);
	settle(s, p);
}

/* All differences; the caller frees those of tasks. */
static size_t differences(struct rows *rows, const struct period *period,
			  struct done *tasks, struct scratch *s)
{
	const struct ktau_rec_profile *p = NULL;
	struct done done;
	size_t nr = 0;

	while ((p = ktau_snapshot_next(period->after, p))) {
		if (!is_task(p) && p->owner.kind != KTAU_OWNER_CPU)
			continue;
		if (!difference(rows, period->before, p, &done))
			continue;
		if (is_task(p)) {
			rows->unlisted += p->depth > p->nr_open ? p->depth - p->nr_open : 0;
			tasks[nr++] = done;
		} else {
			add_cpu(rows, done.profile, s);
			ktau_record_free(done.diff);
		}
	}
	return nr;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* a - b for the sums, nothing below 0: a task may have been left out of one. */
static void subtract_sum(struct scratch *s, const struct ktau_rec_profile *sum)
{
	const struct ktau_entry *e = ktau_profile_entries(sum);
	struct routine *r;
	uint32_t i;

	for (i = 0; i < sum->nr_entries; i++, e++) {
		if (e->id >= KTAU_NR_IDS || !s->used[e->id])
			continue;
		r = &s->routines[e->id];
		r->count = less(r->count, e->count);
		r->incl = less(r->incl, e->incl);
		if (e->kind == KTAU_KIND_TIMER)
			r->excl = less(r->excl, e->excl);
		s->used[e->id] = r->count || r->incl || r->excl;
		if (!s->used[e->id])
			memset(r, 0, sizeof(*r));
	}
}

static void make_total(struct rows *rows, const struct ktau_rec_profile *after,
		       const struct ktau_rec_profile *before, const struct period *period,
		       struct scratch *s)
{
	const struct ktau_rec_profile *p = NULL;

	add_profile(s, after);
	subtract_sum(s, before);
	while ((p = ktau_snapshot_next(period->after, p)))
		if (p->owner.kind == KTAU_OWNER_TASK)
			add_open(s, p);
	settle(s, &rows->total);
	rows->total.owner = after->owner;
	rows->refused = less(after->refused, before->refused);
	rows->refused_ticks = less(after->refused_ticks, before->refused_ticks);
	rows->clamped = less(after->clamped, before->clamped);
}

/* The total without what is known of each task. */
static void make_reaped(struct rows *rows, struct scratch *s)
{
	const struct process *total = &rows->total;
	const struct routine *r;
	struct routine *to;
	size_t i, k;

	for (k = 0; k < total->nr_routines; k++) {
		r = &total->routines[k];
		if (!r->count && !r->incl)
			continue;
		to = slot(s, r->id, r->kind);
		*to = *r;
		to->open = to->open_incl = to->open_excl = 0;
	}
	for (i = 0; i < rows->nr; i++) {
		for (k = 0; k < rows->processes[i].nr_routines; k++) {
			r = &rows->processes[i].routines[k];
			to = &s->routines[r->id];
			to->count = less(to->count, r->count);
			to->incl = less(to->incl, r->incl);
			to->excl = less(to->excl, r->excl);
			s->used[r->id] &= to->count || to->incl || to->excl;
		}
	}
	settle(s, &rows->reaped);
	rows->reaped.owner.kind = KTAU_OWNER_REAPED;
	strcpy(rows->reaped.owner.comm, "(reaped)");
}

static int make_sums(struct rows *rows, const struct period *period, struct scratch *s)
{
	struct ktau_rec_profile *after = NULL, *before = NULL;
	int err = ktau_snapshot_sum(period->after, &after);

	if (!err)
		err = ktau_snapshot_sum(period->before, &before);
	if (!err) {
		make_total(rows, after, before, period, s);
		make_reaped(rows, s);
	}
	ktau_record_free(after);
	ktau_record_free(before);
	return err;
}

int rows_init(struct rows *rows, const struct period *period, enum rows_by by)
{
	size_t room = ktau_snapshot_count(period->after), nr, i;
	struct done *tasks = cmd_alloc(NULL, room, sizeof(*tasks));
	struct scratch *s = cmd_alloc(NULL, 1, sizeof(*s));
	int err;

	memset(s, 0, sizeof(*s));
	memset(rows, 0, sizeof(*rows));
	nr = differences(rows, period, tasks, s);
	add_tasks(rows, tasks, nr, by, s);
	for (i = 0; i < nr; i++)
		ktau_record_free(tasks[i].diff);
	free(tasks);
	err = make_sums(rows, period, s);
	free(s);
	return err;
}

void rows_deinit(struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		free(rows->processes[i].routines);
	for (i = 0; i < rows->nr_cpus; i++)
		free(rows->cpus[i].routines);
	free(rows->reaped.routines);
	free(rows->total.routines);
	free(rows->processes);
	free(rows->ids);
	free(rows->cpus);
}

static void subtract(struct process *p, uint64_t pair_mticks)
{
	struct routine *r;
	uint64_t own;

	for (r = p->routines; r < p->routines + p->nr_routines; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		own = pairs_ticks(r->count, pair_mticks);
		r->incl = less(r->incl, own);
		r->excl = less(r->excl, own);
	}
}

void rows_subtract(struct rows *rows, uint64_t pair_mticks)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		subtract(&rows->processes[i], pair_mticks);
	for (i = 0; i < rows->nr_cpus; i++)
		subtract(&rows->cpus[i], pair_mticks);
	subtract(&rows->reaped, pair_mticks);
	subtract(&rows->total, pair_mticks);
}
