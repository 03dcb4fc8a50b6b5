// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "xml_names.h"

#define WAKING "comm=target_comm tid=target_tid prio=prio target_cpu=target_cpu"

const struct xml_event xml_events[] = {
	{ "sched_switch", false, VIEW_SWITCH, NULL,
	  "prev_comm=comm prev_tid=tid prev_prio=prio prev_state=prev_state next_comm=next_comm "
	  "next_tid=next_tid next_prio=next_prio" },
	{ "sched_waking", false, VIEW_WAKING, NULL, WAKING },
	{ "sched_wakeup", false, VIEW_WAKING, NULL, WAKING },
	{ "sched_process_fork", false, VIEW_FORK, NULL,
	  "parent_comm=comm parent_tid=tid parent_pid=pid child_tid=child_tid" },
	{ "sched_process_exec", false, VIEW_EXEC, NULL, "filename=new_comm tid=tid" },
	{ "sched_process_exit", false, VIEW_TASK_EXIT, NULL, "comm=comm tid=tid" },
	{ "sched_process_free", false, VIEW_GONE, NULL, "comm=comm tid=tid" },
	{ "irq_handler_entry", false, VIEW_ENTER, "irq:", "name=name" },
	{ "irq_handler_exit", false, VIEW_EXIT, "irq:", "name=name" },
	{ "irq_softirq_entry", false, VIEW_ENTER, "softirq:", "name=name" },
	{ "irq_softirq_exit", false, VIEW_EXIT, "softirq:", "name=name" },
	{ "ktau_enter", false, VIEW_ENTER, "", "name=name" },
	{ "ktau_exit", false, VIEW_EXIT, "", "name=name" },
	{ "ktau_lost", false, VIEW_LOST, NULL, "slots=lost" },
	{ "syscall_entry_", true, VIEW_ENTER, "sys_", "" },
	{ "syscall_exit_", true, VIEW_EXIT, "sys_", "ret=result" },
};

const size_t nr_xml_events = sizeof(xml_events) / sizeof(*xml_events);

/* All events have these. */
static const char general[] =
	"cpu=cpu timestamp=ts tid=tid pid=pid context._procname=comm context._tid=tid "
	"context._vtid=tid context._pid=pid context._vpid=pid context.procname=comm "
	"context.tid=tid context.vtid=tid context.pid=pid context.vpid=pid";

bool xml_event_matches(const struct xml_event *event, const char *pattern)
{
	const size_t bytes = strlen(event->name);
	const char *star = strchr(pattern, '*');
	size_t begin = star ? (size_t)(star - pattern) : strlen(pattern);

	if (event->call && begin > bytes)
		begin = bytes;
	if (event->call && !star && strlen(pattern) <= bytes)
		return false;
	return star || event->call ? !strncmp(event->name, pattern, begin) :
				     !strcmp(event->name, pattern);
}

/* The field in "name=field ..." with this name. */
static enum view_field find(enum view_event event, const char *list, const char *name)
{
	const size_t bytes = strlen(name);
	const char *nearest;
	char field[32];

	for (; list; list = strchr(list, ' ')) {
		list += *list == ' ';
		if (strncmp(list, name, bytes) || list[bytes] != '=')
			continue;
		if (sscanf(list + bytes + 1, "%31s", field) == 1)
			return view_field_find(event, field, &nearest);
	}
	return VIEW_FIELDS;
}

enum view_field xml_field(const struct xml_event *event, const char *name)
{
	const enum view_event kind = event ? event->event : VIEW_USER;
	enum view_field field = VIEW_FIELDS;

	field = find(kind, event ? event->fields : "peer=peer", name);
	return field == VIEW_FIELDS ? find(kind, general, name) : field;
}
