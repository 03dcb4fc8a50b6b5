/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: functions hooked at run time.
 */
#ifndef _KERNEL_KTAU_HOOK_H
#define _KERNEL_KTAU_HOOK_H

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/types.h>

struct seq_file;

/* Bytes of each stub in hook_entry.S. */
#define KTAU_HOOK_STUB_BYTES	16

#ifdef CONFIG_KTAU_FUNC

/* The stubs of the events, in the order of their ids. */
extern const u8 ktau_hook_stubs[][KTAU_HOOK_STUB_BYTES];

int ktau_hooks_find(const char *pattern, struct list_head *found);
void ktau_hooks_add(struct list_head *found);
void ktau_hooks_drop(struct list_head *found);
bool ktau_hooks_any(const char *pattern);
void ktau_hooks_remove(const char *pattern);
void ktau_hooks_show(struct seq_file *m);

#else

static inline int ktau_hooks_find(const char *pattern, struct list_head *found)
{
	return -EOPNOTSUPP;
}

static inline void ktau_hooks_add(struct list_head *found) { }
static inline void ktau_hooks_drop(struct list_head *found) { }

static inline bool ktau_hooks_any(const char *pattern)
{
	return false;
}

static inline void ktau_hooks_remove(const char *pattern) { }
static inline void ktau_hooks_show(struct seq_file *m) { }

#endif

#endif /* _KERNEL_KTAU_HOOK_H */
