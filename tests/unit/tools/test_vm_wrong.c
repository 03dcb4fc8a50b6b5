// SPDX-License-Identifier: GPL-2.0-only
/* Files that are not, or not entirely, the recordings of a host and its guests in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/cli.h"
#include "vm/match.h"
#include "vm_files.h"

static char folder[] = "/tmp/ktau-vm-wrong-XXXXXX";

static char *write_to(struct vm_file *f, size_t number)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%zu", folder, number);
	return vm_file_write(f, path);
}

static void done(char *file)
{
	unlink(file);
	free(file);
}

/* What precedes the damage in a file is used, also after the file has been closed. */
static void damaged(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	const uint64_t groups = KTAU_GROUP_SCHED;
	struct vm_machine machines[2];
	char *files[2];
	struct stat at;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_file_enter(&vm_host, vm.thread, 1 * MS, 0);
	vm_calls(&vm, 1 * MS, 8 * MS);
	vm_file_in(&vm.guest, vm.task, 8 * MS, 0, EV_CALL);
	vm_file_slot(&vm.guest, vm.task, 8 * MS + 1 * US,
		     (struct ktau_slot){ .type = KTAU_TRACE_GROUPS, .words = 1 }, &groups);
	vm_file_exit(&vm_host, vm.thread, 9 * MS, 0, EXIT_IO);
	files[0] = write_to(&vm_host, 0);
	files[1] = write_to(&vm.guest, 1);
	assert_int_equal(stat(files[1], &at), 0);
	assert_int_equal(truncate(files[1], at.st_size - 8), 0);
	assert_int_equal(vm_machine_read(&machines[0], files[0]), CLI_DONE);
	assert_int_equal(vm_machine_read(&machines[1], files[1]), CLI_FAILED);
	assert_true(vm_machine_has_trace(&machines[1]));
	assert_int_equal(vm_match(machines, 2), CLI_DONE);
	vm_machine_deinit(&machines[1]);
	assert_int_equal(truncate(files[1], 0), 0);
	assert_int_equal(vm_machine_read(&machines[1], files[1]), CLI_FAILED);
	assert_false(vm_machine_has_trace(&machines[1]));
	vm_machine_deinit(&machines[1]);
	vm_machine_deinit(&machines[0]);
	done(files[0]);
	done(files[1]);
	vm_file_deinit(&vm.guest);
}

/* A file given twice, and that of the guest before that of its host. */
static void wrong_files(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm_file *const orders[][3] = {
		{ &vm_host, &vm.guest, &vm.guest },
		{ &vm_host, &vm_host, &vm.guest },
		{ &vm.guest, &vm_host },
	};
	struct vm_machine machines[3];
	char *files[3];
	size_t i, f, nr;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 9 * MS, EXIT_IO);
	for (i = 0; i < 3; i++) {
		for (nr = 0; nr < 3 && orders[i][nr]; nr++) {
			files[nr] = write_to(orders[i][nr], nr);
			assert_int_equal(vm_machine_read(&machines[nr], files[nr]), CLI_DONE);
		}
		assert_int_equal(vm_match(machines, nr), CLI_FAILED);
		for (f = 0; f < nr; f++) {
			vm_machine_deinit(&machines[f]);
			done(files[f]);
		}
	}
	vm_file_deinit(&vm.guest);
}

/* Match two recordings, which does not succeed. Return: the messages, to be freed. */
static char *messages(struct vm_file *first, struct vm_file *second)
{
	struct vm_file *const both[] = { first, second };
	struct vm_machine machines[2];
	char *files[2], *text = NULL;
	FILE *kept = stderr;
	size_t size, i;

	for (i = 0; i < 2; i++) {
		files[i] = write_to(both[i], i);
		assert_int_equal(vm_machine_read(&machines[i], files[i]), CLI_DONE);
	}
	stderr = open_memstream(&text, &size);
	assert_non_null(stderr);
	assert_int_equal(vm_match(machines, 2), CLI_FAILED);
	fclose(stderr);
	stderr = kept;
	for (i = 0; i < 2; i++) {
		vm_machine_deinit(&machines[i]);
		done(files[i]);
	}
	return text;
}

/* Whether a message says that a recording, by its number, has lost slots; NULL: that none has. */
static void expect_lost(struct vm_file *first, struct vm_file *second, const char *expected)
{
	char *text = messages(first, second), *lost = strstr(text, "has lost ");

	if (expected) {
		assert_non_null(strstr(text, expected));
		assert_null(strstr(lost + 1, "has lost "));
	} else {
		assert_null(lost);
	}
	free(text);
}

/*
 * A guest of another host. Only a host can have lost the thread, and only since it was recorded,
 * which a recording of one stream does not show.
 */
static void lost_threads(void **state)
{
	struct vm_file other = { .boot = 9 };
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm stranger = vm_make(&other, 905, &vm_plain, "burn", 61);
	struct vm_file *guest = &stranger.guest, idle = { .boot = 8, .profiled = true };
	struct vm_task *task = vm_file_task(&idle, 1203, "sh");

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_IO);
	vm_runs(&vm, 3 * MS, 9 * MS, EXIT_IO);
	vm_runs(&stranger, 1 * MS, 9 * MS, EXIT_IO);
	vm_file_in(&idle, task, 1 * MS, 0, EV_CALL);
	vm_file_out(&idle, task, 2 * MS, 0, EV_CALL);
	vm_host.lost_before = idle.lost_before = guest->lost_before = 10;
	idle.lost_evicted = 88;
	guest->profiled = true;
	guest->lost_evicted = 55;
	expect_lost(&vm_host, guest, NULL);
	vm_host.lost_evicted = 77;
	expect_lost(&vm_host, guest, NULL);
	vm_host.profiled = true;
	expect_lost(&vm_host, guest, "  0 has lost 77 slots");
	/* All its threads may be lost. The first recording is that of the host. */
	expect_lost(&idle, guest, "  0 has lost 88 slots");
	expect_lost(guest, &vm_host, NULL);
	vm_file_deinit(guest);
	vm_file_deinit(&vm.guest);
	vm_file_deinit(&other);
	vm_file_deinit(&idle);
}

int main(void)
{
#define TEST(f)	cmocka_unit_test_setup_teardown(f, vm_host_begin, vm_host_end)
	const struct CMUnitTest tests[] = { TEST(damaged), TEST(wrong_files),
					   TEST(lost_threads) };
	int failed;

	cli_init("test_vm_wrong");
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
