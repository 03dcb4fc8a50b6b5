// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: events that modules register, and their frames. count.c has their counters.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/ktau_api.h>
#include <linux/log2.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "base/core.h"
#include "base/event.h"
#include "base/ids.h"

/*
 * The frames of these groups are also accounted to the CPU, or are part of a task's
 * state. The events of func are functions.
 */
#define GROUPS_OF_KTAU							\
	(KTAU_GROUP_IRQ | KTAU_GROUP_BH | KTAU_GROUP_SCHED |		\
	 KTAU_GROUP_KVM | KTAU_GROUP_ACCOUNT | KTAU_GROUP_FUNC)

static bool is_name(const char *name)
{
	const char *c;

	for (c = name; isgraph(*c) && isascii(*c); c++)
		;
	return c > name && !*c && c - name < KTAU_NAME_BYTES;
}

/**
 * ktau_get_fid() - register an event, or find it
 * @group: one KTAU_GROUP_* bit: a group of modules, or one whose frames belong to the
 *	task alone
 * @kind: KTAU_KIND_TIMER for ktau_start(), KTAU_KIND_COUNTER for ktau_event()
 * @name: printable ASCII without blanks, at most 63 characters; copied
 *
 * The id and the name stay until reboot. A module that is loaded again gets the same id
 * for the same name.
 *
 * Context: Any but NMI.
 * Return: The id; -EINVAL for an invalid argument, -EEXIST if the name belongs to an event
 * of another group or kind, -ENOSPC if no id or no room for the name is left.
 */
int ktau_get_fid(u32 group, unsigned int kind, const char *name)
{
	u32 groups = (ktau_groups_built & ~GROUPS_OF_KTAU) | KTAU_GROUP_MODULES;

	if (!is_power_of_2(group) || !(group & groups))
		return -EINVAL;
	if (kind != KTAU_KIND_TIMER && kind != KTAU_KIND_COUNTER)
		return -EINVAL;
	return is_name(name) ? ktau_module_id(group, kind, name) : -EINVAL;
}
EXPORT_SYMBOL_GPL(ktau_get_fid);

/**
 * ktau_fid_name() - the name of an event
 * @fid: event, from ktau_get_fid()
 * @name: receives the name, cut to fit, and a NUL
 * @size: size of @name
 *
 * Context: Any but NMI.
 * Return: 0, or -ENOENT if there is no such event.
 */
int ktau_fid_name(int fid, char *name, size_t size)
{
	char full[KTAU_EVENT_NAME];

	if (!ktau_event_find(fid))
		return -ENOENT;
	ktau_event_format_name(fid, full);
	strscpy(name, full, size);
	return 0;
}
EXPORT_SYMBOL_GPL(ktau_fid_name);

/**
 * ktau_start() - open a frame
 * @frame: uninitialised frame on the stack of the caller
 * @fid: event, from ktau_get_fid()
 *
 * No frame is opened unless @fid is a timer whose group is enabled for the current task.
 * ktau_stop() does nothing then.
 *
 * Context: Any; in NMI no frame is opened.
 */
void ktau_start(struct ktau_frame *frame, int fid)
{
	struct task_struct *tsk = current;
	u32 group = ktau_module_group(fid, KTAU_KIND_TIMER);

	if ((READ_ONCE(tsk->ktau.mask) & group) && !in_nmi())
		__ktau_enter(frame, tsk, fid);
}
EXPORT_SYMBOL_GPL(ktau_start);
NOKPROBE_SYMBOL(ktau_start);
