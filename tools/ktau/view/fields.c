// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyse/user_trace.h"
#include "lib/program_event.h"
#include "fields.h"

enum view_event fields_event(const struct timeline_event *e)
{
	switch (e->type) {
	case TIMELINE_MARK:
		return VIEW_USER;
	case KTAU_TRACE_ENTER:
		return VIEW_ENTER;
	case KTAU_TRACE_EXIT:
		/* What ends by a loss or at the end of the trace has not been left. */
		return e->ended == ENDED_BY_EXIT ? VIEW_EXIT : VIEW_EVENTS;
	case KTAU_TRACE_SWITCH:
		return VIEW_SWITCH;
	case KTAU_TRACE_WAKING:
		return VIEW_WAKING;
	case KTAU_TRACE_WOKEN:
		return VIEW_WOKEN;
	case KTAU_TRACE_FORK:
		return VIEW_FORK;
	case KTAU_TRACE_EXEC:
		return VIEW_EXEC;
	case KTAU_TRACE_TASK_EXIT:
		return VIEW_TASK_EXIT;
	case KTAU_TRACE_COMM:
		return VIEW_COMM;
	case KTAU_TRACE_CGROUP:
		return VIEW_CGROUP;
	case KTAU_TRACE_NET_SEND:
		return VIEW_NET_SEND;
	case KTAU_TRACE_NET_RECV:
		return VIEW_NET_RECV;
	case KTAU_TRACE_KVM_ENTER:
		return VIEW_KVM_ENTER;
	case KTAU_TRACE_KVM_EXIT:
		return VIEW_KVM_EXIT;
	case TIMELINE_LOST:
		return VIEW_LOST;
	case TIMELINE_ON:
		return VIEW_ONCPU;
	case TIMELINE_OFF:
		return e->off == OFF_BY_SWITCH || e->off == OFF_BY_EXIT ? VIEW_OFFCPU :
									  VIEW_EVENTS;
	case TIMELINE_GONE:
		return VIEW_GONE;
	}
	return VIEW_EVENTS;
}

static const struct view_value unknown;

static struct view_value number(int64_t value)
{
	return (struct view_value){ VALUE_NUMBER, value };
}

static struct view_value text(const struct fields *f, const char *value)
{
	return (struct view_value){ VALUE_TEXT, strings_add(f->texts, value) };
}

enum { OWNER_SERIAL,
       OWNER_TID,
       OWNER_PID,
       OWNER_COMM };

/* Of an owner, which may not be known; a serial of 0 is that of a task that is not shown. */
static struct view_value owner_part(const struct fields *f, const struct ktau_rec_owner *owner,
				    uint64_t serial, int part)
{
	if (part == OWNER_SERIAL)
		return serial ? number((int64_t)serial) : unknown;
	if (!serial || !owner || !owner->rec.type)
		return unknown;
	if (part == OWNER_COMM)
		return text(f, owner->comm);
	return number(part == OWNER_TID ? owner->tid : owner->tgid);
}

/* "comm/tid". */
static struct view_value name_of(const struct fields *f, const struct track *track)
{
	char name[sizeof(track->owner.comm) + 12];

	if (!track->serial || !track->owner.rec.type)
		return unknown;
	snprintf(name, sizeof(name), "%.*s/%d", (int)sizeof(track->owner.comm), track->owner.comm,
		 track->owner.tid);
	return text(f, name);
}

static struct view_value named(const struct fields *f, uint64_t serial, int part)
{
	const struct ktau_rec_owner *owner = NULL;

	if (part != OWNER_SERIAL)
		owner = timeline_owner(f->timeline, serial);
	return owner_part(f, owner, serial, part);
}

/* The outermost routine of the kernel, usually a system call. */
static struct view_value outermost(const struct fields *f, const struct track *track)
{
	const uint32_t others = SYMBOLIZE_USER | KTAU_GROUP_SCHED;
	size_t i;

	for (i = 0; i < track->depth; i++)
		if (!(symbolize_group_bit(f->names, track->frames[i].id) & others))
			return text(f, symbolize_event(f->names, track->frames[i].id));
	return unknown;
}

static struct view_value of_any(const struct fields *f, const struct timeline_event *e,
				enum view_field field)
{
	const struct track *track = e->track;

	switch (field) {
	case FIELD_TID:
		return owner_part(f, &track->owner, track->serial, OWNER_TID);
	case FIELD_PID:
		return owner_part(f, &track->owner, track->serial, OWNER_PID);
	case FIELD_COMM:
		return owner_part(f, &track->owner, track->serial, OWNER_COMM);
	case FIELD_TASK:
		return name_of(f, track);
	case FIELD_SERIAL:
		return owner_part(f, &track->owner, track->serial, OWNER_SERIAL);
	case FIELD_CPU:
		return number(track->cpu);
	case FIELD_TS:
		return number((int64_t)e->ns);
	case FIELD_IN:
		return outermost(f, track);
	case FIELD_CTX:
		return e->slot ? number(e->slot->ctx) : unknown;
	case FIELD_NAME:
		return text(f, symbolize_event(f->names, e->id));
	case FIELD_LOST:
		return number((int64_t)e->lost);
	case FIELD_VALUE:
		return number((int64_t)e->mark->value);
	case FIELD_PEER:
		return e->mark->type == USER_MESSAGE ? number(e->mark->peer) : unknown;
	case FIELD_DURATION:
		return number((int64_t)(e->ns - e->from_ns));
	default:
		return unknown;
	}
}

static struct view_value of_switch(const struct fields *f, const struct ktau_slot *slot,
				   enum view_field field)
{
	struct ktau_slot_switch to;

