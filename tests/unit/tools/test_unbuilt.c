// SPDX-License-Identifier: GPL-2.0-only
/* Messages about groups that a kernel was built without name the option in its Kconfig. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#include "lib/unbuilt.h"

#define KCONFIG "kernel-ext/kernel/ktau/Kconfig"

static const uint32_t few = KTAU_GROUP_SYSCALL | KTAU_GROUP_SCHED;

static void words(void **state)
{
	static const struct {
		const char *words, *option, *name;
	} known[] = {
		{ "+tcp", "KTAU_TCP", "tcp" },
		{ "-kvm", "KTAU_KVM", "kvm" },
		{ "groups=syscall,icmp,irq", "KTAU_ICMP", "icmp" },
		{ "profile=on\t+sched +account", "KTAU_ACCOUNT", "account" },
		{ "groups=syscall,sched", NULL, NULL },
		{ "+syscall ring=1024", NULL, NULL },
		{ "+tcpx +xtcp", NULL, NULL },
		{ "+all", NULL, NULL },
		{ "", NULL, NULL },
	};
	const char *option, *name;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		option = unbuilt_option(known[i].words, few, &name);
		if (!known[i].option) {
			assert_null(option);
			continue;
		}
		assert_non_null(option);
		assert_string_equal(option, known[i].option);
		assert_string_equal(name, known[i].name);
	}
}

/* The option of each group is one of the Kconfig. */
static void kconfig(void **state)
{
	static const char *const names[] = {
#define KTAU_GROUP(symbol, name, bit) #name,
#include <linux/ktau_groups.h>
	};
	char line[256], symbol[64];
	const char *option, *name;
	bool found;
	size_t i;
	FILE *f;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		option = unbuilt_option(names[i], 0, &name);
		assert_non_null(option);
		f = fopen(KCONFIG, "re");
		assert_non_null(f);
		found = false;
		while (!found && fgets(line, sizeof(line), f))
			found = sscanf(line, "config %63s", symbol) == 1 &&
				!strcmp(symbol, option);
		fclose(f);
		assert_true(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(kconfig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
