// SPDX-License-Identifier: GPL-2.0-only
/*
 * known: work whose figures are known beforehand, held against its own profile.
 *
 * Prints "ok - what" or "not ok - what" for each. Run where KTAU has all groups on.
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>

static struct ktau_events *events;
static struct ktau_clock ktau_time;
static struct ktau_reader *reader;
static int failures;

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "known: %s: %s\n", what, strerror(-err));
	exit(1);
}

static int record_next(union ktau_record *record)
{
	int ret = ktau_reader_next(reader, record);

	if (ret < 0)
		die(ktau_reader_error(reader), ret);
	return ret;
}

static void start_stream(uint32_t target, uint64_t dead_since)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = target,
		.dead_since = dead_since,
	};
	int err = ktau_reader_restart(reader, &query);

	if (err)
		die("/proc/ktau/profile", err);
}

/* This thread's profile now; the identity is held to each one. */
static struct ktau_rec_profile *profile(void)
{
	struct ktau_rec_profile *copy = NULL;
	union ktau_record record;
	uint64_t excl, outer;

	start_stream(KTAU_TARGET_SELF, 0);
	while (record_next(&record) > 0) {
		if (record.rec->type == KTAU_REC_STREAM)
			ktau_clock_init(&ktau_time, record.stream);
		if (record.rec->type == KTAU_REC_PROFILE && !copy)
			copy = ktau_record_dup(record.rec);
	}
	if (!copy)
		die("no profile of this task", -ENODATA);
	if (ktau_check_identity(copy, &excl, &outer)) {
		printf("not ok - identity: %" PRIu64 " ticks, not %" PRIu64 "\n", excl, outer);
		failures++;
	}
	return copy;
}

static struct ktau_rec_profile *before;

static void begin(void)
{
	ktau_record_free(before);
	before = profile();
}

/* What this thread has added since begin(). */
static struct ktau_rec_profile *added(void)
{
	struct ktau_rec_profile *now = profile(), *diff;
	int err = ktau_profile_diff(now, before, &diff);

	if (err)
		die("difference", err);
	ktau_record_free(now);
	return diff;
}

static const struct ktau_event *event_named(const char *name)
{
	const struct ktau_event *event = NULL;

	while ((event = ktau_events_next(events, event)))
		if (!strcmp(ktau_display_name(event->name), name))
			return event;
	return NULL;
}

/* The entry of an event by name; all zero if it has not run here. */
static struct ktau_entry entry_of(const struct ktau_rec_profile *p, const char *name)
{
	const struct ktau_event *event = event_named(name);
	const struct ktau_entry *found = NULL;

	/* It may have got its id since the table was read. */
	if (!event && ktau_events_load(events, NULL) >= 0)
		event = event_named(name);
	if (event)
		found = ktau_profile_find(p, event->id);
	return found ? *found : (struct ktau_entry){ 0 };
}

static void expect(const char *what, uint64_t got, uint64_t want)
{
	printf("%s - %s: %" PRIu64, got == want ? "ok" : "not ok", what, got);
	if (got != want) {
		printf(", not %" PRIu64, want);
		failures++;
	}
	putchar('\n');
}

static void expect_near(const char *what, double got, double want)
{
	int good = got >= want * 0.98 && got <= want * 1.02;

	printf("%s - %s: %.3f s of %.3f s\n", good ? "ok" : "not ok", what, got, want);
	failures += !good;
}

static double seconds(uint64_t ticks)
{
	return (double)ktau_clock_ns(&ktau_time, ticks) / 1e9;
}

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void system_calls(void)
{
	struct ktau_rec_profile *p;

	begin();
	for (int i = 0; i < 100000; i++)
		syscall(SYS_getppid);
	p = added();
	expect("100,000 getppid", entry_of(p, "sys_getppid").count, 100000);
	ktau_record_free(p);
}

static void forks(void)
{
	struct ktau_rec_profile *p;
	union ktau_record record;
	uint64_t since = 0, dead = 0, exits = 0;

	start_stream(KTAU_TARGET_SELF, 0);
	while (record_next(&record) > 0)
		if (record.rec->type == KTAU_REC_END)
			since = record.end->dead_next;
	begin();
	for (int i = 0; i < 1000; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("fork", -errno);
	}
	p = added();
	expect("1,000 forks", entry_of(p, "sys_clone").count, 1000);
	expect("1,000 waits", entry_of(p, "sys_wait4").count, 1000);
	ktau_record_free(p);

	start_stream(KTAU_TARGET_DEAD, since);
	while (record_next(&record) > 0)
		if (record.rec->type == KTAU_REC_PROFILE &&
		    record.profile->owner.ppid == getpid()) {
			dead++;
			exits += entry_of(record.profile, "sys_exit_group").count;
		}
	expect("their 1,000 profiles", dead, 1000);
	expect("with an exit each", exits, 1000);
}

static void *drain(void *arg)
{
	static char buffer[65536];
	ssize_t n;

	while ((n = recv(*(int *)arg, buffer, sizeof(buffer), 0)) > 0)
		;
	return NULL;
}

/* Two ends of a TCP connection over loopback. */
static void connection(int end[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(end[0], (struct sockaddr *)&address, len))
		die("connection", -errno);
	end[1] = accept(listener, NULL, NULL);
	if (end[1] < 0)
		die("accept", -errno);
	close(listener);
}

