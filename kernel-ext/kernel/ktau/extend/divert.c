// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: where unusual frames are diverted to.
 *
 * The fast paths leave through static calls where a task is traced or has
 * KTAU_MASK_HANDLED in its mask, and where a frame has flags above its id. While nothing
 * needs more than the profile and the trace, their targets are the functions for traces.
 * Handlers of modules (handler.c) and regions of programs (regions/attach.c) set other
 * targets. Those of regions call those of handlers while there are any.
 */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "base/core.h"
#include "measure/area.h"
#include "measure/frame.h"
#include "measure/root.h"
#include "measure/table.h"
#include "measure/trace.h"
#include "divert.h"
#include "handler.h"

/* NULL until regions are in use. Under ktau_mutex. */
static const struct ktau_region_targets *regions;

/* Set the target of a static call. */
#define SET_TARGET(name, handled, region, plain)				\
	static_call_update(ktau_divert_##name,					\
			   regions ? (region) : handlers ? (handled) : (plain))

static void set_targets(bool handlers)
{
	SET_TARGET(enter, ktau_handled_enter, regions->enter, ktau_enter_traced);
	SET_TARGET(fault, ktau_handled_fault, regions->fault, ktau_enter_traced_fault);
	SET_TARGET(root, ktau_handled_root, regions->root, ktau_root_trace);
	SET_TARGET(leave, ktau_handled_leave, regions->leave, ktau_leave);
	static_call_update(ktau_divert_exit,
			   regions && !handlers ? regions->exit : ktau_exit_slow);
	SET_TARGET(count, ktau_handled_count, ktau_handled_count, ktau_trace);
	SET_TARGET(switch, ktau_handled_switch, regions->sched_switch, __ktau_sched_switch);
	static_call_update(ktau_divert_resume,
			   handlers ? ktau_handled_resume : __ktau_sched_resume);
}

/**
 * ktau_divert_to_handlers() - start or stop reporting hits to handlers
 * @on: true for the first handler, false after the last one
 *
 * Context: May sleep; ktau_mutex held. Other CPUs may still be reporting hits on return.
 */
void ktau_divert_to_handlers(bool on)
{
	if (on)
		static_branch_enable(&ktau_handlers_key);
	else
		static_branch_disable(&ktau_handlers_key);
	set_targets(on);
}

/**
 * ktau_divert_to_regions() - start accounting to regions
 * @targets: where to; it must stay in place
 *
 * This lasts until reboot: changing code is expensive, and a program could ask for it
 * again and again.
 *
 * Context: May sleep; ktau_mutex held.
 */
void ktau_divert_to_regions(const struct ktau_region_targets *targets)
{
	if (regions)
		return;
	regions = targets;
	static_branch_enable(&ktau_regions_key);
	static_call_update(ktau_divert_account, targets->account);
	static_call_update(ktau_divert_value, targets->value);
	static_call_update(ktau_divert_user_exit, targets->user_exit);
	static_call_update(ktau_divert_user_enter, targets->user_enter);
	set_targets(static_key_enabled(&ktau_handlers_key));
}
