// SPDX-License-Identifier: GPL-2.0-only
/* What events of system calls say about tasks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau_bpf.h>

#include "import.h"

/*
 * A system call does not contain another one: the exit of the one before was lost. That of
 * rt_sigreturn has no event, because the number of the call is gone.
 */
static void put_call(struct import *im, const struct import_class *class,
		     const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	const struct import_point *open = task ? import_syscall(task) : NULL;

	const bool enters = task && class->point && !class->exits && !im->native;

	if (open && enters)
		import_exit(im, task, open);
	import_put_frame(im, class->point, class->exits, e);
	if (enters && strstr(class->point->name, "sigreturn"))
		import_exit(im, task, class->point);
}

/* The system call with a number, "sys_newstat"; "sys_4" if its name is not known. */
static const struct import_point *numbered_call(struct import *im, uint64_t nr, bool compat)
{
	const char *known = NULL;
	char name[64];
	const struct import_point_key key = {
		name,
		IMPORT_SYSCALL,
		compat ? KTAU_SOURCE_FOREIGN : KTAU_SOURCE_SYSCALL,
		KTAU_GROUP_SYSCALL,
		0,
	};

	if (im->x86_64 && !compat && nr <= UINT32_MAX)
		known = ktau_bpf_syscall((uint32_t)nr);
	if (known)
		snprintf(name, sizeof(name), "sys_%s", known);
	else
		snprintf(name, sizeof(name), "%s%llu", compat ? "compat:" : "sys_",
			 (unsigned long long)nr);
	return import_point(im, &key);
}

static const struct import_point compat = { .source = KTAU_SOURCE_FOREIGN };

/* LTTng knows the number of the call, but not its name. */
static void put_numbered(struct import *im, const struct import_class *class,
			 const struct import_event *e)
{
	const struct import_class call = {
		.point = numbered_call(im, (uint64_t)e->number(e->fields, "id", UINT32_MAX),
				       class->point == &compat),
		.exits = class->exits,
	};

	put_call(im, &call, e);
}

/* LTTng 2.1's exit_syscall does not say of which. */
static void put_any_exit(struct import *im, const struct import_class *class,
			 const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	const struct import_point *point = task ? import_syscall(task) : NULL;

	(void)class;
	if (point)
		import_exit(im, task, point);
	else if (task && !task->sure)
		task->sure = true, task->kernel_ns += task->unsure_ns, task->unsure_ns = 0;
}

/* Names of events, and prefixes that another one replaces. The first that matches decides. */
static const struct {
	const char *prefix, *as;
	void (*put)(struct import *im, const struct import_class *class,
		    const struct import_event *e);
	bool exits;
} calls[] = {
	{ "exit_syscall", "", put_any_exit, true },
	{ "syscall_entry_unknown", "sys_", put_numbered, false },
	{ "syscall_exit_unknown", "sys_", put_numbered, true },
	{ "compat_syscall_entry_unknown", "compat:", put_numbered, false },
	{ "compat_syscall_exit_unknown", "compat:", put_numbered, true },
	{ "syscall_entry_", "sys_", put_call, false },
	{ "syscall_exit_", "sys_", put_call, true },
	{ "compat_syscall_entry_", "compat:", put_call, false },
	{ "compat_syscall_exit_", "compat:", put_call, true },
	{ "compat_sys_", "compat:", put_call, false },
	{ "sys_", "sys_", put_call, false },
};

static bool is_number(const char *name)
{
	const size_t digits = strspn(name, "0123456789");

	return digits && digits < 10 && !name[digits];
}

/* The point of a call with this name. @as: prefix of its own name. */
static const struct import_point *named_call(struct import *im, const char *name, const char *as)
{
	char full[512];
	const struct import_point_key key = {
		full,
		IMPORT_SYSCALL,
		*as == 'c' ? KTAU_SOURCE_FOREIGN : KTAU_SOURCE_SYSCALL,
		KTAU_GROUP_SYSCALL,
		0,
	};

	/* ftrace's raw_syscalls */
	if (is_number(name))
		return numbered_call(im, strtoull(name, NULL, 10), *as == 'c');
	snprintf(full, sizeof(full), "%s%s", *name == '_' ? "" : as, name);
	return import_point(im, &key);
}

bool import_classify_call(struct import *im, const char *name, struct import_class *class)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)))
			continue;
		*class = (struct import_class){ .put = calls[i].put, .exits = calls[i].exits };
		if (calls[i].put == put_numbered && *calls[i].as == 'c')
			class->point = &compat;
		else if (calls[i].put == put_call)
			class->point = named_call(im, name + strlen(calls[i].prefix), calls[i].as);
		im->seen |= IMPORT_SEEN_SYSCALL;
		return true;
	}
	return false;
}
