// SPDX-License-Identifier: GPL-2.0-only
/*
 * rounds: groups are enabled and disabled again and again while tasks of all kinds run. The
 * account of each task consists of the time for which it was enabled, no more and no less.
 *
 *	rounds [ROUNDS]		30
 *
 * The tasks are older than their accounts: programs that loop, sleep, nap, are stopped, talk
 * through a pipe, work in the kernel, or create others that exit, and kernel threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define PARTS 6
#define MAX_OWNERS 8192
#define MAX_ENTRIES 200
#define WRONG 3 /* of each kind are shown */

/* The groups that measure the parts of the account of a task. */
#define ACCOUNT (KTAU_GROUP_ACCOUNT | KTAU_GROUP_SCHED | KTAU_GROUP_IRQ | KTAU_GROUP_BH)

enum load { SPIN,
	    SPIN_NICE,
	    SLEEP,
	    NAP,
	    STOP,
	    PING,
	    PONG,
	    COPY,
	    FORK,
	    NR_LOADS };
enum mode { NONE,
	    ALL,
	    SOME };

static const char *const load_names[NR_LOADS] = { "spin", "spin_nice", "sleep",
						  "nap", "stop", "ping",
						  "pong", "copy", "fork" };

enum rule { LIFE,
	    FALL,
	    NOTHING,
	    EVERYTHING,
	    THROUGHOUT,
	    NR_RULES };

static const char *const rule_names[NR_RULES] = {
	[LIFE] = "no record has parts above its life",
	[FALL] = "nothing falls between two copies",
	[NOTHING] = "nothing is measured while nothing is enabled",
	[EVERYTHING] = "everything is measured while all is enabled",
	[THROUGHOUT] = "groups_throughout has the groups that were never disabled, and no others",
};

/**
 * struct sample - the last profile seen of an owner
 * @serial: the owner
 * @ticks: when it was made
 * @part: the parts of the account
 * @groups: its groups
 * @nr: number of entries
 * @entry: the entries
 */
struct sample {
	uint64_t serial;
	uint64_t ticks;
	uint64_t part[PARTS];
	uint32_t groups;
	unsigned int nr;
	struct ktau_entry entry[MAX_ENTRIES];
};

/**
 * struct change - a change of the groups
 * @before: a moment before
 * @after: a moment after
 */
struct change {
	uint64_t before, after;
};

static struct sample *samples;
static unsigned int nr_samples;
static unsigned int nr_wrong[NR_RULES];
static unsigned long nr_right[NR_RULES];
static pid_t pids[NR_LOADS];

static enum mode modes[2];	  /* of tasks, and of CPUs, which have a profile always */
static struct change last;	  /* the last change */
static uint64_t least, most;	  /* bounds of the time for which all was enabled, or some was */
static uint64_t off_until[2][32]; /* when each group was last off, likewise */

/* Count a verdict. Return: whether it is one of the first that are wrong, whose owner is shown. */
static bool is_wrong(enum rule rule, bool good, const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *owner = self_owner(p->serial);

	if (good) {
		nr_right[rule]++;
		return false;
	}
	if (nr_wrong[rule]++ >= WRONG)
		return false;
	printf("# %s[%d] kind %u:", owner ? owner->comm : "?", owner ? owner->tid : 0,
	       owner ? owner->kind : 0);
	return true;
}

static void show(const char *what, uint64_t a, uint64_t b)
{
	printf(" %s: %" PRIu64 ", %" PRIu64 "\n", what, a, b);
}

static bool is_cpu(const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *owner = self_owner(p->serial);

	return owner && owner->kind == KTAU_OWNER_CPU;
}

/* The clock of the profiles. */
static uint64_t now_ticks(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_SELF };
	union ktau_record record;

	self_start(&query);
	if (self_next(&record) <= 0 || record.rec->type != KTAU_REC_STREAM)
		self_die("no stream", -ENODATA);
	return record.stream->ticks;
}

static void pause_ms(unsigned int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000L };

	nanosleep(&time, NULL);
}

static _Noreturn void copy(void)
{
	static char bytes[1 << 16];
	int zero = open("/dev/zero", O_RDONLY);

	while (read(zero, bytes, sizeof(bytes)) > 0)
		;
	_exit(1);
}

static _Noreturn void create(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			pause_ms(1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static _Noreturn void talk(int in, int out)
{
	char c = 0;

	while (write(out, &c, 1) == 1 && read(in, &c, 1) == 1)
		;
	_exit(1);
}

static _Noreturn void sleep_for(unsigned int ms)
{
	for (;;) {
		if (ms)
			pause_ms(ms);
		else
			pause();
	}
}

static _Noreturn void run(enum load load, int there[2], int back[2])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, load_names[load]);
	if (load == SPIN_NICE && nice(10) < 0)
		_exit(1);
	if (load == STOP)
		raise(SIGSTOP);
	switch (load) {
	case SLEEP:
	case STOP:
		sleep_for(0);
	case NAP:
		sleep_for(3);
	case PING:
		talk(back[0], there[1]);
	case PONG:
		talk(there[0], back[1]);
	case COPY:
		copy();
	case FORK:
		create();
	default:
		for (;;)
			__asm__ volatile("");
	}
}

