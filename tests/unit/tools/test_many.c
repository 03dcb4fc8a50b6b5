// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report of very many tasks: time and memory for a file with a storm of short-lived
 * processes. Run with a path and a number, the program writes such a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

enum { PER_STREAM = 2500, NR_ROUTINES = 12, FIRST_ID = 1100 };

#ifdef __SANITIZE_ADDRESS__
enum { NR_TASKS = 36000, LIMIT_KB = 10 * 1024 * 1024, LIMIT_ROWS_KB = LIMIT_KB,
       MORE_PAGE_KB = LIMIT_KB, LIMIT_EXPORT_KB = LIMIT_KB };
#else
enum { NR_TASKS = 360000, LIMIT_KB = 100 * 1024, LIMIT_ROWS_KB = 256 * 1024,
       MORE_PAGE_KB = 8 * 1024, LIMIT_EXPORT_KB = 128 * 1024 };
#endif

/* CPU time; about two seconds are usual. */
enum { LIMIT_SECONDS = 4 };

static char folder[] = "/tmp/ktau-many-XXXXXX";
static uint64_t nr_tasks, evicted;
static uint64_t kept;	/* number of tasks that the kernel keeps; older ones are evicted */
static struct ktau_entry sum[NR_ROUTINES];	/* of the evicted tasks */
static uint64_t parts[2];
static uint32_t seed;

static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* A process of a few milliseconds; the same number always gives the same profile. */
static struct ktau_rec_profile *make_profile(uint64_t seq, struct ktau_rec_owner *owner)
{
	static struct {
		struct ktau_rec_profile p;
		struct ktau_entry entries[NR_ROUTINES];
	} r;
	uint64_t start = 10 * SECOND + seq * 400000;
	uint32_t i;

	seed = (uint32_t)seq;
	*owner = fixture_owner(KTAU_OWNER_EXITED, 1000 + seq, 2 + (int32_t)(seq % 30000),
			       2 + (int32_t)(seq % 30000), seq % 3 ? "true" : "sh");
	owner->exited_seq = seq;
	owner->start_ns = start;
	fixture_begin(&r.p, owner, start, NR_ROUTINES);
	for (i = 0; i < NR_ROUTINES; i++) {
		struct ktau_entry *e = &r.entries[i];

		e->id = (uint16_t)(FIRST_ID + 3 * i);
		e->flags = KTAU_ENTRY_LONGEST;
		e->count = 1 + chance(20);
		e->excl = e->count * (1000 + chance(20000));
		e->incl = e->excl + (i % 3 ? 0 : chance(100000));
		e->longest = e->incl / e->count;
		r.p.outer_ticks += e->excl;
	}
	r.p.kernel_ticks = r.p.outer_ticks;
	r.p.user_ticks = 100000 + chance(1000000);
	r.p.ticks = start + r.p.kernel_ticks + r.p.user_ticks;
	owner->exit_ns = r.p.ticks;
	return &r.p;
}

/* One more task is evicted. */
static void evict(uint64_t seq)
{
	struct ktau_rec_owner owner;
	const struct ktau_rec_profile *p = make_profile(seq, &owner);
	const struct ktau_entry *e = ktau_profile_entries(p);
	int i;

	for (i = 0; i < NR_ROUTINES; i++) {
		sum[i].id = e[i].id;
		sum[i].count += e[i].count;
		sum[i].incl += e[i].incl;
		sum[i].excl += e[i].excl;
	}
	parts[0] += p->user_ticks;
	parts[1] += p->kernel_ticks;
}

/* The list of the tasks evicted from @from on. */
static int put_gone(struct sink *s, uint64_t from)
{
	static struct {
		struct ktau_rec_gone gone;
		uint64_t serials[PER_STREAM];
	} r;
	uint64_t seq;

	if (from == evicted)
		return 0;
	r.gone.nr_serials = (uint32_t)(evicted - from);
	r.gone.serial_bytes = sizeof(r.serials[0]);
	r.gone.rec = (struct ktau_rec){
		(uint32_t)(sizeof(r.gone) + r.gone.nr_serials * sizeof(r.serials[0])),
		KTAU_REC_GONE, sizeof(r.gone),
	};
	for (seq = from; seq < evicted; seq++)
		r.serials[seq - from] = 1000 + seq;
	return sink_put(s, &r);
}

