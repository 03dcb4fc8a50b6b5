// SPDX-License-Identifier: LGPL-2.1-or-later
/* The checker's findings, and what it knows about owners and events. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_state.h"

const struct ktau_rec_owner *ktau__check_described(const struct ktau_check *c, uint64_t serial)
{
	return ktau__registry_find(&c->described, serial);
}

void ktau__check_report(struct ktau_check *c, enum ktau_finding_code code, uint64_t serial,
			uint64_t number, const char *format, ...)
{
	struct ktau_finding finding = {
		.code = code, .serial = serial, .number = number,
		.owner = serial ? ktau__check_described(c, serial) : NULL,
	};
	char text[384];
	va_list args;

	c->counts.findings[code]++;
	if (!c->found)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding.text = text;
	c->found(c->arg, &finding);
}

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner && (owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED);
}

int ktau__check_owner(struct ktau_check *c, uint64_t serial, struct check_owner **state)
{
	size_t at = ktau__map_get(&c->by_serial, serial);
	size_t room = c->room ? c->room * 2 : 64;
	struct check_owner *owners;
	int err;

	if (at != KTAU__MAP_NONE) {
		*state = &c->owners[at];
		return 0;
	}
	if (c->nr_owners == c->room) {
		owners = reallocarray(c->owners, room, sizeof(*owners));
		if (!owners)
			return -ENOMEM;
		c->owners = owners;
		c->room = room;
	}
	err = ktau__map_put(&c->by_serial, serial, c->nr_owners);
	if (err)
		return err;
	*state = &c->owners[c->nr_owners++];
	**state = (struct check_owner){ .serial = serial };
	c->has_unknown = true;	/* until something is */
	c->counts.tasks += is_task(ktau__check_described(c, serial));
	return 0;
}

void ktau__check_event(struct ktau_check *c, uint64_t serial, uint32_t id)
{
	uint8_t bit = 1 << id % 8;

	if (c->blind || c->events[id / 8] & bit)
		return;
	c->events[id / 8] |= bit;
	ktau__check_report(c, KTAU_FINDING_REFERENCE, serial, id,
			   "event %u: no EVENT record before its use", id);
}
