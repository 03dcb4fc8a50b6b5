// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of fields for ktau__swap_fields(), and its comparison with the structures. */
#include <stddef.h>

#include <linux/ktau.h>
#include <linux/ktau_references.h>

#include <ktau_file.h>

#include "fields.h"

/* Each type as C has it. */
#define C_u8		__u8
#define C_u8_3		__u8[3]
#define C_u8_16		__u8[16]
#define C_u8_32		__u8[32]
#define C_u16		__u16
#define C_u32		__u32
#define C_u64		__u64
#define C_s16		__s16
#define C_s32		__s32
#define C_char_16	char[16]
#define C_char_24	char[24]
#define C_char_72	char[72]
#define C_rec		struct ktau_rec

/* The fields of each type that have a byte order. */
#define SWAP_u8		"1"
#define SWAP_u8_3	"111"
#define SWAP_u8_16	"ss"
#define SWAP_u8_32	"ssss"
#define SWAP_u16	"2"
#define SWAP_u32	"4"
#define SWAP_u64	"8"
#define SWAP_s16	"2"
#define SWAP_s32	"4"
#define SWAP_char_16	"ss"
#define SWAP_char_24	"sss"
#define SWAP_char_72	"sssssssss"
#define SWAP_rec	"422"

/* clang-format off */
#define KTAU_STRUCT(structure)			const char ktau__fields_##structure[] =
#define KTAU_FIELD(structure, type, field)	SWAP_##type
#define KTAU_END(structure)			;
#include <ktau_fields.h>

/* The structures without padding. */
#define KTAU_STRUCT(structure)			struct listed_##structure {
#define KTAU_FIELD(structure, type, field)	__u8 field[sizeof(C_##type)];
#define KTAU_END(structure)			};
#include <ktau_fields.h>

/* Each field has its place and type, and no structure has another one. */
#define AT(structure, field)	offsetof(struct structure, field)
#define TYPE(structure, field)	__typeof__(((struct structure *)0)->field)
#define FITS(s, type, field, at) \
	(AT(s, field) == (at) && __builtin_types_compatible_p(TYPE(s, field), C_##type))
#define CHECK(right, name)	_Static_assert(right, name);

#define KTAU_FIELD(s, type, field) \
	CHECK(FITS(s, type, field, AT(listed_##s, field)), #s "." #field)
#define KTAU_ALIAS(s, type, field, first) \
	CHECK(FITS(s, type, field, AT(s, first)), #s "." #field)
#define KTAU_END(s) CHECK(sizeof(struct s) == sizeof(struct listed_##s), #s)
#include <ktau_fields.h>
/* clang-format on */
