// SPDX-License-Identifier: GPL-2.0-only
/* The protocol's messages: every call encoded and decoded, and invalid messages. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ciod/wire.h"

static size_t encode(unsigned char *to, size_t room, uint32_t call, ...)
{
	size_t bytes;
	va_list args;

	va_start(args, call);
	bytes = ciod_encode(to, room, call, args);
	va_end(args);
	return bytes;
}

/* Decode a body at the end of its memory, so that a read beyond it is detected. */
static int decode(uint32_t call, const unsigned char *message, size_t bytes,
		  struct ciod_args *args)
{
	unsigned char *body = malloc(bytes - CIOD_HEAD_BYTES + 1);
	int status;

	assert_non_null(body);
	memcpy(body + 1, message + CIOD_HEAD_BYTES, bytes - CIOD_HEAD_BYTES);
	status = ciod_decode(call, body + 1, bytes - CIOD_HEAD_BYTES, args);
	free(body);
	return status;
}

/* A message of each call; every call's arguments fit into struct ciod_args. */
static size_t sample(uint32_t call, unsigned char *to, size_t room)
{
	const char *s = ciod_signature(call);

	if (!strcmp(s, "fpfpi"))
		return encode(to, room, call, 3u, "a", 4u, "b", 5u);
	if (!strcmp(s, "pfp"))
		return encode(to, room, call, "a", 3u, "b");
	if (*s == 'p')
		return encode(to, room, call, "a", (uint64_t)5);
	if (!strcmp(s, "fpninii"))
		return encode(to, room, call, 3u, "a", (uint64_t)4, 5u, (uint64_t)6, 7u, 8u);
	if (!strncmp(s, "fp", 2))
		return encode(to, room, call, 3u, "a", 4u, 5u, 6u);
	if (!strncmp(s, "fd", 2))
		return encode(to, room, call, 3u, "data", 4u, (uint64_t)5);
	if (!strncmp(s, "fi", 2))
		return encode(to, room, call, 3u, 4u, (uint64_t)5, (uint64_t)6);
	if (!strcmp(s, "fni"))
		return encode(to, room, call, 3u, (uint64_t)4, 5u);
	if (!strncmp(s, "f", 1))
		return encode(to, room, call, 3u, (uint64_t)4, (uint64_t)5);
	return encode(to, room, call, (uint64_t)4, (uint64_t)5, "data", 4u);
}

static void every_call(void **state)
{
	unsigned char message[256];
	struct ciod_args args;
	size_t bytes, cut;
	uint32_t call;

	(void)state;
	for (call = 0; call < CIOD_NR_CALLS; call++) {
		bytes = sample(call, message, sizeof(message));
		assert_int_equal(ciod_get32(message), bytes);
		assert_int_equal(ciod_get32(message + 4), call);
		assert_int_equal(decode(call, message, bytes, &args), 0);
		/* One byte too many, or any number too few */
		assert_int_equal(decode(call, message, bytes + 1, &args), -1);
		for (cut = CIOD_HEAD_BYTES; cut < bytes; cut++) {
			assert_int_equal(decode(call, message, cut, &args), -1);
			assert_int_equal(sample(call, message, cut), 0);
		}
	}
	assert_int_equal(ciod_decode(CIOD_NR_CALLS, message, 0, &args), -1);
	assert_null(ciod_name(CIOD_NR_CALLS));
}

static void arguments(void **state)
{
	unsigned char message[256];
	struct ciod_args args;
	size_t bytes;

	(void)state;
	bytes = encode(message, sizeof(message), CIOD_NR_renameat2, 7u, "from", CIOD_ROOT, "to/x",
		       UINT32_MAX - 1);
	assert_int_equal(ciod_decode(CIOD_NR_renameat2, message + 8, bytes - 8, &args), 0);
	assert_int_equal(args.fd[0], 7);
	assert_int_equal(args.fd[1], CIOD_ROOT);
	assert_string_equal(args.path[0], "from");
	assert_string_equal(args.path[1], "to/x");
	assert_int_equal(args.number[0], UINT32_MAX - 1);
	bytes = encode(message, sizeof(message), CIOD_NR_pwrite64, 7u, "a\0b", 3u,
		       (uint64_t)1 << 40);
	assert_int_equal(ciod_decode(CIOD_NR_pwrite64, message + 8, bytes - 8, &args), 0);
	assert_int_equal(args.data_bytes, 3);
	assert_memory_equal(args.data, "a\0b", 3);
	assert_int_equal(args.number[0], (uint64_t)1 << 40);
}

