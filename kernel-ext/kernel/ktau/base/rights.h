/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the credentials of a task that access to it depends on.
 */
#ifndef _KERNEL_KTAU_RIGHTS_H
#define _KERNEL_KTAU_RIGHTS_H

#include "types.h"

void ktau_rights_of(struct ktau_rights *rights, const struct cred *cred);
bool ktau_rights_equal(const struct ktau_rights *a, const struct ktau_rights *b);

#endif /* _KERNEL_KTAU_RIGHTS_H */