static void sends(void)
{
	static char buffer[10486];
	struct ktau_rec_profile *p;
	struct ktau_entry sent;
	pthread_t thread;
	int end[2];

	connection(end);
	if (pthread_create(&thread, NULL, drain, &end[1]))
		die("thread", -EAGAIN);
	begin();
	/* 10 MiB do not divide by 1,000: 760 of the larger size make up for it. */
	for (int i = 0; i < 1000; i++) {
		size_t size = i < 760 ? 10486 : 10485;

		if (send(end[0], buffer, size, 0) != (ssize_t)size)
			die("send", -errno);
	}
	p = added();
	sent = entry_of(p, "sock_send_bytes");
	expect("1,000 sends", sent.count, 1000);
	expect("10 MiB sent", sent.sum, 10 << 20);
	expect("the largest", sent.max, 10486);
	expect("the smallest", sent.min, 10485);
	expect("1,000 through tcp_sendmsg", entry_of(p, "tcp_sendmsg").count, 1000);
	ktau_record_free(p);
	shutdown(end[0], SHUT_WR);
	pthread_join(thread, NULL);
	close(end[0]);
	close(end[1]);
}

static volatile sig_atomic_t caught;

static void catch_signal(int sig)
{
	(void)sig;
	caught++;
}

static void signals(void)
{
	struct ktau_rec_profile *p;

	signal(SIGUSR1, catch_signal);
	begin();
	for (int i = 0; i < 500; i++)
		kill(getpid(), SIGUSR1);
	p = added();
	expect("500 signals caught", (uint64_t)caught, 500);
	expect("500 sent", entry_of(p, "__send_signal_locked").count, 500);
	expect("500 dequeued", entry_of(p, "collect_signal").count, 500);
	expect("500 delivered", entry_of(p, "handle_signal").count, 500);
	ktau_record_free(p);
}

static void page_faults(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ktau_rec_profile *p;
	char *fresh = mmap(NULL, 300 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		die("mmap", -errno);
	madvise(fresh, 300 * page, MADV_NOHUGEPAGE);
	begin();
	for (int i = 0; i < 300; i++)
		fresh[(size_t)i * page] = 1;
	p = added();
	expect("300 page faults on fresh pages", entry_of(p, "page_fault_user").count, 300);
	ktau_record_free(p);
	munmap(fresh, 300 * page);
}

static void sleeps(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct ktau_rec_profile *p;
	struct ktau_entry call;
	double took;

	begin();
	took = now_seconds();
	for (int i = 0; i < 20; i++)
		nanosleep(&pause, NULL);
	took = now_seconds() - took;
	p = added();
	call = entry_of(p, "sys_clock_nanosleep");
	expect("20 sleeps", call.count, 20);
	expect_near("their time in the system call", seconds(call.incl), took);
	expect_near("and off the CPU", seconds(entry_of(p, "schedule_vol").incl), took);
	ktau_record_free(p);
}

/* "voluntary_ctxt_switches" or "nonvoluntary_ctxt_switches" of this thread. */
static uint64_t switches(const char *which)
{
	FILE *status = fopen("/proc/thread-self/status", "r");
	size_t len = strlen(which);
	uint64_t value = 0;
	char line[256];

	if (!status)
		die("/proc/thread-self/status", -errno);
	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, which, len) && line[len] == ':')
			value = strtoull(line + len + 1, NULL, 10);
	fclose(status);
	return value;
}

static volatile int spinning = 1, spins;

static void *spin(void *arg)
{
	while (spinning) {
		spins = 1;
		sched_yield();
	}
	return arg;
}

/* With a rival on the same CPU a yield gives it away. */
static void yields(void)
{
	struct ktau_rec_profile *p;
	uint64_t given;
	pthread_t rival;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pthread_create(&rival, NULL, spin, NULL))
		die("thread", -EAGAIN);
	while (!spins)
		sched_yield();
	begin();
	for (int i = 0; i < 200; i++)
		sched_yield();
	p = added();
	expect("200 yields", entry_of(p, "sys_sched_yield").count, 200);
	given = entry_of(p, "schedule_yld").count;
	printf("%s - that gave the CPU away: %" PRIu64 "\n",
	       given >= 1 && given <= 200 ? "ok" : "not ok", given);
	failures += given < 1 || given > 200;
	ktau_record_free(p);
	spinning = 0;
	pthread_join(rival, NULL);
}

/* All switches of this thread's life; none between the readings counts. */
static void context_switches(void)
{
	struct ktau_rec_profile *p = NULL;
	uint64_t vol, other;

	do {
		ktau_record_free(p);
		vol = switches("voluntary_ctxt_switches");
		other = switches("nonvoluntary_ctxt_switches");
		p = profile();
	} while (vol != switches("voluntary_ctxt_switches") ||
		 other != switches("nonvoluntary_ctxt_switches"));
	expect("voluntary switches, as /proc/PID/status has them",
	       entry_of(p, "schedule_vol").count, vol);
	expect("and the others",
	       entry_of(p, "schedule").count + entry_of(p, "schedule_yld").count, other);
	ktau_record_free(p);
}

int main(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_SELF };
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ktau_reader_create(&reader);
	if (!err)
		err = ktau_events_create(&events);
	if (!err)
		err = ktau_reader_open_live(reader, &query);
	if (err)
		die("/proc/ktau/profile", err);

	system_calls();
	forks();
	sends();
	signals();
	page_faults();
	sleeps();
	yields();
	context_switches();

	ktau_record_free(before);
	ktau_events_destroy(events);
	ktau_reader_destroy(reader);
	return failures != 0;
}
