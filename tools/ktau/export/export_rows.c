// SPDX-License-Identifier: GPL-2.0-only
/* An export as rows of tables. Times are nanoseconds of CLOCK_BOOTTIME. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export_rows.h"
#include "lib/program_event.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const struct row_column host_columns[] = {
	{ "host", ROW_INT }, { "nodename", ROW_TEXT }, { "release", ROW_TEXT },
	{ "machine", ROW_TEXT }, { "boot_id", ROW_TEXT }, { "cpus", ROW_INT },
	{ "clock_hz", ROW_ULONG }, { "clock_stable", ROW_INT }, { "realtime_offset_ns", ROW_LONG },
};

static const struct row_column task_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "kind", ROW_TEXT }, { "tid", ROW_INT },
	{ "pid", ROW_INT }, { "ppid", ROW_INT }, { "name", ROW_TEXT }, { "cpu", ROW_INT },
	{ "uid", ROW_INT }, { "prio", ROW_INT }, { "cgroup", ROW_TEXT }, { "start_ns", ROW_ULONG },
	{ "exit_ns", ROW_ULONG }, { "exit_code", ROW_INT }, { "life_ns", ROW_ULONG },
	{ "user_ns", ROW_ULONG }, { "kernel_ns", ROW_ULONG }, { "irq_ns", ROW_ULONG },
	{ "runq_ns", ROW_ULONG }, { "asleep_ns", ROW_ULONG }, { "guest_ns", ROW_ULONG },
};

static const struct row_column routine_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "kind", ROW_TEXT }, { "tid", ROW_INT },
	{ "task", ROW_TEXT }, { "group_name", ROW_TEXT }, { "routine", ROW_TEXT },
	{ "count", ROW_ULONG }, { "incl_ns", ROW_ULONG }, { "excl_ns", ROW_ULONG },
	{ "longest_of_life_ns", ROW_ULONG }, { "asleep_ns", ROW_ULONG }, { "runq_ns", ROW_ULONG },
	{ "irq_ns", ROW_ULONG }, { "in_flight", ROW_ULONG }, { "in_flight_ns", ROW_ULONG },
};

static const struct row_column counter_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "kind", ROW_TEXT }, { "tid", ROW_INT },
	{ "task", ROW_TEXT }, { "group_name", ROW_TEXT }, { "counter", ROW_TEXT },
	{ "count", ROW_ULONG }, { "sum", ROW_ULONG }, { "min_of_life", ROW_ULONG },
	{ "max_of_life", ROW_ULONG },
};

static const struct row_column region_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "tid", ROW_INT }, { "task", ROW_TEXT },
	{ "region", ROW_TEXT }, { "group_name", ROW_TEXT }, { "routine", ROW_TEXT },
	{ "count", ROW_ULONG }, { "incl_ns", ROW_ULONG }, { "excl_ns", ROW_ULONG },
};

static const struct row_column frame_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "tid", ROW_INT }, { "task", ROW_TEXT },
	{ "start_ns", ROW_ULONG }, { "duration_ns", ROW_ULONG }, { "excl_ns", ROW_ULONG },
	{ "depth", ROW_INT }, { "nested", ROW_INT }, { "cpu", ROW_INT }, { "context", ROW_TEXT },
	{ "group_name", ROW_TEXT }, { "routine", ROW_TEXT }, { "ended", ROW_TEXT },
	{ "result", ROW_LONG }, { "address", ROW_HEX },
};

static const struct row_column point_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "tid", ROW_INT }, { "task", ROW_TEXT },
	{ "ns", ROW_ULONG }, { "cpu", ROW_INT }, { "context", ROW_TEXT }, { "type", ROW_TEXT },
	{ "name", ROW_TEXT }, { "value", ROW_LONG }, { "other_serial", ROW_ULONG },
	{ "other_tid", ROW_INT }, { "other_task", ROW_TEXT }, { "detail", ROW_TEXT },
};

static const struct row_column running_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "tid", ROW_INT }, { "task", ROW_TEXT },
	{ "start_ns", ROW_ULONG }, { "duration_ns", ROW_ULONG }, { "cpu", ROW_INT },
	{ "ended", ROW_TEXT },
};

static const struct row_column loss_columns[] = {
	{ "host", ROW_INT }, { "serial", ROW_ULONG }, { "tid", ROW_INT }, { "task", ROW_TEXT },
	{ "start_ns", ROW_ULONG }, { "duration_ns", ROW_ULONG }, { "slots", ROW_ULONG },
};

const struct row_table row_tables[ROW_NR_TABLES] = {
	[ROW_HOSTS] = { "hosts", host_columns, NR(host_columns) },
	[ROW_TASKS] = { "tasks", task_columns, NR(task_columns) },
	[ROW_ROUTINES] = { "routines", routine_columns, NR(routine_columns) },
	[ROW_COUNTERS] = { "counters", counter_columns, NR(counter_columns) },
	[ROW_REGIONS] = { "regions", region_columns, NR(region_columns) },
	[ROW_FRAMES] = { "frames", frame_columns, NR(frame_columns) },
	[ROW_POINTS] = { "points", point_columns, NR(point_columns) },
	[ROW_RUNNING] = { "running", running_columns, NR(running_columns) },
	[ROW_LOSSES] = { "losses", loss_columns, NR(loss_columns) },
};

/* A row under construction; cells are put from left to right. */
struct row {
	struct row_cell cells[ROW_MAX_COLUMNS];
	size_t nr;
};

