// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each process did in a period.
 *
 * The difference of each task is computed separately and added to its row: for an exited task
 * when it is read, for all others at the end. The total of the machine is computed from the
 * sums in the two snapshots, which contain each exited task exactly once, whether it was read
 * or not. The total minus all rows is what tasks did that were evicted before they were read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "aggregate.h"

/* The snapshots at the start and at the end of the period. */
struct between {
	const struct ktau_snapshot *before, *after;
};

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED;
}

static bool is_below(const char *path, const char *group)
{
	size_t bytes = strlen(group);

	while (bytes && group[bytes - 1] == '/')
		bytes--;
	return path && !strncmp(path, group, bytes) && (!path[bytes] || path[bytes] == '/');
}

static bool matches(const struct aggregate *rows, const struct ktau_rec_owner *owner)
{
	const struct task_filter *f = rows->filter;

	if (f->applied)
		return true;
	if (f->flags & KTAU_SELECT_CGROUP &&
	    !is_below(registry_cgroup(rows->registry, owner->cgroup), f->cgroup))
		return false;
	if (f->flags & KTAU_SELECT_UID && owner->uid != f->uid)
		return false;
	return !(f->flags & KTAU_SELECT_TAG) || owner->tag == f->tag;
}

/* Is a figure in @before larger than in @after? */
static bool goes_backward(const struct ktau_rec_profile *after,
			  const struct ktau_rec_profile *before)
{
	const struct ktau_entry *a = ktau_profile_entries(after), *end = a + after->nr_entries;
	const struct ktau_entry *b = ktau_profile_entries(before);
	uint32_t i;

	for (i = 0; i < before->nr_entries; i++, b++) {
		while (a < end && a->id < b->id)
			a++;
		if (a == end || a->id != b->id || a->kind != b->kind || a->count < b->count)
			return true;
		if (a->kind == KTAU_KIND_TIMER && (a->incl < b->incl || a->excl < b->excl))
			return true;
	}
	return after->refused < before->refused || after->outer_ticks < before->outer_ticks;
}

static void add_parts(const struct ktau_rec_profile *p, ktau_sum_t *parts)
{
	parts[ACCOUNT_USER] += p->user_ticks;
	parts[ACCOUNT_KERNEL] += p->kernel_ticks;
	parts[ACCOUNT_IRQ] += p->irq_ticks;
	parts[ACCOUNT_RUNQ] += p->runq_ticks;
	parts[ACCOUNT_ASLEEP] += p->asleep_ticks;
	parts[ACCOUNT_GUEST] += p->guest_ticks;
}

static ktau_sum_t sum_of(const ktau_sum_t *parts)
{
	ktau_sum_t sum = 0;
	int i;

	for (i = 0; i < ACCOUNT_NR; i++)
		sum += parts[i];
	return sum;
}

static void account_add(struct account *to, const struct account *from)
{
	int i;

	to->life += from->life;
	to->throughout &= from->throughout;
	for (i = 0; i < ACCOUNT_NR; i++)
		to->parts[i] += from->parts[i];
}

/*
 * The account of one owner.
 *
 * For folded threads neither the start nor the end is known, so their lifetime is the sum of
 * the parts. A kernel that measures none of the parts is an older one.
 */
static void account_of(const struct aggregate *rows, const struct ktau_owned *after,
		       const struct ktau_rec_profile *before, struct account *account)
{
	const struct ktau_rec_profile *p = after->profile;
	ktau_sum_t old[ACCOUNT_NR] = { 0 }, sum;
	int i;

	memset(account->parts, 0, sizeof(account->parts));
	add_parts(p, account->parts);
	if (before)
		add_parts(before, old);
	for (i = 0; i < ACCOUNT_NR; i++)
		account->parts[i] = sum_less(account->parts[i], old[i]);
	sum = sum_of(account->parts);
	if (after->owner->flags & KTAU_OWNER_FOLDED)
		account->life = sum;
	else
		account->life = less(p->ticks, before ? before->ticks : p->start_ticks);
	account->throughout = p->groups_throughout &
			      ~(uint32_t)hash_get(&rows->missing, p->serial);
	if (account->life && !sum)
		account->throughout = 0;
}