static void begin_loads(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		self_die("pipe", -errno);
	fflush(stdout);
	for (int i = 0; i < NR_LOADS; i++) {
		pids[i] = fork();
		if (!pids[i])
			run(i, there, back);
	}
}

static void end_loads(void)
{
	for (int i = 0; i < NR_LOADS; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

static struct sample *sample_of(uint64_t serial)
{
	for (unsigned int i = 0; i < nr_samples; i++)
		if (samples[i].serial == serial)
			return &samples[i];
	if (nr_samples == MAX_OWNERS)
		self_die("too many owners", -ENOSPC);
	samples[nr_samples].serial = serial;
	return &samples[nr_samples++];
}

static uint64_t sum_of(const uint64_t part[PARTS])
{
	uint64_t sum = 0;

	for (int i = 0; i < PARTS; i++)
		sum += part[i];
	return sum;
}

static void compare_parts(const struct sample *s, const struct ktau_rec_profile *p,
			  const uint64_t part[PARTS])
{
	static const char *const names[PARTS] = { "user falls", "kernel falls", "irq falls",
						  "runq falls", "asleep falls", "guest falls" };

	for (int i = 0; i < PARTS; i++)
		if (is_wrong(FALL, part[i] >= s->part[i], p))
			show(names[i], s->part[i], part[i]);
}

static void compare_entries(const struct sample *s, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *now = ktau_profile_entries(p), *end = now + p->nr_entries;

	for (unsigned int i = 0; i < s->nr; i++) {
		const struct ktau_entry *was = &s->entry[i];

		while (now < end && now->id < was->id)
			now++;
		if (now == end || now->id != was->id || now->kind != KTAU_KIND_TIMER)
			continue;
		if (is_wrong(FALL, now->count >= was->count, p))
			show("a count falls", was->count, now->count);
		if (is_wrong(FALL, now->incl >= was->incl, p))
			show("inclusive time falls", was->incl, now->incl);
		if (is_wrong(FALL, now->excl >= was->excl, p))
			show("exclusive time falls", was->excl, now->excl);
	}
}

/* Whether a task is exiting since before the groups were enabled: it gets no further groups. */
static bool exits(const struct sample *s, const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *owner = self_owner(p->serial);

	return !s->groups && !p->groups && owner && !strcmp(owner->comm, load_names[FORK]) &&
	       owner->tid != pids[FORK];
}

/* Since an earlier copy, by which the last change had been made. */
static void compare_sums(const struct sample *s, const struct ktau_rec_profile *p, uint64_t sum)
{
	const uint64_t more = sum - sum_of(s->part), time = p->ticks - s->ticks;
	const enum mode mode = exits(s, p) ? NONE : modes[is_cpu(p)];

	if (s->ticks < last.after)
		return;
	if (mode == NONE && is_wrong(NOTHING, !more, p))
		show("ticks are measured, of", more, time);
	if (mode == ALL &&
	    is_wrong(EVERYTHING, more <= time && more + time / 1000 + 1000 >= time, p))
		show("ticks are measured, of", more, time);
}

static void remember(struct sample *s, const struct ktau_rec_profile *p,
		     const uint64_t part[PARTS])
{
	s->ticks = p->ticks;
	s->groups = p->groups;
	memcpy(s->part, part, sizeof(s->part));
	s->nr = p->nr_entries < MAX_ENTRIES ? p->nr_entries : MAX_ENTRIES;
	memcpy(s->entry, ktau_profile_entries(p), s->nr * sizeof(s->entry[0]));
}

/* @since: the copy's groups_throughout begins there. */
static void judge_groups(const struct ktau_rec_profile *p, uint64_t since)
{
	const uint64_t from = since > p->start_ticks ? since : p->start_ticks;
	const uint64_t *off = off_until[is_cpu(p)];

	for (unsigned int i = 0; i < 32; i++)
		if ((p->groups_throughout & (1U << i)) &&
		    is_wrong(THROUGHOUT, off[i] <= from, p))
			show("a group was off", i, off[i] - from);
	/* A task that exits gets no further groups. */
	if (modes[is_cpu(p)] == ALL && from >= last.after &&
	    (is_cpu(p) || (p->groups & ACCOUNT) == ACCOUNT) &&
	    is_wrong(THROUGHOUT, (p->groups_throughout & ACCOUNT) == ACCOUNT, p))
		show("groups were not off", ACCOUNT & ~p->groups_throughout, 0);
}

static void take(const struct ktau_rec_profile *p, uint64_t since)
{
	const struct ktau_rec_owner *owner = self_owner(p->serial);
	const uint64_t part[PARTS] = { p->user_ticks, p->kernel_ticks, p->irq_ticks,
				       p->runq_ticks, p->asleep_ticks, p->guest_ticks };
	struct sample *s;

	if (!owner || owner->kind == KTAU_OWNER_EVICTED || (owner->flags & KTAU_OWNER_FOLDED))
		return;
	if (is_wrong(LIFE, sum_of(part) <= p->ticks - p->start_ticks, p))
		show("parts, life", sum_of(part), p->ticks - p->start_ticks);
	/* The groups of an exited task may have been disabled since. */
	if (owner->kind == KTAU_OWNER_EXITED)
		return;
	judge_groups(p, since);
	s = sample_of(p->serial);
	if (s->ticks) {
		compare_parts(s, p, part);
		compare_entries(s, p);
		compare_sums(s, p, sum_of(part));
	}
	remember(s, p, part);
}

static void look(uint64_t since)
{
	struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_CPU | KTAU_TARGET_EXITED,
		.since_ticks = since,
	};
	static uint64_t exited_since;
	union ktau_record record;

	query.exited_since = exited_since;
	self_start(&query);
	while (self_next(&record) > 0) {
		if (record.rec->type == KTAU_REC_PROFILE)
			take(record.profile, since);
		else if (record.rec->type == KTAU_REC_END)
			exited_since = record.end->exited_next;
	}
}

/* Note which groups are @off after a change, of tasks or of CPUs. */
static void note_off(unsigned int cpus, uint32_t off)
{
	for (unsigned int i = 0; i < 32; i++) {
		if (off & (1U << i))
			off_until[cpus][i] = UINT64_MAX;
		else if (off_until[cpus][i] == UINT64_MAX)
			off_until[cpus][i] = last.before;
	}
}

/* Write @words to control: then @off are the groups that are off. */
static void change(const char *words, enum mode to, uint32_t off)
{
	const bool profile = !strncmp(words, "profile", 7);
	const enum mode from = modes[0];
	int fd = open("/proc/ktau/control", O_WRONLY);
	struct change next;

	next.before = now_ticks();
	if (fd < 0 || write(fd, words, strlen(words)) < 0)
		self_die(words, -errno);
	close(fd);
	next.after = now_ticks();
	if (from == ALL)
		least += next.before - last.after;
	if (from != NONE)
		most += next.after - last.before;
	last = next;
	modes[0] = to;
	note_off(0, off);
	modes[1] = profile ? ALL : to;
	note_off(1, profile ? 0 : off);
	look(next.after);
	pause_ms(10);
	look(0);
}

static void round_of(unsigned int nr)
{
	switch (nr % 5) {
	case 1:
		change("groups=all", ALL, 0);
		change("groups=all -sched", SOME, KTAU_GROUP_SCHED);
		break;
	case 2:
		change("groups=all -account", SOME, KTAU_GROUP_ACCOUNT);
		break;
	case 3:
		change("groups=all", ALL, 0);
		change("profile=off", NONE, UINT32_MAX);
		change("profile=on", ALL, 0);
		break;
	case 4:
		change("groups=syscall,irq", SOME, ~(KTAU_GROUP_SYSCALL | KTAU_GROUP_IRQ));
		break;
	}
	change("groups=all", ALL, 0);
	pause_ms(20);
	look(0);
	change("groups=none", NONE, UINT32_MAX);
	look(0);
}

static const struct sample *sample_of_load(enum load load)
{
	struct ktau_rec_profile *p = self_profile(pids[load]);
	const struct sample *s = sample_of(p->serial);

	ktau_record_free(p);
	return s;
}

/* Each load has had the same life, and is older than its account. */
static void judge_loads(void)
{
	const uint64_t slack = least / 100;

	for (int i = 0; i < NR_LOADS; i++) {
		const struct sample *s = sample_of_load(i);
		const uint64_t sum = sum_of(s->part), user = s->part[0], cpu = user + s->part[1],
			       asleep = s->part[4], ready = s->part[2] + s->part[3];

		tap_ok(sum <= most && sum >= least, "%s: %.3f s are measured of %.3f to %.3f s",
		       load_names[i], self_seconds(sum), self_seconds(least),
		       self_seconds(most));
		if (i == SLEEP || i == STOP)
			tap_ok(asleep + slack >= least && !user, "%s: asleep for %.3f s",
			       load_names[i], self_seconds(asleep));
		if (i == SPIN || i == SPIN_NICE)
			tap_ok(user && cpu + ready + slack >= least && !asleep,
			       "%s: in user mode for %.3f s, ready for %.3f s", load_names[i],
			       self_seconds(user), self_seconds(ready));
	}
}

int main(int argc, char *argv[])
{
	const unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 30;

	samples = calloc(MAX_OWNERS, sizeof(*samples));
	if (!samples)
		self_die("calloc", -ENOMEM);
	note_off(0, UINT32_MAX);
	note_off(1, UINT32_MAX);
	self_open();
	begin_loads();
	pause_ms(300);
	for (unsigned int i = 0; i < rounds; i++)
		round_of(i);
	judge_loads();
	for (int i = 0; i < NR_RULES; i++)
		tap_ok(nr_right[i] && !nr_wrong[i], "%s: %lu of %lu", rule_names[i], nr_right[i],
		       nr_right[i] + nr_wrong[i]);
	end_loads();
	self_close();
	return tap_done();
}
