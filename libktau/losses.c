// SPDX-License-Identifier: LGPL-2.1-or-later
/* The counters of an END record that count from boot. */
#include <stddef.h>

#include "util.h"

/* clang-format off */
#define LOSS(field)	{ #field, offsetof(struct ktau_rec_end, field) }
/* clang-format on */

static const struct {
	const char *name;
	size_t offset;
} losses[] = {
	LOSS(refused_memory_limit),
	LOSS(refused_user_limit),
	LOSS(refused_no_memory),
	LOSS(refused_no_chunk),
	LOSS(refused_no_id),
	LOSS(refused_no_state),
	LOSS(refused_descriptors),
	LOSS(lost_no_ring),
	LOSS(lost_resized),
	LOSS(lost_evicted),
	LOSS(evicted),
	LOSS(clamped),
	LOSS(internal_errors),
	LOSS(refused_regions),
	LOSS(refused_functions),
	LOSS(lost_no_room),
};

_Static_assert(sizeof(losses) / sizeof(*losses) == KTAU_NR_LOSSES, "KTAU_NR_LOSSES");

const char *ktau_loss_name(unsigned int index)
{
	return index < KTAU_NR_LOSSES ? losses[index].name : NULL;
}

uint64_t ktau_loss_value(const struct ktau_rec_end *end, unsigned int index)
{
	uint64_t value = 0;

	if (index < KTAU_NR_LOSSES)
		memcpy(&value, (const char *)end + losses[index].offset, sizeof(value));
	return value;
}
