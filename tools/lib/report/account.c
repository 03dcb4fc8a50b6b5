// SPDX-License-Identifier: GPL-2.0-only
/* The account: how each process spent its lifetime. */
#include <math.h>
#include <string.h>

#include "account.h"
#include "lib/cli.h"
#include "tally.h"

enum { A_NAME, A_PID, A_TID_SHOWN, A_TASKS, A_LIVE, A_LIFE, A_SHARE,
       A_GUEST = A_SHARE + ACCOUNT_GUEST, A_REST, A_TOP, A_TOP_SHARE, A_WAITS, A_NS,
       A_REST_NS = A_NS + ACCOUNT_NR, A_TOP_NS, A_WAITS_NS, A_UID, A_CGROUP, A_TID, A_NR };
enum { U_CPU, U_TIME, U_TASK, U_IRQ, U_IDLE, U_TASK_NS, U_IRQ_NS, U_IDLE_NS, U_NR };

static const struct column account_column[A_NR] = {
	[A_NAME] = { "name", "NAME", COLUMN_TEXT },
	[A_PID] = { "pid", "PID", COLUMN_SIGNED },
	[A_TID_SHOWN] = { NULL, "TID", COLUMN_SIGNED },
	[A_TASKS] = { "tasks", "TASKS", COLUMN_NUMBER },
	[A_LIVE] = { "live", NULL, COLUMN_NUMBER },
	[A_LIFE] = { "life_ns", "LIFE s", COLUMN_SECONDS },
	[A_SHARE + ACCOUNT_USER] = { NULL, "USER", COLUMN_SHARE },
	[A_SHARE + ACCOUNT_KERNEL] = { NULL, "KERNEL", COLUMN_SHARE },
	[A_SHARE + ACCOUNT_IRQ] = { NULL, "IRQ", COLUMN_SHARE },
	[A_SHARE + ACCOUNT_RUNQ] = { NULL, "RUNQ", COLUMN_SHARE },
	[A_SHARE + ACCOUNT_ASLEEP] = { NULL, "ASLEEP", COLUMN_SHARE },
	[A_GUEST] = { NULL, "GUEST", COLUMN_SHARE },
	[A_REST] = { NULL, "REST", COLUMN_SHARE },
	[A_TOP] = { "top_routine", "TOP ROUTINE", COLUMN_TEXT },
	[A_TOP_SHARE] = { NULL, "share", COLUMN_SHARE },
	[A_WAITS] = { "waits_most_in", "WAITS MOST IN", COLUMN_TEXT },
	[A_NS + ACCOUNT_USER] = { "user_ns", NULL, COLUMN_NS },
	[A_NS + ACCOUNT_KERNEL] = { "kernel_ns", NULL, COLUMN_NS },
	[A_NS + ACCOUNT_IRQ] = { "irq_ns", NULL, COLUMN_NS },
	[A_NS + ACCOUNT_RUNQ] = { "runq_ns", NULL, COLUMN_NS },
	[A_NS + ACCOUNT_ASLEEP] = { "asleep_ns", NULL, COLUMN_NS },
	[A_NS + ACCOUNT_GUEST] = { "guest_ns", NULL, COLUMN_NS },
	[A_REST_NS] = { "rest_ns", NULL, COLUMN_NS },
	[A_TOP_NS] = { "top_ns", NULL, COLUMN_NS },
	[A_WAITS_NS] = { "waits_ns", NULL, COLUMN_NS },
	[A_UID] = { "uid", NULL, COLUMN_SMALL },
	[A_CGROUP] = { "cgroup", NULL, COLUMN_TEXT },
	[A_TID] = { "tid", NULL, COLUMN_SIGNED },
};

static const struct column cpu_column[U_NR] = {
	[U_CPU] = { "cpu", "CPU", COLUMN_SMALL },
	[U_TIME] = { "time_ns", "TIME s", COLUMN_SECONDS },
	[U_TASK] = { NULL, "TASKS", COLUMN_SHARE },
	[U_IRQ] = { NULL, "IRQ", COLUMN_SHARE },
	[U_IDLE] = { NULL, "IDLE", COLUMN_SHARE },
	[U_TASK_NS] = { "task_ns", NULL, COLUMN_NS },
	[U_IRQ_NS] = { "irq_ns", NULL, COLUMN_NS },
	[U_IDLE_NS] = { "idle_ns", NULL, COLUMN_NS },
};

/* The unaccounted rest of a lifetime is shown only if a row has more than this share. */
static const double rest_shown = 0.005;

void account_columns(struct table *account, struct table *cpu_account, enum aggregate_by by)
{
	table_init(account, "account", account_column, A_NR);
	table_init(cpu_account, "cpu_account", cpu_column, U_NR);
	account->spare = 1ULL << A_TOP_SHARE | 1ULL << A_TASKS;
	if (by != BY_THREAD)
		account->absent = 1ULL << A_TID;
	account->hidden = 1ULL << A_GUEST | 1ULL << A_REST | 1ULL << A_PID | 1ULL << A_TID_SHOWN;
}

