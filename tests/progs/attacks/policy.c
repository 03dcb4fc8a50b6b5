// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy: check which data each level of kernel.ktau_paranoid shows to a user, and that
 * CAP_PERFMON shows all data at each level. Run as root.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"
#include "subject.h"
#include "tap.h"

#define CALLS 500

static struct seen seen;

/* The data that one reader sees at one level. */
struct result {
	int32_t foreign;	   /* in: a task of another user */
	uint64_t foreign_identity; /* in: its name in a trace */
	int32_t user;		   /* in: the user's own task; 0: the reader itself */
	int profile_err;
	uint64_t calls;
	bool rounded;
	bool all_rounded; /* each time is a multiple of 1 us */
	bool identity;	  /* exclusive times add up to those of outermost frames */
	unsigned int nr_interrupts;
	int trace_err;
	uint64_t traced;
	size_t naming;
	unsigned int nr_described; /* owners of other users in the stream of its trace */
	bool text;
	unsigned int text_interrupts;
	bool foreign_profile;
	bool foreign_trace;
	bool foreign_text;
	bool foreign_exited;
	unsigned int nr_foreign; /* owners of other users, among all */
	unsigned int nr_cpus;
	bool evicted;
};

static struct result *result;

static bool in_us(uint64_t ticks)
{
	/* Microseconds are converted to ticks: half a tick of rounding in each direction. */
	uint64_t hz = seen.clock_hz, us = (ticks * 1000000 + hz / 2) / hz;
	uint64_t back = us * hz / 1000000;

	return ticks <= back + 2 && back <= ticks + 2;
}

static void look_at_entries(const struct seen_owner *owner)
{
	uint64_t excl = owner->refused_ticks, outer = owner->outer_ticks;
	size_t i;

	result->rounded = seen.rounded;
	result->all_rounded = true;
	for (i = 0; i < owner->nr_entries; i++) {
		const struct seen_entry *entry = &seen.entry[owner->first_entry + i];

		result->nr_interrupts += seen_is_interrupt(entry);
		if (!entry->timer)
			continue;
		excl += entry->excl;
		if (!in_us(entry->incl) || !in_us(entry->excl))
			result->all_rounded = false;
	}
	result->identity = excl == outer + owner->open_child_ticks;
}

static bool reads(const char *path)
{
	char bytes[64];
	FILE *file = fopen(path, "re");
	bool got = file && fread(bytes, 1, sizeof(bytes), file) > 0;

	if (file)
		fclose(file);
	return got;
}

/* Number of lines of a text file that name an interrupt. */
static unsigned int interrupts_in(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int nr = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		nr += strstr(line, "softirq:") || strstr(line, "sysvec_") || strstr(line, "irq:");
	if (file)
		fclose(file);
	return nr;
}

static void look_at_own(void)
{
	int32_t tid = result->user ? result->user : (int32_t)getpid();
	const struct seen_owner *owner;
	char path[32];
	size_t i;

	result->profile_err = seen_get(PROFILE, OF_LIST, tid, &seen);
	owner = seen_tid(&seen, tid);
	if (!result->profile_err && owner && owner->has_profile) {
		result->calls = seen_count(&seen, owner, CALLED);
		look_at_entries(owner);
	}
	result->trace_err = seen_get(TRACE, OF_LIST, tid, &seen);
	for (i = 0; i < seen.nr_owners; i++)
		result->nr_described += seen.owner[i].uid != ATTACKER;
	owner = seen_tid(&seen, tid);
	if (!result->trace_err && owner) {
		result->traced = seen_traced(&seen, owner, CALLED);
		result->naming = seen_naming(&seen, owner, result->foreign_identity);
	}
	snprintf(path, sizeof(path), "/proc/%d/ktau", tid);
	result->text = reads(path);
	result->text_interrupts = interrupts_in(path);
}

static void look_at_others(void)
{
	const struct seen_owner *owner;
	char path[32];
	size_t i;

	result->foreign_profile = !seen_get(PROFILE, OF_LIST, result->foreign, &seen) &&
				  (owner = seen_tid(&seen, result->foreign)) && owner->has_profile;
	result->foreign_trace = !seen_get(TRACE, OF_LIST, result->foreign, &seen) &&
				(owner = seen_tid(&seen, result->foreign)) && owner->has_trace;
	snprintf(path, sizeof(path), "/proc/%d/ktau", result->foreign);
	result->foreign_text = reads(path);
	seen_get(PROFILE, OF_DEFAULT, 0, &seen);
	for (i = 0; i < seen.nr_owners; i++) {
		owner = &seen.owner[i];
		result->nr_cpus += owner->kind == SEEN_CPU;
		result->evicted |= owner->kind == SEEN_EVICTED;
		if (owner->kind > SEEN_EXITED || !owner->has_profile || owner->uid == ATTACKER)
			continue;
		result->nr_foreign++;
		result->foreign_exited |= owner->kind == SEEN_EXITED;
	}
}

static void look(void)
{
	look_at_own();
	look_at_others();
}

/* Interrupts of several kinds, and switches to the other user's task. */
static void spin(void)
{
	struct timespec start, now;

	make_calls(CALLS);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 200);
}

static void user(void)
{
	for (;;) {
		spin();
		helper_reached();
		look();
		helper_reached();
	}
}

/* Another user's task, which sometimes runs on the same CPU. */
static void foreign(void)
{
	make_calls(CALLS);
	for (;;)
		usleep(2000);
}

static void foreign_exits(void)
{
	struct helper other = helper_start(VICTIM, spin);

	helper_step(&other);
	helper_end(&other);
	usleep(50000);
}

static const char *name(int err)
{
	return err ? strerror(-err) : "a stream";
}

static bool is_refusal(int err)
{
	return err == -EACCES || err == -EPERM;
}

