// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of changed tasks leave out those that slept. What a task did that was left out of all
 * streams of a period is one figure: the time from its earlier profile on is life, sleep, and time
 * in its frames in flight. Such tasks are counted by kind: those of a kind belong to one row,
 * measure the same groups and sleep in the same frames. In the first such period of a task, its
 * time is added to that of its kind; from then on, it is the length of the period.
 *
 * All other tasks are compared with their earlier profile.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "sleepers.h"

/* Frames in flight of a profile, at most. */
enum { MAX_FRAMES = 32 };

/**
 * struct sleeper - a live task
 * @serial: its serial; 0: it no longer exists
 * @ids: its pid and tid
 * @kind: index of its kind plus 1; 0: it is not known to sleep
 * @seen: it is in a stream of the period
 */
struct sleeper {
	uint64_t serial;
	struct task_ids ids;
	uint32_t kind;
	bool seen;
};

/* What tasks of a kind have in common; compared byte by byte. */
struct likeness {
	uint64_t serial;	/* of the task, if a row is a process or a thread */
	uint64_t cgroup;
	uint32_t uid, tag, flags;
	uint32_t throughout;
	uint32_t measured;	/* its sleep is part of its account */
	uint32_t nr_frames;
	uint32_t frames[MAX_FRAMES];
	char comm[16];
};

/**
 * struct sleeper_kind - tasks that only differ in their pids
 * @like: what they have in common
 * @owner: one of them
 * @nr: number of tasks that slept for the whole period before
 * @nr_new: number of tasks that slept for the first whole period
 * @new_ticks: sum of their times
 * @row: index of their row plus 1 in the current period; 0: they are not selected
 */
struct sleeper_kind {
	struct likeness like;
	struct ktau_rec_owner owner;
	uint64_t nr, nr_new, new_ticks;
	size_t row;
};

static struct sleeper *find(const struct sleepers *s, uint64_t serial)
{
	size_t index = hash_get(&s->by_serial, serial);

	return index && s->tasks[index - 1].serial == serial ? &s->tasks[index - 1] : NULL;
}

static void see(struct sleepers *s, uint64_t serial)
{
	struct sleeper *task = find(s, serial);

	if (!task)
		return;
	task->seen = true;
	if (task->kind)
		s->kinds[task->kind - 1].nr--;
	task->kind = 0;
}

static void see_owner(struct sleepers *s, const struct ktau_rec_owner *owner)
{
	if (owner->kind == KTAU_OWNER_TASK && !find(s, owner->serial)) {
		if (s->nr == s->room) {
			s->room = s->room ? s->room * 2 : 256;
			s->tasks = cli_alloc(s->tasks, s->room, sizeof(*s->tasks));
		}
		s->tasks[s->nr++] = (struct sleeper){ .serial = owner->serial };
		hash_put(&s->by_serial, owner->serial, s->nr);
	}
	see(s, owner->serial);
}

void sleepers_put(struct sleepers *s, const union ktau_record *record)
{
	uint32_t i;

	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		s->complete |= !(record->stream->target & KTAU_TARGET_CHANGED);
		break;
	case KTAU_REC_OWNER:
		see_owner(s, record->owner);
		break;
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		see(s, record->profile->serial);
		break;
	case KTAU_REC_GONE:
		for (i = 0; i < record->gone->nr_serials; i++)
			see(s, ktau_gone_serials(record->gone)[i]);
		break;
	}
}

/* After a complete stream, every task counts as seen. */
static void wake_all(struct sleepers *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		s->tasks[i].kind = 0;
		s->tasks[i].seen = true;
	}
	s->nr_kinds = 0;
	hash_clear(&s->by_kind);
}

/* The frames in flight, if the time in each of them grows with the time asleep. */
static bool get_frames(const struct ktau_rec_profile *p, struct likeness *like)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint64_t incl, excl, inner = 0;
	uint32_t i;

	if (p->nr_open > MAX_FRAMES)
		return false;
	like->nr_frames = p->nr_open;
	for (i = 0; i < p->nr_open; i++) {
		/* The innermost one is not measured if it has no time of its own. */
		if (ktau_profile_inflight(p, i, &incl, &excl) || (!i && !excl) ||
		    incl - excl != open[i].child_ticks + inner)
			return false;
		like->frames[i] = open[i].id;
		inner = incl;
	}
	return true;
}

/* Has the task slept up to the end of the period, and if so, what is it like? */
static bool is_asleep(const struct period *p, const struct ktau_owned *o, struct likeness *like)
{
	const struct ktau_rec_stream *end = ktau_snapshot_stream(p->after);
	const struct ktau_rec_owner *owner = o->owner;

	if (o->profile->ticks != end->ticks || owner->nr_tasks > 1 ||
	    owner->flags & KTAU_OWNER_FOLDED)
		return false;
	memset(like, 0, sizeof(*like));
	if (p->rows->by == BY_PROCESS || p->rows->by == BY_THREAD)
		like->serial = owner->serial;
	like->cgroup = owner->cgroup;
	like->uid = owner->uid;
	like->tag = owner->tag;
	like->flags = owner->flags;
	like->measured = o->profile->groups & KTAU_GROUP_SCHED && o->profile->asleep_ticks;
	if (like->measured)
		like->throughout = o->profile->groups_throughout;
	memcpy(like->comm, owner->comm, sizeof(like->comm));
	return get_frames(o->profile, like);
}