static uint32_t needed(const struct ktau_rec_stream *stream, int part)
{
	static const uint32_t groups[ACCOUNT_NR] = {
		[ACCOUNT_USER] = KTAU_GROUP_ACCOUNT,
		[ACCOUNT_KERNEL] = KTAU_GROUP_ACCOUNT | KTAU_GROUP_SCHED | KTAU_GROUP_IRQ |
				   KTAU_GROUP_BH | KTAU_GROUP_KVM,
		[ACCOUNT_IRQ] = KTAU_GROUP_IRQ | KTAU_GROUP_BH,
		[ACCOUNT_RUNQ] = KTAU_GROUP_SCHED,
		[ACCOUNT_ASLEEP] = KTAU_GROUP_SCHED,
		[ACCOUNT_GUEST] = KTAU_GROUP_KVM,
	};

	/* A kernel built without KVM never runs a guest. */
	return stream->groups_built & KTAU_GROUP_KVM ? groups[part] :
						       groups[part] & ~KTAU_GROUP_KVM;
}

bool account_has(const struct ktau_rec_stream *stream, const struct process *p, int part)
{
	return !(needed(stream, part) & ~p->account.throughout);
}

bool account_is_unknown(const struct process *p)
{
	ktau_sum_t sum = 0;
	int i;

	for (i = 0; i < ACCOUNT_NR; i++)
		sum += p->account.parts[i];
	return p->live && p->account.life && !sum && !p->tally.nr;
}

void account_times(const struct process *p, const struct symbolizer *names,
		   ktau_sum_t *running_ticks, ktau_sum_t *waiting_ticks)
{
	const struct routine *r;

	*running_ticks = *waiting_ticks = 0;
	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		if (symbolize_group_bit(names, r->id) == KTAU_GROUP_SCHED)
			*waiting_ticks += r->excl;
		else
			*running_ticks += r->excl;
	}
}

ktau_sum_t account_kernel(const struct view *v, const struct process *p)
{
	ktau_sum_t running, waiting;

	if (account_has(v->stream, p, ACCOUNT_KERNEL))
		return p->account.parts[ACCOUNT_KERNEL];
	account_times(p, v->r->names, &running, &waiting);
	return running;
}

/* Ticks by which rounding alone can move the parts and the life of @p apart. */
static ktau_sum_t rounding_of(const struct view *v, const struct process *p)
{
	double ns = (double)v->stream->round_ns * (ACCOUNT_NR + 1) * (double)p->tasks;

	return (ktau_sum_t)(ns * (double)v->clock.hz / 1e9);
}

ktau_sum_t account_excess(const struct view *v, const struct process *p)
{
	ktau_sum_t sum = 0;
	int i;

	for (i = 0; i < ACCOUNT_NR; i++)
		sum += account_has(v->stream, p, i) ? p->account.parts[i] : 0;
	return sum_less(sum, p->account.life + rounding_of(v, p));
}

/* Ticks of the lifetime that are in no part; CELL_NONE if a part was not measured. */
static ktau_sum_t rest_ticks(const struct view *v, const struct process *p)
{
	ktau_sum_t sum = 0;
	int i;

	for (i = 0; i < ACCOUNT_NR; i++) {
		if (!account_has(v->stream, p, i))
			return CELL_NONE;
		sum += p->account.parts[i];
	}
	return sum_less(p->account.life, sum);
}

static void put_part(const struct view *v, union cell *row, int share_column,
		     int ns_column, const ktau_sum_t *part_and_life)
{
	ktau_sum_t part = part_and_life[0], life = part_and_life[1];

	row[ns_column].number = part == CELL_NONE ? part : ktau_clock_sum_ns(&v->clock, part);
	row[share_column].share = part == CELL_NONE || !life ? (double)NAN :
							       share_of(part, life);
}

/*
 * The routine with the most exclusive time in the kernel.
 *
 * A profile does not show whether softirqs ran in the kernel on behalf of the task or at the
 * end of an interrupt. If one took longer than all of @kernel, it was the latter.
 */
const struct routine *account_top_routine(const struct view *v, const struct process *p,
					  ktau_sum_t kernel)
{
	const uint32_t elsewhere = KTAU_GROUP_SCHED | KTAU_GROUP_IRQ | KTAU_GROUP_KVM;
	const struct routine *top = NULL, *r;
	uint32_t group;

	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		group = symbolize_group_bit(v->r->names, r->id);
		if (r->kind != KTAU_KIND_TIMER || !r->excl || group & elsewhere ||
		    (group == KTAU_GROUP_BH && r->excl > kernel))
			continue;
		if (!top || r->excl > top->excl)
			top = r;
	}
	return top;
}

