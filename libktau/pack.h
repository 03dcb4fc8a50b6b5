/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compression of blocks. Both return -EOPNOTSUPP for a method that is not built in. */
#ifndef KTAU_INTERNAL_PACK_H
#define KTAU_INTERNAL_PACK_H

#include "buffer.h"

int ktau__pack(uint8_t method, const uint8_t *data, size_t size, struct ktau__buffer *out);

/* Decompress exactly @raw bytes into @out: 0, -EBADMSG, -ENOMEM, -EOPNOTSUPP. */
int ktau__unpack(uint8_t method, const uint8_t *data, size_t size, size_t raw,
		 struct ktau__buffer *out);

#endif /* KTAU_INTERNAL_PACK_H */
