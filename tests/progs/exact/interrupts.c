// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupts COMMAND...: compare KTAU's counts for each CPU while COMMAND runs with
 * /proc/interrupts and /proc/softirqs.
 *
 * Counts change while they are read. So the kernel's counts are read before and after
 * KTAU's, and KTAU's increase must be between the smallest and the largest possible
 * number, for each line and CPU. A CPU's counts are read on that CPU: another CPU could see an
 * interrupt after the kernel has counted it, at its start, and before KTAU has, at its end.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktau.h>

#include "tap.h"

#define MAX_CPUS 16
#define MAX_LINES 64

/* Counts of one line of one of the two files. */
struct line {
	char name[32];
	uint64_t count[MAX_CPUS];
};

struct counts {
	struct line line[MAX_LINES];
	unsigned int nr;
};

/* A moment: KTAU's counts between two readings of the kernel's. */
struct moment {
	struct counts before;
	struct counts ktau;
	struct counts after;
};

/*
 * Events and the names of their lines. Several events may have the same line, and two lines
 * may have the same name: PowerPC has two LOC, for timer events and for other timer
 * interrupts.
 */
static const struct {
	const char *event;
	const char *line;
} names[] = {
	{ "sysvec_apic_timer_interrupt", "LOC" },
	{ "sysvec_reschedule_ipi", "RES" },
	{ "sysvec_call_function", "CAL" },
	{ "sysvec_call_function_single", "CAL" },
	{ "sysvec_irq_work", "IWI" },
	{ "nmi", "NMI" },
	{ "timer_interrupt", "LOC" },
	/* arm64 */
	{ "scheduler_ipi", "IPI0" },
	{ "smp_call_function", "IPI1" },
	{ "tick_receive_broadcast", "IPI4" },
	{ "irq_work_run", "IPI5" },
};

static unsigned int nr_cpus;

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "interrupts: %s: %s\n", what, strerror(-err));
	exit(1);
}

static struct line *line_named(struct counts *counts, const char *name)
{
	struct line *line;

	for (unsigned int i = 0; i < counts->nr; i++)
		if (!strcmp(counts->line[i].name, name))
			return &counts->line[i];
	if (counts->nr == MAX_LINES)
		die("too many lines", -E2BIG);
	line = &counts->line[counts->nr++];
	*line = (struct line){ 0 };
	snprintf(line->name, sizeof(line->name), "%s", name);
	return line;
}

/* "name: count count ..." after a heading with one word for each CPU. */
static void read_file(struct counts *counts, const char *path, const char *prefix)
{
	FILE *file = fopen(path, "r");
	char text[1024], name[32], *rest;

	if (!file || !fgets(text, sizeof(text), file))
		die(path, -errno);
	nr_cpus = 0;
	for (rest = strtok(text, " \n"); rest; rest = strtok(NULL, " \n"))
		nr_cpus++;
	if (nr_cpus > MAX_CPUS)
		die("too many CPUs", -E2BIG);
	while (fgets(text, sizeof(text), file)) {
		struct line *line;

		rest = strchr(text, ':');
		if (!rest)
			continue;
		*rest++ = '\0';
		snprintf(name, sizeof(name), "%s%s", prefix, text + strspn(text, " "));
		line = line_named(counts, name);
		for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
			line->count[cpu] += strtoull(rest, &rest, 10);
	}
	fclose(file);
}

static void read_kernel(struct counts *counts)
{
	counts->nr = 0;
	read_file(counts, "/proc/interrupts", "");
	read_file(counts, "/proc/softirqs", "softirq:");
}

/* "irq:4:ttyS0" is line 4. The lines of IPIs are hidden: these are compared by purpose. */
static const char *line_of(const char *event)
{
	const char *handler = strrchr(event, ':');
	static char number[16];

	if (handler && !strcmp(handler, ":IPI"))
		return NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].event, event))
			return names[i].line;
	if (!strncmp(event, "irq:", 4)) {
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(event + 4, ":"), event + 4);
		return number;
	}
	return strncmp(event, "softirq:", 8) ? NULL : event;
}

/* Whether KTAU must count the kernel's line @name. */
static int is_covered(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].line, name))
			return 1;
	return isdigit((unsigned char)*name) || !strncmp(name, "softirq:", 8);
}

