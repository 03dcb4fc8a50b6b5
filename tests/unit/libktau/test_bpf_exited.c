// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that the BPF programs have sent at their exit: checked, kept, summed up when evicted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bpf/exited.h"

#define STATE_BYTES offsetof(struct kb_state, index)

static struct ktau__exited exited;

static int setup(void **state)
{
	(void)state;
	ktau__exited_init(&exited, 100);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ktau__exited_free(&exited);
	return 0;
}

static int add(uint64_t serial, uint32_t nr_cells)
{
	struct kb_state *st = calloc(1, sizeof(*st));
	uint32_t i;
	int err;

	assert_non_null(st);
	st->type = KB_RECORD_EXITED;
	st->serial = serial;
	st->nr_cells = nr_cells;
	st->outer_ns = 1000;
	st->stolen_ns = 30;
	for (i = 0; i < nr_cells && i < KB_NR_FIRST; i++)
		st->cells[i] = (struct kb_cell){ .count = 2, .incl = 30, .excl = 20,
						 .longest = serial, .id = i };
	st->irqs[KB_NR_SOFTIRQS + KB_NR_VECTORS].count = 1;
	st->lines[0] = 7 + 1;
	err = ktau__exited_add(&exited, st, STATE_BYTES);
	free(st);
	return err;
}

static int add_more(uint64_t serial)
{
	struct kb_more *more = calloc(1, sizeof(*more));
	int err;

	assert_non_null(more);
	more->type = KB_RECORD_MORE;
	more->serial = serial;
	more->cells[0] = (struct kb_cell){ .count = 5, .excl = 50, .id = KB_NR_FIRST };
	err = ktau__exited_add(&exited, more, sizeof(*more));
	free(more);
	return err;
}

static void test_kept(void **state)
{
	(void)state;
	assert_int_equal(add(1, 3), 0);
	assert_int_equal(add(2, 3), 0);
	assert_int_equal(exited.first->state->serial, 1);
	assert_int_equal(exited.first->seq, 100);
	assert_int_equal(exited.first->next->state->serial, 2);
	assert_int_equal(exited.first->next->seq, 101);
	assert_int_equal(exited.next_seq, 102);
	assert_int_equal(exited.evicted.nr_tasks, 0);
}

/* The second chunk precedes its task. */
static void test_second_chunk(void **state)
{
	(void)state;
	assert_int_equal(add_more(1), 0);
	assert_int_equal(add(1, KB_NR_FIRST + 1), 0);
	assert_non_null(exited.first->more);
	assert_int_equal(exited.first->more->cells[0].count, 5);
	/* One of another task is not used. */
	assert_int_equal(add_more(2), 0);
	assert_int_equal(add(3, 1), 0);
	assert_null(exited.first->next->more);
}

/* Only a task with a second chunk takes one: the list is not searched for each other task. */
static void test_one_chunk(void **state)
{
	(void)state;
	assert_int_equal(add_more(1), 0);
	assert_int_equal(add(1, KB_NR_FIRST), 0);
	assert_null(exited.first->more);
	assert_int_equal(exited.nr_pending, 1);
	assert_int_equal(add(1, KB_NR_FIRST + 1), 0);
	assert_non_null(exited.first->next->more);
	assert_int_equal(exited.nr_pending, 0);
}

/* Tasks that exit on several CPUs at once: the records of one are between those of another. */
static void test_interleaved(void **state)
{
	const struct ktau__exited_task *task;
	uint64_t serial;

	(void)state;
	for (serial = 1; serial <= 64; serial++)
		assert_int_equal(add_more(serial), 0);
	for (serial = 1; serial <= 64; serial++)
		assert_int_equal(add(serial, KB_NR_FIRST + 1), 0);
	for (serial = 1, task = exited.first; serial <= 64; serial++, task = task->next) {
		assert_non_null(task);
		assert_int_equal(task->more->serial, serial);
	}
	assert_int_equal(exited.nr_pending, 0);
	assert_int_equal(exited.lost, 0);
}

