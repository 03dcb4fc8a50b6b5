/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The running kernel. */
#ifndef KTAU_INTERNAL_INFO_H
#define KTAU_INTERNAL_INFO_H

#include "util.h"

/* The length of the GNU build-id in a sequence of ELF notes, 0 if there is none. */
size_t ktau__note_build_id(const void *notes, size_t size, const uint8_t **id);

/* The running kernel's GNU build-id. Returns its length, -ENOENT, -errno. */
int ktau__build_id(uint8_t *id, size_t size);

#endif /* KTAU_INTERNAL_INFO_H */
