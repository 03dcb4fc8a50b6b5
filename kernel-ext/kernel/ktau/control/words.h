/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAU: parsing control words. control.c applies them. */
#ifndef _KERNEL_KTAU_WORDS_H
#define _KERNEL_KTAU_WORDS_H

#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/string.h>

#include "base/core.h"
#include "base/filter.h"

/**
 * struct ktau_task_word - a setting for some tasks
 * @list: in @words of the request, in the order of the words
 * @key: the key of the word, for messages
 * @set: applies the setting to one task
 * @tids: list of tids, NULL for every task
 * @value: the value
 */
struct ktau_task_word {
	struct list_head list;
	const char *key;
	int (*set)(struct task_struct *task, u32 value);
	char *tids;
	u32 value;
};

/**
 * struct ktau_patterns - names of functions, with wildcards
 * @first: the first one; NULL if there are none
 * @end: the end of the last one. Each ends with a NUL, and the next one follows
 */
struct ktau_patterns {
	char *first;
	char *end;
};

static inline const char *ktau_next_pattern(const struct ktau_patterns *patterns,
					    const char *pattern)
{
	pattern += strlen(pattern) + 1;
	return pattern < patterns->end ? pattern : NULL;
}

/**
 * struct ktau_request - what a write asks for, before any of it is applied
 * @config: the new configuration
 * @filters: @filter replaces the filter in force
 * @selects: the request selects tasks
 * @restores: tasks and control groups that no longer exist are skipped
 * @filter: the new filter; NULL to measure every task
 * @words: struct ktau_task_word
 * @hook: functions to hook
 * @unhook: functions to unhook before
 * @hooks: the functions of @hook, found in the kernel
 * @hooking: ktau_hooks_lock() is held
 * @nr_words: number of words parsed
 * @reason: why a word was rejected
 */
struct ktau_request {
	struct ktau_config config;
	bool filters;
	bool selects;
	bool restores;
	struct ktau_filter *filter;
	struct list_head words;
	struct ktau_patterns hook;
	struct ktau_patterns unhook;
	struct list_head hooks;
	bool hooking;
	unsigned int nr_words;
	const char *reason;
};

void ktau_request_init(struct ktau_request *req);
void ktau_request_deinit(struct ktau_request *req);
int ktau_words_groups(char *list, u32 *groups);
int ktau_words_parse(char *words, struct ktau_request *req);

#endif /* _KERNEL_KTAU_WORDS_H */
