// SPDX-License-Identifier: GPL-2.0-only
/* A handler that does nothing, to measure what a hit costs. */
#include <linux/ktau_api.h>
#include <linux/module.h>

static unsigned int types;
module_param(types, uint, 0444);
MODULE_PARM_DESC(types, "types to listen to, bits of KTAU_HIT_*");

static void ignore_hit(struct ktau_handler *handler, const struct ktau_hit *hit)
{
}

static struct ktau_handler handler = {
	.groups = KTAU_GROUP_SYSCALL,
	.fn = ignore_hit,
};

static int __init empty_init(void)
{
	handler.types = types;
	return ktau_register_handler(&handler);
}

static void __exit empty_exit(void)
{
	ktau_unregister_handler(&handler);
}

module_init(empty_init);
module_exit(empty_exit);
MODULE_DESCRIPTION("Test: the cost of a hit");
MODULE_LICENSE("GPL");