static void tally_difference(struct aggregate *rows, struct tally *to,
			     const struct ktau_rec_profile *after,
			     const struct ktau_rec_profile *before)
{
	if (!before && (to->room || to->packed)) {
		rows->unknown += tally_add(to, after);
		return;
	}
	/* Many rows have a single task, and then no more room than they need. */
	tally_clear(&rows->scratch);
	rows->unknown += tally_add(&rows->scratch, after);
	if (before)
		tally_subtract(&rows->scratch, before);
	tally_trim(&rows->scratch);
	tally_merge(to, &rows->scratch);
}

static bool is_idle(const struct ktau_rec_owner *owner)
{
	return owner->flags & KTAU_OWNER_IDLE;
}

/* In all other cases, the label of a row is the name of its owner. */
static bool has_own_label(const struct aggregate *rows)
{
	return rows->by == BY_CGROUP || rows->by == BY_USER;
}

/*
 * The key that all tasks of a row share: @text if it is set, otherwise the returned number.
 *
 * The idle tasks belong to root and to the root control group, but their time is that of
 * CPUs without work. They have a row of their own, so that it can be left out.
 */
static uint64_t key_of(struct aggregate *rows, const struct ktau_rec_owner *owner,
		       const char **text)
{
	*text = NULL;
	if (is_idle(owner) && has_own_label(rows)) {
		*text = "(idle)";
		return hash_text(*text);
	}
	switch (rows->by) {
	case BY_NAME:
		*text = owner->comm;
		return hash_text(*text);
	case BY_CGROUP:
		*text = registry_cgroup_text(rows->registry, owner->cgroup);
		return hash_text(*text);
	case BY_USER:
		snprintf(rows->user, sizeof(rows->user), "uid %" PRIu32, owner->uid);
		*text = rows->user;
		return hash_text(*text);
	case BY_PROCESS:
		if (owner->leader_serial)
			return owner->leader_serial;
		/* The reader may not see the leader of this thread. */
		if (owner->tgid && owner->tgid != owner->tid)
			return 1ULL << 63 | (uint32_t)owner->tgid;
		break;
	case BY_THREAD:
		break;
	}
	return owner->serial;
}

static struct process *new_row(struct aggregate *rows, const struct ktau_rec_owner *owner,
			       const char *text)
{
	struct process *p;

	if (rows->nr == rows->room) {
		rows->room = rows->room ? rows->room * 2 : 16;
		rows->processes = cli_alloc(rows->processes, rows->room, sizeof(*p));
	}
	p = &rows->processes[rows->nr++];
	*p = (struct process){
		.number = rows->nr,
		.owner = *owner,
		.account.throughout = UINT32_MAX,
	};
	/* The path of a control group can change while the period is read, so copy it. */
	if (has_own_label(rows))
		p->label = strcpy(cli_alloc(NULL, strlen(text) + 1, 1), text);
	return p;
}

static const char *label_of(const struct aggregate *rows, const struct process *p)
{
	return has_own_label(rows) ? p->label : p->owner.comm;
}

/* Find the row of @owner. Return: the row; NULL if there is none, and *key is a free key. */
static struct process *find_row(struct aggregate *rows, const struct ktau_rec_owner *owner,
				const char **text, uint64_t *key)
{
	struct process *p;
	size_t index;

	for (*key = key_of(rows, owner, text);; ++*key) {
		index = hash_get(&rows->by_key, *key);
		if (!index)
			return NULL;
		p = &rows->processes[index - 1];
		if (is_idle(owner) == is_idle(&p->owner) &&
		    (!*text || !strcmp(label_of(rows, p), *text)))
			return p;
	}
}

static struct process *row_of(struct aggregate *rows, const struct ktau_rec_owner *owner)
{
	const char *text;
	uint64_t key;
	struct process *p = find_row(rows, owner, &text, &key);

	if (p)
		return p;
	p = new_row(rows, owner, text);
	hash_put(&rows->by_key, key, rows->nr);
	return p;
}

/* The row in which the regions of a thread are shown, 0 for none. */
static uint64_t row_number(void *data, const struct ktau_rec_owner *owner)
{
	struct aggregate *rows = data;
	const char *text;
	uint64_t key;
	const struct process *p;

	if (!matches(rows, owner))
		return 0;
	if (hash_has(&rows->passed, owner->serial))
		return 1ULL << 63 | owner->serial;
	p = find_row(rows, owner, &text, &key);
	return p ? p->number : 0;
}

struct process *aggregate_row(struct aggregate *rows, const struct ktau_rec_owner *owner)
{
	return matches(rows, owner) ? row_of(rows, owner) : NULL;
}

