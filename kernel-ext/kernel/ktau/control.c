// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: switching, by /proc/ktau/control and by the kernel command line.
 *
 * Both take the same words. A write is applied as a whole or not at all.
 */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "ktau.h"

#define RING_SLOTS_MIN	16
#define RING_SLOTS_MAX	BIT(20)

/* Guards ktau_config, and what tasks have because of it. */
DEFINE_MUTEX(ktau_mutex);

struct ktau_config ktau_config __read_mostly = {
	.modes = KTAU_MODE_PROFILE,
	.ring_slots = 1024,
	.wake_slots = 512,
};

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
};

static const u32 built_in =
	(IS_ENABLED(CONFIG_KTAU_SYSCALL) ? KTAU_GROUP_SYSCALL : 0) |
	(IS_ENABLED(CONFIG_KTAU_IRQ) ? KTAU_GROUP_IRQ : 0) |
	(IS_ENABLED(CONFIG_KTAU_BH) ? KTAU_GROUP_BH : 0) |
	(IS_ENABLED(CONFIG_KTAU_SCHED) ? KTAU_GROUP_SCHED : 0) |
	(IS_ENABLED(CONFIG_KTAU_EXCEPTION) ? KTAU_GROUP_EXCEPTION : 0) |
	(IS_ENABLED(CONFIG_KTAU_SIGNAL) ? KTAU_GROUP_SIGNAL : 0) |
	(IS_ENABLED(CONFIG_KTAU_SOCKET) ? KTAU_GROUP_SOCKET : 0) |
	(IS_ENABLED(CONFIG_KTAU_TCP) ? KTAU_GROUP_TCP : 0) |
	(IS_ENABLED(CONFIG_KTAU_ICMP) ? KTAU_GROUP_ICMP : 0);

/* What a write asks for, before any of it is done. */
struct request {
	struct ktau_config config;
	char *choose;		/* lists of tids, or NULL */
	char *unchoose;
	char *own;		/* tids with groups of their own, or NULL */
	u32 own_groups;
};

static int parse_group(const char *name, u32 *group)
{
	int i;

	if (!strcmp(name, "all")) {
		*group = built_in;
		return 0;
	}
	if (!strcmp(name, "none")) {
		*group = 0;
		return 0;
	}
	i = match_string(ktau_group_names, KTAU_NR_GROUPS, name);
	if (i < 0 || !(built_in & BIT(i)))
		return -EINVAL;
	*group = BIT(i);
	return 0;
}

static int parse_groups(char *list, u32 *groups)
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