ktau_sum_t account_asleep_in(const struct view *v, const struct routine *r, uint32_t group)
{
	enum event_wait wait = event_wait(registry_events(v->registry), r->id);

	if (group == KTAU_GROUP_SCHED)
		return wait == WAIT_ASLEEP ? r->excl : 0;
	return r->flags & KTAU_ENTRY_ASLEEP ? r->asleep : 0;
}

/* The routine of @groups with the longest time asleep in @p; a system call before its equals. */
static const struct routine *most_asleep(const struct view *v, const struct process *p,
					 uint32_t groups)
{
	const struct routine *most = NULL, *r;
	uint32_t group;

	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		group = symbolize_group_bit(v->r->names, r->id);
		if (r->kind != KTAU_KIND_TIMER || !(group & groups) ||
		    !account_asleep_in(v, r, group))
			continue;
		if (!most || r->asleep > most->asleep ||
		    (r->asleep == most->asleep && group == KTAU_GROUP_SYSCALL))
			most = r;
	}
	return most;
}

/*
 * A wait function says more than the call around it, but only if the call slept there and not
 * somewhere else. The states of the scheduler are not in question: they say how a task slept, and
 * not what for.
 */
const char *account_waits_most_in(const struct view *v, const struct process *p,
				  ktau_sum_t *ticks)
{
	const uint32_t not_calls = KTAU_GROUP_WAIT | KTAU_GROUP_SCHED;
	const struct routine *wait = most_asleep(v, p, KTAU_GROUP_WAIT);
	const struct routine *call = most_asleep(v, p, ~not_calls);

	if (!wait || (call && wait->asleep < call->asleep / 2))
		wait = call;
	*ticks = wait ? wait->asleep : 0;
	return wait ? symbolize_event(v->r->names, wait->id) : "-";
}

static void put_routines(const struct view *v, const struct process *p, union cell *row)
{
	ktau_sum_t kernel = account_kernel(v, p), ticks;
	const struct routine *top = account_top_routine(v, p, kernel);

	row[A_TOP].text = top ? symbolize_event(v->r->names, top->id) : "-";
	row[A_TOP_NS].number = top ? ktau_clock_sum_ns(&v->clock, top->excl) : 0;
	row[A_TOP_SHARE].share = top ? fmin(share_of(top->excl, p->account.life), 1) : 0;
	row[A_WAITS].text = account_waits_most_in(v, p, &ticks);
	row[A_WAITS_NS].number = ktau_clock_sum_ns(&v->clock, ticks);
}

void account_row(const struct view *v, struct table *account, const struct process *p)
{
	union cell *row = table_row(account);
	ktau_sum_t part[2] = { 0, p->account.life };
	int i;

	row[A_NAME].text = p->label;
	row[A_PID].sign = p->owner.tgid;
	row[A_TID].sign = row[A_TID_SHOWN].sign = p->owner.tid;
	row[A_TASKS].number = p->tasks;
	row[A_LIVE].number = p->live;
	row[A_UID].number = p->owner.uid;
	row[A_CGROUP].text = p->cgroup;
	row[A_LIFE].number = ktau_clock_sum_ns(&v->clock, p->account.life);
	for (i = 0; i < ACCOUNT_NR; i++) {
		part[0] = account_has(v->stream, p, i) ? p->account.parts[i] : CELL_NONE;
		put_part(v, row, A_SHARE + i, A_NS + i, part);
	}
	part[0] = rest_ticks(v, p);
	put_part(v, row, A_REST, A_REST_NS, part);
	put_routines(v, p, row);
	if (p->account.parts[ACCOUNT_GUEST])
		account->hidden &= ~(1ULL << A_GUEST);
	if (row[A_REST].share > rest_shown)
		account->hidden &= ~(1ULL << A_REST);
	if (v->r->by == BY_PROCESS || v->r->by == BY_THREAD)
		account->hidden &= ~(1ULL << A_PID);
	if (v->r->by == BY_THREAD)
		account->hidden &= ~(1ULL << A_TID_SHOWN);
}

void account_cpu_row(const struct view *v, struct table *cpu_account,
		     const struct process *p)
{
	union cell *row = table_row(cpu_account);
	const ktau_sum_t *parts = p->account.parts;
	static const int part_of[] = { ACCOUNT_KERNEL, ACCOUNT_IRQ, ACCOUNT_ASLEEP };
	ktau_sum_t part[2] = { 0, p->account.life };
	int i;

	row[U_CPU].number = p->owner.cpu;
	row[U_TIME].number = ktau_clock_sum_ns(&v->clock, p->account.life);
	for (i = 0; i < 3; i++) {
		part[0] = account_has(v->stream, p, part_of[i]) ? parts[part_of[i]] : CELL_NONE;
		put_part(v, row, U_TASK + i, U_TASK_NS + i, part);
	}
}