	if (!ktau_slot_switch(slot, &to))
		return unknown;
	switch (field) {
	case FIELD_PREV_STATE:
		return number(to.state);
	case FIELD_PRIO:
		return number(to.prio);
	case FIELD_NEXT_PRIO:
		return number(to.next_prio);
	case FIELD_NEXT_SERIAL:
		return named(f, to.next_serial, OWNER_SERIAL);
	case FIELD_NEXT_TID:
		return named(f, to.next_serial, OWNER_TID);
	case FIELD_NEXT_COMM:
		return named(f, to.next_serial, OWNER_COMM);
	default:
		return unknown;
	}
}

static struct view_value of_waking(const struct fields *f, const struct ktau_slot *slot,
				   enum view_field field)
{
	struct ktau_slot_waking waking;

	if (!ktau_slot_waking(slot, &waking))
		return unknown;
	switch (field) {
	case FIELD_PRIO:
		return number(waking.prio);
	case FIELD_TARGET_CPU:
		return number(waking.target_cpu);
	case FIELD_TARGET_SERIAL:
		return named(f, waking.serial, OWNER_SERIAL);
	case FIELD_TARGET_TID:
		return named(f, waking.serial, OWNER_TID);
	case FIELD_TARGET_COMM:
		return named(f, waking.serial, OWNER_COMM);
	default:
		return unknown;
	}
}

static struct view_value of_woken(const struct fields *f, const struct ktau_slot *slot,
				  enum view_field field)
{
	struct ktau_slot_woken woken;

	if (!ktau_slot_woken(slot, &woken))
		return unknown;
	switch (field) {
	case FIELD_TARGET_CPU:
		return number(woken.target_cpu);
	case FIELD_WAKER_CTX:
		return number(woken.waker_ctx);
	case FIELD_WAKER_SERIAL:
		return named(f, woken.waker_serial, OWNER_SERIAL);
	case FIELD_WAKER_TID:
		return named(f, woken.waker_serial, OWNER_TID);
	case FIELD_WAKER_COMM:
		return named(f, woken.waker_serial, OWNER_COMM);
	default:
		return unknown;
	}
}

static struct view_value of_net(const struct ktau_slot *slot, enum view_field field)
{
	struct ktau_slot_net net;

	if (!ktau_slot_net(slot, &net))
		return unknown;
	switch (field) {
	case FIELD_LOCAL_PORT:
		return number(net.local_port);
	case FIELD_REMOTE_PORT:
		return number(net.remote_port);
	case FIELD_SEQ:
		return number(net.seq);
	case FIELD_BYTES:
		return number(net.bytes);
	default:
		return unknown;
	}
}

static struct view_value of_task(const struct fields *f, const struct ktau_slot *slot,
				 enum view_field field)
{
	struct ktau_slot_fork fork;
	struct ktau_slot_kvm kvm;
	uint64_t cgroup;
	char comm[17];
	int64_t result;
	int32_t code;

	switch (field) {
	case FIELD_CHILD_SERIAL:
	case FIELD_CHILD_TID:
		return ktau_slot_fork(slot, &fork) ?
			       named(f, fork.serial,
				     field == FIELD_CHILD_TID ? OWNER_TID : OWNER_SERIAL) :
			       unknown;
	case FIELD_NEW_COMM:
		return ktau_slot_comm(slot, comm) ? text(f, comm) : unknown;
	case FIELD_NEW_CGROUP:
		return ktau_slot_cgroup(slot, &cgroup) ? number((int64_t)cgroup) : unknown;
	case FIELD_CODE:
		return ktau_slot_exit_code(slot, &code) ? number(code) : unknown;
	case FIELD_RESULT:
		return ktau_slot_result(slot, &result) ? number(result) : unknown;
	case FIELD_VCPU:
		return ktau_slot_kvm(slot, &kvm) ? number(kvm.vcpu) : unknown;
	case FIELD_REASON:
		return ktau_slot_kvm(slot, &kvm) ? number(kvm.reason) : unknown;
	default:
		return unknown;
	}
}

static bool has_fields(const struct timeline_event *e)
{
	return e->type == TIMELINE_MARK && e->slot && e->slot->type == KTAU_TRACE_FIELDS;
}

/* The field of an event of a program that has this name. */
static struct view_value of_program(const struct fields *f, const struct timeline_event *e,
				    const char *name)
{
	const char *recorded = symbolize_fields(f->names, e->id);
	struct program_field field;

	if (!recorded || !program_find(recorded, e->slot, name, &field))
		return unknown;
	if (field.type == PROGRAM_TEXT_TYPE)
		return text(f, field.text);
	if (field.type == PROGRAM_REAL || (field.type == PROGRAM_U64 && field.number > INT64_MAX))
		return view_number(field.type == PROGRAM_REAL ? field.real : (double)field.number);
	return number((int64_t)field.number);
}

struct view_value fields_value(const struct fields *f, const struct timeline_event *e,
			       enum view_field field, struct view_value name)
{
	if (has_fields(e) && name.kind == VALUE_TEXT)
		return of_program(f, e, f->texts->texts[name.number]);
	if (has_fields(e) && (field == FIELD_VALUE || field == FIELD_PEER))
		return of_program(f, e, field == FIELD_VALUE ? "value" : "peer");
	if (field <= FIELD_DURATION)
		return of_any(f, e, field);
	switch (e->type) {
	case TIMELINE_LOST:
		return of_any(f, e, field);
	case KTAU_TRACE_SWITCH:
		return of_switch(f, e->slot, field);
	case KTAU_TRACE_WAKING:
		return of_waking(f, e->slot, field);
	case KTAU_TRACE_WOKEN:
		return of_woken(f, e->slot, field);
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		return of_net(e->slot, field);
	}
	return e->slot ? of_task(f, e->slot, field) : unknown;
}
