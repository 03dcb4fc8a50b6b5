// SPDX-License-Identifier: GPL-2.0-only
/* A module with a bug: it does not unregister its handler. */
#include <linux/ktau_api.h>
#include <linux/module.h>

static unsigned long hits;

static void count_hit(struct ktau_handler *handler, const struct ktau_hit *hit)
{
	WRITE_ONCE(hits, hits + 1);
}

static struct ktau_handler handler = {
	.groups = KTAU_GROUP_SYSCALL,
	.types = BIT(KTAU_HIT_START) | BIT(KTAU_HIT_STOP),
	.fn = count_hit,
};

static int __init forget_init(void)
{
	return ktau_register_handler(&handler);
}

static void __exit forget_exit(void)
{
}

module_init(forget_init);
module_exit(forget_exit);
MODULE_DESCRIPTION("Test: a handler that outlives its module");
MODULE_LICENSE("GPL");
