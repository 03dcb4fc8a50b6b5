// SPDX-License-Identifier: GPL-2.0-only
/* The configuration of ktaud: a table of texts and the expected settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include <cmocka.h>
#include <ktau.h>

#include "config.h"
#include "value.h"

#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

static int parse(struct config *config, const char *text, size_t size,
		 struct config_error *error)
{
	FILE *file = size ? fmemopen((char *)text, size, "r") : fopen("/dev/null", "r");
	int err;

	assert_non_null(file);
	assert_int_equal(config_init(config), 0);
	memset(error, 0, sizeof(*error));
	err = config_read(config, file, error);
	fclose(file);
	return err ? err : config_finish(config, error);
}

/* Texts that are rejected, with the line and a part of the reason. */
static const struct {
	const char *text;
	unsigned long line;
	const char *reason;
} bad[] = {
	{ "period 1\n", 1, "unknown key 'period'" },
	{ "# fine\n\n  \t\nmode all\nmodus all\n", 5, "unknown key 'modus'" },
	{ "=\n", 1, "unknown key ''" },
	{ "mode\n", 1, "mode has no value" },
	{ "mode =\n", 1, "mode has no value" },
	{ "mode # all\n", 1, "mode has no value" },
	{ "mode some\n", 1, "'some' is not one of" },
	{ "source ebpf\n", 1, "'ebpf' is not one of auto, kernel, bpf" },
	{ "mode all pid\n", 1, "'all pid' is not one of" },
	{ "mode all\nmode all\n", 2, "mode is set twice" },
	{ "sample_period 0\n", 1, "not between" },
	{ "sample_period 0.0009\n", 1, "not between" },
	{ "sample_period 86401\n", 1, "not between" },
	{ "sample_period -1\n", 1, "not a number" },
	{ "sample_period nan\n", 1, "not a number" },
	{ "sample_period 1,5\n", 1, "not a number" },
	{ "sample_period 0x1\n", 1, "not a number" },
	{ "sample_period 1.\n", 1, "not a number" },
	{ "sample_period .5\n", 1, "not a number" },
	{ "sample_period 99999999999999999999\n", 1, "not a number" },
	{ "pid 0\n", 1, "'0' is not a process id" },
	{ "pid 12 x 13\n", 1, "'x' is not a process id" },
	{ "pid 12k\n", 1, "'12k' is not a process id" },
	{ "pid -5\n", 1, "'-5' is not a process id" },
	{ "pid 2147483648\n", 1, "not a process id" },
	{ "mode pid\n", 0, "no pid is set" },
	{ "mode pid\npid ,\n", 0, "no pid is set" },
	{ "mode name\n", 0, "no name is set" },
	{ "info profiles\n", 1, "'profiles' is not one of" },
	{ "record all\n", 1, "neither cumulative nor difference" },
	{ "exited maybe\n", 1, "neither yes nor no" },
	{ "compress YES\n", 1, "neither yes nor no nor zlib" },
	{ "compress zstd\n", 1, "neither yes nor no nor zlib" },
	{ "rotate_size 10X\n", 1, "'10X' is not a number" },
	{ "rotate_size 99999999999G\n", 1, "not a number" },
	{ "rotate_size 10MB\n", 1, "not a number" },
	{ "rotate_time soon\n", 1, "'soon' is not a duration" },
	{ "rotate_time 999999999999999d\n", 1, "not a duration" },
	{ "keep 4294967296\n", 1, "is more than" },
	{ "groups syscall,tpc\n", 1, "there is no group 'tpc'" },
	{ "groups ,\n", 1, "the list of groups is empty" },
	{ "ring 5000000000\n", 1, "is more than" },
	{ "openmetrics /k.prom\npid 1\n", 0, "openmetrics requires mode all" },
	{ "openmetrics /k.prom\ninfo trace\n", 0, "openmetrics requires info profile" },
	{ "openmetrics /k.prom\nexited no\n", 0, "openmetrics requires exited yes" },
	{ "openmetrics /k.prom\ncgroup /a\n", 0, "cannot be combined with cgroup" },
	{ "openmetrics /k.prom\nuid 0\n", 0, "cannot be combined with cgroup" },
	{ "openmetrics /k.prom\ntag 1\n", 0, "cannot be combined with cgroup" },
};

static void test_bad(void **state)
{
	struct config_error error;
	struct config config;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(bad); i++) {
		int err = parse(&config, bad[i].text, strlen(bad[i].text), &error);

		if (err != -EINVAL || error.line != bad[i].line ||
		    !strstr(error.text, bad[i].reason))
			fail_msg("\"%s\": %d, line %lu, \"%s\"", bad[i].text, err, error.line,
				 error.text);
		config_deinit(&config);
	}
}