static void reset(void)
{
	const struct result in = *result;

	memset(result, 0, sizeof(*result));
	result->foreign = in.foreign;
	result->foreign_identity = in.foreign_identity;
	result->user = in.user;
}

static void check_profile(int level)
{
	if (level > 2) {
		tap_ok(!result->calls && !result->text,
		       "policy: level %d: a user sees nothing of itself: %s", level,
		       name(result->profile_err));
		return;
	}
	tap_ok(result->calls >= CALLS && result->text,
	       "policy: level %d: a user sees its own profile", level);
	tap_ok(result->identity, "policy: level %d: the times of that profile add up", level);
	if (level == 2) {
		tap_ok(result->rounded && result->all_rounded,
		       "policy: level %d: times are rounded to 1 us and flagged as such", level);
		tap_ok(result->nr_interrupts <= 1 && !result->text_interrupts,
		       "policy: level %d: the profile has at most one row of interrupts (%u), "
		       "/proc/PID/ktau none (%u)",
		       level, result->nr_interrupts, result->text_interrupts);
	} else {
		tap_ok(!result->rounded && !result->all_rounded,
		       "policy: level %d: times are exact", level);
		tap_ok(result->nr_interrupts > 1 && result->text_interrupts,
		       "policy: level %d: each interrupt has a row: %u, %u in /proc/PID/ktau",
		       level, result->nr_interrupts, result->text_interrupts);
	}
}

static void check_trace(int level)
{
	if (level > 0)
		tap_ok(is_refusal(result->trace_err),
		       "policy: level %d: a user that reads its own trace gets: %s", level,
		       name(result->trace_err));
	else
		tap_ok(result->traced >= 100,
		       "policy: level %d: a user sees its own trace: %" PRIu64 " calls", level,
		       result->traced);
	tap_ok(!result->nr_described,
	       "policy: level %d: that trace has %u descriptions of other users' tasks", level,
	       result->nr_described);
	if (level == 0)
		tap_ok(!result->naming,
		       "policy: level %d: that trace names other users' tasks %zu times", level,
		       result->naming);
}

static void check_others(int level, const char *reader, bool all)
{
	const unsigned int nr = result->foreign_profile + result->foreign_trace +
				result->foreign_text + result->foreign_exited +
				(result->nr_foreign > 0);

	tap_ok(nr == (all ? 5 : 0),
	       "policy: level %d: %s sees %s tasks of other users: profile %d, trace %d, text %d, "
	       "exited %d, %u among all",
	       level, reader, all ? "the" : "no", result->foreign_profile, result->foreign_trace,
	       result->foreign_text, result->foreign_exited, result->nr_foreign);
	tap_ok((result->nr_cpus > 0) == all && result->evicted == all,
	       "policy: level %d: %s sees %u CPUs, evicted %d", level, reader, result->nr_cpus,
	       result->evicted);
}

/* The user's task as seen by a reader with CAP_PERFMON. */
static void check_privileged(int level, const char *reader)
{
	tap_ok(result->calls >= CALLS && !result->rounded && result->nr_interrupts > 1,
	       "policy: level %d: %s sees the user's profile, exact", level, reader);
	tap_ok(result->traced && result->naming,
	       "policy: level %d: %s sees its trace, where %zu slots name others", level, reader,
	       result->naming);
	check_others(level, reader, true);
}

static void with_perfmon(void)
{
	static const struct subject subject = { "with CAP_PERFMON", VICTIM + 1, CAP(PERFMON),
						false };

	subject_become(&subject);
	look();
}

static void at_level(int level, const struct helper *own)
{
	struct helper perfmon;
	int got = 99;

	tap_ok(set_level(level) && get_level(&got) && got == level, "policy: level %d is set",
	       level);
	control("ring=2048");
	control("ring=4096");
	reset();
	result->user = 0;
	helper_step(own);
	helper_step(own);
	check_profile(level);
	check_trace(level);
	check_others(level, "a user", false);

	reset();
	result->user = own->pid;
	look();
	check_privileged(level, "root");
	reset();
	perfmon = helper_start(0, with_perfmon);
	helper_step(&perfmon);
	check_privileged(level, "another user with CAP_PERFMON");
	helper_end(&perfmon);
}

static void try_to_set(void)
{
	result->text = set_level(0);
}

int main(void)
{
	struct helper own, other;
	int level = 99;

	result = shared_alloc(sizeof(*result));
	tap_ok(get_level(&level) && level == 2, "policy: kernel.ktau_paranoid is initially 2");
	own = helper_start(ATTACKER, try_to_set);
	helper_step(&own);
	helper_end(&own);
	tap_ok(get_level(&level) && level == 2 && !result->text, "policy: a user cannot set it");

	pin(0);
	control("groups=syscall,irq,bh,sched trace=on ring=4096");
	other = helper_start(VICTIM, foreign);
	if (write(other.go, "g", 1) != 1)
		return 1;
	usleep(100000);
	result->foreign = other.pid;
	seen_get(PROFILE, OF_LIST, other.pid, &seen);
	if (!tap_ok(seen_tid(&seen, other.pid), "policy: the other user's task has a profile"))
		return 1;
	result->foreign_identity = seen_identity(seen_tid(&seen, other.pid));
	/* One exited task that is evicted, and one that is kept. */
	foreign_exits();
	control("exited_limit=0");
	control("exited_limit=4M");
	foreign_exits();
	own = helper_start(ATTACKER, user);
	tap_ok(!set_level(-1), "policy: the lowest level is 0");
	for (level = 3; level >= 0; level--)
		at_level(level, &own);
	helper_end(&own);
	helper_end(&other);
	set_level(2);
	control("groups=none trace=off ring=1024");
	return tap_done();
}