static uint32_t kind_of(struct sleepers *s, const struct likeness *like,
			const struct ktau_rec_owner *owner)
{
	uint64_t key = hash_bytes(HASH_START, like, sizeof(*like));
	size_t index;

	for (; (index = hash_get(&s->by_kind, key)); key++)
		if (!memcmp(&s->kinds[index - 1].like, like, sizeof(*like)))
			return (uint32_t)index;
	if (s->nr_kinds == s->room_kinds) {
		s->room_kinds = s->room_kinds ? s->room_kinds * 2 : 64;
		s->kinds = cli_alloc(s->kinds, s->room_kinds, sizeof(*s->kinds));
	}
	s->kinds[s->nr_kinds++] = (struct sleeper_kind){ .like = *like, .owner = *owner };
	hash_put(&s->by_kind, key, s->nr_kinds);
	return (uint32_t)s->nr_kinds;
}

static void find_row(struct sleeper_kind *k, struct aggregate *rows)
{
	const struct process *row = aggregate_row(rows, &k->owner);

	k->row = row ? (size_t)(row - rows->processes) + 1 : 0;
}

/* Add the times of the tasks of a kind to their row; each of them slept for @ticks. */
static void add_kind(struct sleeper_kind *k, struct aggregate *rows, uint64_t ticks)
{
	ktau_sum_t sum = (ktau_sum_t)ticks * k->nr + k->new_ticks;
	struct process *row = &rows->processes[k->row - 1];

	k->nr += k->nr_new;
	if (k->nr && k->row) {
		row->account.life += sum;
		row->account.throughout &= k->like.throughout;
		if (k->like.measured)
			row->account.parts[ACCOUNT_ASLEEP] += sum;
		tally_add_asleep(&row->tally, &(struct asleep){
			.frames = k->like.frames, .nr_frames = k->like.nr_frames,
			.nr = k->nr, .ticks = sum, .measured_ticks = k->like.measured ? sum : 0,
		});
	}
	k->nr_new = k->new_ticks = 0;
}

/* The row of a sleeping task counts it, and may be named by it. */
static void count(const struct sleeper *task, const struct sleeper_kind *k, const struct period *p)
{
	struct process *row;

	if (!k->row)
		return;
	row = &p->rows->processes[k->row - 1];
	if (!row->tasks || (p->rows->by == BY_PROCESS && task->ids.tid == task->ids.tgid))
		row->owner = *ktau_snapshot_find(p->after, task->serial)->owner;
	aggregate_count(row, task->ids, k->like.flags);
}

/* Has the task slept since its earlier profile? It then has a kind. */
static bool fall_asleep(struct sleepers *s, struct sleeper *task, const struct ktau_owned *now,
			const struct period *p)
{
	const struct ktau_owned *before = ktau_snapshot_find(p->before, task->serial);
	struct sleeper_kind *k;
	struct likeness like;

	if (task->seen || !before || before->profile->ticks >= now->profile->ticks ||
	    !is_asleep(p, now, &like))
		return false;
	task->kind = kind_of(s, &like, now->owner);
	k = &s->kinds[task->kind - 1];
	if (!k->nr && !k->nr_new)
		find_row(k, p->rows);
	k->nr_new++;
	k->new_ticks += now->profile->ticks - before->profile->ticks;
	count(task, k, p);
	return true;
}

/* Add what a task did that is not known to sleep. Return: whether it still exists. */
static bool add_task(struct sleepers *s, struct sleeper *task, const struct period *p)
{
	const struct ktau_owned *now = ktau_snapshot_find(p->after, task->serial);

	if (!now || now->owner->kind != KTAU_OWNER_TASK)
		return false;
	task->ids = (struct task_ids){ now->owner->tgid, now->owner->tid };
	if (!fall_asleep(s, task, now, p))
		aggregate_live(p->rows, now, ktau_snapshot_find(p->before, task->serial));
	return true;
}

/* Forget the tasks that no longer exist, once they are half of all. */
static void compact(struct sleepers *s, size_t gone)
{
	size_t i, nr = 0;

	if (gone <= s->nr / 2)
		return;
	hash_clear(&s->by_serial);
	for (i = 0; i < s->nr; i++) {
		if (!s->tasks[i].serial)
			continue;
		s->tasks[nr++] = s->tasks[i];
		hash_put(&s->by_serial, s->tasks[nr - 1].serial, nr);
	}
	s->nr = nr;
}

void sleepers_add(struct sleepers *s, const struct period *p)
{
	uint64_t ticks = ktau_snapshot_stream(p->after)->ticks -
			 ktau_snapshot_stream(p->before)->ticks;
	struct sleeper *task;
	size_t i, gone = 0;

	/* Kinds of which no task is left are forgotten together. */
	if (s->complete || !ticks || s->nr_kinds > 2 * s->nr)
		wake_all(s);
	s->complete = false;
	for (i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].nr)
			find_row(&s->kinds[i], p->rows);
	for (task = s->tasks; task < s->tasks + s->nr; task++) {
		if (task->serial && task->kind)
			count(task, &s->kinds[task->kind - 1], p);
		else if (task->serial && !add_task(s, task, p))
			task->serial = 0;
		task->seen = false;
		gone += !task->serial;
	}
	for (i = 0; i < s->nr_kinds; i++)
		add_kind(&s->kinds[i], p->rows, ticks);
	compact(s, gone);
}

void sleepers_clear(struct sleepers *s)
{
	s->nr = s->nr_kinds = 0;
	hash_clear(&s->by_serial);
	hash_clear(&s->by_kind);
	s->complete = false;
}

void sleepers_deinit(struct sleepers *s)
{
	hash_deinit(&s->by_serial);
	hash_deinit(&s->by_kind);
	free(s->tasks);
	free(s->kinds);
	*s = (struct sleepers){ 0 };
}
