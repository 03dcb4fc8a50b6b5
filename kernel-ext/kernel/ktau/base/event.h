/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: the events that ids stand for.
 */
#ifndef _KERNEL_KTAU_EVENT_H
#define _KERNEL_KTAU_EVENT_H

#include <linux/kallsyms.h>

#include "types.h"

#define KTAU_NR_STATIC		(KTAU_ID_POINT - KTAU_ID_STATIC)
#define KTAU_NR_POINTS		(KTAU_ID_FOREIGN - KTAU_ID_POINT)
#define KTAU_NR_FOREIGN		(KTAU_ID_IRQ - KTAU_ID_FOREIGN)
#define KTAU_NR_LINES		(KTAU_ID_CALL - KTAU_ID_IRQ)
#define KTAU_NR_MODULE_IDS	(KTAU_ID_FUNCTION - KTAU_ID_MODULE)
#define KTAU_NR_FUNCTION_IDS	(KTAU_NR_IDS - KTAU_ID_FUNCTION)

/* Size of the longest name that is copied, including the final NUL. */
#define KTAU_NAME_BYTES		64

/**
 * struct ktau_event - an event
 * @key: depends on @source, as in struct ktau_rec_event of the binary interface
 * @name: its name; NULL if ktau_event_format_name() makes it from the number
 * @group: KTAU_GROUP_*
 * @kind: KTAU_KIND_*
 * @source: KTAU_SOURCE_*
 * @in_task: no interrupt executes it, although its group has events that interrupts execute
 */
struct ktau_event {
	unsigned long	key;
	const char	*name;
	u32		group;
	u8		kind;
	u8		source;
	bool		in_task;
};

static inline bool ktau_is_voluntary(unsigned int id)
{
	return id >= KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE &&
	       id <= KTAU_ID_SCHEDULE_VOL_STOPPED;
}

#define KTAU_EVENT_NAME		(KSYM_NAME_LEN + 16)

extern struct ktau_event ktau_events[KTAU_NR_IDS];
extern const char * const ktau_source_names[KTAU_NR_SOURCES];
extern const struct ktau_id_range ktau_id_ranges[KTAU_NR_SOURCES];

/* The group of an event, 0 if the id is not in use. */
static inline u32 ktau_event_group(unsigned int id)
{
	return id < KTAU_NR_IDS ? READ_ONCE(ktau_events[id].group) : 0;
}

const struct ktau_event *ktau_event_find(unsigned int id);
unsigned int ktau_event_kind(unsigned int id);
u32 ktau_module_group(int fid, unsigned int kind);
unsigned long ktau_event_address(unsigned int id);
void ktau_event_format_name(unsigned int id, char name[KTAU_EVENT_NAME]);
unsigned int ktau_ids_used(const struct ktau_id_range *range);
void ktau_event_define(unsigned int id, const struct ktau_event *event,
		       const char *name);
bool ktau_event_has_room(void);
void ktau_event_init(void);

#endif /* _KERNEL_KTAU_EVENT_H */
