/* SPDX-License-Identifier: GPL-2.0-only */
/* The meaning of ids within one boot: EVENT and CGROUP records, collected from all sources. */
#ifndef KTAU_TOOLS_REGISTRY_H
#define KTAU_TOOLS_REGISTRY_H

#include <stdint.h>

#include <ktau.h>

struct registry;

/* Never returns NULL. */
struct registry *registry_create(void);
void registry_destroy(struct registry *r);

/* Start a new boot, in which ids have new meanings. */
void registry_clear(struct registry *r);

/* Add a record; types other than EVENT and CGROUP are ignored. Return: 0 or -ENOMEM. */
int registry_put(struct registry *r, const union ktau_record *record);

/*
 * Add everything that @reader knows now, and forget the control groups that it did not know this
 * time and the time before. Return: 0 or -ENOMEM.
 */
int registry_put_all(struct registry *r, const struct ktau_reader *reader);

/* Valid until registry_clear(). */
const struct ktau_events *registry_events(const struct registry *r);

/* The path of a control group; NULL if it is unknown or was removed. */
const char *registry_cgroup(const struct registry *r, uint64_t id);

/*
 * The same for display: never NULL, "(removed cgroup 17)". Both texts are valid until the group is
 * forgotten.
 */
const char *registry_cgroup_text(struct registry *r, uint64_t id);

#endif
