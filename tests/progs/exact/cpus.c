// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpus: compare the CPUs' tables of one load with all groups and with the interrupt groups
 * only. The functions of a softirq have frames in the task's profile, not in the CPU's, so
 * the CPU's time must not depend on them.
 *
 * The durations include the cost of the hooks and of the emulator. If a softirq lost the
 * time of tcp_v4_rcv(), a fifth of its time would be left.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define MESSAGES 3000
#define ROUNDS 5

/* The receive figures of all CPUs: the softirq and the functions that it polls. */
struct figures {
	uint64_t count;
	uint64_t excl;
	uint64_t all; /* exclusive time of all events */
};

static void control(const char *words)
{
	FILE *file = fopen("/proc/ktau/control", "w");

	if (!file || fputs(words, file) < 0 || fclose(file))
		self_die(words, -errno);
}

static struct figures read_cpus(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_CPU };
	struct figures f = { 0 };
	union ktau_record record;

	self_start(&query);
	while (self_next(&record) > 0) {
		if (record.rec->type != KTAU_REC_PROFILE)
			continue;
		for (uint32_t i = 0; i < record.profile->nr_entries; i++)
			f.all += ktau_profile_entries(record.profile)[i].excl;
		f.count += self_entry(record.profile, "softirq:NET_RX").count;
		f.excl += self_entry(record.profile, "softirq:NET_RX").excl +
			  self_entry(record.profile, "napi:process_backlog").excl;
	}
	return f;
}

static void work(int end[2])
{
	static char buffer[4096];

	for (int i = 0; i < MESSAGES; i++)
		if (send(end[0], buffer, sizeof(buffer), 0) != sizeof(buffer) ||
		    recv(end[1], buffer, sizeof(buffer), MSG_WAITALL) != sizeof(buffer))
			self_die("message", -errno);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds of receiving for each softirq, with @groups. */
static double measure(int end[2], const char *groups)
{
	const double nr_cpus = (double)sysconf(_SC_NPROCESSORS_CONF);
	struct figures before, after;
	double all, length;
	uint64_t start;

	control(groups);
	start = now_ns();
	before = read_cpus();
	work(end);
	after = read_cpus();
	length = (double)(now_ns() - start) / 1e9 * nr_cpus;
	all = self_seconds(after.all - before.all);
	tap_ok(all <= length, "CPUs: %.3f s of interrupts in %.3f s", all, length);
	return self_seconds(after.excl - before.excl) * 1e9 / (double)(after.count - before.count);
}

/* Alternate between the two and keep the minimum of each, because other load disturbs both. */
int main(void)
{
	double few = DBL_MAX, all = DBL_MAX, each;
	int end[2];

	self_open();
	ktau_record_free(self_profile(0)); /* sets the clock */
	self_connection(end);
	for (int i = 0; i < ROUNDS; i++) {
		each = measure(end, "groups=irq,bh");
		few = each < few ? each : few;
		each = measure(end, "groups=all");
		all = each < all ? each : all;
	}
	tap_ok(all > few * 0.7,
	       "CPUs, softirq:NET_RX: %.0f ns each with all groups, %.0f with two", all, few);
	close(end[0]);
	close(end[1]);
	self_close();
	return tap_done();
}
