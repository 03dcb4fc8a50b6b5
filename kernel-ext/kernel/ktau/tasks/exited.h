/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: exited tasks.
 */
#ifndef _KERNEL_KTAU_EXITED_H
#define _KERNEL_KTAU_EXITED_H

#include "base/types.h"
#include "gone.h"

struct seq_file;

/**
 * struct ktau_exited_wait - the ending tasks that a reader waits for
 * @until: those with a lower number
 * @timeout: in jiffies
 */
struct ktau_exited_wait {
	u64		until;
	unsigned long	timeout;
};

int ktau_exited_start(void);
void ktau_exited_add(struct ktau_state *state);
void ktau_exited_announce(struct ktau_state *state);
void ktau_exited_end(struct ktau_state *state);
void ktau_exited_wait_begin(struct ktau_exited_wait *wait);
bool ktau_exited_wait(const struct ktau_exited_wait *wait);
u64 ktau_exited_late(void);
struct ktau_state *ktau_exited_get(u64 *seq);
u64 ktau_exited_next(void);
void ktau_exited_bounds(u64 *first, u64 *next);
void ktau_exited_trim(void);
void ktau_exited_owner(struct ktau_owner *owner, const struct ktau_state *state);
bool ktau_exited_show(struct ktau_watch *watch, struct ktau_state *state);
int ktau_exited_settle(struct ktau_settle *settle);
void ktau_exited_settled(struct ktau_watch *watch, const struct ktau_settle *settle);
void ktau_exited_watch(struct ktau_watch *watch, struct ktau_user *user, bool sums);
void ktau_exited_unwatch(struct ktau_watch *watch);
void ktau_exited_stats(struct seq_file *m);

#endif /* _KERNEL_KTAU_EXITED_H */