static void add_ids(struct process *p, struct task_ids ids)
{
	if (!p->nr_ids++) {
		p->first_ids = ids;
		return;
	}
	if (p->nr_ids - 1 > p->room_ids) {
		p->room_ids = p->room_ids ? p->room_ids * 2 : 1;
		p->other_ids = cli_alloc(p->other_ids, p->room_ids, sizeof(ids));
	}
	p->other_ids[p->nr_ids - 2] = ids;
}

/* A row is of kernel threads only if all its tasks are. */
static void add_flags(struct process *p, uint32_t flags)
{
	p->owner.flags &= flags | ~KTAU_OWNER_KTHREAD;
}

void aggregate_count(struct process *row, struct task_ids ids, uint32_t flags)
{
	add_flags(row, flags);
	add_ids(row, ids);
	row->tasks++;
	row->live++;
}

static void add_to_row(struct aggregate *rows, struct process *p, const struct ktau_owned *owned,
		       const struct ktau_owned *before)
{
	const struct ktau_rec_profile *old = before ? before->profile : NULL;
	const struct ktau_rec_owner *owner = owned->owner;
	struct account account;

	/* The row may have been created for a trace, without a profile. */
	if (!p->tasks || (rows->by == BY_PROCESS && owner->tid == owner->tgid))
		p->owner = *owner;
	add_flags(p, owner->flags);
	add_ids(p, (struct task_ids){ owner->tgid, owner->tid });
	p->tasks += more(owner->nr_tasks, 1);
	p->live += owner->kind == KTAU_OWNER_TASK;
	if (owner->kind == KTAU_OWNER_EXITED)
		rows->exited += more(owner->nr_tasks, 1);
	account_of(rows, owned, old, &account);
	account_add(&p->account, &account);
	tally_difference(rows, &p->tally, owned->profile, old);
	rows->unlisted += less(owned->profile->depth, owned->profile->nr_open);
	rows->refused += less(owned->profile->refused, old ? old->refused : 0);
	rows->refused_ticks += less(owned->profile->refused_ticks,
				    old ? old->refused_ticks : 0);
}

/* Figures only grow, so an owner whose figures have decreased is left out, and counted. */
static bool is_backward(struct aggregate *rows, const struct ktau_owned *owned,
			const struct ktau_owned *before)
{
	bool backward = before && goes_backward(owned->profile, before->profile);

	rows->backward += backward;
	return backward;
}

static void pass_on(struct aggregate *rows, const struct ktau_owned *owned,
		    const struct ktau_owned *before)
{
	struct process p = { .account.throughout = UINT32_MAX };

	if (is_backward(rows, owned, before))
		return;
	add_to_row(rows, &p, owned, before);
	p.label = p.owner.comm;
	p.cgroup = registry_cgroup_text(rows->registry, p.owner.cgroup);
	rows->pass_on(rows->arg, &p);
	hash_add(&rows->passed, p.owner.serial);
	rows->passed_sum.tasks++;
	account_add(&rows->passed_sum.account, &p.account);
	tally_merge(&rows->passed_sum.tally, &p.tally);
	tally_deinit(&p.tally);
}

static void add_task(struct aggregate *rows, const struct ktau_owned *owned,
		     const struct ktau_owned *before)
{
	struct process *p;

	if (is_backward(rows, owned, before))
		return;
	p = row_of(rows, owned->owner);
	add_to_row(rows, p, owned, before);
	/* A storm of short processes leaves many rows, to which nothing more is added. */
	if (owned->owner->kind == KTAU_OWNER_EXITED &&
	    (rows->by == BY_PROCESS || rows->by == BY_THREAD))
		tally_pack(&p->tally);
}

void aggregate_exited(struct aggregate *rows, const struct ktau_owned *owned,
		      const struct ktau_snapshot *before)
{
	const struct ktau_rec_stream *start = before ? ktau_snapshot_stream(before) : NULL;
	const struct ktau_owned *old;

	if (!hash_add(&rows->taken, owned->owner->serial) || !matches(rows, owned->owner) ||
	    (start && owned->profile->ticks < start->ticks))
		return;
	old = before ? ktau_snapshot_find(before, owned->owner->serial) : NULL;
	if (old && old->owner->kind == KTAU_OWNER_EXITED)
		return;
	/* What precedes the first profile may be dropped again. */
	if (before && rows->pass_on)
		pass_on(rows, owned, old);
	else
		add_task(rows, owned, old);
}

