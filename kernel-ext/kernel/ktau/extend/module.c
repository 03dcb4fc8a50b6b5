// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: unloaded modules. Another module may be loaded at the same addresses, and its
 * functions must not be counted under the old names. A handler that its module has not
 * unregistered must not be called any more.
 *
 * The ids of points need not be forgotten: a point is part of its module, so when the
 * module is loaded again, the point has no id yet.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/printk.h>

#include "base/ids.h"
#include "register.h"

static bool is_in_module(unsigned long fn, const void *data)
{
	return within_module(fn, data);
}

static bool is_in_module_init(unsigned long fn, const void *data)
{
	return within_module_init(fn, data);
}

static void forget(bool (*gone)(unsigned long fn, const void *data),
		   const struct module *mod)
{
	ktau_ids_forget(gone, mod);
	if (ktau_register_forget(gone, mod))
		pr_warn("ktau: module %s has left a handler registered\n", mod->name);
}

static int module_event(struct notifier_block *block, unsigned long state,
			void *data)
{
	if (state == MODULE_STATE_GOING)
		forget(is_in_module, data);
	else if (state == MODULE_STATE_LIVE)	/* its init text is about to be freed */
		forget(is_in_module_init, data);
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