static void put_text(struct row *r, const char *text)
{
	r->cells[r->nr++] = (struct row_cell){ text != NULL, text, 0 };
}

static void put_number(struct row *r, int64_t number)
{
	r->cells[r->nr++] = (struct row_cell){ true, NULL, number };
}

static void put_ulong(struct row *r, uint64_t number)
{
	put_number(r, (int64_t)number);
}

/* Put a number if @known, and an empty cell otherwise. */
static void put_known(struct row *r, bool known, uint64_t number)
{
	r->cells[r->nr++] = (struct row_cell){ known, NULL, (int64_t)number };
}

int rows_start_host(struct export_run *x)
{
	const struct ktau_rec_stream *s = &x->stream;
	char boot_id[2 * sizeof(s->boot_id) + 1];
	struct row r = { .nr = 0 };
	struct ktau_clock clock;
	size_t i;

	for (i = 0; i < sizeof(s->boot_id); i++)
		sprintf(boot_id + 2 * i, "%02x", s->boot_id[i]);
	ktau_clock_init(&clock, s);
	put_number(&r, x->host);
	put_text(&r, s->nodename);
	put_text(&r, s->release);
	put_text(&r, s->machine);
	put_text(&r, boot_id);
	put_number(&r, s->nr_cpus);
	put_ulong(&r, clock.hz);
	put_number(&r, clock.stable);
	put_ulong(&r, clock.realtime_ns - clock.boottime_ns);
	return x->format->row(x, ROW_HOSTS, r.cells);
}

/* Put the cells that all trace rows begin with. */
static struct row start_row(struct export_run *x, const struct track *track)
{
	struct row r = { .nr = 0 };

	put_number(&r, x->host);
	put_ulong(&r, track->serial);
	put_number(&r, track->owner.tid);
	put_text(&r, track->owner.comm);
	return r;
}

static int write_frame(struct export_run *x, const struct timeline_event *e)
{
	static const char *const ended[] = { "exit", "loss", "end" };
	struct row r = start_row(x, e->track);
	int64_t result = 0;
	bool known = e->slot && ktau_slot_result(e->slot, &result);

	put_ulong(&r, e->from_ns);
	put_ulong(&r, e->ns - e->from_ns);
	put_ulong(&r, e->excl_ns);
	put_ulong(&r, e->track->depth);
	put_number(&r, e->nested);
	put_number(&r, e->track->cpu);
	put_text(&r, e->slot ? ktau_ctx_name(e->slot->ctx) : NULL);
	put_text(&r, symbolize_group(x->names, e->id));
	put_text(&r, symbolize_event(x->names, e->id));
	put_text(&r, ended[e->ended]);
	put_known(&r, known, (uint64_t)result);
	put_known(&r, e->frame->address, e->frame->address);
	return x->format->row(x, ROW_FRAMES, r.cells);
}

static int write_loss(struct export_run *x, const struct timeline_event *e)
{
	struct row r = start_row(x, e->track);

	put_ulong(&r, e->ns);
	put_ulong(&r, e->to_ns - e->ns);
	put_ulong(&r, e->lost);
	return x->format->row(x, ROW_LOSSES, r.cells);
}

