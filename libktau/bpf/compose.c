// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write a stream of profiles, as the kernel's /proc/ktau/profile would, from the BPF tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "account.h"
#include "compose_trace.h"
#include "frames.h"
#include "stream.h"

#define GROUPS_IRQ	(KTAU_GROUP_IRQ | KTAU_GROUP_BH)
#define ACCESS (KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT | KTAU_ACCESS_TRACE | \
		KTAU_ACCESS_SERIALS | KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME)

static int put_stream(struct ktau__stream *s)
{
	struct ktau_rec_stream r = {
		.rec = ktau__header(KTAU_REC_STREAM, sizeof(r), sizeof(r)),
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.origin = KTAU_ORIGIN_BPF,
		.content = s->query->content,
		.target = s->query->target,
		.flags = s->query->flags,
		.access = ACCESS,
		.groups = s->bpf->groups,
		.groups_built = s->bpf->groups_built,
		.modes = KTAU_MODE_PROFILE | (s->bpf->traced ? KTAU_MODE_TRACE : 0),
		.clock_hz = 1000000000,
		.clock_flags = KTAU_CLOCK_STABLE,
		.nr_cpus = s->bpf->nr_cpus,
		.ticks = s->clocks.monotonic_ns,
		.realtime_ns = s->clocks.realtime_ns,
		.monotonic_ns = s->clocks.monotonic_ns,
		.boottime_ns = s->clocks.boottime_ns,
		.tai_ns = s->clocks.tai_ns,
		.boot_ticks = s->bpf->start.monotonic_ns,
		.boot_realtime_ns = s->bpf->start.realtime_ns,
		.boot_monotonic_ns = s->bpf->start.monotonic_ns,
		.since_ticks = s->query->since_ticks,
		.exited_next = s->bpf->exited.next_seq,
		.exited_since = s->query->exited_since,
	};
	struct utsname name;

	if (!uname(&name)) {
		snprintf(r.nodename, sizeof(r.nodename), "%s", name.nodename);
		snprintf(r.release, sizeof(r.release), "%s", name.release);
		snprintf(r.machine, sizeof(r.machine), "%.23s", name.machine);
	}
	ktau_boot_id(r.boot_id);
	return ktau__put(s, &r, sizeof(r));
}

/*
 * Entries
 */

static void add_cell(struct ktau__stream *s, const struct kb_cell *c)
{
	struct ktau_entry *e = &s->entries[s->nr_entries];

	if (!c->count || c->id >= KB_NR_TASK_IDS || s->nr_entries == KTAU__MAX_ENTRIES)
		return;
	*e = (struct ktau_entry){
		.id = c->id,
		.kind = c->counter ? KTAU_KIND_COUNTER : KTAU_KIND_TIMER,
		.flags = c->counter ? 0 : s->times,
		.count = c->count,
		.incl = c->incl,
		.excl = c->excl,
		.longest = c->longest,
		.asleep = c->asleep,
		.runq = c->runq,
		.irq = s->times & KTAU_ENTRY_IRQ ? c->irq : 0,
	};
	s->nr_entries++;
}

/* @times: KTAU_ENTRY_* that are measured */
static void add_irq(struct ktau__stream *s, uint32_t id, const struct kb_irq_cell *c, uint8_t times)
{
	struct ktau_entry *e = &s->entries[s->nr_entries];

	if (!c->count || s->nr_entries == KTAU__MAX_ENTRIES)
		return;
	*e = (struct ktau_entry){
		.id = id,
		.kind = KTAU_KIND_TIMER,
		.flags = times,
		.count = c->count,
		.incl = c->incl,
		.excl = c->excl,
		.longest = c->longest,
		.irq = times & KTAU_ENTRY_IRQ ? c->incl - c->excl : 0,
	};
	s->nr_entries++;
}

static int by_id(const void *a, const void *b)
{
	const struct ktau_entry *x = a, *y = b;

	return x->id - y->id;
}

static void sort_entries(struct ktau__stream *s)
{
	qsort(s->entries, s->nr_entries, sizeof(*s->entries), by_id);
}

static int put_events(struct ktau__stream *s)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < s->nr_entries; i++)
		err = ktau__put_event(s, s->entries[i].id, s->entries[i].kind);
	return err;
}

static int put_open_events(struct ktau__stream *s, const struct ktau__open *open)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < open->nr; i++)
		err = ktau__put_event(s, open->frames[i].id, KTAU_KIND_TIMER);
	return err;
}

/*
 * Profiles
 */

