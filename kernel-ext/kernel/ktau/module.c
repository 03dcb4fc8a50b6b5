// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: unloaded modules. Another module may be loaded at the same addresses, and its
 * functions must not be counted under the old names.
 *
 * Points need no care: they are part of their module, so they have no id after it is
 * loaded again.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/printk.h>

#include "ids.h"

static bool is_in_module(unsigned long fn, const void *data)
{
	return within_module(fn, data);
}

static bool is_in_module_init(unsigned long fn, const void *data)
{
	return within_module_init(fn, data);
}

static int module_event(struct notifier_block *block, unsigned long state,
			void *data)
{
	if (state == MODULE_STATE_GOING)
		ktau_ids_forget(is_in_module, data);
	else if (state == MODULE_STATE_LIVE)	/* its init text is about to be freed */
		ktau_ids_forget(is_in_module_init, data);
	return NOTIFY_DONE;
}

static struct notifier_block module_block = { .notifier_call = module_event };

static int __init ktau_module_init(void)
{
	int err = register_module_notifier(&module_block);

	if (err)
		pr_warn("ktau: cannot notice when modules are unloaded: %d\n",
			err);
	return err;
}
core_initcall(ktau_module_init);
