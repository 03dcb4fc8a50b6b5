// SPDX-License-Identifier: GPL-2.0-only
/* Symbols: look-up, relocation, maps of other kernels, bad maps, real maps. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

#define STEXT	0xffffffff81000000

static const char map[] =
	"0000000000000000 A fixed_percpu_data\n"
	"0000000000001000 A cpu_debug_store\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000100 W __x64_sys_setup\n"
	"ffffffff81000100 t __do_sys_ni_syscall\n"
	"ffffffff81000100 T __x64_sys_ni_syscall\n"
	"ffffffff81000200 T __x64_sys_read\n"
	"ffffffff81000280 T tcp_sendmsg\n"
	"ffffffff81000300 t tcp_ack\n"
	"ffffffff81001000 T _etext\n"
	"ffffffff81200000 R __start_rodata\n"
	"ffffffff81300000 D jiffies\n"
	"ffffffff81400000 T _sinittext\n"
	"ffffffff81400010 t init_one\n"
	"ffffffff81400800 T _einittext\n"
	"ffffffff81500000 B _end\n";

static const char modules[] =
	"ffffffffc0200000 t ext4_read\t[ext4]\n"
	"ffffffffc0200040 t ext4_write\t[ext4]\n"
	"ffffffffc0100000 t nfs_read\t[nfs]\n"
	"ffffffffc0200080 d ext4_data\t[ext4]\n";

static struct ktau_symtab *create(void)
{
	struct ktau_symtab *s;

	assert_int_equal(ktau_symtab_create(&s), 0);
	return s;
}

static struct ktau_symtab *load_text(const char *text)
{
	struct ktau_symtab *s = create();

	assert_int_equal(ktau_symtab_load_memory(s, text, strlen(text), "test.map"), 0);
	return s;
}

static void check(const struct ktau_symtab *s, uint64_t address, const char *name,
		  uint64_t offset)
{
	struct ktau_symbol symbol;

	if (!name) {
		assert_int_equal(ktau_symtab_lookup(s, address, &symbol), 0);
		return;
	}
	assert_int_equal(ktau_symtab_lookup(s, address, &symbol), 1);
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.offset, offset);
	assert_int_equal(symbol.address, address - offset);
}

static void lookup(void **state)
{
	struct ktau_symtab *s = load_text(map);
	struct ktau_symbol symbol;

	(void)state;
	assert_int_equal(ktau_symtab_count(s), 16);
	check(s, STEXT, "startup_64", 0);
	check(s, STEXT + 0x100, "__x64_sys_ni_syscall", 0);
	check(s, STEXT + 0x1ff, "__x64_sys_ni_syscall", 0xff);
	check(s, STEXT + 0x200, "__x64_sys_read", 0);
	check(s, STEXT + 0x301, "tcp_ack", 1);
	check(s, STEXT + 0xfff, "tcp_ack", 0xcff);
	check(s, STEXT + 0x1000, NULL, 0);
	check(s, STEXT - 1, NULL, 0);
	check(s, STEXT + 0x300000, NULL, 0);
	check(s, STEXT + 0x400011, "init_one", 1);
	check(s, 0, NULL, 0);
	check(s, UINT64_MAX, NULL, 0);
	assert_int_equal(ktau_symtab_find(s, "tcp_ack", &symbol), 1);
	assert_int_equal(symbol.address, STEXT + 0x300);
	assert_int_equal(ktau_symtab_find(s, "tcp_nack", &symbol), 0);
	ktau_symtab_destroy(s);
}

static void in_modules(void **state)
{
	struct ktau_symtab *s;
	struct ktau_symbol symbol;
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text), "%s%s", map, modules);
	s = load_text(text);
	check(s, 0xffffffffc0200041, "ext4_write", 1);
	assert_int_equal(ktau_symtab_lookup(s, 0xffffffffc0100000, &symbol), 1);
	assert_string_equal(symbol.module, "nfs");
	check(s, 0xffffffffc0200080, NULL, 0);
	check(s, 0xffffffffc0140000, NULL, 0);
	assert_int_equal(ktau_symtab_lookup(s, STEXT, &symbol), 1);
	assert_null(symbol.module);
	/* Modules have other addresses in another boot. */
	assert_int_equal(ktau_symtab_relocate(s, STEXT + 0x200000), 1);
	check(s, 0xffffffffc0400041, NULL, 0);
	check(s, STEXT + 0x200280, "tcp_sendmsg", 0);
	ktau_symtab_destroy(s);
}