static void test_defaults(void **state)
{
	struct config_error error;
	struct config config;

	(void)state;
	assert_int_equal(parse(&config, "", 0, &error), 0);
	assert_int_equal(config.period_ns, NSEC_PER_SEC);
	assert_int_equal(config.source, CONFIG_AUTO);
	assert_int_equal(config.mode, CONFIG_ALL);
	assert_int_equal(config.info, CONFIG_PROFILE);
	assert_string_equal(config.output_dir, CONFIG_DEFAULT_DIR);
	assert_true(config.exited && !config.cumulative);
	assert_int_equal(config.compress, KTAU_WRITER_COMPACT);
	assert_null(config.groups);
	assert_null(config.pidfile);
	assert_null(config.openmetrics);
	config_deinit(&config);
	assert_int_equal(parse(&config, "openmetrics /a dir/k.prom\n", 26, &error), 0);
	assert_string_equal(config.openmetrics, "/a dir/k.prom");
	config_deinit(&config);
	assert_int_equal(parse(&config, "compress zlib\n", 14, &error), 0);
	assert_int_equal(config.compress, KTAU_WRITER_DELTA | KTAU_WRITER_ZLIB);
	config_deinit(&config);
}

static void test_all_keys(void **state)
{
	static const char text[] = "# all keys, in all ways to write a line\r\n"
		"sample_period\t0.25\n"
		"source bpf\n"
		"  mode = pid   # selected\n"
		"pid 30 10,20\n"
		"pid=10\n"
		"name ssh*, Media Server \n"
		"name = a\\,b\n"
		"output_dir = /a dir/with#hash \n"
		"info both\n"
		"record cumulative\n"
		"exited no\n"
		"compress no\n"
		"rotate_size 64M\n"
		"rotate_time 1.5h\n"
		"keep 7\n"
		"groups syscall  tcp, bh ,\n"
		"ring 4k\n"
		"watermark 512\n"
		"pidfile /run/ktaud.pid";	/* and no newline at the end */
	struct config_error error;
	struct config config;

	(void)state;
	assert_int_equal(parse(&config, text, strlen(text), &error), 0);
	assert_int_equal(config.period_ns, NSEC_PER_SEC / 4);
	assert_int_equal(config.source, CONFIG_BPF);
	assert_int_equal(config.mode, CONFIG_PID);
	assert_int_equal(config.nr_pids, 3);
	assert_int_equal(config.pids[0], 10);
	assert_int_equal(config.pids[1], 20);
	assert_int_equal(config.pids[2], 30);
	assert_int_equal(config.nr_names, 2);
	assert_string_equal(config.names[0], "ssh*, Media Server");
	assert_string_equal(config.names[1], "a\\,b");
	assert_string_equal(config.output_dir, "/a dir/with#hash");
	assert_int_equal(config.info, CONFIG_PROFILE | CONFIG_TRACE);
	assert_true(config.cumulative && !config.exited && !config.compress);
	assert_int_equal(config.rotate_bytes, 64 << 20);
	assert_int_equal(config.rotate_ns, 5400 * NSEC_PER_SEC);
	assert_int_equal(config.keep, 7);
	assert_string_equal(config.groups, "syscall,tcp,bh");
	assert_int_equal(config.ring, 4096);
	assert_int_equal(config.watermark, 512);
	assert_string_equal(config.pidfile, "/run/ktaud.pid");
	config_deinit(&config);
}

/* In the kernel's syntax: separated by commas, each name once to keep the list short. */
static void test_groups(void **state)
{
	static const struct {
		const char *text, *list;
	} cases[] = {
		{ "tcp", "tcp" },
		{ ",tcp,,bh ,", "tcp,bh" },
		{ "tcp,tcp tcp", "tcp" },
		{ "sched,tcp,sched,bh,tcp", "sched,tcp,bh" },
		{ "all,tcp,all", "all,tcp" },
		{ "none", "none" },
	};
	struct config_error error;
	struct config config;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(config_init(&config), 0);
		assert_int_equal(config_set(&config, "groups", cases[i].text, &error), 0);
		assert_string_equal(config.groups, cases[i].list);
		config_deinit(&config);
	}
}

/* A list of pids or names sets the mode unless the mode is given. */
static void test_implied_mode(void **state)
{
	struct config_error error;
	struct config config;

	(void)state;
	assert_int_equal(parse(&config, "pid 5\n", 6, &error), 0);
	assert_int_equal(config.mode, CONFIG_PID);
	config_deinit(&config);
	assert_int_equal(parse(&config, "name a\n", 7, &error), 0);
	assert_int_equal(config.mode, CONFIG_NAME);
	config_deinit(&config);
	assert_int_equal(parse(&config, "mode all\npid 5\n", 15, &error), 0);
	assert_int_equal(config.mode, CONFIG_ALL);
	config_deinit(&config);
}

