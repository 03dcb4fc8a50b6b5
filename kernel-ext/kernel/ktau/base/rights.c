// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the credentials of a task that access to it depends on.
 */
#include <linux/cred.h>
#include <linux/string.h>

#include "compat.h"
#include "rights.h"

/**
 * ktau_rights_of() - extract the credentials that access to a task depends on
 * @rights: receives them; without a reference to the namespace
 *
 * Context: Any.
 */
void ktau_rights_of(struct ktau_rights *rights, const struct cred *cred)
{
	*rights = (struct ktau_rights) {
		.uid = cred->uid,
		.euid = cred->euid,
		.suid = cred->suid,
		.gid = cred->gid,
		.egid = cred->egid,
		.sgid = cred->sgid,
		.permitted = cred->cap_permitted,
		.user_ns = cred->user_ns,
		.secid = ktau_secid(cred),
	};
}

/**
 * ktau_rights_equal() - whether the same readers may see two tasks
 * @a: the rights of an exited task
 * @b: those of another one
 *
 * Context: Any.
 * Return: Whether they may.
 */
bool ktau_rights_equal(const struct ktau_rights *a, const struct ktau_rights *b)
{
	return uid_eq(a->uid, b->uid) && uid_eq(a->euid, b->euid) &&
	       uid_eq(a->suid, b->suid) && gid_eq(a->gid, b->gid) &&
	       gid_eq(a->egid, b->egid) && gid_eq(a->sgid, b->sgid) &&
	       a->secid == b->secid &&
	       !memcmp(&a->permitted, &b->permitted, sizeof(a->permitted)) &&
	       a->user_ns == b->user_ns && a->nr_levels == b->nr_levels &&
	       (!a->nr_levels ||
		!memcmp(a->level, b->level, a->nr_levels * sizeof(*a->level)));
}
