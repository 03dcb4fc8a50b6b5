/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what every other file may rely on: the configuration, loss counters, and how KTAU
 * disables itself after an internal error.
 */
#ifndef _KERNEL_KTAU_CORE_H
#define _KERNEL_KTAU_CORE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "types.h"

struct work_struct;

/* The configuration, except for the filter. Guarded by ktau_mutex. */
struct ktau_config {
	u32	groups;		/* enabled KTAU_GROUP_* */
	u32	held_groups;	/* KTAU_GROUP_* that handlers of modules need */
	u32	modes;		/* KTAU_MODE_* */
	bool	tags;		/* some task may have a tag */
	bool	inherit;	/* children of selected tasks are selected */
	u32	ring_slots;	/* size that rings grow to */
	u32	watermark_slots; /* fill level that wakes pollers */
	u64	memory_limit_bytes; /* bound of all memory */
	u64	exited_limit_bytes; /* bound of the exited tasks' part of it */
};

/* The groups of modules; the others that this kernel has are in ktau_groups_built. */
#define KTAU_GROUP_MODULES	(KTAU_GROUP_ALL & ~KTAU_GROUPS_LISTED)

#define KTAU_MODULE_BIT		16
#define KTAU_NR_GROUP_BITS	(KTAU_MODULE_BIT + KTAU_NR_MODULE_GROUPS)
static_assert(BIT(KTAU_MODULE_BIT) == KTAU_GROUP_MODULE);

extern const u32 ktau_groups_built;

/* Those of which interrupts execute no function. */
extern const u32 ktau_groups_in_task;
extern const char * const ktau_group_names[KTAU_NR_GROUP_BITS];
extern struct ktau_config ktau_config;
extern struct mutex ktau_mutex;
extern struct ktau_user ktau_system;

DECLARE_PER_CPU(unsigned long [KTAU_NR_LOSSES], ktau_losses);

/* The groups that are enabled for every task that is measured. */
static inline u32 ktau_groups_enabled(void)
{
	return READ_ONCE(ktau_config.groups) | READ_ONCE(ktau_config.held_groups);
}

void ktau_config_set(const struct ktau_config *config);
void ktau_config_get(struct ktau_config *config);

void ktau_loss(enum ktau_loss reason);
void ktau_loss_of(struct ktau_user *user, enum ktau_loss reason,
		  unsigned long nr);
u64 ktau_loss_total(enum ktau_loss reason);

void ktau_internal_error(const char *what);
void ktau_disable_register(struct work_struct *work);

#endif /* _KERNEL_KTAU_CORE_H */