/* A time for which the task was on a CPU, by its own slots. */
static int write_running(struct export_run *x, const struct timeline_event *e)
{
	static const char *const off[] = { "switch", "exit", "loss", "end" };
	struct row r = start_row(x, e->track);

	put_ulong(&r, e->from_ns);
	put_ulong(&r, e->ns - e->from_ns);
	put_number(&r, e->track->cpu);
	put_text(&r, off[e->off]);
	return x->format->row(x, ROW_RUNNING, r.cells);
}

/**
 * struct details - contents of a slot that is not a frame
 * @name: name of the counter, or new name of the task
 * @value: value of the counter, or a number that depends on the type
 * @other: serial of the other task; 0 if there is none
 * @detail: further details as text
 */
struct details {
	const char *name;
	bool has_value;
	int64_t value;
	uint64_t other;
	char comm[17];
	char detail[160];
};

static void describe_kvm(struct details *p, const struct ktau_slot_kvm *kvm, bool left)
{
	snprintf(p->detail, sizeof(p->detail), "vcpu %" PRIu32, kvm->vcpu);
	p->has_value = left;
	p->value = kvm->reason;
}

static void describe_net(struct details *p, const struct ktau_slot_net *net)
{
	char local[INET6_ADDRSTRLEN] = "", remote[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, net->local, local, sizeof(local));
	inet_ntop(AF_INET6, net->remote, remote, sizeof(remote));
	snprintf(p->detail, sizeof(p->detail), "[%s]:%u [%s]:%u seq %u", local,
		 net->local_port, remote, net->remote_port, net->seq);
	p->value = net->bytes;
	p->has_value = true;
}

static void describe_sched(struct details *p, const struct ktau_slot *slot)
{
	struct ktau_slot_switch to;
	struct ktau_slot_waking waking;
	struct ktau_slot_woken woken;
	struct ktau_slot_fork child;

	if (ktau_slot_switch(slot, &to)) {
		p->other = to.next_serial;
		p->has_value = true;
		p->value = to.state;
		snprintf(p->detail, sizeof(p->detail), "%c", ktau_state_letter(to.state));
	} else if (ktau_slot_waking(slot, &waking)) {
		p->other = waking.serial;
		p->has_value = true;
		p->value = waking.target_cpu;
	} else if (ktau_slot_woken(slot, &woken)) {
		p->other = woken.waker_serial;
		p->has_value = true;
		p->value = woken.target_cpu;
	} else if (ktau_slot_fork(slot, &child)) {
		p->other = child.serial;
	}
}

static void describe_groups(struct details *p, uint32_t groups)
{
	size_t bytes = 0;
	uint32_t bit;

	p->has_value = true;
	p->value = groups;
	for (bit = 1; bit & KTAU_GROUP_ALL && bytes < sizeof(p->detail); bit <<= 1)
		if (groups & bit)
			bytes += (size_t)snprintf(p->detail + bytes, sizeof(p->detail) - bytes,
						  "%s%s", bytes ? "," : "", ktau_group_name(bit));
}

static void describe(struct export_run *x, const struct timeline_event *e, struct details *p)
{
	struct ktau_slot_net net;
	struct ktau_slot_kvm kvm;
	uint64_t number;
	uint32_t groups;
	int32_t code;

	*p = (struct details){ .name = NULL };
	describe_sched(p, e->slot);
	if (ktau_slot_count(e->slot, &number)) {
		p->name = symbolize_event(x->names, e->id);
		p->has_value = true;
		p->value = (int64_t)number;
	} else if (ktau_slot_comm(e->slot, p->comm)) {
		p->name = p->comm;
	} else if (ktau_slot_exit_code(e->slot, &code)) {
		p->has_value = true;
		p->value = code;
	} else if (ktau_slot_cgroup(e->slot, &number)) {
		p->name = registry_cgroup_text(x->period->registry, number);
	} else if (ktau_slot_net(e->slot, &net)) {
		describe_net(p, &net);
	} else if (ktau_slot_groups(e->slot, &groups)) {
		describe_groups(p, groups);
	} else if (ktau_slot_kvm(e->slot, &kvm)) {
		describe_kvm(p, &kvm, e->type == KTAU_TRACE_KVM_EXIT);
	}
}

