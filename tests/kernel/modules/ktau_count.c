// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the hits of each event, by type. /proc/ktau_count has a line "ID START STOP EVENT" for
 * each event that was hit.
 */
#include <linux/atomic.h>
#include <linux/ktau_api.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static unsigned int groups = KTAU_GROUP_SYSCALL;
module_param(groups, uint, 0444);
MODULE_PARM_DESC(groups, "groups to listen to, a mask of KTAU_GROUP_*");

static atomic64_t count[KTAU_NR_IDS][KTAU_HIT_EVENT + 1];

static void count_hit(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	atomic64_inc(&count[hit->fid][hit->type]);
}

static struct ktau_handler handler = {
	.types = BIT(KTAU_HIT_START) | BIT(KTAU_HIT_STOP) | BIT(KTAU_HIT_EVENT),
	.fn = count_hit,
};

static int count_show(struct seq_file *m, void *v)
{
	s64 start, stop, event;
	unsigned int id;

	for (id = 0; id < KTAU_NR_IDS; id++) {
		start = atomic64_read(&count[id][KTAU_HIT_START]);
		stop = atomic64_read(&count[id][KTAU_HIT_STOP]);
		event = atomic64_read(&count[id][KTAU_HIT_EVENT]);
		if (start || stop || event)
			seq_printf(m, "%u %lld %lld %lld\n", id, start, stop, event);
	}
	return 0;
}

static int __init count_init(void)
{
	int err;

	handler.groups = groups;
	err = ktau_register_handler(&handler);
	if (err)
		return err;
	if (proc_create_single("ktau_count", 0400, NULL, count_show))
		return 0;
	ktau_unregister_handler(&handler);
	return -ENOMEM;
}

static void __exit count_exit(void)
{
	remove_proc_entry("ktau_count", NULL);
	ktau_unregister_handler(&handler);
}

module_init(count_init);
module_exit(count_exit);
MODULE_DESCRIPTION("Test: hits by event and type");
MODULE_LICENSE("GPL");