static int put_profile(struct ktau__stream *s, struct ktau_rec_profile *p,
		       const struct ktau__open *open)
{
	size_t entries = s->nr_entries * sizeof(*s->entries);
	int err;

	if (open) {
		p->nr_open = p->depth = open->nr;
		p->open_child_ticks = open->child_ticks;
	}
	p->rec = ktau__header(KTAU_REC_PROFILE, sizeof(*p),
			      sizeof(*p) + entries + p->nr_open * sizeof(struct ktau_open));
	p->nr_entries = s->nr_entries;
	p->entry_size = sizeof(*s->entries);
	p->open_size = sizeof(struct ktau_open);
	s->end.nr_records++;
	err = ktau__put(s, p, sizeof(*p));
	if (!err)
		err = ktau__put(s, s->entries, entries);
	if (!err && open)
		err = ktau__put(s, open->frames, open->nr * sizeof(*open->frames));
	return err;
}

static void fill_account(const struct ktau__stream *s, struct ktau_rec_profile *p,
			 const struct ktau__parts *parts)
{
	p->irq_ticks = parts->irq;
	p->runq_ticks = parts->runq;
	p->asleep_ticks = parts->asleep;
	p->guest_ticks = parts->guest;
	if (!(s->bpf->groups & KTAU_GROUP_ACCOUNT))
		return;
	p->user_ticks = parts->user;
	p->kernel_ticks = parts->kernel;
	if (parts->unknown)
		p->groups_throughout &= ~(uint32_t)KTAU_GROUP_ACCOUNT;
}

static void task_entries(struct ktau__stream *s, const struct ktau__bpf_task *t)
{
	const struct kb_state *st = t->state;
	uint32_t i;

	s->nr_entries = 0;
	for (i = 0; i < st->nr_cells && i < KB_NR_FIRST; i++)
		add_cell(s, &st->cells[i]);
	for (i = KB_NR_FIRST; t->more && i < st->nr_cells && i < KB_NR_FIRST + KB_NR_MORE; i++)
		add_cell(s, &t->more->cells[i - KB_NR_FIRST]);
	for (i = 0; i < KB_IRQ_CELLS; i++)
		add_irq(s, ktau__irq_id(ktau__line_in_cpu(st, i)), &st->irqs[i], s->times);
	sort_entries(s);
}

static int put_task(struct ktau__stream *s, const struct ktau__bpf_task *t, uint64_t seq)
{
	const struct kb_state *st = t->state;
	bool live = st->type == KB_RECORD_LIVE;
	struct ktau__open open;
	struct ktau__parts parts;
	struct ktau_rec_profile p = {
		.serial = st->serial,
		.ticks = st->now,
		.refused = st->refused,
		.refused_ticks = st->refused_ns,
		.clamped = st->clamped,
		.start_ticks = st->start,
		.groups = live ? s->bpf->groups | KTAU_MODE_PROFILE : 0,
		.groups_throughout = s->bpf->groups,
	};
	int err = 0;

	ktau__parts_of(st, &parts);
	fill_account(s, &p, &parts);
	task_entries(s, t);
	ktau__open_of_task(st, &open);
	p.outer_ticks = ktau__outer_of_task(st, &open);
	err = put_events(s);
	if (!err)
		err = put_open_events(s, &open);
	if (!err)
		err = ktau__put_owner(s, st, seq, 0);
	return err ? err : put_profile(s, &p, &open);
}

static int find_leaders(struct ktau__stream *s)
{
	const struct ktau__buffer *live = &s->bpf->live;
	size_t at = 0, size, nr = 0;
	struct ktau__bpf_task t;
	int err;

	while ((size = ktau__bpf_next(live, at, &t))) {
		at += size;
		if (t.state->owner.tid != t.state->owner.tgid)
			continue;
		err = ktau__buffer_append(&s->leaders, &t.state->serial, sizeof(uint64_t));
		if (!err)
			err = ktau__map_put(&s->serials, (uint32_t)t.state->owner.tgid, nr++);
		if (err)
			return err;
	}
	return 0;
}

static int put_live(struct ktau__stream *s)
{
	const struct ktau__buffer *live = &s->bpf->live;
	size_t at = 0, size;
	struct ktau__bpf_task t;
	int err = 0;

	while (!err && (size = ktau__bpf_next(live, at, &t))) {
		at += size;
		if (!ktau__is_listed(s, &t.state->owner) || !ktau__passes(s, &t.state->owner))
			continue;
		if (ktau__bpf_is_torn(&t))
			s->end.torn++;
		else
			err = put_task(s, &t, 0);
	}
	return err;
}

static int put_exited(struct ktau__stream *s)
{
	const struct ktau__exited_task *task;
	int err = 0;

	for (task = s->bpf->exited.first; !err && task; task = task->next) {
		struct ktau__bpf_task t = { task->state, task->more };

		if (task->seq >= s->query->exited_since && ktau__passes(s, &task->state->owner))
			err = put_task(s, &t, task->seq);
	}
	return err;
}

