// SPDX-License-Identifier: GPL-2.0-only
/* The OpenMetrics file: names, sums, limits, and files that cannot be written. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "metrics.h"

struct fixture {
	char dir[64];
	char input[80], path[80], log[80];
	char text[1 << 20];
	FILE *stream;
	struct metrics metrics;
	rlim_t limit_bytes;
	int old_stderr;
};

static void put(struct fixture *f, const void *data, size_t size)
{
	assert_int_equal(fwrite(data, size, 1, f->stream), 1);
}

static void begin(struct fixture *f, const char *host, uint64_t ticks, uint64_t exited_since)
{
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED,
		.clock_hz = 1000000000,
		.nr_cpus = 1,
		.ticks = ticks,
		.realtime_ns = ticks,
		.monotonic_ns = ticks,
		.exited_since = exited_since,
	};

	snprintf(stream.nodename, sizeof(stream.nodename), "%s", host);
	f->stream = fopen(f->input, "w");
	assert_non_null(f->stream);
	put(f, &stream, sizeof(stream));
}

static void name(struct fixture *f, uint32_t id, const char *text)
{
	struct {
		struct ktau_rec_event event;
		char name[40];
	} record = {
		.event = {
			.rec = { sizeof(record), KTAU_REC_EVENT, sizeof(record.event) },
			.id = (uint16_t)id,
			.group = KTAU_GROUP_SYSCALL,
			.key = id,
			.name_bytes = (uint32_t)strlen(text) + 1,
		},
	};

	snprintf(record.name, sizeof(record.name), "%s", text);
	record.event.rec.size = sizeof(record.event) + (record.event.name_bytes + 7) / 8 * 8;
	put(f, &record, record.event.rec.size);
}

static void owner(struct fixture *f, uint64_t serial, uint32_t kind, uint32_t flags)
{
	struct ktau_rec_owner owner = {
		.rec = { sizeof(owner), KTAU_REC_OWNER, sizeof(owner) },
		.serial = serial,
		.kind = kind,
		.flags = flags,
		.tid = kind == KTAU_OWNER_EVICTED ? 0 : (int32_t)serial,
		.exited_seq = kind == KTAU_OWNER_EXITED ? 1 : 2,
		.nr_tasks = 1,
	};

	put(f, &owner, sizeof(owner));
}

/* @nr events from id 1 on, each with @count activations of 10 ticks; @user ticks in user mode. */
static void profile(struct fixture *f, uint64_t serial, uint32_t nr, uint64_t count, uint64_t user)
{
	struct ktau_rec_profile profile = {
		.rec = {
			(uint32_t)(sizeof(profile) + nr * sizeof(struct ktau_entry)),
			KTAU_REC_PROFILE, sizeof(profile),
		},
		.serial = serial,
		.ticks = 5000,
		.outer_ticks = nr * count * 10,
		.nr_entries = nr,
		.entry_size = sizeof(struct ktau_entry),
		.open_size = sizeof(struct ktau_open),
		.user_ticks = user,
	};
	struct ktau_entry entry = {
		.count = count, .incl = count * 10, .excl = count * 10, .asleep = count * 3,
		.flags = KTAU_ENTRY_ASLEEP,
	};

	put(f, &profile, sizeof(profile));
	for (entry.id = 1; entry.id <= nr; entry.id++)
		put(f, &entry, sizeof(entry));
}

static void gone(struct fixture *f, uint64_t serial)
{
	struct {
		struct ktau_rec_gone gone;
		uint64_t serial;
	} record = {
		.gone = {
			.rec = { sizeof(record), KTAU_REC_GONE, sizeof(record.gone) },
			.nr_serials = 1,
			.serial_bytes = 8,
		},
		.serial = serial,
	};

	put(f, &record, sizeof(record));
}

static void limit_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* End the stream, read it and write the metrics. Return: what metrics_write() returned. */
static int end(struct fixture *f, uint64_t nr_records)
{
	struct ktau_rec_end end = {
		.rec = { sizeof(end), KTAU_REC_END, sizeof(end) },
		.nr_records = nr_records,
		.exited_next = 2,
	};
	struct ktau_reader *reader;
	union ktau_record record;
	int err;

	put(f, &end, sizeof(end));
	assert_int_equal(fclose(f->stream), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, f->input), 0);
	while ((err = ktau_reader_next(reader, &record)) > 0)
		assert_int_equal(metrics_add(&f->metrics, &record), 0);
	assert_int_equal(err, 0);
	limit_size(f->limit_bytes);
	err = metrics_write(&f->metrics, ktau_reader_events(reader), f->path);
	limit_size(RLIM_INFINITY);
	ktau_reader_destroy(reader);
	return err;
}