static void relocate(void **state)
{
	struct ktau_symtab *s = load_text(map);

	(void)state;
	assert_int_equal(ktau_symtab_relocate(s, 0), 0);
	assert_int_equal(ktau_symtab_relocate(s, STEXT), 0);
	assert_int_equal(ktau_symtab_relocate(s, STEXT + 0x1e000000), 1);
	check(s, STEXT + 0x1e000204, "__x64_sys_read", 4);
	check(s, STEXT + 0x204, NULL, 0);
	assert_int_equal(ktau_symtab_relocate(s, STEXT + 0x1e000010), -ESTALE);
	assert_non_null(strstr(ktau_symtab_error(s), "another kernel"));
	assert_int_equal(ktau_symtab_relocate(s, 0xc0000000), -ESTALE);
	assert_non_null(strstr(ktau_symtab_error(s), "another architecture"));
	check(s, STEXT + 0x1e000204, "__x64_sys_read", 4);
	assert_int_equal(ktau_symtab_relocate(s, STEXT - 0x400000), 1);
	check(s, STEXT - 0x400000 + 0x204, "__x64_sys_read", 4);
	ktau_symtab_destroy(s);

	s = load_text("c0001000 T one\n");
	assert_int_equal(ktau_symtab_relocate(s, STEXT), -ENOENT);
	check(s, 0xc0001004, "one", 4);
	ktau_symtab_destroy(s);
}

static void add_event(struct ktau_events *events, uint32_t id, uint64_t address,
		      const char *name)
{
	struct {
		struct ktau_rec_event event;
		char name[32];
	} record = {
		.event = { .rec = { .size = sizeof(record), .type = KTAU_REC_EVENT,
				    .head = sizeof(record.event) },
			   .id = id, .address = address, .name_bytes = strlen(name) + 1 },
	};

	strcpy(record.name, name);
	assert_int_equal(ktau_events_put(events, &record.event), 0);
}

static void verify(void **state)
{
	struct ktau_symtab *s = load_text(map);
	struct ktau_events *events;

	(void)state;
	assert_int_equal(ktau_events_create(&events), 0);
	assert_int_equal(ktau_symtab_verify(s, NULL, NULL), 0);
	assert_int_equal(ktau_symtab_verify(s, NULL, events), 0);
	add_event(events, 515, 0, "local_timer");
	assert_int_equal(ktau_symtab_verify(s, NULL, events), 0);
	add_event(events, 0, STEXT + 0x200, "__x64_sys_read");
	add_event(events, 640, STEXT + 0x280, "tcp_sendmsg");
	add_event(events, 641, STEXT + 0x300, "tcp_ack");
	add_event(events, 642, 0xffffffffc0999000, "timer:some_module_fn");
	assert_int_equal(ktau_symtab_verify(s, NULL, events), 1);
	/* The same kernel, rebuilt: functions have moved slightly. */
	add_event(events, 640, STEXT + 0x290, "tcp_sendmsg");
	add_event(events, 641, STEXT + 0x310, "tcp_ack");
	assert_int_equal(ktau_symtab_verify(s, NULL, events), -ESTALE);
	assert_non_null(strstr(ktau_symtab_error(s), "test.map"));
	assert_non_null(strstr(ktau_symtab_error(s), "tcp_sendmsg"));
	ktau_events_destroy(events);
	ktau_symtab_destroy(s);
}

static void bad_maps(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "", "empty" },
		{ "\n", "line 1 does not begin with a hexadecimal address" },
		{ "garbage\n", "line 1 does not begin" },
		{ "c0000000 T good\nhello world\n", "line 2 does not begin" },
		{ "ffffffff8100000000 T long\n", "line 1 does not begin" },
		{ "c0000000 T\n", "line 1 is not" },
		{ "c0000000\n", "line 1 is not" },
		{ "c0000000 TT two\n", "line 1 is not" },
		{ "c0000000 T  \n", "line 1 has no name" },
		{ "c0000000 T na\001me\n", "line 1 has a name with control" },
		{ "c0000000 T name rest\n", "line 1 has something other than [module] after" },
		{ "c0000000 T name [\n", "line 1 has something other than [module] after" },
		{ "c0000000 T name", "line 1 is cut off" },
		{ "c0000000 T name\nc0000010 T na", "line 2 is cut off" },
		{ "c0000010 T b\nc0000000 T a\n", "line 2 goes back" },
		{ "c0000000 T _stext\nc0000100 T a\n", "truncated" },
		{ "0000000000000000 T a\n0000000000000000 T b\n", "hidden" },
		{ "\177ELF\2\1\1", "damaged ELF" },
	};
	struct ktau_symtab *s = create();
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		err = ktau_symtab_load_memory(s, cases[i].text, strlen(cases[i].text), "bad.map");
		assert_int_equal(err, strcmp(cases[i].why, "hidden") ? -EINVAL : -EPERM);
		if (!strstr(ktau_symtab_error(s), cases[i].why))
			fail_msg("\"%s\" is not \"%s\"", ktau_symtab_error(s), cases[i].why);
		assert_non_null(strstr(ktau_symtab_error(s), "bad.map"));
		assert_int_equal(ktau_symtab_count(s), 0);
	}
	assert_int_equal(ktau_symtab_load_memory(s, "c0 T \0\n", 7, "bad.map"), -EINVAL);
	assert_int_equal(ktau_symtab_load(s, "/nonexistent"), -ENOENT);
	assert_int_equal(ktau_symtab_load(s, "/"), -EISDIR);
	assert_non_null(strstr(ktau_symtab_error(s), "/: Is a directory"));
	/* After these failures a valid map can be loaded, but only one. */
	assert_int_equal(ktau_symtab_load_memory(s, map, strlen(map), "good.map"), 0);
	assert_int_equal(ktau_symtab_load_memory(s, map, strlen(map), "good.map"), -EBUSY);
	ktau_symtab_destroy(s);
}

