// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: registering the handlers of modules. handler.c calls them.
 */
#include <linux/export.h>
#include <linux/ktau_api.h>

#include "base/core.h"
#include "tasks/groups.h"
#include "divert.h"
#include "handler.h"
#include "register.h"

static bool is_valid(const struct ktau_handler *handler)
{
	const u32 groups = ktau_groups_built | KTAU_GROUP_MODULES;
	const u32 types = BIT(KTAU_HIT_START) | BIT(KTAU_HIT_STOP) |
			  BIT(KTAU_HIT_EVENT);

	return handler->fn && handler->groups && !(handler->groups & ~groups) &&
	       handler->types && !(handler->types & ~types);
}

/* Stop calling @handler, if it is registered. ktau_mutex held. */
static void drop(struct ktau_handler *handler)
{
	if (!ktau_handler_remove(handler))
		return;
	ktau_config_hold(ktau_handler_groups());
	if (!ktau_handler_groups())
		ktau_divert_to_handlers(false);
}

static int add(struct ktau_handler *handler)
{
	const bool first = !ktau_handler_groups();
	int err = ktau_handler_add(handler);

	if (err)
		return err;
	if (first)
		ktau_divert_to_handlers(true);
	err = ktau_config_hold(ktau_handler_groups());
	if (err)
		drop(handler);
	return err;
}

/**
 * ktau_register_handler() - start to call a handler
 * @handler: the handler, which must stay in place
 *
 * Its groups are enabled until it is unregistered, whatever /proc/ktau/control says.
 *
 * Context: May sleep.
 * Return: 0; -EINVAL for an invalid handler or a group that this kernel does not have,
 * -EEXIST if it is registered already, -ENOSPC if there are KTAU_NR_HANDLERS already,
 * -ENOMEM if there is no memory.
 */
int ktau_register_handler(struct ktau_handler *handler)
{
	int err;

	if (!is_valid(handler))
		return -EINVAL;
	mutex_lock(&ktau_mutex);
	err = add(handler);
	mutex_unlock(&ktau_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(ktau_register_handler);

/**
 * ktau_unregister_handler() - stop calling a handler
 * @handler: the handler; one that is not registered is ignored
 *
 * Once this returns, the handler is not running on any CPU.
 *
 * Context: May sleep.
 */
void ktau_unregister_handler(struct ktau_handler *handler)
{
	mutex_lock(&ktau_mutex);
	drop(handler);
	mutex_unlock(&ktau_mutex);
}
EXPORT_SYMBOL_GPL(ktau_unregister_handler);

/**
 * ktau_register_forget() - unregister handlers that will be freed, or whose functions will
 * @gone: whether the memory at an address will be freed
 * @data: argument for @gone
 *
 * Once this returns, they are not running on any CPU.
 *
 * Context: May sleep.
 * Return: The number of these handlers.
 */
unsigned int ktau_register_forget(bool (*gone)(unsigned long address, const void *data),
				  const void *data)
{
	struct ktau_handler *handler;
	unsigned int nr = 0;

	mutex_lock(&ktau_mutex);
	while ((handler = ktau_handler_find(gone, data))) {
		drop(handler);
		nr++;
	}
	mutex_unlock(&ktau_mutex);
	return nr;
}
