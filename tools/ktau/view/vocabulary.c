// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <string.h>

#include "strings.h"
#include "vocabulary.h"

static const char *const events[VIEW_EVENTS] = {
	[VIEW_USER] = "user",
	[VIEW_ENTER] = "enter",
	[VIEW_EXIT] = "exit",
	[VIEW_SWITCH] = "switch",
	[VIEW_WAKING] = "waking",
	[VIEW_WOKEN] = "woken",
	[VIEW_FORK] = "fork",
	[VIEW_EXEC] = "exec",
	[VIEW_TASK_EXIT] = "task_exit",
	[VIEW_COMM] = "comm",
	[VIEW_CGROUP] = "cgroup",
	[VIEW_NET_SEND] = "net_send",
	[VIEW_NET_RECV] = "net_recv",
	[VIEW_KVM_ENTER] = "kvm_enter",
	[VIEW_KVM_EXIT] = "kvm_exit",
	[VIEW_LOST] = "lost",
	[VIEW_ONCPU] = "oncpu",
	[VIEW_OFFCPU] = "offcpu",
	[VIEW_GONE] = "gone",
};

#define ON(event) (1U << VIEW_##event)
#define ON_ALL ((1U << VIEW_EVENTS) - 1)
#define ON_NET (ON(NET_SEND) | ON(NET_RECV))

/* A field, and the kinds of events that have it. */
static const struct {
	const char *name;
	uint32_t on;
} fields[VIEW_FIELDS] = {
	[FIELD_TID] = { "tid", ON_ALL },
	[FIELD_PID] = { "pid", ON_ALL },
	[FIELD_COMM] = { "comm", ON_ALL },
	[FIELD_TASK] = { "task", ON_ALL },
	[FIELD_CPU] = { "cpu", ON_ALL },
	[FIELD_TS] = { "ts", ON_ALL },
	[FIELD_SERIAL] = { "serial", ON_ALL },
	[FIELD_IN] = { "in", ON_ALL },
	[FIELD_CTX] = { "ctx", ON_ALL & ~(ON(LOST) | ON(ONCPU) | ON(OFFCPU) | ON(GONE)) },
	[FIELD_NAME] = { "name", ON(USER) | ON(ENTER) | ON(EXIT) },
	[FIELD_VALUE] = { "value", ON(USER) },
	[FIELD_PEER] = { "peer", ON(USER) },
	[FIELD_DURATION] = { "duration", ON(EXIT) },
	[FIELD_RESULT] = { "result", ON(EXIT) },
	[FIELD_PREV_STATE] = { "prev_state", ON(SWITCH) },
	[FIELD_PRIO] = { "prio", ON(SWITCH) | ON(WAKING) },
	[FIELD_NEXT_PRIO] = { "next_prio", ON(SWITCH) },
	[FIELD_NEXT_SERIAL] = { "next_serial", ON(SWITCH) },
	[FIELD_NEXT_TID] = { "next_tid", ON(SWITCH) },
	[FIELD_NEXT_COMM] = { "next_comm", ON(SWITCH) },
	[FIELD_TARGET_SERIAL] = { "target_serial", ON(WAKING) },
	[FIELD_TARGET_TID] = { "target_tid", ON(WAKING) },
	[FIELD_TARGET_COMM] = { "target_comm", ON(WAKING) },
	[FIELD_TARGET_CPU] = { "target_cpu", ON(WAKING) | ON(WOKEN) },
	[FIELD_WAKER_SERIAL] = { "waker_serial", ON(WOKEN) },
	[FIELD_WAKER_TID] = { "waker_tid", ON(WOKEN) },
	[FIELD_WAKER_COMM] = { "waker_comm", ON(WOKEN) },
	[FIELD_WAKER_CTX] = { "waker_ctx", ON(WOKEN) },
	[FIELD_CHILD_SERIAL] = { "child_serial", ON(FORK) },
	[FIELD_CHILD_TID] = { "child_tid", ON(FORK) },
	[FIELD_NEW_COMM] = { "new_comm", ON(EXEC) | ON(COMM) },
	[FIELD_NEW_CGROUP] = { "new_cgroup", ON(CGROUP) },
	[FIELD_CODE] = { "code", ON(TASK_EXIT) },
	[FIELD_LOCAL_PORT] = { "local_port", ON_NET },
	[FIELD_REMOTE_PORT] = { "remote_port", ON_NET },
	[FIELD_SEQ] = { "seq", ON_NET },
	[FIELD_BYTES] = { "bytes", ON_NET },
	[FIELD_VCPU] = { "vcpu", ON(KVM_ENTER) | ON(KVM_EXIT) },
	[FIELD_REASON] = { "reason", ON(KVM_EXIT) },
	[FIELD_LOST] = { "lost", ON(LOST) },
};

enum view_event view_event_find(const char *name, const char **nearest)
{
	unsigned int best = UINT32_MAX, distance;
	size_t i;

	for (i = 0; i < VIEW_EVENTS; i++) {
		distance = view_distance(name, events[i]);
		if (!strcmp(name, events[i]))
			return (enum view_event)i;
		if (distance < best) {
			best = distance;
			*nearest = events[i];
		}
	}
	return VIEW_EVENTS;
}

enum view_field view_field_find(enum view_event event, const char *name, const char **nearest)
{
	unsigned int best = UINT32_MAX, distance;
	size_t i;

	for (i = 0; i < VIEW_FIELDS; i++) {
		if (!(fields[i].on & 1U << event))
			continue;
		distance = view_distance(name, fields[i].name);
		if (!strcmp(name, fields[i].name))
			return (enum view_field)i;
		if (distance < best) {
			best = distance;
			*nearest = fields[i].name;
		}
	}
	return VIEW_FIELDS;
}

const char *view_event_name(enum view_event event)
{
	return events[event];
}
