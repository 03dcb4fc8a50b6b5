// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "delays.h"

void delays_deinit(struct delays *delays)
{
	size_t i;

	for (i = 0; i < delays->nr; i++) {
		free(delays->rows[i].victim);
		free(delays->rows[i].by);
		free(delays->rows[i].in);
	}
	free(delays->rows);
	*delays = (struct delays){ 0 };
}