/* The fields of an event of a program, as far as there is room. */
static void describe_fields(struct export_run *x, const struct timeline_event *e, struct details *p)
{
	const char *name = symbolize_fields(x->names, e->id);
	struct program_field field;
	struct program_walk walk;
	size_t bytes = 0;

	if (!name)
		return;
	program_begin(&walk, name, e->slot);
	while (bytes < sizeof(p->detail) && program_next(&walk, &field))
		bytes += (size_t)snprintf(p->detail + bytes, sizeof(p->detail) - bytes,
					  "%s%.*s=%s", bytes ? " " : "", (int)field.name_bytes,
					  field.name, program_text(&field));
}

/* What a program has noted. */
static void describe_mark(struct export_run *x, const struct timeline_event *e, struct details *p)
{
	*p = (struct details){
		.name = symbolize_event(x->names, e->id),
		.has_value = e->mark->type != USER_MARK, .value = (int64_t)e->mark->value,
	};
	if (e->mark->type == USER_MESSAGE)
		snprintf(p->detail, sizeof(p->detail), "peer %" PRId32, e->mark->peer);
	describe_fields(x, e, p);
}

static int write_point(struct export_run *x, const struct timeline_event *e)
{
	const bool mark = e->type == TIMELINE_MARK;
	const char *type = mark ? "MARK" : ktau_slot_type_name((uint8_t)e->type);
	const struct ktau_rec_owner *other;
	struct row r = start_row(x, e->track);
	struct details p;

	if (mark)
		describe_mark(x, e, &p);
	else
		describe(x, e, &p);
	other = p.other ? timeline_owner(x->timeline, p.other) : NULL;
	put_ulong(&r, e->ns);
	put_number(&r, e->slot->cpu);
	put_text(&r, ktau_ctx_name(e->slot->ctx));
	put_text(&r, type ? type : "UNKNOWN");
	put_text(&r, p.name);
	put_known(&r, p.has_value, (uint64_t)p.value);
	put_known(&r, p.other, p.other);
	put_known(&r, other, other ? (uint64_t)(int64_t)other->tid : 0);
	put_text(&r, other ? other->comm : NULL);
	put_text(&r, *p.detail ? p.detail : NULL);
	return x->format->row(x, ROW_POINTS, r.cells);
}

int rows_event(struct export_run *x, const struct timeline_event *e)
{
	switch (e->type) {
	case KTAU_TRACE_ENTER:
	case TIMELINE_ON:
	case TIMELINE_GONE:
		return 0;
	case TIMELINE_OFF:
		return write_running(x, e);
	case KTAU_TRACE_EXIT:
		return write_frame(x, e);
	case TIMELINE_LOST:
		return write_loss(x, e);
	}
	return write_point(x, e);
}