static void test_override(void **state)
{
	static const char text[] = "sample_period 5\npid 1 2\n";
	struct config_error error;
	struct config config;

	(void)state;
	assert_int_equal(parse(&config, text, strlen(text), &error), 0);
	config_override(&config);
	assert_int_equal(config_set(&config, "sample_period", "2", &error), 0);
	assert_int_equal(config_set(&config, "pid", "7", &error), 0);
	assert_int_equal(config_set(&config, "pid", "6", &error), 0);
	assert_int_equal(config_set(&config, "sample_period", "3", &error), -EINVAL);
	assert_int_equal(config_finish(&config, &error), 0);
	assert_int_equal(config.period_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(config.nr_pids, 2);
	assert_int_equal(config.pids[0], 6);
	assert_int_equal(config.pids[1], 7);
	config_deinit(&config);
}

static void test_strange_lines(void **state)
{
	struct config_error error;
	struct config config;
	size_t size = CONFIG_MAX_LINE + 10;
	char *line = malloc(size);
	FILE *dir;

	(void)state;
	assert_int_equal(parse(&config, "mode all\nmo\0de all\n", 19, &error), -EINVAL);
	assert_int_equal(error.line, 2);
	assert_non_null(strstr(error.text, "zero byte"));
	config_deinit(&config);

	assert_non_null(line);
	memset(line, 'x', size);
	assert_int_equal(parse(&config, line, size, &error), -EINVAL);
	assert_int_equal(error.line, 1);
	assert_non_null(strstr(error.text, "longer than"));
	config_deinit(&config);

	/* A directory can be opened, but not read. */
	assert_int_equal(config_init(&config), 0);
	dir = fopen("/", "r");
	assert_non_null(dir);
	assert_int_equal(config_read(&config, dir, &error), -EISDIR);
	fclose(dir);
	config_deinit(&config);
	free(line);
}

static ssize_t read_endless(void *cookie, char *buffer, size_t size)
{
	size_t *given = cookie;

	*given += size;
	if (*given > 16 * CONFIG_MAX_LINE)
		return 0;
	memset(buffer, 'x', size);
	return size;
}

/* An endless line, such as /dev/zero, is rejected without reading on. */
static void test_endless_line(void **state)
{
	cookie_io_functions_t endless = { .read = read_endless };
	struct config_error error;
	struct config config;
	size_t given = 0;
	FILE *file;

	(void)state;
	file = fopencookie(&given, "r", endless);
	assert_non_null(file);
	assert_int_equal(config_init(&config), 0);
	assert_int_equal(config_read(&config, file, &error), -EINVAL);
	assert_non_null(strstr(error.text, "longer than"));
	assert_in_range(given, CONFIG_MAX_LINE, 2 * CONFIG_MAX_LINE);
	fclose(file);
	config_deinit(&config);
}

static void test_many_pids(void **state)
{
	struct config_error error;
	struct config config;
	char pid[16];
	int i;

	(void)state;
	assert_int_equal(config_init(&config), 0);
	for (i = 1; i <= 65536; i++) {
		snprintf(pid, sizeof(pid), "%d", i);
		assert_int_equal(config_set(&config, "pid", pid, &error), 0);
	}
	assert_int_equal(config_set(&config, "pid", "1", &error), -EINVAL);
	assert_non_null(strstr(error.text, "more than 65536"));
	config_deinit(&config);
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "1", NSEC_PER_SEC },
		{ "0.000001", 1000 },
		{ "1.5s", 3 * NSEC_PER_SEC / 2 },
		{ "250ms", NSEC_PER_SEC / 4 },
		{ "0.5ms", NSEC_PER_SEC / 2000 },
		{ "2m", 120 * NSEC_PER_SEC },
		{ "0.5d", 43200 * NSEC_PER_SEC },
		{ "0.999999d", 86399913600000 },
	};
	static const char *const wrong[] = { "", "s", "1 s", "1us", "1.2.3", "0.1234567", "1e3" };
	uint64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(good); i++)
		if (!value_duration(good[i].text, &ns) || ns != good[i].ns)
			fail_msg("%s became %llu", good[i].text, (unsigned long long)ns);
	for (i = 0; i < LEN(wrong); i++)
		if (value_duration(wrong[i], &ns))
			fail_msg("\"%s\" was accepted", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_implied_mode),
		cmocka_unit_test(test_override),
		cmocka_unit_test(test_strange_lines),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_many_pids),
		cmocka_unit_test(test_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
