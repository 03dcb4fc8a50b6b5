/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The slots of a TRACE record as an array. */
#ifndef KTAU_INTERNAL_SLOT_H
#define KTAU_INTERNAL_SLOT_H

#include "util.h"

/* True if @nr slots take exactly @bytes. */
bool ktau__check_slots(const void *slots, uint32_t nr, uint32_t bytes);

/* Reverse the byte order of @nr slots that have been checked. */
void ktau__swap_slots(void *slots, uint32_t nr);

#endif /* KTAU_INTERNAL_SLOT_H */
