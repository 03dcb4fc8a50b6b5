// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: parsing the words written to /proc/ktau/control. control.c applies them. */
#include <linux/ctype.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/core.h"
#include "base/filter.h"
#include "tasks/switch.h"
#include "extend/hook.h"
#include "words.h"

#define RING_SLOTS_MIN	16
#define RING_SLOTS_MAX	BIT(20)

static int parse_group(const char *name, u32 *group)
{
	const u32 known = ktau_groups_built | KTAU_GROUP_MODULES;
	unsigned int i;

	if (!strcmp(name, "all")) {
		*group = ktau_groups_built;
		return 0;
	}
	if (!strcmp(name, "none")) {
		*group = 0;
		return 0;
	}
	for (i = 0; i < KTAU_NR_GROUP_BITS; i++) {
		if ((known & BIT(i)) && !strcmp(name, ktau_group_names[i])) {
			*group = BIT(i);
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * ktau_words_groups() - parse a list of groups
 * @list: their names, separated by commas; modified
 * @groups: receives their KTAU_GROUP_* bits
 *
 * Context: Any.
 * Return: 0, or -EINVAL with @groups unchanged.
 */
int ktau_words_groups(char *list, u32 *groups)
{
	u32 all = 0, one;
	char *name;

	while ((name = strsep(&list, ","))) {
		if (parse_group(name, &one))
			return -EINVAL;
		all |= one;
	}
	*groups = all;
	return 0;
}

/**
 * ktau_request_init() - initialise a request that changes nothing
 *
 * Context: ktau_mutex held.
 */
void ktau_request_init(struct ktau_request *req)
{
	*req = (struct ktau_request) { .config = ktau_config };
	INIT_LIST_HEAD(&req->words);
	INIT_LIST_HEAD(&req->hooks);
}

/**
 * ktau_request_deinit() - free what a request has allocated
 *
 * Context: May sleep.
 */
void ktau_request_deinit(struct ktau_request *req)
{
	struct ktau_task_word *word, *next;

	list_for_each_entry_safe(word, next, &req->words, list)
		kfree(word);
	ktau_hooks_drop(&req->hooks);
	kfree(req->filter);
}

static int fail(struct ktau_request *req, int err, const char *reason)
{
	req->reason = reason;
	return err;
}

/* Not kstrtobool(), which only looks at the first letter. */
static int parse_on_off(struct ktau_request *req, const char *value, bool *on)
{
	static const char * const words[] = { "off", "on", "0", "1" };
	int i = match_string(words, ARRAY_SIZE(words), value);

	if (i < 0)
		return fail(req, -EINVAL, "not on or off");
	*on = i & 1;
	return 0;
}

static int parse_mode(struct ktau_request *req, const char *value, u32 mode)
{
	struct ktau_config *config = &req->config;
	bool on;

	if (parse_on_off(req, value, &on))
		return -EINVAL;
	config->modes = on ? config->modes | mode : config->modes & ~mode;
	return 0;
}

static int parse_slots(struct ktau_request *req, const char *value, u32 *slots,
		       u32 min)
{
	u32 v;

	if (kstrtou32(value, 0, &v) || v < min || v > RING_SLOTS_MAX)
		return fail(req, -EINVAL, "not a number of slots, or out of range");
	*slots = v;
	return 0;
}

/* Not memparse(), which wraps around if a number is too large. */
static int parse_bytes(struct ktau_request *req, char *value, u64 *bytes)
{
	static const char units[] = "kMG";
	size_t last = strlen(value) - 1;
	unsigned int shift = 0;
	const char *unit;
	u64 v;

	if (!isdigit(*value))
		return fail(req, -EINVAL, "not a number of bytes");
	unit = strchr(units, value[last] == 'K' ? 'k' : value[last]);
	if (unit) {
		shift = 10 * (unit - units + 1);
		value[last] = '\0';
	}
	if (kstrtou64(value, 0, &v) || v > U64_MAX >> shift)
		return fail(req, -EINVAL, "not a number of bytes, or too large");
	*bytes = v << shift;
	return 0;
}

/*
 * Add a copy of @word, which has key, function and value, with @tids.
 */
static int add_task_word(struct ktau_request *req, char *tids,
			 struct ktau_task_word word)
{
	struct ktau_task_word *copy = kmemdup(&word, sizeof(word), GFP_KERNEL);

	if (!copy)
		return fail(req, -ENOMEM, "out of memory");
	copy->tids = tids;
	list_add_tail(&copy->list, &req->words);
	return 0;
}

/* "12,13:7". The value 0 removes the tag. */
static int parse_tag(struct ktau_request *req, char *value)
{
	struct ktau_task_word word = { .key = "tag", .set = ktau_task_set_tag };
	char *number = value;

	if (!strcmp(value, "none"))
		return add_task_word(req, NULL, word);
	value = strsep(&number, ":");
	if (!number || kstrtou32(number, 0, &word.value))
		return fail(req, -EINVAL, "not TID,...:NUMBER or none");
	return add_task_word(req, value, word);
}

/* A later word of a write edits the filter that the earlier words made. */
static int edit_filter(struct ktau_request *req, enum ktau_edit edit)
{
	if (!req->filters && ktau_filter_copy(&req->filter))
		return fail(req, -ENOMEM, "out of memory");
	req->filters = true;
	if (edit == KTAU_EDIT_SET) {
		kfree(req->filter);
		req->filter = NULL;
	}
	if (!req->filter && edit == KTAU_EDIT_REMOVE)
		return fail(req, -EINVAL, "no filter is set");
	if (!req->filter)
		req->filter = ktau_filter_create();
	return req->filter ? 0 : fail(req, -ENOMEM, "out of memory");
}

static int parse_selected(struct ktau_request *req, char *tids,
			  enum ktau_edit edit)
{
	struct ktau_task_word word = {
		.key = "filter", .set = ktau_task_select
	};

	/* "pid:" alone makes a filter to which tasks are added later. */
	if (!*tids && edit == KTAU_EDIT_SET)
		return 0;
	if (edit != KTAU_EDIT_REMOVE) {
		word.value = req->filter->selection;
		req->selects = true;
	}
	return add_task_word(req, tids, word);
}

static int parse_filter_item(struct ktau_request *req, char *item,
			     enum ktau_edit edit)
{
	char *value = item;
	int kind, err;

	item = strsep(&value, ":");
	if (!value)
		return fail(req, -EINVAL, "not pid:, uid:, cgroup:, tag: or none");
	if (!strcmp(item, "pid"))
		return parse_selected(req, value, edit);
	kind = ktau_filter_kind(item);
	if (kind < 0)
		return fail(req, -EINVAL, "not pid:, uid:, cgroup:, tag: or none");
	err = ktau_filter_edit(req->filter, kind, value, edit != KTAU_EDIT_REMOVE,
			       req->restores);
	switch (err) {
	case -E2BIG:
		return fail(req, err, "too many items");
	case -ENOENT:
		return fail(req, err, "no such control group");
	case -EOPNOTSUPP:
		return fail(req, err, "this kernel has no control groups");
	default:
		return err;
	}
}

/* "pid:12,13+uid:1000+cgroup:/batch+tag:7", or "none". */
static int parse_filter(struct ktau_request *req, char *value,
			enum ktau_edit edit)
{
	char *item;
	int err;

	if (edit == KTAU_EDIT_SET && !strcmp(value, "none")) {
		kfree(req->filter);
		req->filter = NULL;
		req->filters = true;
		return 0;
	}
	err = edit_filter(req, edit);
	while (!err && (item = strsep(&value, "+")))
		err = parse_filter_item(req, item, edit);
	return err;
}

static int parse_groups(struct ktau_request *req, char *value)
{
	return ktau_words_groups(value, &req->config.groups) ?
	       fail(req, -EINVAL, "no such group in this kernel") : 0;
}

static int parse_ring(struct ktau_request *req, const char *value)
{
	u32 *slots = &req->config.ring_slots;

	if (parse_slots(req, value, slots, RING_SLOTS_MIN))
		return -EINVAL;
	*slots = roundup_pow_of_two(*slots);
	return 0;
}

/* "vfs_read,ext4_*" */
static int parse_functions(struct ktau_request *req, char *value,
			   struct ktau_patterns *patterns)
{
	if (!IS_ENABLED(CONFIG_KTAU_FUNC))
		return fail(req, -EOPNOTSUPP, "this kernel cannot hook functions");
	if (patterns->first)
		return fail(req, -EINVAL, "more than once in a write");
	patterns->first = value;
	patterns->end = value + strlen(value) + 1;
	strreplace(value, ',', '\0');
	return 0;
}

static int parse_setting(struct ktau_request *req, const char *key, char *value)
{
	struct ktau_config *config = &req->config;

	if (!strcmp(key, "groups"))
		return parse_groups(req, value);
	if (!strcmp(key, "profile"))
		return parse_mode(req, value, KTAU_MODE_PROFILE);
	if (!strcmp(key, "trace"))
		return parse_mode(req, value, KTAU_MODE_TRACE);
	if (!strcmp(key, "filter"))
		return parse_filter(req, value, KTAU_EDIT_SET);
	if (!strcmp(key, "filter+"))
		return parse_filter(req, value, KTAU_EDIT_ADD);
	if (!strcmp(key, "filter-"))
		return parse_filter(req, value, KTAU_EDIT_REMOVE);
	if (!strcmp(key, "inherit"))
		return parse_on_off(req, value, &config->inherit);
	if (!strcmp(key, "tag"))
		return parse_tag(req, value);
	if (!strcmp(key, "hook"))
		return parse_functions(req, value, &req->hook);
	if (!strcmp(key, "unhook"))
		return parse_functions(req, value, &req->unhook);
	if (!strcmp(key, "ring"))
		return parse_ring(req, value);
	if (!strcmp(key, "watermark"))
		return parse_slots(req, value, &config->watermark_slots, 1);
	if (!strcmp(key, "memory_limit"))
		return parse_bytes(req, value, &config->memory_limit_bytes);
	if (!strcmp(key, "exited_limit"))
		return parse_bytes(req, value, &config->exited_limit_bytes);
	return fail(req, -EINVAL, "unknown key");
}

/*
 * The first word that control shows: the following words are the complete configuration,
 * and some of its tasks may have exited since.
 */
static int parse_restore(struct ktau_request *req)
{
	struct ktau_task_word tag = { .set = ktau_task_set_tag };

	if (req->nr_words)
		return fail(req, -EINVAL, "not the first word");
	req->restores = true;
	return add_task_word(req, NULL, tag);
}

static int parse_word(struct ktau_request *req, char *word)
{
	char *value = word;
	u32 group;

	if (*word == '+' || *word == '-') {
		if (parse_group(word + 1, &group))
			return fail(req, -EINVAL, "no such group in this kernel");
		if (*word == '+')
			req->config.groups |= group;
		else if (group == ktau_groups_built)	/* and the modules' groups */
			req->config.groups = 0;
		else
			req->config.groups &= ~group;
		return 0;
	}
	if (!strcmp(word, "restore"))
		return parse_restore(req);
	word = strsep(&value, "=");
	return value ? parse_setting(req, word, value) :
		       fail(req, -EINVAL, "unknown word");
}

/**
 * ktau_words_parse() - parse control words
 * @words: the words, separated by white space; modified, and referenced by @req
 * @req: the request, initialised
 *
 * Context: May sleep; ktau_mutex held.
 * Return: 0, or the error of the first invalid word, which is logged: -EINVAL, -E2BIG,
 * -ENOENT, -EOPNOTSUPP; or -ENOMEM.
 */
int ktau_words_parse(char *words, struct ktau_request *req)
{
	char shown[64];
	char *word;
	int err;

	while ((word = strsep(&words, " \t\n"))) {
		if (!*word)
			continue;
		strscpy(shown, word, sizeof(shown));
		req->reason = "not understood";
		err = parse_word(req, word);
		if (err) {
			pr_info_ratelimited("ktau: cannot set '%*pE': %s\n",
					    (int)strlen(shown), shown, req->reason);
			return err;
		}
		req->nr_words++;
	}
	return 0;
}