void aggregate_live(struct aggregate *rows, const struct ktau_owned *owned,
		    const struct ktau_owned *before)
{
	if (matches(rows, owned->owner))
		add_task(rows, owned, before);
}

void aggregate_trace(struct aggregate *rows, const struct ktau_rec_trace *t,
		     const struct ktau_reader *reader)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, t->serial);
	bool wanted = owner && is_task(owner) && matches(rows, owner);

	wakers_add(wanted ? &row_of(rows, owner)->wakers : NULL, &rows->stacks, t, reader);
}

void aggregate_note_groups(struct aggregate *rows, const struct ktau_rec_profile *p)
{
	uintptr_t missing = ~p->groups_throughout & KTAU_GROUP_ALL;
	uintptr_t old = hash_get(&rows->missing, p->serial);

	if (missing & ~old)
		hash_put(&rows->missing, p->serial, old | missing);
}

static void add_cpu(struct aggregate *rows, const struct ktau_owned *owned,
		    const struct ktau_owned *before)
{
	struct process *p;

	if (is_backward(rows, owned, before))
		return;
	rows->cpus = cli_alloc(rows->cpus, rows->nr_cpus + 1, sizeof(*rows->cpus));
	p = &rows->cpus[rows->nr_cpus++];
	*p = (struct process){
		.owner = *owned->owner,
		.label = "",
		.cgroup = "",
	};
	account_of(rows, owned, before ? before->profile : NULL, &p->account);
	tally_difference(rows, &p->tally, owned->profile, before ? before->profile : NULL);
}

static void add_owners(struct aggregate *rows, const struct between *between)
{
	const struct ktau_owned *o = NULL;

	while ((o = ktau_snapshot_next(between->after, o))) {
		switch (o->owner->kind) {
		case KTAU_OWNER_TASK:
			aggregate_live(rows, o,
				       ktau_snapshot_find(between->before, o->owner->serial));
			break;
		case KTAU_OWNER_EXITED:
			aggregate_exited(rows, o, between->before);
			break;
		case KTAU_OWNER_CPU:
			add_cpu(rows, o, ktau_snapshot_cpu(between->before, o->owner->cpu));
			break;
		case KTAU_OWNER_EVICTED:
			break;
		default:
			rows->unknown++;
		}
	}
}

typedef void (*open_fn)(struct tally *t, const struct ktau_rec_profile *p);

/* The sums of a snapshot do not include frames in flight. */
static void each_open(struct tally *t, const struct ktau_snapshot *snapshot, open_fn fn)
{
	const struct ktau_owned *o = NULL;

	while ((o = ktau_snapshot_next(snapshot, o)))
		if (is_task(o->owner))
			fn(t, o->profile);
}

/* What all tasks of a snapshot have done, without frames in flight. */
struct all {
	struct tally tally;
	ktau_sum_t parts[ACCOUNT_NR];
	ktau_sum_t refused, refused_ticks;
};

static int add_to_all(void *arg, const struct ktau_rec_profile *p)
{
	struct all *all = arg;

	tally_add_entries(&all->tally, p);
	add_parts(p, all->parts);
	all->refused += p->refused;
	all->refused_ticks += p->refused_ticks;
	return 0;
}

static void take_out(struct tally *t, ktau_sum_t *parts, const struct process *p)
{
	int k;

	tally_take_out(t, &p->tally);
	for (k = 0; k < ACCOUNT_NR; k++)
		parts[k] = sum_less(parts[k], p->account.parts[k]);
}

/* Start from everything done in the period, and subtract what is known of individual tasks. */
static void make_evicted(struct aggregate *rows, const struct between *between,
			 const struct all *after, const struct all *before)
{
	struct process *e = &rows->evicted;
	ktau_sum_t parts[ACCOUNT_NR];
	struct routine *r;
	size_t i, k;

	tally_merge(&e->tally, &after->tally);
	each_open(&e->tally, between->after, tally_add_open);
	tally_take_out(&e->tally, &before->tally);
	each_open(&e->tally, between->before, tally_subtract_open);
	for (k = 0; k < ACCOUNT_NR; k++)
		parts[k] = sum_less(after->parts[k], before->parts[k]);
	take_out(&e->tally, parts, &rows->passed_sum);
	for (i = 0; i < rows->nr; i++)
		take_out(&e->tally, parts, &rows->processes[i]);
	for (r = e->tally.routines; r < e->tally.routines + e->tally.nr; r++) {
		r->open = 0;
		r->open_incl = 0;
		r->flags &= ~KTAU_ENTRY_LONGEST;
	}
	memcpy(e->account.parts, parts, sizeof(parts));
	e->account.life = sum_of(parts);
	tally_trim(&e->tally);
}