static int put_evicted(struct sink *s, uint64_t next)
{
	struct {
		struct ktau_rec_profile p;
		struct ktau_entry entries[NR_ROUTINES];
	} r;
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_EVICTED, 999, 0, 0, "");
	uint64_t from = evicted;
	int i, err;

	for (; evicted + kept < next; evicted++)
		evict(evicted);
	owner.exited_seq = owner.nr_tasks = evicted;
	memset(&r, 0, sizeof(r));
	memcpy(r.entries, sum, sizeof(sum));
	r.p = *make_profile(0, &(struct ktau_rec_owner){ 0 });
	r.p.serial = owner.serial;
	r.p.outer_ticks = 0;
	for (i = 0; i < NR_ROUTINES; i++)
		r.p.outer_ticks += sum[i].excl;
	r.p.user_ticks = parts[0];
	r.p.kernel_ticks = parts[1];
	err = sink_put(s, &owner);
	if (!err)
		err = sink_put(s, &r);
	return err ? err : put_gone(s, from);
}

static int put_stream(struct sink *s, uint64_t first, uint64_t next)
{
	struct ktau_rec_stream stream =
		fixture_stream(KTAU_REC_PROFILE, 10 * SECOND + next * 400000);
	struct ktau_rec_end end = fixture_end(0, next);
	struct ktau_rec_profile *p;
	struct ktau_rec_owner owner;
	uint64_t seq;
	int err;

	stream.exited_since = first;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_routines(s, FIRST_ID, NR_ROUTINES, "");
	for (seq = first; !err && seq < next; seq++) {
		p = make_profile(seq, &owner);
		err = sink_put(s, &owner);
		if (!err)
			err = sink_put(s, p);
	}
	if (!err)
		err = put_evicted(s, next);
	end.nr_records = next - first;
	end.lost_evicted = end.evicted = 0;
	return err ? err : sink_put(s, &end);
}