static int parse_mode(const char *value, u32 mode, struct ktau_config *config)
{
	bool on;

	if (kstrtobool(value, &on))
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

static int parse_bytes(const char *value, u64 *bytes)
{
	char *end;
	u64 v;

	if (!isdigit(*value))
		return -EINVAL;
	v = memparse(value, &end);
	if (*end)
		return -EINVAL;
	*bytes = v;
	return 0;
}

/* "12,13:syscall+tcp"; without groups they have everybody's again. */
static int parse_own(char *value, struct request *req)
{
	char *names = value, *name;
	u32 one;

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

static int parse_setting(const char *key, char *value, struct request *req)
{
	struct ktau_config *config = &req->config;

	if (!strcmp(key, "groups"))
		return parse_groups(value, &config->groups);
	if (!strcmp(key, "profile"))
		return parse_mode(value, KTAU_MODE_PROFILE, config);
	if (!strcmp(key, "trace"))
		return parse_mode(value, KTAU_MODE_TRACE, config);
	if (!strcmp(key, "inherit"))
		return kstrtobool(value, &config->inherit);
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
	if (!strcmp(key, "pid") || !strcmp(key, "unpid")) {
		*(*key == 'p' ? &req->choose : &req->unchoose) = value;
		return 0;
	}
	return -EINVAL;
}

static int parse_word(char *word, struct request *req)
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

static int parse(char *words, struct request *req)
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

static int check_tid(pid_t tid, u32 unused)
{
	return 0;
}

static int choose_tid(pid_t tid, u32 on)
{
	return ktau_task_choose(tid, on);
}

/* Do @what with each tid of a list. */
static int for_tids(const char *list, int (*what)(pid_t tid, u32 arg), u32 arg)
{
	char *copy, *rest, *one;
	int err = 0;
	pid_t tid;

	if (!list)
		return 0;
	copy = kstrdup(list, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	while (!err && (one = strsep(&rest, ","))) {
		err = kstrtoint(one, 10, &tid);
		if (!err && tid <= 0)
			err = -EINVAL;
		if (!err)
			err = what(tid, arg);
	}
	kfree(copy);
	return err;
}

static void switch_keys(u32 groups)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUPS; i++) {
		if (groups & BIT(i))
			static_branch_enable(&ktau_keys[i]);
		else
			static_branch_disable(&ktau_keys[i]);
	}
}

static int apply(struct request *req)
{
	struct ktau_config old = ktau_config;
	struct ktau_config *new = &req->config;
	int err;

	new->own_groups |= req->own_groups;
	ktau_config = *new;
	if ((new->groups | new->own_groups) && !(old.groups | old.own_groups)) {
		err = ktau_tasks_start();
		if (err) {
			ktau_config = old;
			return err;
		}
		static_branch_enable(&ktau_exit_key);
	}
	/* On: keys last, when all tasks are ready. Off: keys first is as good. */
	ktau_tasks_update();
	switch_keys(new->groups | new->own_groups);
	if (new->ring_slots != old.ring_slots)
		ktau_tasks_resize();
	if (new->dead_bytes < old.dead_bytes)
		ktau_dead_trim();
	err = for_tids(req->unchoose, choose_tid, false);
	if (!err)
		err = for_tids(req->choose, choose_tid, true);
	return err ?: for_tids(req->own, ktau_task_own_groups, req->own_groups);
}

/**
 * ktau_control_write() - do what a line of words says
 * @words: the words, blank separated; taken apart
 *
 * Context: May sleep.
 * Return: 0; -EINVAL for a word that is not understood, and then nothing is done;
 * -ESRCH for a tid that is not there; -ENOMEM.
 */
int ktau_control_write(char *words)
{
	struct request req;
	int err;

	mutex_lock(&ktau_mutex);
	req = (struct request) { .config = ktau_config };
	err = parse(words, &req);
	if (!err)
		err = for_tids(req.choose, check_tid, 0);
	if (!err)
		err = for_tids(req.unchoose, check_tid, 0);
	if (!err)
		err = for_tids(req.own, check_tid, 0);
	if (!err)
		err = apply(&req);
	mutex_unlock(&ktau_mutex);
	return err;
}

static void switch_off_work(struct work_struct *work)
{
	char words[] = "groups=none profile=off trace=off";

	ktau_control_write(words);
}

static DECLARE_WORK(off_work, switch_off_work);

static void want_off(struct irq_work *want)
{
	schedule_work(&off_work);
}

static DEFINE_IRQ_WORK(off_want, want_off);

/**
 * ktau_switch_off() - have all groups switched off, soon
 *
 * Context: Any.
 */
void ktau_switch_off(void)
{
	irq_work_queue(&off_want);
}

static void show_groups(struct seq_file *m, u32 groups)
{
	const char *sep = "";
	unsigned int i;

	seq_puts(m, "groups=");
	for (i = 0; i < KTAU_NR_GROUPS; i++) {
		if (!(groups & BIT(i)))
			continue;
		seq_printf(m, "%s%s", sep, ktau_group_names[i]);
		sep = ",";
	}
	seq_puts(m, groups ? "\n" : "none\n");
}

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

/**
 * ktau_control_show() - show the switches, in the words that set them
 * @m: where
 *
 * Context: May sleep.
 */
void ktau_control_show(struct seq_file *m)
{
	const struct ktau_config *config = &ktau_config;

	mutex_lock(&ktau_mutex);
	show_groups(m, config->groups);
	seq_printf(m, "profile=%s\n", on_off(config->modes & KTAU_MODE_PROFILE));
	seq_printf(m, "trace=%s\n", on_off(config->modes & KTAU_MODE_TRACE));
	seq_printf(m, "select=%s\n", config->chosen_only ? "chosen" : "all");
	seq_printf(m, "inherit=%s\n", on_off(config->inherit));
	seq_printf(m, "ring=%u\n", config->ring_slots);
	seq_printf(m, "wake=%u\n", config->wake_slots);
	seq_printf(m, "cap=%llu\n", config->cap_bytes);
	seq_printf(m, "dead=%llu\n", config->dead_bytes);
	mutex_unlock(&ktau_mutex);
}

/*
 * Command line: "ktau=all" or "ktau=syscall,irq", "ktau.trace=1", and the words
 * of the original, "ktau_syscall" to "ktau_icmp" and "ktau_trace".
 */
static u32 boot_groups __initdata;
static u32 boot_modes __initdata;

static int __init boot_list(char *list)
{
	u32 groups;

	if (parse_groups(list, &groups))
		pr_warn("ktau: ktau=%s is not understood\n", list);
	else
		boot_groups |= groups;
	return 1;
}
__setup("ktau=", boot_list);

static int __init boot_trace(char *value)
{
	bool on;

	if (!kstrtobool(value, &on) && on)
		boot_modes |= KTAU_MODE_TRACE;
	return 1;
}
__setup("ktau.trace=", boot_trace);

/* What follows "ktau_" is the name of a group or "trace". */
static int __init boot_word(char *name)
{
	u32 group;

	if (!strcmp(name, "trace"))
		boot_modes |= KTAU_MODE_TRACE;
	else if (!parse_group(name, &group))
		boot_groups |= group;
	else
		return 0;
	return 1;
}
__setup("ktau_", boot_word);

static int __init ktau_init(void)
{
	struct request req;
	int err = 0;

	ktau_clock_read(&ktau_clock_boot);
	ktau_config.cap_bytes = min_t(u64, (u64)totalram_pages() << PAGE_SHIFT >> 4,
				      SZ_256M);
	/* The dead must leave room for the living. */
	ktau_config.dead_bytes = min_t(u64, ktau_config.cap_bytes >> 2, SZ_16M);
	ktau_event_init();
	ktau_memory_init();
	ktau_clock_measure();
	if (!boot_groups)
		return 0;

	mutex_lock(&ktau_mutex);
	req = (struct request) { .config = ktau_config };
	req.config.groups = boot_groups;
	req.config.modes |= boot_modes;
	err = apply(&req);
	mutex_unlock(&ktau_mutex);
	return err;
}
late_initcall(ktau_init);