static void add_profile(struct counts *counts, const struct ktau_rec_profile *p,
			const struct ktau_reader *reader)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, p->serial);
	const struct ktau_entry *entry = ktau_profile_entries(p);

	if (!owner || owner->cpu >= nr_cpus)
		return;
	for (uint32_t i = 0; i < p->nr_entries; i++) {
		const struct ktau_rec_event *event = ktau_reader_event(reader, entry[i].id);
		const char *name = event ? line_of(ktau_event_name(event)) : NULL;

		if (name)
			line_named(counts, name)->count[owner->cpu] += entry[i].count;
	}
}

static void read_ktau(struct counts *counts)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_CPU };
	struct ktau_reader *reader;
	union ktau_record record;
	int err;

	counts->nr = 0;
	err = ktau_reader_create(&reader);
	if (!err)
		err = ktau_reader_open_live(reader, &query);
	if (err)
		die("/proc/ktau/profile", err);
	while ((err = ktau_reader_next(reader, &record)) > 0)
		if (record.rec->type == KTAU_REC_PROFILE)
			add_profile(counts, record.profile, reader);
	if (err)
		die(ktau_reader_error(reader), err);
	ktau_reader_destroy(reader);
}

static void set_affinity(const cpu_set_t *set)
{
	if (sched_setaffinity(0, sizeof(*set), set))
		die("sched_setaffinity", -errno);
}

/* Copy the counts of one CPU. */
static void take_cpu(struct counts *to, const struct counts *from, unsigned int cpu)
{
	for (unsigned int i = 0; i < from->nr; i++)
		line_named(to, from->line[i].name)->count[cpu] = from->line[i].count[cpu];
}

static void read_moment(struct moment *moment)
{
	static struct moment now;
	unsigned int cpu = 0;
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity", -errno);
	do {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		set_affinity(&one);
		read_kernel(&now.before);
		read_ktau(&now.ktau);
		read_kernel(&now.after);
		take_cpu(&moment->before, &now.before, cpu);
		take_cpu(&moment->ktau, &now.ktau, cpu);
		take_cpu(&moment->after, &now.after, cpu);
	} while (++cpu < nr_cpus);
	set_affinity(&all);
}

/* Test that each CPU's count is possible. */
static void compare(struct moment *start, struct moment *end, const char *name)
{
	const struct line *from = line_named(&start->ktau, name);
	const struct line *to = line_named(&end->ktau, name);
	uint64_t total = 0, slack = 0;
	int good = 1;

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		uint64_t got = to->count[cpu] - from->count[cpu];
		uint64_t least = line_named(&end->before, name)->count[cpu] -
				 line_named(&start->after, name)->count[cpu];
		uint64_t most = line_named(&end->after, name)->count[cpu] -
				line_named(&start->before, name)->count[cpu];

		if (got < least || got > most) {
			tap_ok(false, "%s on CPU %u: %" PRIu64 ", possible %" PRIu64 " to %" PRIu64,
			       name, cpu, got, least, most);
			good = 0;
		}
		total += got;
		slack += most - least;
	}
	if (good)
		tap_ok(true, "%s: %" PRIu64 ", within %" PRIu64, name, total, slack);
}

/* An event without a line of the kernel would never be compared. */
static void all_known(struct moment *end)
{
	for (unsigned int i = 0; i < end->ktau.nr; i++) {
		const char *name = end->ktau.line[i].name;
		unsigned int known = end->before.nr;

		line_named(&end->before, name);
		if (end->before.nr == known)
			continue;
		tap_ok(false, "%s: the kernel has a line for it", name);
	}
}

int main(int argc, char **argv)
{
	static struct moment start, end;
	pid_t child;

	if (argc < 2) {
		fputs("usage: interrupts COMMAND...\n", stderr);
		return 2;
	}
	read_moment(&start);
	child = fork();
	if (!child) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		die("fork", -errno);
	read_moment(&end);
	for (unsigned int i = 0; i < end.before.nr; i++)
		if (is_covered(end.before.line[i].name))
			compare(&start, &end, end.before.line[i].name);
	all_known(&end);
	return tap_done();
}