static int write_storm(struct sink *s)
{
	uint64_t first, next;
	int err;

	memset(sum, 0, sizeof(sum));
	memset(parts, 0, sizeof(parts));
	evicted = 0;
	err = put_stream(s, 0, 0);
	for (first = 0; !err && first < nr_tasks; first = next) {
		next = first + PER_STREAM < nr_tasks ? first + PER_STREAM : nr_tasks;
		err = put_stream(s, first, next);
		if (!err)
			err = ktau_writer_flush(s->w, false);
	}
	return err;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

/* Run a command, and write its output to "out" in the folder. */
static struct rusage run(char *const *args)
{
	struct rusage usage;
	char out[64];
	int status;
	pid_t pid;

	snprintf(out, sizeof(out), "%s/out", folder);
	pid = fork();
	if (!pid) {
		if (freopen(out, "w", stdout))
			execv(TEST_BUILD "/tools/ktau/ktau", args);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return usage;
}

/* Report @file; @option may be NULL. */
static struct rusage report(char *file, char *option)
{
	return run((char *[]){ "ktau", "report", file, option, NULL });
}

static bool was_printed(const char *words)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out", folder);
	f = fopen(path, "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, words);
	fclose(f);
	return found;
}

static uint64_t tasks_of(const char *name)
{
	char path[64], line[256], label[64];
	uint64_t tasks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out", folder);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long n;

		if (sscanf(line, "%63s %llu ", label, &n) == 2 && !strcmp(label, name))
			tasks = n;
	}
	fclose(f);
	return tasks;
}

/* A page needs little more than its rows, of which all but some share one. */
static void check_page(char *path, long rows_kb)
{
	struct rusage usage;
	char option[80];

	snprintf(option, sizeof(option), "--html=%s/page", folder);
	usage = report(path, option);
	print_message("a page: %.1f MB\n", (double)usage.ru_maxrss / 1024);
	assert_in_range(usage.ru_maxrss, 0, rows_kb + MORE_PAGE_KB);
}

/* The rows of exited tasks are written one by one. */
static void check_export(char *path)
{
	char option[80], command[128];
	struct rusage usage;

	snprintf(option, sizeof(option), "--output=%s/csv", folder);
	usage = run((char *[]){ "ktau", "export", "--csv", option, path, NULL });
	print_message("CSV: %.1f MB\n", (double)usage.ru_maxrss / 1024);
	assert_in_range(usage.ru_maxrss, 0, LIMIT_EXPORT_KB);
	snprintf(command, sizeof(command), "[ $(grep -c ',exited,' %s/csv/tasks.csv) = %d ]",
		 folder, (int)nr_tasks);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s/csv", folder);
	assert_int_equal(system(command), 0);
}

static void check_storm(bool page)
{
	struct rusage usage;
	char path[64];
	struct stat st;
	double spent;

	snprintf(path, sizeof(path), "%s/storm.ktau", folder);
	assert_int_equal(fixture_file(path, KTAU_WRITER_ZLIB, write_storm), 0);
	assert_int_equal(stat(path, &st), 0);
	usage = report(path, NULL);
	spent = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	print_message("%d tasks, %.1f MB: %.2f s, %.1f MB of memory\n", (int)nr_tasks,
		      (double)st.st_size / 1e6, spent, (double)usage.ru_maxrss / 1024);
	assert_int_equal(tasks_of("sh"), nr_tasks / 3);
	assert_int_equal(tasks_of("true"), nr_tasks - nr_tasks / 3);
	assert_false(was_printed("evicted unread"));
	assert_in_range(usage.ru_maxrss, 0, LIMIT_KB);
	assert_true(spent < LIMIT_SECONDS);
	/* A row for each of them. */
	usage = report(path, "--by=process");
	assert_in_range(usage.ru_maxrss, 0, LIMIT_ROWS_KB);
	if (page) {
		check_page(path, usage.ru_maxrss);
		check_export(path);
	}
	unlink(path);
}

static void test_storm(void **state)
{
	(void)state;
	nr_tasks = NR_TASKS;
	kept = 4000;
	check_storm(true);
}

/* The kernel keeps all of them. */
static void test_not_evicted(void **state)
{
	(void)state;
	nr_tasks = NR_TASKS / 3;
	kept = UINT64_MAX / 2;
	check_storm(false);
}

/* Text has the routines of the first processes only, and says so. */
static void test_details(void **state)
{
	char path[64], out[64];
	struct stat st;

	(void)state;
	nr_tasks = 3000;
	kept = UINT64_MAX / 2;
	snprintf(path, sizeof(path), "%s/storm.ktau", folder);
	snprintf(out, sizeof(out), "%s/out", folder);
	assert_int_equal(fixture_file(path, KTAU_WRITER_ZLIB, write_storm), 0);
	report(path, "--details");
	assert_true(was_printed("Not shown: processes further down, 2900 (--processes)"));
	assert_int_equal(stat(out, &st), 0);
	assert_in_range(st.st_size, 0, 200 * 1024);
	report(path, "--tables=processes,account");
	assert_true(was_printed("Not shown: 2980 rows with less kernel time (--processes=N)"));
	assert_true(was_printed("Not shown: processes further down, 2900 (--processes)"));
	unlink(path);
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

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_not_evicted),
		cmocka_unit_test(test_details),
	};

	if (argc == 3) {
		nr_tasks = strtoull(argv[2], NULL, 10);
		kept = 4000;
		return fixture_file(argv[1], KTAU_WRITER_ZLIB, write_storm) != 0;
	}
	return cmocka_run_group_tests(tests, prepare, clean);
}
