// SPDX-License-Identifier: GPL-2.0-only
/* Machines whose name changes while they run, and the order of their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/report/hosts.h"

static char folder[] = "/tmp/ktau-hosts-XXXXXX";

/* @boot: its number; @second: since the start of that boot */
static struct ktau_rec_stream stream_of(uint8_t boot, unsigned int second, const char *host)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, second * SECOND);

	memset(stream.boot_id, boot, sizeof(stream.boot_id));
	stream.boot_realtime_ns += boot * 1000 * SECOND;
	stream.realtime_ns += boot * 1000 * SECOND;
	snprintf(stream.nodename, sizeof(stream.nodename), "%s", host);
	return stream;
}

static void put_stream(struct ktau_writer *writer, const struct ktau_rec_stream *stream)
{
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_TASK, 7, 100, 100, "srv");
	const struct ktau_rec_end end = fixture_end(1, 0);
	struct ktau_rec_profile profile;

	owner.cgroup = 0;
	memset(&profile, 0, sizeof(profile));
	fixture_begin(&profile, &owner, 0, 0);
	profile.ticks = stream->ticks;
	profile.user_ticks = stream->ticks;
	assert_int_equal(ktau_writer_put(writer, stream), 0);
	assert_int_equal(ktau_writer_put(writer, &owner), 0);
	assert_int_equal(ktau_writer_put(writer, &profile), 0);
	assert_int_equal(ktau_writer_put(writer, &end), 0);
}

/* A file of @nr streams, a second apart; the last two have the second name. */
static void make_file(const char *name, uint8_t boot, unsigned int second, unsigned int nr,
		      const char *const hosts[2])
{
	struct ktau_rec_stream stream = stream_of(boot, second, hosts[0]);
	struct ktau_writer *writer;
	char path[128];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/%s.ktau", folder, name);
	assert_int_equal(ktau_writer_create(&writer), 0);
	assert_int_equal(ktau_writer_open(writer, path, 0, stream.boot_id), 0);
	for (i = 0; i < nr; i++) {
		stream = stream_of(boot, second + i, hosts[i + 2 >= nr]);
		put_stream(writer, &stream);
	}
	assert_int_equal(ktau_writer_close(writer), 0);
	ktau_writer_destroy(writer);
}

static void test_order(void **state)
{
	static const char *const unnamed[] = { "localhost", "localhost" };
	static const char *const named[] = { "node17", "node17" };
	static const struct {
		const char *host, *name;
	} expected[] = {
		{ "localhost", "d" }, { "node17", "c" }, { "node17", "b" }, { "node17", "a" },
	};
	char *const paths[] = { folder };
	struct hosts hosts;
	char path[128];
	size_t i;

	(void)state;
	/* The names are in reverse order, as if the clock was set back; "d" is another machine. */
	make_file("a", 2, 30, 1, named);
	make_file("b", 2, 20, 1, unnamed);
	make_file("c", 1, 90, 1, named);
	make_file("d", 3, 10, 1, unnamed);
	assert_int_equal(hosts_find(&hosts, paths, 1), 0);
	assert_int_equal(hosts.nr, 4);
	for (i = 0; i < 4; i++) {
		assert_string_equal(hosts.files[i].host, expected[i].host);
		snprintf(path, sizeof(path), "%s/%s.ktau", folder, expected[i].name);
		assert_string_equal(hosts.files[i].path, path);
		unlink(path);
	}
	assert_int_equal(hosts_run(&hosts, 1), 3);
	hosts_deinit(&hosts);
}

static void test_selected(void **state)
{
	struct ktau_rec_stream streams[] = {
		stream_of(1, 1, "localhost"), stream_of(1, 2, "node17"), stream_of(2, 1, "node18"),
		stream_of(1, 3, "node19"), stream_of(3, 1, "node17"),
	};
	static const bool expected[] = { false, true, false, true, true };
	struct host_file file = { .host = NULL };
	struct hosts files = { .files = &file, .nr = 1 };
	struct host_filter filter = { .host = "node17" }, any = { .host = NULL };
	struct host_filter known = { .host = "node17", .files = &files };
	size_t i;

	(void)state;
	memset(file.boot_id, 1, sizeof(file.boot_id));
	for (i = 0; i < 5; i++) {
		assert_int_equal(host_is_selected(&filter, &streams[i]), expected[i]);
		assert_true(host_is_selected(&any, &streams[i]));
	}
	assert_true(host_is_selected(&known, &streams[0]));
	assert_false(host_is_selected(&known, &streams[2]));
}

static void expect_run(const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "cd %s && PATH=%s/tools/ktau:$PATH && (%s) >out 2>&1", folder,
		 TEST_BUILD[0] == '/' ? TEST_BUILD : "$OLDPWD/" TEST_BUILD, command);
	if (system(line))
		fail_msg("%s", command);
}

/* One boot, one machine, one recording. */
static void test_commands(void **state)
{
	static const char *const hosts[] = { "localhost", "node17" };

	(void)state;
	make_file("t", 1, 10, 5, hosts);
	expect_run("ktau check t.ktau");
	expect_run("ktau report t.ktau");
	expect_run("ktau report --over-time t.ktau");
	expect_run("ktau export --csv --hours -o hours t.ktau");
	expect_run("grep '^localhost,.*,4000000000$' hours/hours.csv");
}

static int prepare(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