/* A truncated map is rejected, unless it is complete. */
static void truncated_maps(void **state)
{
	struct ktau_symtab *s;
	size_t size;
	int err;

	(void)state;
	for (size = 0; size < strlen(map); size++) {
		s = create();
		err = ktau_symtab_load_memory(s, map, size, "cut.map");
		if (!err)
			assert_true(map[size - 1] == '\n' &&
				    (size < strstr(map, "_stext") - map ||
				     size > strstr(map, "_etext") - map));
		else
			assert_true(err == -EINVAL || err == -EPERM);
		ktau_symtab_destroy(s);
	}
}

static void large(void **state)
{
	enum { NR_SYMBOLS = 150000 };
	char *text = malloc(NR_SYMBOLS * 48 + 100), *at = text;
	struct timespec from, to;
	struct ktau_symtab *s;
	uint64_t sum = 0;
	double seconds;
	int i;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < NR_SYMBOLS; i++)
		at += sprintf(at, "%016llx T function_number_%06d\n",
			      (unsigned long long)STEXT + i * 64, i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	s = load_text(text);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	seconds = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	print_message("%d symbols in %.3f s\n", NR_SYMBOLS, seconds);
	assert_true(seconds < 10);
	for (i = 0; i < NR_SYMBOLS; i++) {
		struct ktau_symbol symbol;

		assert_int_equal(ktau_symtab_lookup(s, STEXT + i * 64 + 63, &symbol), 1);
		sum += symbol.offset;
	}
	assert_int_equal(sum, 63ULL * NR_SYMBOLS);
	ktau_symtab_destroy(s);
	free(text);
}

/* Like a vmlinux, this program has symbols, functions and a build-id. */
static void elf(void **state)
{
	struct ktau_rec_info info = { 0 };
	struct ktau_symtab *s = create();
	struct ktau_symbol symbol, again;
	const uint8_t *id;

	(void)state;
	assert_int_equal(ktau_symtab_load(s, "/proc/self/exe"), 0);
	assert_int_equal(ktau_symtab_find(s, "main", &symbol), 1);
	check(s, symbol.address + 3, "main", 3);
	assert_int_equal(ktau_symtab_find(s, "ktau_symtab_find", &again), 1);
	assert_int_equal((uintptr_t)ktau_symtab_find - (uintptr_t)ktau_symtab_load,
			 again.address - (ktau_symtab_find(s, "ktau_symtab_load", &symbol),
					  symbol.address));
	info.build_id_bytes = ktau_symtab_build_id(s, &id);
	if (!info.build_id_bytes) {
		print_message("no build-id in this program: not compared\n");
		ktau_symtab_destroy(s);
		return;
	}
	memcpy(info.build_id, id, info.build_id_bytes);
	assert_int_equal(ktau_symtab_verify(s, &info, NULL), 1);
	info.build_id[0] ^= 1;
	assert_int_equal(ktau_symtab_verify(s, &info, NULL), -ESTALE);
	assert_non_null(strstr(ktau_symtab_error(s), "build-id"));
	ktau_symtab_destroy(s);
}

/* This machine's own table, if it shows addresses. */
static void kallsyms(void **state)
{
	struct ktau_symtab *s = create();
	struct ktau_symbol symbol;
	int err = ktau_symtab_load(s, NULL);

	(void)state;
	if (err) {
		print_message("/proc/kallsyms not usable here: %s\n", ktau_symtab_error(s));
		assert_true(err == -EPERM || err == -ENOENT || err == -EACCES ||
			    err == -EINVAL);
	} else {
		assert_int_equal(ktau_symtab_find(s, "_stext", &symbol), 1);
		assert_int_equal(ktau_symtab_relocate(s, symbol.address), 0);
	}
	ktau_symtab_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookup),
		cmocka_unit_test(in_modules),
		cmocka_unit_test(relocate),
		cmocka_unit_test(verify),
		cmocka_unit_test(bad_maps),
		cmocka_unit_test(truncated_maps),
		cmocka_unit_test(large),
		cmocka_unit_test(elf),
		cmocka_unit_test(kallsyms),
	};

	return cmocka_run_group_tests_name("libktau: symbols", tests, NULL, NULL);
}
