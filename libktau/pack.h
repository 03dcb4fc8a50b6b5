/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compression of blocks. A method that is not built in gives -EOPNOTSUPP. */
#ifndef KTAU_INTERNAL_PACK_H
#define KTAU_INTERNAL_PACK_H

#include "buffer.h"

/* What is kept from one compression to the next: begin with all zero. */
struct ktau__packer {
	void *zstd;			/* its context */
	struct ktau__buffer out;
};

/* Compress into packer->out: 0, -ENOMEM, -EOPNOTSUPP. */
int ktau__pack(struct ktau__packer *packer, uint8_t method, const uint8_t *data, size_t size);
void ktau__packer_free(struct ktau__packer *packer);

/* Decompress exactly @raw bytes into @out: 0, -EBADMSG, -ENOMEM, -EOPNOTSUPP. */
int ktau__unpack(uint8_t method, const uint8_t *data, size_t size, size_t raw,
		 struct ktau__buffer *out);

#endif /* KTAU_INTERNAL_PACK_H */
