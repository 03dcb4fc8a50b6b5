/* SPDX-License-Identifier: GPL-2.0-only */
/* The kinds of events of the language, and the fields that each has. */
#ifndef KTAU_TOOLS_VIEW_VOCABULARY_H
#define KTAU_TOOLS_VIEW_VOCABULARY_H

#include <stddef.h>

enum view_event {
	VIEW_USER,
	VIEW_ENTER,
	VIEW_EXIT, /* these have a name */
	VIEW_SWITCH,
	VIEW_WAKING,
	VIEW_WOKEN,
	VIEW_FORK,
	VIEW_EXEC,
	VIEW_TASK_EXIT,
	VIEW_COMM,
	VIEW_CGROUP,
	VIEW_NET_SEND,
	VIEW_NET_RECV,
	VIEW_KVM_ENTER,
	VIEW_KVM_EXIT,
	VIEW_LOST,
	VIEW_ONCPU,
	VIEW_OFFCPU,
	VIEW_GONE,
	VIEW_EVENTS
};

/* The number of kinds whose events have a name. */
#define VIEW_NAMED (VIEW_EXIT + 1)

enum view_field {
	FIELD_TID,
	FIELD_PID,
	FIELD_COMM,
	FIELD_TASK,
	FIELD_CPU,
	FIELD_TS,
	FIELD_SERIAL,
	FIELD_IN,
	FIELD_CTX,
	FIELD_NAME,
	FIELD_VALUE,
	FIELD_PEER,
	FIELD_OTHER, /* a field of an event with fields that has no number here */
	FIELD_DURATION,
	FIELD_RESULT,
	FIELD_PREV_STATE,
	FIELD_PRIO,
	FIELD_NEXT_PRIO,
	FIELD_NEXT_SERIAL,
	FIELD_NEXT_TID,
	FIELD_NEXT_COMM,
	FIELD_TARGET_SERIAL,
	FIELD_TARGET_TID,
	FIELD_TARGET_COMM,
	FIELD_TARGET_CPU,
	FIELD_WAKER_SERIAL,
	FIELD_WAKER_TID,
	FIELD_WAKER_COMM,
	FIELD_WAKER_CTX,
	FIELD_CHILD_SERIAL,
	FIELD_CHILD_TID,
	FIELD_NEW_COMM,
	FIELD_NEW_CGROUP,
	FIELD_CODE,
	FIELD_LOCAL_PORT,
	FIELD_REMOTE_PORT,
	FIELD_SEQ,
	FIELD_BYTES,
	FIELD_VCPU,
	FIELD_REASON,
	FIELD_LOST,
	VIEW_FIELDS
};

/* Return: the kind, or VIEW_EVENTS, in which case *nearest is the most similar name. */
enum view_event view_event_find(const char *name, const char **nearest);

/* The field of this kind of event; VIEW_FIELDS as above. */
enum view_field view_field_find(enum view_event event, const char *name, const char **nearest);

const char *view_event_name(enum view_event event);

#endif