static const char *contents(struct fixture *f, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t bytes;

	assert_non_null(file);
	bytes = fread(f->text, 1, sizeof(f->text) - 1, file);
	f->text[bytes] = '\0';
	fclose(file);
	return f->text;
}

/* The value of the sample that begins with @sample; -1 without one. */
static double value(struct fixture *f, const char *sample)
{
	const char *at = strstr(contents(f, f->path), sample);

	assert_true(!at || at == f->text || at[-1] == '\n');
	return at ? strtod(at + strlen(sample), NULL) : -1;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	signal(SIGXFSZ, SIG_IGN);
	f->limit_bytes = RLIM_INFINITY;
	strcpy(f->dir, "/tmp/test_metrics.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->input, sizeof(f->input), "%s/input", f->dir);
	snprintf(f->path, sizeof(f->path), "%s/k.prom", f->dir);
	snprintf(f->log, sizeof(f->log), "%s/log", f->dir);
	fflush(stderr);
	f->old_stderr = dup(STDERR_FILENO);
	assert_non_null(freopen(f->log, "w", stderr));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[96];

	fflush(stderr);
	dup2(f->old_stderr, STDERR_FILENO);
	close(f->old_stderr);
	metrics_clear(&f->metrics);
	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static int nr_temporary(const struct fixture *f)
{
	const struct dirent *entry;
	DIR *dir = opendir(f->dir);
	int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += strstr(entry->d_name, ".tmp") != NULL;
	closedir(dir);
	return nr;
}

static int write_simple(struct fixture *f, uint64_t count)
{
	begin(f, "node", 5000 + count, 0);
	name(f, 1, "__x64_sys_read");
	owner(f, 7, KTAU_OWNER_TASK, 0);
	profile(f, 7, 1, count, 2000000000);
	return end(f, 1);
}

static void test_whole_file(void **state)
{
	static const char expected[] =
		"# TYPE ktau_account_seconds counter\n"
		"# UNIT ktau_account_seconds seconds\n"
		"# HELP ktau_account_seconds Lifetime of all tasks except the idle ones, by part.\n"
		"ktau_account_seconds_total{host=\"node\",state=\"user\"} 2.000000000\n"
		"ktau_account_seconds_total{host=\"node\",state=\"kernel\"} 0.000000000\n"
		"ktau_account_seconds_total{host=\"node\",state=\"irq\"} 0.000000000\n"
		"ktau_account_seconds_total{host=\"node\",state=\"runq\"} 0.000000000\n"
		"ktau_account_seconds_total{host=\"node\",state=\"asleep\"} 0.000000000\n"
		"ktau_account_seconds_total{host=\"node\",state=\"guest\"} 0.000000000\n"
		"# TYPE ktau_routine_calls counter\n"
		"# HELP ktau_routine_calls Activations of a kernel routine that have ended.\n"
		"ktau_routine_calls_total{host=\"node\",routine=\"sys_read\"} 4\n"
		"# TYPE ktau_routine_seconds counter\n"
		"# UNIT ktau_routine_seconds seconds\n"
		"# HELP ktau_routine_seconds Time in a kernel routine: exclusive, and inside it "
		"asleep, runnable or interrupted.\n"
		"ktau_routine_seconds_total{host=\"node\",routine=\"sys_read\","
		"state=\"exclusive\"} 0.000000040\n"
		"ktau_routine_seconds_total{host=\"node\",routine=\"sys_read\",state=\"asleep\"} "
		"0.000000012\n"
		"# EOF\n";
	struct fixture *f = *state;
	struct stat st;
	mode_t mask = umask(077);

	assert_int_equal(write_simple(f, 4), 0);
	umask(mask);
	assert_string_equal(contents(f, f->path), expected);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(nr_temporary(f), 0);
}

/* Quotes, backslashes and newlines are escaped, and what is not UTF-8 is replaced. */
static void test_names(void **state)
{
	static const struct {
		const char *name, *label;
	} cases[] = {
		{ "a\"b\\c\nd", "a\\\"b\\\\c\\nd" },
		{ "\303\244 \342\202\254 \360\237\230\200",
		  "\303\244 \342\202\254 \360\237\230\200" },
		{ "x\377y", "x\357\277\275y" },
		{ "cut\342\202", "cut\357\277\275\357\277\275" },
		{ "\300\257", "\357\277\275\357\277\275" },		/* an overlong slash */
		{ "\355\240\200", "\357\277\275\357\277\275\357\277\275" },	/* surrogate */
		{ "\364\220\200\200",
		  "\357\277\275\357\277\275\357\277\275\357\277\275" },	/* U+110000 */
	};
	enum { NR = sizeof(cases) / sizeof(*cases) };
	struct fixture *f = *state;
	char sample[200];
	uint32_t i;

	begin(f, "no\"de", 5000, 0);
	for (i = 0; i < NR; i++)
		name(f, i + 1, cases[i].name);
	owner(f, 7, KTAU_OWNER_TASK, 0);
	profile(f, 7, NR, 3, 0);
	assert_int_equal(end(f, 1), 0);
	for (i = 0; i < NR; i++) {
		snprintf(sample, sizeof(sample),
			 "ktau_routine_calls_total{host=\"no\\\"de\",routine=\"%s\"} ",
			 cases[i].label);
		assert_true(value(f, sample) == 3);
	}
}

static const char read_calls[] = "ktau_routine_calls_total{host=\"node\",routine=\"sys_read\"} ";
static const char user_seconds[] = "ktau_account_seconds_total{host=\"node\",state=\"user\"} ";

/* Two ids of one name are one series; an idle task has calls but no part of the account. */
static void test_sums(void **state)
{
	struct fixture *f = *state;

	begin(f, "node", 5000, 0);
	name(f, 1, "__x64_sys_read");
	name(f, 2, "__do_sys_other");
	name(f, 3, "__ia32_sys_read");
	owner(f, 7, KTAU_OWNER_TASK, 0);
	profile(f, 7, 3, 3, 1000000000);
	owner(f, 8, KTAU_OWNER_TASK, KTAU_OWNER_IDLE);
	profile(f, 8, 1, 5, 4000000000);
	owner(f, 9, KTAU_OWNER_CPU, 0);
	profile(f, 9, 1, 100, 0);
	assert_int_equal(end(f, 3), 0);
	assert_true(value(f, user_seconds) == 1);
	assert_true(value(f, read_calls) == 3 + 3 + 5);
}

/* With 1,000 days of uptime at 1 GHz, 300 tasks overflow 64 bits of ticks. */
static void test_long_uptime(void **state)
{
	static const uint64_t days = 1000 * 86400 * 1000000000ULL;
	struct fixture *f = *state;
	uint64_t serial;

	begin(f, "node", 5000, 0);
	name(f, 1, "__x64_sys_read");
	for (serial = 7; serial < 307; serial++) {
		owner(f, serial, KTAU_OWNER_TASK, 0);
		profile(f, serial, 1, 1, days);
	}
	owner(f, 307, KTAU_OWNER_TASK, KTAU_OWNER_IDLE);
	profile(f, 307, 1, 1, days);
	assert_int_equal(end(f, 301), 0);
	assert_true(value(f, user_seconds) == 300 * 1000 * 86400.0);
}

/* A task that is live, then exited, then evicted keeps its share of the sum. */
static void test_never_less(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(write_simple(f, 10), 0);
	assert_true(value(f, read_calls) == 10);

	begin(f, "node", 6000, 0);
	name(f, 1, "__x64_sys_read");
	owner(f, 7, KTAU_OWNER_EXITED, 0);
	profile(f, 7, 1, 12, 3000000000);
	assert_int_equal(end(f, 1), 0);
	assert_true(value(f, read_calls) == 12);
	assert_true(value(f, user_seconds) == 3);

	/* Nothing has happened since. */
	begin(f, "node", 7000, 2);
	assert_int_equal(end(f, 0), 0);
	assert_true(value(f, read_calls) == 12);

	begin(f, "node", 8000, 2);
	name(f, 1, "__x64_sys_read");
	owner(f, 1, KTAU_OWNER_EVICTED, 0);
	profile(f, 1, 1, 12, 3000000000);
	gone(f, 7);
	assert_int_equal(end(f, 1), 0);
	assert_true(value(f, read_calls) == 12);
	assert_true(value(f, user_seconds) == 3);
}

static void test_many_routines(void **state)
{
	enum { NR = METRICS_MAX_ROUTINES + 50 };
	struct fixture *f = *state;
	const char *at;
	char text[24];
	uint32_t id;
	int i, lines = 0;

	for (i = 1; i <= 2; i++) {
		begin(f, "node", 5000 + (uint64_t)i, 0);
		for (id = 1; id <= NR; id++) {
			snprintf(text, sizeof(text), "routine_%u", id);
			name(f, id, text);
		}
		owner(f, 7, KTAU_OWNER_TASK, 0);
		profile(f, 7, NR, 2 * (uint64_t)i, 0);
		assert_int_equal(end(f, 1), 0);
		assert_true(value(f, "ktau_routine_calls_total{host=\"node\",routine=\"(other)\"} ")
			    == 50 * 2 * i);
	}
	for (at = contents(f, f->path); (at = strstr(at, "\nktau_routine_calls_total{")); at++)
		lines++;
	assert_int_equal(lines, METRICS_MAX_ROUTINES + 1);
}

static int count_in_log(struct fixture *f, const char *text)
{
	const char *at;
	int n = 0;

	fflush(stderr);
	for (at = contents(f, f->log); (at = strstr(at, text)); at++)
		n++;
	return n;
}

static void test_full_disk(void **state)
{
	struct fixture *f = *state;
	char before[4096];

	assert_int_equal(write_simple(f, 1), 0);
	snprintf(before, sizeof(before), "%s", contents(f, f->path));
	f->limit_bytes = 1000;
	assert_int_equal(write_simple(f, 2), -EFBIG);
	assert_int_equal(write_simple(f, 3), -EFBIG);
	f->limit_bytes = RLIM_INFINITY;
	assert_string_equal(contents(f, f->path), before);
	assert_int_equal(nr_temporary(f), 0);
	assert_int_equal(f->metrics.failed, 2);
	assert_int_equal(count_in_log(f, "k.prom: File too large"), 1);

	assert_int_equal(write_simple(f, 4), 0);
	assert_int_equal(f->metrics.failed, 2);
	assert_int_equal(count_in_log(f, "k.prom is written again"), 1);
	assert_true(value(f, read_calls) == 4);
}

/* Each reason is logged: a missing directory, then a directory in place of the file. */
static void test_unwritable(void **state)
{
	struct fixture *f = *state;
	char good[80];

	strcpy(good, f->path);
	snprintf(f->path, sizeof(f->path), "%s/none/k.prom", f->dir);
	assert_int_equal(write_simple(f, 1), -ENOENT);
	assert_int_equal(write_simple(f, 2), -ENOENT);
	strcpy(f->path, good);
	assert_int_equal(mkdir(f->path, 0777), 0);
	assert_int_equal(write_simple(f, 3), -EISDIR);
	assert_int_equal(f->metrics.failed, 3);
	assert_int_equal(nr_temporary(f), 0);
	assert_int_equal(count_in_log(f, "No such file or directory"), 1);
	assert_int_equal(count_in_log(f, "Is a directory"), 1);
}

/* A link in place of the file is replaced, not followed. */
static void test_link(void **state)
{
	struct fixture *f = *state;
	char victim[80];
	FILE *file;

	snprintf(victim, sizeof(victim), "%s/victim", f->dir);
	file = fopen(victim, "w");
	assert_non_null(file);
	fputs("untouched", file);
	fclose(file);
	assert_int_equal(symlink(victim, f->path), 0);
	assert_int_equal(write_simple(f, 6), 0);
	assert_string_equal(contents(f, victim), "untouched");
	assert_true(value(f, read_calls) == 6);
}

/* Another ktaud, which writes the same file while this one does. */
static struct fixture *other;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct fixture *f = other;

	other = NULL;
	if (f)
		assert_int_equal(write_simple(f, 7), 0);
	return __real_fsync(fd);
}

static void test_two(void **state)
{
	struct fixture *f = *state, *second = calloc(1, sizeof(*second));

	assert_non_null(second);
	second->limit_bytes = RLIM_INFINITY;
	snprintf(second->input, sizeof(second->input), "%s/input2", f->dir);
	strcpy(second->path, f->path);
	other = second;
	assert_int_equal(write_simple(f, 8), 0);
	assert_true(value(f, read_calls) == 8);
	assert_int_equal(nr_temporary(f), 0);
	metrics_clear(&second->metrics);
	free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_uptime, setup, teardown),
		cmocka_unit_test_setup_teardown(test_never_less, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_routines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unwritable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
