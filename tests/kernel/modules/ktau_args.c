// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions with two, six and seven words of arguments, to be hooked. "echo N >
 * /sys/module/ktau_args/parameters/run" calls them with N and the numbers after it. The file shows
 * the results of the last calls.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

static unsigned long two, six, seven;

/* Two words, as an argument too. */
static unsigned __int128 pair(unsigned long low)
{
	return (unsigned __int128)(low + 1) << 64 | low;
}

static unsigned long sum(unsigned __int128 pair)
{
	return (unsigned long)pair + 2 * (unsigned long)(pair >> 64);
}

static noinline unsigned long args_two(unsigned long a, unsigned long b)
{
	return a + 2 * b;
}

static noinline unsigned long args_six(unsigned __int128 a, unsigned __int128 b,
				       unsigned __int128 c)
{
	return sum(a) + 3 * sum(b) + 5 * sum(c);
}

static noinline unsigned long args_seven(unsigned __int128 a, unsigned __int128 b,
					 unsigned __int128 c, unsigned long d)
{
	return args_six(a, b, c) + 7 * d;
}

static int set_run(const char *text, const struct kernel_param *param)
{
	unsigned long n;
	int err = kstrtoul(text, 0, &n);

	if (err)
		return err;
	two = args_two(n, n + 1);
	six = args_six(pair(n), pair(n + 2), pair(n + 4));
	seven = args_seven(pair(n), pair(n + 2), pair(n + 4), n + 6);
	return 0;
}

static int get_run(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%lu %lu %lu\n", two, six, seven);
}

static const struct kernel_param_ops run_ops = { .set = set_run, .get = get_run };

module_param_cb(run, &run_ops, NULL, 0600);
MODULE_PARM_DESC(run, "first argument of the functions");
MODULE_DESCRIPTION("Test: functions with arguments");
MODULE_LICENSE("GPL");