/* The bytes do not depend on the byte order of the node. */
static void bytes_on_the_wire(void **state)
{
	static const unsigned char wire[] = {
		0, 0, 0, 0x1a, 0, 0, 0, 12, 0xff, 0xff, 0xff, 0xff,
		0, 0, 0, 6, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 1, 0xed
	};
	unsigned char message[64];

	(void)state;
	assert_int_equal(encode(message, sizeof(message), CIOD_NR_mkdirat, CIOD_ROOT, "hello",
				0755u),
			 sizeof(wire));
	assert_memory_equal(message, wire, sizeof(wire));
}

static void invalid_paths(void **state)
{
	static char path[CIOD_MAX_PATH + 1];
	static unsigned char message[2 * CIOD_MAX_PATH];
	struct ciod_args args;
	size_t bytes;

	(void)state;
	memset(path, 'x', CIOD_MAX_PATH - 1);
	bytes = encode(message, sizeof(message), CIOD_NR_statx, 0u, path, 0u);
	assert_int_equal(decode(CIOD_NR_statx, message, bytes, &args), 0);
	path[CIOD_MAX_PATH - 1] = 'x';
	assert_int_equal(encode(message, sizeof(message), CIOD_NR_statx, 0u, path, 0u), 0);

	bytes = encode(message, sizeof(message), CIOD_NR_statx, 0u, "ab", 0u);
	message[16] = '\0';	/* a zero inside a path */
	assert_int_equal(decode(CIOD_NR_statx, message, bytes, &args), -1);
	message[16] = 'a';
	message[18] = 'c';	/* none at the end */
	assert_int_equal(decode(CIOD_NR_statx, message, bytes, &args), -1);
	message[18] = '\0';
	ciod_put32(message + 12, 0);
	assert_int_equal(decode(CIOD_NR_statx, message, bytes, &args), -1);
	ciod_put32(message + 12, UINT32_MAX);
	assert_int_equal(decode(CIOD_NR_statx, message, bytes, &args), -1);
}

static void long_data(void **state)
{
	static unsigned char message[CIOD_MAX_BODY + 64], zeros[CIOD_MAX_DATA];
	struct ciod_args args;
	size_t bytes;

	(void)state;
	bytes = encode(message, sizeof(message), CIOD_NR_write, 0u, zeros, CIOD_MAX_DATA);
	assert_true(bytes && bytes - CIOD_HEAD_BYTES <= CIOD_MAX_BODY);
	assert_int_equal(decode(CIOD_NR_write, message, bytes, &args), 0);
	assert_int_equal(args.data_bytes, CIOD_MAX_DATA);
	ciod_put32(message + 12, CIOD_MAX_DATA + 1);
	assert_int_equal(decode(CIOD_NR_write, message, bytes + 1, &args), -1);
}

static void flags(void **state)
{
	(void)state;
	assert_int_equal(ciod_flags_to_wire(O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW),
			 2 | CIOD_O_CREAT | CIOD_O_EXCL | CIOD_O_NOFOLLOW);
	assert_int_equal(ciod_flags_to_wire(O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_DIRECTORY),
			 CIOD_O_DIRECTORY);
	assert_int_equal(ciod_flags_to_wire(O_TMPFILE | O_WRONLY), -1);
	assert_int_equal(ciod_flags_to_wire(O_ACCMODE), -1);
	assert_int_equal(ciod_flags_from_wire(CIOD_O_ALL & ~1),
			 O_RDWR | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_DIRECTORY | O_NOFOLLOW |
				 O_PATH | O_SYNC | O_NOATIME);
	assert_int_equal(ciod_flags_from_wire(3), -1);
	assert_int_equal(ciod_flags_from_wire(CIOD_O_ALL + 1), -1);
	assert_int_equal(ciod_flags_from_wire((uint64_t)1 << 32), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call),
		cmocka_unit_test(arguments),
		cmocka_unit_test(bytes_on_the_wire),
		cmocka_unit_test(invalid_paths),
		cmocka_unit_test(long_data),
		cmocka_unit_test(flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