static int put_evicted(struct ktau__stream *s)
{
	const struct ktau__exited *x = &s->bpf->exited;
	const struct ktau__evicted *sum = &x->evicted;
	struct ktau_rec_owner owner = {
		.rec = ktau__header(KTAU_REC_OWNER, sizeof(owner), sizeof(owner)),
		.serial = s->bpf->first_cpu_serial + 65535,
		.kind = KTAU_OWNER_EVICTED,
		.nr_tasks = sum->nr_tasks,
		.exited_seq = x->first ? x->first->seq : x->next_seq,
	};
	struct ktau_rec_profile p = {
		.serial = owner.serial,
		.ticks = s->clocks.monotonic_ns,
		.outer_ticks = sum->outer_ns + sum->parts.irq,
		.refused = sum->refused,
		.refused_ticks = sum->refused_ns,
		.clamped = sum->clamped,
	};
	uint32_t i;
	int err;

	fill_account(s, &p, &sum->parts);
	s->nr_entries = 0;
	for (i = 0; i < KB_NR_TASK_IDS; i++)
		add_cell(s, &sum->cells[i]);
	for (i = 0; i < sizeof(sum->irqs) / sizeof(*sum->irqs); i++)
		add_irq(s, ktau__irq_id(i), &sum->irqs[i], s->times);
	sort_entries(s);
	err = put_events(s);
	if (!err)
		err = ktau__put(s, &owner, sizeof(owner));
	return err ? err : put_profile(s, &p, NULL);
}

static int put_gone(struct ktau__stream *s)
{
	struct ktau__buffer *gone = &s->bpf->exited.gone;
	struct ktau_rec_gone r = {
		.rec = ktau__header(KTAU_REC_GONE, sizeof(r), sizeof(r) + gone->size),
		.nr_serials = gone->size / sizeof(uint64_t),
		.serial_bytes = sizeof(uint64_t),
	};
	int err;

	if (!gone->size)
		return 0;
	err = ktau__put(s, &r, sizeof(r));
	if (!err)
		err = ktau__put(s, gone->data, gone->size);
	gone->size = 0;
	return err;
}

static int put_cpu(struct ktau__stream *s, uint32_t cpu)
{
	struct ktau_rec_owner owner = {
		.rec = ktau__header(KTAU_REC_OWNER, sizeof(owner), sizeof(owner)),
		.serial = s->bpf->first_cpu_serial + cpu,
		.kind = KTAU_OWNER_CPU,
		.cpu = cpu,
	};
	struct ktau_rec_profile p = {
		.serial = owner.serial,
		.groups_throughout = s->bpf->groups,
	};
	struct kb_cpu copy;
	uint64_t own, ticks;
	uint32_t i;
	int err = ktau__bpf_read_cpu(s->bpf, cpu, &copy, &ticks);

	if (err == -EAGAIN) {
		s->end.torn++;
		return 0;
	}
	if (err)
		return err;
	/* Nothing has happened on a CPU that has no start yet. */
	p.ticks = ticks;
	p.start_ticks = copy.start ? copy.start : ticks;
	snprintf(owner.comm, sizeof(owner.comm), "cpu%u", (unsigned int)cpu);
	s->nr_entries = 0;
	for (i = 0; i < sizeof(copy.irqs) / sizeof(*copy.irqs); i++)
		add_irq(s, ktau__irq_id(i), &copy.irqs[i], KTAU_ENTRY_LONGEST);
	sort_entries(s);
	p.outer_ticks = copy.now.hard_ns + copy.soft_ns;
	p.irq_ticks = p.outer_ticks + ktau__irqs_ns(&copy.now, ticks);
	p.kernel_ticks = copy.busy_ns;
	p.asleep_ticks = copy.idle_ns;
	/* Add the time since the last switch, without interrupts. */
	own = ticks - p.irq_ticks;
	if (copy.since && own > copy.since)
		*(copy.idle ? &p.asleep_ticks : &p.kernel_ticks) += own - copy.since;
	err = put_events(s);
	if (!err)
		err = ktau__put(s, &owner, sizeof(owner));
	return err ? err : put_profile(s, &p, NULL);
}

static int put_cpus(struct ktau__stream *s)
{
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < s->bpf->nr_cpus && cpu < 65535; cpu++)
		err = put_cpu(s, cpu);
	return err;
}