uint64_t aggregate_unread(const struct aggregate *rows, const struct ktau_snapshot *before,
			  const struct ktau_snapshot *after)
{
	const struct ktau_rec_end *to = ktau_snapshot_end(after);
	const struct ktau_rec_end *from = ktau_snapshot_end(before);

	return less(less(to ? to->exited_next : 0, from ? from->exited_next : 0), rows->exited);
}

static int make_sums(struct aggregate *rows, const struct between *between)
{
	const struct ktau_owned *evicted = ktau_snapshot_evicted(between->after);
	struct all after = { 0 }, before = { 0 };
	int err = ktau_snapshot_each(between->after, add_to_all, &after);

	if (!err)
		err = ktau_snapshot_each(between->before, add_to_all, &before);
	if (!err) {
		make_evicted(rows, between, &after, &before);
		if (evicted && rows->evicted.account.life)
			rows->evicted.account.throughout = evicted->profile->groups_throughout;
		rows->evicted.tasks = aggregate_unread(rows, between->before, between->after);
		rows->refused = (uint64_t)sum_less(after.refused, before.refused);
		rows->refused_ticks = sum_less(after.refused_ticks, before.refused_ticks);
	}
	tally_deinit(&after.tally);
	tally_deinit(&before.tally);
	return err;
}

