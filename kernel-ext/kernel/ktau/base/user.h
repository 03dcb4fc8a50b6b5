/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the accounts of users.
 */
#ifndef _KERNEL_KTAU_USER_H
#define _KERNEL_KTAU_USER_H

#include "core.h"

struct cred;

static inline struct ktau_user *ktau_user_get(struct ktau_user *user)
{
	refcount_inc(&user->ref);
	return user;
}

kuid_t ktau_user_uid(const struct cred *cred);
struct ktau_user *ktau_user_find(kuid_t uid);
struct ktau_user *ktau_user_of(struct task_struct *task);
void ktau_user_put(struct ktau_user *user);
bool ktau_user_charge(struct ktau_user *user, size_t bytes, unsigned long limit);
u64 ktau_user_share(const struct ktau_user *user, u64 limit);
void ktau_user_uncharge(struct ktau_user *user, size_t bytes);
u64 ktau_user_limit(const struct ktau_user *user);
struct ktau_user *ktau_user_open(size_t bytes);
void ktau_user_close(struct ktau_user *user, size_t bytes);
void ktau_user_losses(kuid_t uid, u64 losses[KTAU_NR_LOSSES]);

#endif /* _KERNEL_KTAU_USER_H */
