// SPDX-License-Identifier: LGPL-2.1-or-later
#include "swap.h"

static void swap_field(uint8_t *at, char field)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (field) {
	case '8':
		memcpy(&v64, at, 8);
		v64 = __builtin_bswap64(v64);
		memcpy(at, &v64, 8);
		break;
	case '4':
		memcpy(&v32, at, 4);
		v32 = __builtin_bswap32(v32);
		memcpy(at, &v32, 4);
		break;
	case '2':
		memcpy(&v16, at, 2);
		v16 = __builtin_bswap16(v16);
		memcpy(at, &v16, 2);
		break;
	}
}

void ktau__swap_fields(void *data, size_t size, const char *fields)
{
	uint8_t *at = data;
	size_t bytes;

	for (; *fields; fields++, at += bytes, size -= bytes) {
		bytes = *fields == 's' ? 8 : *fields - '0';
		if (bytes > size)
			return;
		swap_field(at, *fields);
	}
}