const struct process *aggregate_open(struct aggregate *rows, const struct process *row)
{
	if (!row->tally.packed)
		return row;
	tally_clear(&rows->scratch);
	tally_merge(&rows->scratch, &row->tally);
	rows->opened = *row;
	rows->opened.tally = rows->scratch;
	return &rows->opened;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_ids(const void *a, const void *b, void *rows)
{
	const struct process *processes = ((struct aggregate *)rows)->processes;
	const struct ktau_rec_owner *x = &processes[*(const size_t *)a].owner;
	const struct ktau_rec_owner *y = &processes[*(const size_t *)b].owner;
	int order = compare_u64((uint32_t)x->tgid, (uint32_t)y->tgid);

	if (!order)
		order = compare_u64(x->start_ns, y->start_ns);
	return order ? order : compare_u64(x->serial, y->serial);
}

static void free_process(const struct aggregate *rows, struct process *p)
{
	tally_deinit(&p->tally);
	wakers_deinit(&p->wakers);
	free(p->other_ids);
	if (has_own_label(rows))
		free((char *)p->label);
}

/* Remove rows created only by a trace: their tasks are not in the profiles. */
static void drop_empty(struct aggregate *rows)
{
	struct process *p;
	size_t nr = 0;

	for (p = rows->processes; p < rows->processes + rows->nr; p++) {
		if (p->tasks)
			rows->processes[nr++] = *p;
		else
			free_process(rows, p);
	}
	rows->nr = nr;
}

/* Move the rows so that row i is the one that was number @from[i]. */
static void move_rows(struct process *rows, size_t *from, size_t nr)
{
	struct process first;
	size_t start, at, next;

	for (start = 0; start < nr; start++) {
		first = rows[start];
		for (at = start; from[at] != start; at = next) {
			next = from[at];
			rows[at] = rows[next];
			from[at] = at;
		}
		rows[at] = first;
		from[at] = at;
	}
}

/* Sort the rows, which are often in order already, because so are the tasks of a snapshot. */
static void sort(struct aggregate *rows)
{
	size_t *from = cli_alloc(NULL, rows->nr, sizeof(*from)), i;
	bool sorted = true;

	for (i = 0; i < rows->nr; i++) {
		from[i] = i;
		sorted = sorted && (!i || by_ids(&from[i - 1], &from[i], rows) <= 0);
	}
	if (!sorted) {
		qsort_r(from, rows->nr, sizeof(*from), by_ids, rows);
		move_rows(rows->processes, from, rows->nr);
	}
	free(from);
}

void aggregate_finish_rows(struct aggregate *rows)
{
	struct process *p;

	drop_empty(rows);
	sort(rows);
	for (p = rows->processes; p < rows->processes + rows->nr; p++) {
		tally_trim(&p->tally);
		p->label = label_of(rows, p);
		p->cgroup = registry_cgroup_text(rows->registry, p->owner.cgroup);
	}
	hash_deinit(&rows->by_key);
}

int aggregate_finish_sums(struct aggregate *rows, const struct ktau_snapshot *before,
			  const struct ktau_snapshot *after)
{
	const struct between between = { before, after };
	int err = 0;
	size_t i;

	drop_empty(rows);
	if (before && !rows->filter->flags && !rows->skipped)
		err = make_sums(rows, &between);
	tally_merge(&rows->total.tally, &rows->evicted.tally);
	tally_merge(&rows->total.tally, &rows->passed_sum.tally);
	aggregate_finish_rows(rows);
	for (i = 0; i < rows->nr; i++)
		tally_merge(&rows->total.tally, &rows->processes[i].tally);
	return err;
}

int aggregate_finish(struct aggregate *rows, const struct ktau_snapshot *before,
		     const struct ktau_snapshot *after)
{
	const struct between between = { before, after };

	add_owners(rows, &between);
	if (rows->regions)
		regions_choose(rows->regions, row_number, rows);
	return aggregate_finish_sums(rows, before, after);
}

static void empty(struct process *p, const char *label)
{
	tally_deinit(&p->tally);
	*p = (struct process){
		.label = label,
		.cgroup = "",
		.owner.kind = KTAU_OWNER_EVICTED,
	};
}

void aggregate_init(struct aggregate *rows, enum aggregate_by by, const struct task_filter *filter,
		    struct registry *registry)
{
	*rows = (struct aggregate){
		.by = by,
		.filter = filter,
		.registry = registry,
	};
	empty(&rows->evicted, "(evicted)");
	empty(&rows->total, "");
	empty(&rows->passed_sum, "");
}

void aggregate_begin(struct aggregate *rows)
{
	struct process *p;
	size_t i;

	for (p = rows->processes; p < rows->processes + rows->nr; p++)
		free_process(rows, p);
	for (i = 0; i < rows->nr_cpus; i++)
		tally_deinit(&rows->cpus[i].tally);
	rows->nr = rows->nr_cpus = 0;
	rows->refused = rows->exited = 0;
	rows->refused_ticks = 0;
	rows->unlisted = rows->backward = rows->unknown = 0;
	hash_clear(&rows->by_key);
	hash_clear(&rows->missing);
	hash_clear(&rows->passed);
	empty(&rows->evicted, "(evicted)");
	empty(&rows->total, "");
	empty(&rows->passed_sum, "");
}

void aggregate_reboot(struct aggregate *rows)
{
	aggregate_begin(rows);
	hash_clear(&rows->taken);
	wake_stacks_deinit(&rows->stacks);
}

void aggregate_deinit(struct aggregate *rows)
{
	aggregate_begin(rows);
	hash_deinit(&rows->by_key);
	hash_deinit(&rows->taken);
	hash_deinit(&rows->missing);
	hash_deinit(&rows->passed);
	wake_stacks_deinit(&rows->stacks);
	tally_deinit(&rows->scratch);
	free(rows->processes);
	free(rows->cpus);
	*rows = (struct aggregate){ 0 };
}

uint64_t aggregate_own_ticks(const struct tally *t, const struct symbolizer *names,
			     const struct ktau_rec_stream *stream)
{
	const struct routine *r;
	uint64_t own = 0;

	for (r = t->routines; r < t->routines + t->nr; r++)
		if (r->kind == KTAU_KIND_TIMER)
			own += symbolize_hook_ticks(names, stream, r->id, r->count);
	return own;
}

static void subtract(struct tally *t, const struct symbolizer *names,
		     const struct ktau_rec_stream *stream)
{
	const bool packed = t->packed;
	struct routine *r;
	uint64_t own;

	tally_unpack(t);
	for (r = t->routines; r < t->routines + t->nr; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		own = symbolize_hook_ticks(names, stream, r->id, r->count);
		r->incl = sum_less(r->incl, own);
		r->excl = sum_less(r->excl, own);
	}
	if (packed)
		tally_pack(t);
}

void aggregate_subtract(struct aggregate *rows, const struct symbolizer *names,
			const struct ktau_rec_stream *stream)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		subtract(&rows->processes[i].tally, names, stream);
	for (i = 0; i < rows->nr_cpus; i++)
		subtract(&rows->cpus[i].tally, names, stream);
	subtract(&rows->evicted.tally, names, stream);
	subtract(&rows->total.tally, names, stream);
}
