// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rule for the whole machine: in each period, the tasks have run for as long as the CPUs
 * were busy.
 *
 * A task runs in user mode, in the kernel, in interrupts and in guest mode. The idle tasks run
 * only in interrupts. A CPU is busy while it runs another task than the idle one, and in
 * interrupts. Both sums are known after a stream that lists everything, and change with each
 * later record: an exited task stays in the sum of the tasks until it is part of another record.
 *
 * Tolerance. A stream is not of one moment: tasks and CPUs are copied one after the other, from
 * the start of the stream to its last copy. At each of the two ends of a period, a sum may
 * therefore lack, or have, what ran during that time, which is at most that time on each CPU.
 */
#include "check_state.h"

#define KINDS	(KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED | KTAU_TARGET_CPU)
#define FILTERS	(KTAU_SELECT_CGROUP | KTAU_SELECT_UID | KTAU_SELECT_TAG)

void ktau__check_machine_begin(struct ktau_check *c)
{
	c->machine.measured = true;
	c->machine.nr_cpus = c->machine.nr_idle = c->machine.nr_kthreads = 0;
	c->machine.to_ticks = c->stream.ticks;
}

static uint64_t running_ticks(const struct ktau_rec_owner *owner,
			      const struct ktau_rec_profile *p)
{
	if (owner->kind == KTAU_OWNER_CPU)
		return p->kernel_ticks + p->irq_ticks;
	if (owner->flags & KTAU_OWNER_IDLE)
		return p->irq_ticks;
	return p->user_ticks + p->kernel_ticks + p->irq_ticks + p->guest_ticks;
}

/* Whether the account of an owner covers the whole time since the stream before. */
static bool is_measured(const struct ktau_check *c, const struct ktau_rec_owner *owner,
			const struct ktau_rec_profile *now)
{
	const __u32 groups = KTAU_GROUP_ACCOUNT | KTAU_GROUP_SCHED;

	if (owner->kind == KTAU_OWNER_EVICTED || owner->flags & KTAU_OWNER_FOLDED)
		return !now->clamped;
	return !(groups & ~now->groups_throughout) && !now->clamped &&
	       c->stream.since_ticks <= c->machine.ticks_before;
}

static void forget(struct ktau_check *c, struct check_owner *owner)
{
	if (owner->is_cpu)
		c->machine.cpus -= owner->running;
	else
		c->machine.tasks -= owner->running;
	owner->running = 0;
}

void ktau__check_machine_gone(struct ktau_check *c, struct check_owner *owner)
{
	forget(c, owner);
	ktau_record_free(owner->last);
	owner->last = NULL;
	owner->profile_stream = 0;
	c->has_unknown = true;
}

void ktau__check_machine_add(struct ktau_check *c, struct check_owner *owner,
			     const struct ktau_rec_owner *described,
			     const struct ktau_rec_profile *now)
{
	struct check_machine *m = &c->machine;

	if (!described || described->kind > KTAU_OWNER_EVICTED) {
		m->measured = false;
		return;
	}
	forget(c, owner);
	owner->is_cpu = described->kind == KTAU_OWNER_CPU;
	owner->running = running_ticks(described, now);
	if (owner->is_cpu)
		m->cpus += owner->running;
	else
		m->tasks += owner->running;
	m->nr_cpus += owner->is_cpu;
	m->nr_idle += described->flags & KTAU_OWNER_IDLE ? 1 : 0;
	m->nr_kthreads += described->flags & KTAU_OWNER_KTHREAD ? 1 : 0;
	if (described->kind != KTAU_OWNER_EXITED)
		m->to_ticks = ktau__max(m->to_ticks, now->ticks);
	m->measured = m->measured && is_measured(c, described, now);
}

/* Whether the stream says everything about all tasks that have run since the one before. */
static bool is_complete(const struct ktau_check *c, const struct ktau_rec_end *end)
{
	const struct ktau_rec_stream *s = &c->stream;

	return s->content == KTAU_REC_PROFILE && (s->target & KINDS) == KINDS &&
	       s->target & (KTAU_TARGET_ALL | KTAU_TARGET_CHANGED) && !(s->flags & FILTERS) &&
	       s->access & KTAU_ACCESS_ALL && s->clock_flags & KTAU_CLOCK_STABLE &&
	       !s->round_ns && c->in_stream && !c->gap && end->nr_records == c->nr_records &&
	       !(end->denied | end->busy | end->torn | end->refused_gone | end->refused_no_state);
}

/*
 * Whether the stream has every task and exited task, so that all others can be forgotten. If a
 * filter keeps tasks from being measured, kernel threads or idle tasks are among them.
 */
static bool lists_all(const struct ktau_check *c)
{
	const struct check_machine *m = &c->machine;

	return c->stream.target & KTAU_TARGET_ALL && !c->stream.exited_since && !c->has_diff &&
	       m->nr_cpus && m->nr_idle >= m->nr_cpus && m->nr_kthreads > m->nr_idle;
}

static void forget_others(struct ktau_check *c)
{
	struct check_owner *owner;

	for (owner = c->owners; owner < c->owners + c->nr_owners; owner++)
		if (owner->profile_stream != c->counts.streams)
			ktau__check_machine_gone(c, owner);
}

static unsigned long long ns_of(const struct ktau_check *c, int64_t ticks)
{
	return ticks > 0 ? ktau__check_ns(c, (uint64_t)ticks) : 0;
}

static void judge_period(struct ktau_check *c, uint64_t slack)
{
	const struct check_machine *m = &c->machine;
	int64_t ran = m->tasks - m->tasks_before;
	int64_t busy = m->cpus - m->cpus_before;
	uint64_t apart = ran > busy ? (uint64_t)(ran - busy) : (uint64_t)(busy - ran);

	c->counts.periods_of_all++;
	if (apart <= slack + m->slack_before)
		return;
	ktau__check_report(c, KTAU_FINDING_BUSY, 0, 0,
			   "all tasks ran for %llu ns, all CPUs were busy for %llu ns, %.1f %%: "
			   "%llu ns apart, but not more than %llu ns can be due to the time "
			   "that copies take", ns_of(c, ran), ns_of(c, busy),
			   busy > 0 ? 100.0 * (double)ran / (double)busy : 0.0,
			   ktau__check_ns(c, apart), ktau__check_ns(c, slack + m->slack_before));
}

void ktau__check_machine_end(struct ktau_check *c, const struct ktau_rec_end *end)
{
	struct check_machine *m = &c->machine;
	uint64_t slack = (m->to_ticks - ktau__min(m->to_ticks, c->stream.ticks)) * m->nr_cpus;
	bool complete = is_complete(c, end);
	bool first = complete && lists_all(c);

	if (c->stream.content != KTAU_REC_PROFILE)
		return;
	if (first)
		forget_others(c);
	m->complete = first || (m->complete && complete &&
				c->stream.exited_since == m->exited_next);
	if (m->complete && m->has_before && m->measured)
		judge_period(c, slack);
	m->has_before = m->complete;
	m->tasks_before = m->tasks;
	m->cpus_before = m->cpus;
	m->ticks_before = c->stream.ticks;
	m->slack_before = slack;
	m->exited_next = end->exited_next;
}
