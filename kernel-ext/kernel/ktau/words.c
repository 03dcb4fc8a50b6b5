// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the words that switch. Nothing here does what they say: see control.c.
 */
#include <linux/ctype.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "words.h"

#define RING_SLOTS_MIN	16
#define RING_SLOTS_MAX	BIT(20)

const char * const ktau_group_names[KTAU_NR_GROUPS] = {
	[KTAU_BIT_SYSCALL] = "syscall",
	[KTAU_BIT_IRQ] = "irq",
	[KTAU_BIT_BH] = "bh",
	[KTAU_BIT_SCHED] = "sched",
	[KTAU_BIT_EXCEPTION] = "exception",
	[KTAU_BIT_SIGNAL] = "signal",
	[KTAU_BIT_SOCKET] = "socket",
	[KTAU_BIT_TCP] = "tcp",
	[KTAU_BIT_ICMP] = "icmp",
	[KTAU_BIT_WAIT] = "wait",
	[KTAU_BIT_FUNC] = "func",
	[KTAU_BIT_USER] = "user",
	[KTAU_BIT_KVM] = "kvm",
	[KTAU_BIT_ACCOUNT] = "account",
};

const u32 ktau_groups_built =
	(IS_ENABLED(CONFIG_KTAU_SYSCALL) ? KTAU_GROUP_SYSCALL : 0) |
	(IS_ENABLED(CONFIG_KTAU_IRQ) ? KTAU_GROUP_IRQ : 0) |
	(IS_ENABLED(CONFIG_KTAU_BH) ? KTAU_GROUP_BH : 0) |
	(IS_ENABLED(CONFIG_KTAU_SCHED) ? KTAU_GROUP_SCHED : 0) |
	(IS_ENABLED(CONFIG_KTAU_EXCEPTION) ? KTAU_GROUP_EXCEPTION : 0) |
	(IS_ENABLED(CONFIG_KTAU_SIGNAL) ? KTAU_GROUP_SIGNAL : 0) |
	(IS_ENABLED(CONFIG_KTAU_SOCKET) ? KTAU_GROUP_SOCKET : 0) |
	(IS_ENABLED(CONFIG_KTAU_TCP) ? KTAU_GROUP_TCP : 0) |
	(IS_ENABLED(CONFIG_KTAU_ICMP) ? KTAU_GROUP_ICMP : 0);

static int parse_group(const char *name, u32 *group)
{
	int i;

	if (!strcmp(name, "all")) {
		*group = ktau_groups_built;
		return 0;
	}
	if (!strcmp(name, "none")) {
		*group = 0;
		return 0;
	}
	i = match_string(ktau_group_names, KTAU_NR_GROUPS, name);
	if (i < 0 || !(ktau_groups_built & BIT(i)))
		return -EINVAL;
	*group = BIT(i);
	return 0;
}

/**
 * ktau_words_groups() - understand a list of groups
 * @list: their names, with commas between them; taken apart
 * @groups: where their KTAU_GROUP_* bits go
 *
 * Context: Any.
 * Return: 0, or -EINVAL: @groups is as it was.
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

/* Not kstrtobool(), which looks at the first letter only. */
static int parse_switch(const char *value, bool *on)
{
	static const char * const words[] = { "off", "on", "0", "1" };
	int i = match_string(words, ARRAY_SIZE(words), value);

	if (i < 0)
		return -EINVAL;
	*on = i & 1;
	return 0;
}

static int parse_mode(const char *value, u32 mode, struct ktau_config *config)
{
	bool on;

	if (parse_switch(value, &on))
		return -EINVAL;
	config->modes = on ? config->modes | mode : config->modes & ~mode;
	return 0;
}

static int parse_slots(const char *value, u32 *slots, u32 min)
{
	u32 v;

	if (kstrtou32(value, 0, &v) || v < min || v > RING_SLOTS_MAX)
		return -EINVAL;
	*slots = v;
	return 0;
}

