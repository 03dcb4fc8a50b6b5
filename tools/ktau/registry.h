/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the ids of one boot stand for: EVENT and CGROUP records, collected from as
 * many sources as are read.
 */
#ifndef KTAU_TOOLS_REGISTRY_H
#define KTAU_TOOLS_REGISTRY_H

#include <stdint.h>

#include <ktau.h>

struct registry;

/* Never NULL. */
struct registry *registry_create(void);
void registry_destroy(struct registry *r);

/* Another boot begins: ids have new meanings. */
void registry_clear(struct registry *r);

/* Other records than EVENT and CGROUP are ignored. 0 or -ENOMEM. */
int registry_put(struct registry *r, const union ktau_record *record);

/* All that @reader has seen. 0 or -ENOMEM. */
int registry_put_all(struct registry *r, const struct ktau_reader *reader);

/* Valid until registry_clear(). */
const struct ktau_events *registry_events(const struct registry *r);

/* The path of a control group; NULL if it is unknown or the group was removed. */
const char *registry_cgroup(const struct registry *r, uint64_t id);

/* The same for people, never NULL: "(removed cgroup 17)". Valid likewise. */
const char *registry_cgroup_text(struct registry *r, uint64_t id);

#endif
