/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: functions hooked at run time.
 */
#ifndef _KERNEL_KTAU_HOOK_H
#define _KERNEL_KTAU_HOOK_H

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/types.h>

#include "base/event.h"

struct seq_file;

/* Bytes of each stub in hook_entry.S. */
#define KTAU_HOOK_STUB_BYTES	16

/* Functions with up to this many words of arguments use the first half of the stubs. */
#define KTAU_HOOK_FEW_ARGS	2

#ifdef CONFIG_KTAU_FUNC

/* The stubs of the events, in the order of their ids, for few and for more arguments. */
extern const u8 ktau_hook_stubs[2][KTAU_NR_FUNCTION_IDS][KTAU_HOOK_STUB_BYTES];

int ktau_hooks_lock(void);
void ktau_hooks_unlock(void);
int ktau_hooks_find(const char *pattern, struct list_head *found);
void ktau_hooks_add(struct list_head *found);
void ktau_hooks_drop(struct list_head *found);
bool ktau_hooks_leave(const char *pattern);
void ktau_hooks_remove(void);
int ktau_hooks_show(struct seq_file *m);

#else

static inline int ktau_hooks_lock(void)
{
	return 0;
}

static inline void ktau_hooks_unlock(void) { }

static inline int ktau_hooks_find(const char *pattern, struct list_head *found)
{
	return -EOPNOTSUPP;
}

static inline void ktau_hooks_add(struct list_head *found) { }
static inline void ktau_hooks_drop(struct list_head *found) { }

static inline bool ktau_hooks_leave(const char *pattern)
{
	return false;
}

static inline void ktau_hooks_remove(void) { }

static inline int ktau_hooks_show(struct seq_file *m)
{
	return 0;
}

#endif

#endif /* _KERNEL_KTAU_HOOK_H */