/* Not memparse(), which takes a number too large for some other one. */
static int parse_bytes(char *value, u64 *bytes)
{
	static const char units[] = "kMG";
	size_t last = strlen(value) - 1;
	unsigned int shift = 0;
	const char *unit;
	u64 v;

	if (!isdigit(*value))
		return -EINVAL;
	unit = strchr(units, value[last] == 'K' ? 'k' : value[last]);
	if (unit) {
		shift = 10 * (unit - units + 1);
		value[last] = '\0';
	}
	if (kstrtou64(value, 0, &v) || v > U64_MAX >> shift)
		return -EINVAL;
	*bytes = v << shift;
	return 0;
}

/* "12,13:syscall+tcp"; without groups they have everybody's again. */
static int parse_own(char *value, struct ktau_request *req)
{
	char *names = value, *name;
	u32 one;

	if (req->own)
		return -EINVAL;
	req->own = strsep(&names, ":");
	req->own_groups = 0;
	if (!names)
		return -EINVAL;
	if (!*names)
		return 0;
	while ((name = strsep(&names, "+"))) {
		if (parse_group(name, &one))
			return -EINVAL;
		req->own_groups |= one;
	}
	return 0;
}

/* One of each in a write: of two, which is meant? */
static int parse_list(char *value, char **list)
{
	if (*list)
		return -EINVAL;
	*list = value;
	return 0;
}

static int parse_setting(const char *key, char *value, struct ktau_request *req)
{
	struct ktau_config *config = &req->config;

	if (!strcmp(key, "groups"))
		return ktau_words_groups(value, &config->groups);
	if (!strcmp(key, "profile"))
		return parse_mode(value, KTAU_MODE_PROFILE, config);
	if (!strcmp(key, "trace"))
		return parse_mode(value, KTAU_MODE_TRACE, config);
	if (!strcmp(key, "inherit"))
		return parse_switch(value, &config->inherit);
	if (!strcmp(key, "wake"))
		return parse_slots(value, &config->wake_slots, 1);
	if (!strcmp(key, "cap"))
		return parse_bytes(value, &config->cap_bytes);
	if (!strcmp(key, "dead"))
		return parse_bytes(value, &config->dead_bytes);
	if (!strcmp(key, "ring")) {
		if (parse_slots(value, &config->ring_slots, RING_SLOTS_MIN))
			return -EINVAL;
		config->ring_slots = roundup_pow_of_two(config->ring_slots);
		return 0;
	}
	if (!strcmp(key, "select")) {
		config->chosen_only = !strcmp(value, "chosen");
		return config->chosen_only || !strcmp(value, "all") ? 0 : -EINVAL;
	}
	if (!strcmp(key, "own"))
		return parse_own(value, req);
	if (!strcmp(key, "pid"))
		return parse_list(value, &req->choose);
	if (!strcmp(key, "unpid"))
		return parse_list(value, &req->unchoose);
	return -EINVAL;
}

static int parse_word(char *word, struct ktau_request *req)
{
	char *value = word;
	u32 group;

	if (*word == '+' || *word == '-') {
		if (parse_group(word + 1, &group))
			return -EINVAL;
		if (*word == '+')
			req->config.groups |= group;
		else
			req->config.groups &= ~group;
		return 0;
	}
	word = strsep(&value, "=");
	return value ? parse_setting(word, value, req) : -EINVAL;
}

/**
 * ktau_words_parse() - understand a line of words
 * @words: the words, blank separated; taken apart, and kept by @req
 * @req: what they ask for; what they say nothing about stays
 *
 * Context: Any.
 * Return: 0, or -EINVAL: the log says for which word.
 */
int ktau_words_parse(char *words, struct ktau_request *req)
{
	char shown[32];
	char *word;

	while ((word = strsep(&words, " \t\n"))) {
		if (!*word)
			continue;
		strscpy(shown, word, sizeof(shown));
		if (parse_word(word, req)) {
			pr_info_ratelimited("ktau: control: \"%*pE\" is not understood\n",
					    (int)strlen(shown), shown);
			return -EINVAL;
		}
	}
	return 0;
}
