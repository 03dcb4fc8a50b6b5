/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that grows. It grows by doubling, so appending takes linear time. */
#ifndef KTAU_INTERNAL_BUFFER_H
#define KTAU_INTERNAL_BUFFER_H

#include "util.h"

struct ktau__buffer {
	uint8_t *data;
	size_t size;
	size_t room;
};

/* All return 0 or -ENOMEM. */
int ktau__buffer_reserve(struct ktau__buffer *buffer, size_t room);
int ktau__buffer_append(struct ktau__buffer *buffer, const void *data, size_t size);
void ktau__buffer_free(struct ktau__buffer *buffer);

/* Append the rest of a file of unknown size: 0, -EFBIG above @max bytes, -errno. */
int ktau__read_all(int fd, size_t max, struct ktau__buffer *buffer);

#endif /* KTAU_INTERNAL_BUFFER_H */
