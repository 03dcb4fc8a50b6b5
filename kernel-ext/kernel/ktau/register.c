// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: registering the handlers of modules. handler.c calls them.
 */
#include <linux/export.h>
#include <linux/ktau_api.h>
#include <linux/rcupdate.h>

#include "control.h"
#include "core.h"
#include "handler.h"

static bool is_valid(const struct ktau_handler *handler)
{
	const u32 groups = ktau_groups_built | KTAU_GROUP_MODULES;
	const u32 types = BIT(KTAU_HIT_START) | BIT(KTAU_HIT_STOP) |
			  BIT(KTAU_HIT_EVENT);

	return handler->fn && handler->groups && !(handler->groups & ~groups) &&
	       handler->types && !(handler->types & ~types);
}

/* Stop calling @handler. Return: whether it was called. ktau_mutex held. */
static bool drop(struct ktau_handler *handler)
{
	if (!ktau_handler_remove(handler))
		return false;
	ktau_control_hold(ktau_handler_groups());
	if (!ktau_handler_groups())
		ktau_handler_divert(false);
	return true;
}

static int add(struct ktau_handler *handler)
{
	const bool first = !ktau_handler_groups();
	int err = ktau_handler_add(handler);

	if (err)
		return err;
	if (first)
		ktau_handler_divert(true);
	err = ktau_control_hold(ktau_handler_groups());
	if (err)
		drop(handler);
	return err;
}

/**
 * ktau_register_handler() - begin to call a handler
 * @handler: the handler, which must stay in place
 *
 * Its groups are enabled until it is unregistered, whatever /proc/ktau/control says.
 *
 * Context: May sleep.
 * Return: 0; -EINVAL for an invalid handler or a group that this kernel does not have,
 * -EEXIST if it is registered already, -ENOSPC if there are KTAU_NR_HANDLERS already,
 * -ENOMEM.
 */
int ktau_register_handler(struct ktau_handler *handler)
{
	int err;

	if (!is_valid(handler))
		return -EINVAL;
	mutex_lock(&ktau_mutex);
	err = add(handler);
	mutex_unlock(&ktau_mutex);
	if (err && err != -EEXIST)
		synchronize_rcu();	/* it may have been called */
	return err;
}
EXPORT_SYMBOL_GPL(ktau_register_handler);

/**
 * ktau_unregister_handler() - cease to call a handler
 * @handler: the handler; one that is not registered is ignored
 *
 * When this returns the handler does not run any more, on any CPU.
 *
 * Context: May sleep.
 */
void ktau_unregister_handler(struct ktau_handler *handler)
{
	bool was_there;

	mutex_lock(&ktau_mutex);
	was_there = drop(handler);
	mutex_unlock(&ktau_mutex);
	if (was_there)
		synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ktau_unregister_handler);
