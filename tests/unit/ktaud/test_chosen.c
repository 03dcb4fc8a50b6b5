// SPDX-License-Identifier: GPL-2.0-only
/* Processes chosen by number, when numbers are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ktau.h>

#include "chosen.h"
#include "config.h"

#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* 0: the end of a stream */
struct seen {
	int32_t tid, tgid;
	uint64_t serial, leader, start_ns;
	uint32_t kind;
	bool before;	/* it exited before ktaud started */
	bool wanted;
};

static const struct seen seen[] = {
	/* An earlier process with the number, and the chosen ones with their threads. */
	{ 10, 10, 1, 1, 100, KTAU_OWNER_EXITED, true, false },
	{ 10, 10, 5, 5, 500, KTAU_OWNER_TASK, false, true },
	{ 11, 10, 6, 5, 510, KTAU_OWNER_TASK, false, true },
	{ 12, 12, 7, 7, 520, KTAU_OWNER_TASK, false, false },
	{ 21, 20, 9, 8, 800, KTAU_OWNER_TASK, false, true },	/* only this thread */
	{ 20, 20, 8, 8, 790, KTAU_OWNER_TASK, false, false },
	{ 0 },
	/* It executes a program with other credentials. */
	{ 10, 10, 5, 5, 500, KTAU_OWNER_EXITED, false, true },
	{ 10, 10, 15, 15, 500, KTAU_OWNER_TASK, false, true },
	{ 13, 10, 16, 15, 900, KTAU_OWNER_TASK, false, true },
	{ 0 },
	/* It exits, and another one gets the number; 30 did not exist at first. */
	{ 10, 10, 15, 15, 500, KTAU_OWNER_EXITED, false, true },
	{ 13, 10, 16, 15, 900, KTAU_OWNER_EXITED, false, true },
	{ 10, 10, 40, 40, 2000, KTAU_OWNER_TASK, false, false },
	{ 14, 10, 41, 40, 2010, KTAU_OWNER_TASK, false, false },
	{ 21, 21, 42, 42, 2020, KTAU_OWNER_TASK, false, false },
	{ 30, 30, 43, 43, 2030, KTAU_OWNER_TASK, false, false },
	{ 0 },
};

static void test_numbers(void **state)
{
	int32_t pids[] = { 10, 21, 30 };
	const struct config config = { .mode = CONFIG_PID, .pids = pids, .nr_pids = LEN(pids) };
	struct chosen chosen;
	size_t i;

	(void)state;
	chosen_init(&chosen);
	for (i = 0; i < LEN(seen); i++) {
		const struct ktau_rec_owner owner = {
			.tid = seen[i].tid,
			.tgid = seen[i].tgid,
			.serial = seen[i].serial,
			.leader_serial = seen[i].leader,
			.start_ns = seen[i].start_ns,
			.kind = seen[i].kind,
			.exit_ns = chosen.since_ns + (seen[i].before ? -1 : 1),
		};

		if (!seen[i].tid)
			chosen_end(&chosen, &config);
		else if (chosen_has(&chosen, &config, &owner) != seen[i].wanted)
			fail_msg("line %zu: task %d, serial %llu", i, owner.tid, owner.serial);
	}
	chosen_deinit(&chosen);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
