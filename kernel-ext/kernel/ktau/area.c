// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the page that a thread shares with the kernel.
 *
 * It belongs to the thread until that exits or executes another program, and to its
 * descriptor (attach.c), which lives as long as it is open or mapped anywhere.
 *
 * The kernel only reads the number in it, through its own mapping of the page. So it never
 * faults, whatever the program does with its mapping.
 */
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "area.h"
#include "core.h"
#include "memory.h"
#include "region.h"
#include "user.h"

/**
 * ktau_area_put() - drop a reference to an area
 * @area: the area
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_area_put(struct ktau_area *area)
{
	if (!refcount_dec_and_test(&area->ref))
		return;
	__free_page(area->page);
	ktau_uncharge(area->user, PAGE_SIZE);
	ktau_user_put(area->user);
	kfree(area);
}

/**
 * ktau_area_create() - create an area with one reference
 * @user: the user to charge
 *
 * Context: May sleep, on behalf of a task of @user.
 * Return: The area, or NULL if there is no memory; this is counted.
 */
struct ktau_area *ktau_area_create(struct ktau_user *user)
{
	struct ktau_area *area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);

	if (!area)
		return NULL;
	if (!ktau_charge(user, PAGE_SIZE))
		goto out_free;
	area->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!area->page)
		goto out_uncharge;
	area->region = page_address(area->page);
	area->user = ktau_user_get(user);
	refcount_set(&area->ref, 1);
	return area;

out_uncharge:
	ktau_uncharge(user, PAGE_SIZE);
	ktau_loss_of(user, KTAU_LOSS_NO_MEMORY, 1);
out_free:
	kfree(area);
	return NULL;
}

/**
 * ktau_area_drop() - let a task have no area any more
 * @state: that of the current task, or one that is not in use
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_area_drop(struct ktau_state *state)
{
	struct ktau_area *area = state->area;
	unsigned long flags;

	if (!area)
		return;
	raw_local_irq_save(flags);
	WRITE_ONCE(state->area, NULL);
	state->region_table = NULL;
	state->region = 0;
	raw_local_irq_restore(flags);
	ktau_area_put(area);
}
