/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the namespaces of exited tasks, as numbers.
 */
#ifndef _KERNEL_KTAU_ORIGIN_H
#define _KERNEL_KTAU_ORIGIN_H

#include "types.h"

struct pid_namespace;
struct user_namespace;

struct ktau_ns_id ktau_ns_id(const struct pid_namespace *ns);
void ktau_origin_record(struct ktau_state *state);
void ktau_origin_free(struct ktau_state *state);
bool ktau_origin_ids(struct ktau_owner *owner, const struct ktau_state *state,
		     const struct ktau_ns_id *ns);
int ktau_origin_level(const struct ktau_rights *rights,
		      const struct user_namespace *ns);

#endif /* _KERNEL_KTAU_ORIGIN_H */
