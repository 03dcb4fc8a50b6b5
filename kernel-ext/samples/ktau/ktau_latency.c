// SPDX-License-Identifier: GPL-2.0-only
/*
 * A histogram of the durations of each routine, in /proc/ktau_latency.
 *
 *	# insmod ktau_latency.ko groups=0x41
 *
 * A line is "NAME LOG2:COUNT...": COUNT activations took 2^LOG2 ticks or more, but less than
 * twice that. 0 includes activations of 0 ticks; 39 has no upper limit. clock_hz in
 * /proc/ktau/stats is the number of ticks in a second.
 */
#include <linux/atomic.h>
#include <linux/ktau_api.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#define NR_CLASSES	40

static unsigned int groups = KTAU_GROUP_SYSCALL;
module_param(groups, uint, 0444);
MODULE_PARM_DESC(groups, "groups to listen to, a mask of KTAU_GROUP_*");

/* Incremented on all CPUs and in all contexts. */
struct histogram {
	atomic_t count[NR_CLASSES];
};

static struct histogram *histograms;	/* indexed by event */

static void count_hit(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	unsigned int class = hit->incl ? ilog2(hit->incl) : 0;

	atomic_inc(&histograms[hit->fid].count[min(class, NR_CLASSES - 1U)]);
}

static struct ktau_handler handler = {
	.types = BIT(KTAU_HIT_STOP),
	.fn = count_hit,
};

static void *latency_start(struct seq_file *m, loff_t *pos)
{
	return *pos < KTAU_NR_IDS ? pos : NULL;
}

static void *latency_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return latency_start(m, pos);
}

static void latency_stop(struct seq_file *m, void *v)
{
}

static int latency_show(struct seq_file *m, void *v)
{
	unsigned int fid = *(loff_t *)v, count, i;
	bool named = false;
	char name[128];

	for (i = 0; i < NR_CLASSES; i++) {
		count = atomic_read(&histograms[fid].count[i]);
		if (!count)
			continue;
		if (!named && ktau_fid_name(fid, name, sizeof(name)))
			return 0;
		if (!named)
			seq_puts(m, name);
		named = true;
		seq_printf(m, " %u:%u", i, count);
	}
	if (named)
		seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations latency_ops = {
	.start = latency_start,
	.next = latency_next,
	.stop = latency_stop,
	.show = latency_show,
};

static int __init latency_init(void)
{
	int err;

	histograms = kvcalloc(KTAU_NR_IDS, sizeof(*histograms), GFP_KERNEL);
	if (!histograms)
		return -ENOMEM;
	handler.groups = groups;
	err = ktau_register_handler(&handler);
	if (err)
		goto free;
	if (proc_create_seq("ktau_latency", 0400, NULL, &latency_ops))
		return 0;
	err = -ENOMEM;
	ktau_unregister_handler(&handler);
free:
	kvfree(histograms);
	return err;
}

static void __exit latency_exit(void)
{
	remove_proc_entry("ktau_latency", NULL);
	ktau_unregister_handler(&handler);	/* from here on nothing uses the memory */
	kvfree(histograms);
}

module_init(latency_init);
module_exit(latency_exit);
MODULE_DESCRIPTION("Sample: histograms of the durations of kernel routines");
MODULE_LICENSE("GPL");