/* A sum that does not fit into a cell stays at the end of its range. */
static uint64_t ns_of(const struct export_run *x, ktau_sum_t ticks)
{
	struct ktau_clock clock;
	ktau_sum_t ns;

	ktau_clock_init(&clock, &x->stream);
	ns = ktau_clock_sum_ns(&clock, ticks);
	return ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

static void put_ticks(struct export_run *x, struct row *r, bool known, ktau_sum_t ticks)
{
	put_known(r, known, known ? ns_of(x, ticks) : 0);
}

static int write_task(struct export_run *x, const struct ktau_rec_owner *o,
		      const struct account *account)
{
	static const int parts[] = { ACCOUNT_USER, ACCOUNT_KERNEL, ACCOUNT_IRQ, ACCOUNT_RUNQ,
				     ACCOUNT_ASLEEP, ACCOUNT_GUEST };
	bool exited = o->kind == KTAU_OWNER_EXITED;
	struct row r = { .nr = 0 };
	size_t i;

	put_number(&r, x->host);
	put_ulong(&r, o->serial);
	put_text(&r, ktau_owner_kind_name(o->kind));
	put_number(&r, o->tid);
	put_number(&r, o->tgid);
	put_number(&r, o->ppid);
	put_text(&r, o->comm);
	put_number(&r, o->cpu);
	put_number(&r, o->uid);
	put_number(&r, o->prio);
	put_text(&r, o->cgroup ? registry_cgroup_text(x->period->registry, o->cgroup) : NULL);
	put_ulong(&r, o->start_ns);
	put_known(&r, exited, o->exit_ns);
	put_known(&r, exited, (uint64_t)(int64_t)o->exit_code);
	put_ticks(x, &r, account, account ? account->life : 0);
	for (i = 0; i < NR(parts); i++)
		put_ticks(x, &r, account, account ? account->parts[parts[i]] : 0);
	return x->format->row(x, ROW_TASKS, r.cells);
}

static struct row start_profile(struct export_run *x, const struct process *p,
				const struct routine *routine)
{
	const struct ktau_rec_owner *o = &p->owner;
	struct row r = { .nr = 0 };

	put_number(&r, x->host);
	put_ulong(&r, o->serial);
	put_text(&r, ktau_owner_kind_name(o->kind));
	put_number(&r, o->tid);
	put_text(&r, p->label && *p->label ? p->label : o->comm);
	put_text(&r, symbolize_group(x->names, routine->id));
	put_text(&r, symbolize_event(x->names, routine->id));
	put_ulong(&r, routine->count);
	return r;
}

static int write_routine(struct export_run *x, const struct process *p,
			 const struct routine *routine)
{
	struct row r = start_profile(x, p, routine);

	if (routine->kind == KTAU_KIND_COUNTER) {
		put_ulong(&r, sum_u64(routine->incl));
		put_ulong(&r, routine->min);
		put_ulong(&r, routine->max);
		return x->format->row(x, ROW_COUNTERS, r.cells);
	}
	put_ticks(x, &r, true, routine->incl);
	put_ticks(x, &r, true, routine->excl);
	put_ticks(x, &r, routine->flags & KTAU_ENTRY_LONGEST, routine->longest);
	put_ticks(x, &r, routine->flags & KTAU_ENTRY_ASLEEP, routine->asleep);
	put_ticks(x, &r, routine->flags & KTAU_ENTRY_RUNQ, routine->runq);
	put_ticks(x, &r, routine->flags & KTAU_ENTRY_IRQ, routine->irq);
	put_ulong(&r, routine->open);
	put_ticks(x, &r, true, routine->open_incl);
	return x->format->row(x, ROW_ROUTINES, r.cells);
}

static int write_tally(struct export_run *x, const struct process *p)
{
	const struct routine *r;
	int err = 0;

	for (r = p->tally.routines; !err && r < p->tally.routines + p->tally.nr; r++)
		err = write_routine(x, p, r);
	return err;
}

int rows_task(struct export_run *x, const struct process *p)
{
	int err = write_task(x, &p->owner, &p->account);

	return err ? err : write_tally(x, p);
}

/* A counter has no times, only its number of values. */
static int write_region(struct export_run *x, const struct region_sum *s)
{
	struct row r = { .nr = 0 };

	put_number(&r, x->host);
	put_ulong(&r, s->owner->serial);
	put_number(&r, s->owner->tid);
	put_text(&r, s->owner->comm);
	put_text(&r, s->path);
	put_text(&r, symbolize_group(x->names, s->id));
	put_text(&r, symbolize_event(x->names, s->id));
	put_ulong(&r, s->count);
	put_ticks(x, &r, s->timer, s->incl);
	put_ticks(x, &r, s->timer, s->excl);
	return x->format->row(x, ROW_REGIONS, r.cells);
}

/* Write the other tasks, then the CPUs and the evicted sum, which have their own kinds. */
int rows_profile(struct export_run *x)
{
	struct aggregate *rows = x->period->rows;
	int err = 0;
	size_t i;

	for (i = 0; !err && i < rows->nr; i++)
		err = rows_task(x, aggregate_open(rows, &rows->processes[i]));
	for (i = 0; !err && i < rows->nr_cpus; i++)
		err = rows_task(x, &rows->cpus[i]);
	if (!err)
		err = write_tally(x, &rows->evicted);
	for (i = 0; !err && i < x->regions.nr; i++)
		err = write_region(x, &x->regions.sum[i]);
	return err;
}

/* Write the tasks that have only a trace. */
int rows_end_host(struct export_run *x)
{
	const struct aggregate *rows = x->period->rows;
	const struct track *track;
	struct hash known = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < rows->nr; i++)
		hash_add(&known, rows->processes[i].owner.serial);
	for (i = 0; !err && (track = timeline_track_at(x->timeline, i)); i++)
		if (!hash_has(&known, track->serial) && !hash_has(&rows->passed, track->serial))
			err = write_task(x, &track->owner, NULL);
	hash_deinit(&known);
	return err;
}
