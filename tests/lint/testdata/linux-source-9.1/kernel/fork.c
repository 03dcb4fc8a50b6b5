// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched.h>

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

int fork(int flags)
{
	int err = flags;

	if (err)
		return err;
	err = one();
	two();
	return err;
}
