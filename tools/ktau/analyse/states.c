// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "states.h"

void states_deinit(struct states *s)
{
	free(s->names);
	free(s->rows);
	free(s->intervals);
	*s = (struct states){ 0 };
}
