/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of fields as ktau__swap_fields() takes them. */
#ifndef KTAU_INTERNAL_FIELDS_H
#define KTAU_INTERNAL_FIELDS_H

#define KTAU_STRUCT(structure) extern const char ktau__fields_##structure[];
#include <ktau_fields.h>

#endif /* KTAU_INTERNAL_FIELDS_H */