/* Second chunks without a task do not accumulate, and a task without its own is counted. */
static void test_unpaired(void **state)
{
	uint64_t serial;

	(void)state;
	for (serial = 1; serial <= 10000; serial++)
		assert_int_equal(add_more(serial), 0);
	assert_in_range(exited.nr_pending, 1, 1000);
	assert_int_equal(add(1, KB_NR_FIRST + 1), -EBADMSG);
	assert_int_equal(exited.lost, 1);
	assert_int_equal(add(10000, KB_NR_FIRST + 1), 0);
	assert_int_equal(exited.lost, 1);
}

static void test_bad(void **state)
{
	uint32_t type = KB_RECORD_EXITED;

	(void)state;
	assert_int_equal(ktau__exited_add(&exited, &type, 3), -EBADMSG);
	assert_int_equal(ktau__exited_add(&exited, &type, sizeof(type)), -EBADMSG);
	type = KB_RECORD_MORE;
	assert_int_equal(ktau__exited_add(&exited, &type, sizeof(type)), -EBADMSG);
	type = 77;
	assert_int_equal(ktau__exited_add(&exited, &type, sizeof(type)), -EBADMSG);
	assert_int_equal(add(1, KB_NR_FIRST + 1), -EBADMSG);
	assert_int_equal(add_more(2), 0);
	assert_int_equal(add(2, KB_NR_FIRST + KB_NR_MORE + 1), -EBADMSG);
	assert_null(exited.first);
}

static void test_evicted(void **state)
{
	const struct ktau__evicted *sum = &exited.evicted;
	uint64_t serial;

	(void)state;
	assert_int_equal(add(1, 3), 0);
	exited.limit_bytes = exited.bytes;
	exited.shown_seq = 101;		/* task 1 has been in a stream */
	assert_int_equal(add(2, 3), 0);
	assert_int_equal(add(3, 3), 0);
	assert_int_equal(sum->nr_tasks, 2);
	assert_int_equal(sum->outer_ns, 2000);
	assert_int_equal(sum->parts.irq, 60);
	assert_int_equal(sum->cells[2].count, 4);
	assert_int_equal(sum->cells[2].excl, 40);
	assert_int_equal(sum->cells[2].longest, 2);
	assert_int_equal(sum->irqs[KB_NR_SOFTIRQS + KB_NR_VECTORS + 7].count, 2);
	assert_int_equal(exited.missed, 1);
	assert_int_equal(exited.gone.size, 2 * sizeof(serial));
	memcpy(&serial, exited.gone.data, sizeof(serial));
	assert_int_equal(serial, 1);
	assert_int_equal(exited.first->state->serial, 3);
	assert_null(exited.first->next);
	/* The list is still in order when all have gone. */
	exited.limit_bytes = 0;
	assert_int_equal(add(4, 3), 0);
	assert_null(exited.first);
	exited.limit_bytes = UINT64_MAX;
	assert_int_equal(add(5, 3), 0);
	assert_int_equal(exited.first->state->serial, 5);
}

/* A task that was added is not lost if there is no memory to evict another one. */
static void test_no_memory(void **state)
{
	(void)state;
	assert_int_equal(add(1, 3), 0);
	exited.limit_bytes = exited.bytes;
	exited.gone.size = SIZE_MAX;		/* nothing can be appended */
	assert_int_equal(add(2, 3), -ENOMEM);
	assert_int_equal(exited.lost, 0);
	assert_non_null(exited.first->next);
	assert_int_equal(exited.first->next->state->serial, 2);
	exited.gone.size = 0;
	assert_int_equal(add(3, 3), 0);
	assert_int_equal(exited.evicted.nr_tasks, 2);
	assert_int_equal(exited.first->state->serial, 3);
	assert_int_equal(exited.lost, 0);
	assert_int_equal(add(4, KB_NR_FIRST + 1), -EBADMSG);
	assert_int_equal(exited.lost, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second_chunk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_chunk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interleaved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unpaired, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_evicted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
