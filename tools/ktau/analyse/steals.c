// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "steals.h"

const struct steals_machine *steals_find(const struct steals *s, const uint8_t *boot_id)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!memcmp(s->machines[i].boot.id, boot_id, sizeof(s->machines[i].boot.id)))
			return &s->machines[i];
	return NULL;
}

void steals_deinit(struct steals *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free(s->machines[i].all);
	free(s->machines);
	free(s->causes);
	*s = (struct steals){ 0 };
}