static int put_end(struct ktau__stream *s)
{
	const struct kb_losses *losses = ktau__bpf_losses(s->bpf);
	struct ktau__exited *x = &s->bpf->exited;
	struct ktau_rec_end *e = &s->end;

	e->rec = ktau__header(KTAU_REC_END, sizeof(*e), sizeof(*e));
	e->exited_next = x->next_seq;
	e->exited_first = x->first ? x->first->seq : x->next_seq;
	e->refused_no_chunk = losses->no_cell;
	e->refused_no_memory = losses->lost_exited + x->lost;
	e->refused_no_state = losses->no_state + ktau__bpf_missed(s->bpf) + losses->unbalanced +
			      losses->nested;
	e->evicted = x->evicted.nr_tasks;
	e->clamped = losses->clamped;
	e->missed = x->missed;
	e->lost_evicted = s->bpf->trace.forgotten;
	if (s->query->content == KTAU_REC_PROFILE && s->query->target & KTAU_TARGET_EXITED) {
		x->shown_seq = x->next_seq;
		x->missed = 0;
	}
	return ktau__put(s, e, sizeof(*e));
}

static int check(const struct ktau_query *q, bool traced, struct ktau__error *error)
{
	const uint32_t live = KTAU_TARGET_SELF | KTAU_TARGET_LIST | KTAU_TARGET_ALL |
			      KTAU_TARGET_CHANGED;
	uint32_t chosen = q->target & live;

	if (q->content == KTAU_REC_TRACE && !traced)
		return ktau__fail(error, -EOPNOTSUPP, "measuring by BPF: the programs were loaded "
						      "without a trace");
	if (q->content == KTAU_REC_TRACE && !(q->flags & KTAU_SELECT_CONSUME))
		return ktau__fail(error, -EOPNOTSUPP, "measuring by BPF: a trace can only be "
						      "consumed");
	if (q->flags & KTAU_SELECT_TAG)
		return ktau__fail(error, -EOPNOTSUPP, "measuring by BPF: tasks have no tags");
	if (q->target & ~(uint32_t)KTAU_TARGET_VALID || chosen & (chosen - 1) ||
	    q->flags & ~(uint32_t)KTAU_SELECT_VALID ||
	    (q->content != KTAU_REC_TRACE &&
	     (q->content != KTAU_REC_PROFILE || q->flags & KTAU_SELECT_CONSUME)))
		return ktau__fail(error, -EINVAL, "measuring by BPF: invalid selection");
	return 0;
}

static int put_profiles(struct ktau__stream *s)
{
	uint32_t target = s->query->target;
	int err = 0;

	if (target & (KTAU_TARGET_SELF | KTAU_TARGET_LIST | KTAU_TARGET_ALL |
		      KTAU_TARGET_CHANGED))
		err = put_live(s);
	if (!err && target & KTAU_TARGET_EXITED)
		err = put_exited(s);
	if (!err && target & KTAU_TARGET_EVICTED && s->bpf->exited.evicted.nr_tasks)
		err = put_evicted(s);
	if (!err && target & KTAU_TARGET_EVICTED)
		err = put_gone(s);
	if (!err && target & KTAU_TARGET_CPU)
		err = put_cpus(s);
	return err;
}

static int put_all(struct ktau__stream *s)
{
	bool traces = s->query->content == KTAU_REC_TRACE;
	int err = put_stream(s);

	if (!err)
		err = find_leaders(s);
	if (!err)
		err = traces ? ktau__put_traces(s) : put_profiles(s);
	return err ? err : put_end(s);
}

int ktau__bpf_compose(struct ktau__bpf *bpf, const struct ktau_query *query,
		      struct ktau__buffer *out, struct ktau__error *error)
{
	struct ktau__stream *s;
	int err = check(query, bpf->traced, error);

	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ktau__fail(error, -ENOMEM, "%s", strerror(ENOMEM));
	s->bpf = bpf;
	s->query = query;
	s->out = out;
	s->self = gettid();
	s->cgroup_mount = ktau__cgroup_open();
	s->times = KTAU_ENTRY_LONGEST;
	if (bpf->groups & KTAU_GROUP_SCHED)
		s->times |= KTAU_ENTRY_ASLEEP | KTAU_ENTRY_RUNQ;
	if ((bpf->groups & GROUPS_IRQ) == GROUPS_IRQ)
		s->times |= KTAU_ENTRY_IRQ;
	ktau__read_clocks(&s->clocks);
	/* A stream of traces must know which of the tasks in the rings are alive. */
	err = ktau__bpf_read(bpf, query->content == KTAU_REC_PROFILE &&
						  query->target & KTAU_TARGET_SELF ?
					  getpid() :
					  0);
	if (!err)
		err = put_all(s);
	if (s->cgroup_mount.fd >= 0)
		close(s->cgroup_mount.fd);
	ktau__map_free(&s->cgroups);
	ktau__map_free(&s->serials);
	ktau__map_free(&s->by_serial);
	ktau__buffer_free(&s->leaders);
	ktau__buffer_free(&s->tasks);
	free(s);
	return err ? ktau__fail(error, err, "measuring by BPF: %s", strerror(-err)) : 0;
}
