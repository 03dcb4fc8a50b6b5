// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that measures its own code.
 *
 * "echo 1000 > /sys/module/ktau_example/parameters/run" calls a function 1,000 times on
 * behalf of the writer, in whose profile the events appear once their group is enabled:
 * "echo +module0 > /proc/ktau/control".
 *
 * With "run=1000" as an argument of insmod it makes the calls at once. With "once=1" it
 * then fails to load, so that it need not be unloaded.
 */
#include <linux/ktau_api.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#define RUN_MAX	1000000

static int outer, inner, bytes;
static bool registered;

static noinline void do_inner(void)
{
	struct ktau_frame frame;

	ktau_start(&frame, inner);
	cpu_relax();
	ktau_stop(&frame);
}

static noinline void do_outer(unsigned int round)
{
	struct ktau_frame frame;

	ktau_start(&frame, outer);
	do_inner();
	do_inner();
	ktau_event(bytes, round);
	ktau_stop(&frame);
}

/* insmod sets the parameters before it calls example_init(), so set_run() may be first. */
static void register_events(void)
{
	if (registered)
		return;
	outer = ktau_get_fid(KTAU_GROUP_MODULE, KTAU_KIND_TIMER, "example_outer");
	inner = ktau_get_fid(KTAU_GROUP_MODULE, KTAU_KIND_TIMER, "example_inner");
	bytes = ktau_get_fid(KTAU_GROUP_MODULE, KTAU_KIND_COUNTER, "example_bytes");
	registered = true;
}

static int set_run(const char *text, const struct kernel_param *param)
{
	unsigned int i, rounds;
	int err = kstrtouint(text, 0, &rounds);

	if (err)
		return err;
	if (rounds > RUN_MAX)
		return -EINVAL;
	register_events();
	for (i = 1; i <= rounds; i++)
		do_outer(i);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = set_run };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "how often to call the measured function");

static bool once;
module_param(once, bool, 0);
MODULE_PARM_DESC(once, "fail to load");

static int __init example_init(void)
{
	register_events();
	if (once)
		return -EAGAIN;
	return outer < 0 ? outer : inner < 0 ? inner : bytes < 0 ? bytes : 0;
}

/* The ids stay, so there is nothing to undo. */
static void __exit example_exit(void)
{
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Sample: measuring a module with KTAU");
MODULE_LICENSE("GPL");
