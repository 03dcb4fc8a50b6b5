// SPDX-License-Identifier: GPL-2.0-only
/* ktau status: show what can be measured on this machine, and how to enable the rest. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ktau_bpf.h>

#include "lib/cli.h"
#include "print/counters.h"
#include "print/machine.h"
#include "status.h"
#include "subcommand.h"
#include "lib/table.h"
#include "lib/text.h"

#define LEVEL_FILE "/proc/sys/kernel/ktau_paranoid"

#define MODES (KTAU_MODE_PROFILE | KTAU_MODE_TRACE)

enum { OPT_JSON = 256,
       OPT_COUNTERS,
       OPT_BUG_REPORT };

struct options {
	bool json, counters, bug_report;
	char **names;
	int nr_names;
};

static const struct argp_option argp_options[] = {
	{ "json", OPT_JSON, NULL, 0, "Print JSON", 0 },
	{ "counters", OPT_COUNTERS, NULL, 0,
	  "Print KTAU's figures about itself, or those called NAME: losses by reason, memory, "
	  "numbers of tasks and the cost of hooks",
	  0 },
	{ "bug-report", OPT_BUG_REPORT, NULL, 0,
	  "Print what a report of a fault should contain, without names of hosts, users and "
	  "processes",
	  0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	(void)arg;
	switch (key) {
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_COUNTERS:
		o->counters = true;
		return 0;
	case OPT_BUG_REPORT:
		o->bug_report = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->names = state->argv + state->next;
		o->nr_names = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (o->nr_names && !o->counters)
			cli_usage(state, "'%s': a NAME goes with --counters", o->names[0]);
		if (o->bug_report && (o->counters || o->json))
			cli_usage(state, "--bug-report is text, and contains the counters");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "[--counters [NAME...]]\n--bug-report",
	"Print whether this kernel has KTAU, the level of access in force and what it means for "
	"you, groups, modes, the filter, memory and losses. For everything that cannot be "
	"measured, print the command that changes that.",
	NULL, NULL, NULL
};

static void read_level(struct status *s)
{
	FILE *f = fopen(LEVEL_FILE, "re");

	if (!f)
		return;
	s->has_level = fscanf(f, "%d", &s->info.paranoid) == 1;
	fclose(f);
}

/* Read a short stream, because the losses are in its END record. */
static void read_end(struct status *s)
{
	const struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_SELF,
	};
	struct ktau_reader *reader;
	union ktau_record record;

	if (ktau_reader_create(&reader))
		return;
	if (!ktau_reader_open_live(reader, &query)) {
		while (ktau_reader_next(reader, &record) > 0) {
			if (record.rec->type != KTAU_REC_END)
				continue;
			s->end = *record.end;
			s->has_end = true;
		}
	}
	ktau_reader_destroy(reader);
}

static void collect(struct status *s)
{
	char text[32];

	memset(s, 0, sizeof(*s));
	uname(&s->name);
	s->bpf_missing = ktau_bpf_available() ? ktau_bpf_missing() : NULL;
	s->has_bpf = ktau_bpf_available() && !s->bpf_missing;
	s->bpf_err = ktau_bpf_permitted();
	s->info_err = ktau_info_read(-1, &s->info);
	if (s->info_err)
		read_level(s);
	else
		s->has_level = true;
	if (s->info_err == -ENOENT)
		return;
	if (ktau_control_get("filter", s->filter, sizeof(s->filter)) == -ENOSPC)
		strcpy(s->filter, "a long one");
	if (!ktau_control_get("exited_limit", text, sizeof(text)))
		s->exited_limit_bytes = strtoull(text, NULL, 10);
	read_end(s);
}

/* The problems that status_judge() has found so far. */
struct judging {
	struct problem *problems;
	size_t nr;
};

static void __attribute__((format(printf, 3, 4)))
add_problem(struct judging *j, const char *command, const char *format, ...)
{
	struct problem *p;
	va_list args;

	if (j->nr == STATUS_PROBLEMS)
		return;
	p = &j->problems[j->nr++];
	va_start(args, format);
	vsnprintf(p->text, sizeof(p->text), format, args);
	va_end(args);
	snprintf(p->command, sizeof(p->command), "%s", command);
}

/* Report access that the user lacks. Either the level denies it, or something else does. */
static void judge_access(struct judging *j, const struct status *s, uint32_t access,
			 const char *what)
{
	char command[64] = "";
	int32_t level;

	if (s->info.access & access || !ktau_paranoid_needed(access, &level))
		return;
	if (s->has_level && s->info.paranoid <= level) {
		add_problem(j, "", "%s: not permitted by lockdown or a security module", what);
		return;
	}
	snprintf(command, sizeof(command), "sysctl kernel.ktau_paranoid=%" PRId32, level);
	if (s->has_level)
		add_problem(j, command,
			    "%s: not permitted by kernel.ktau_paranoid=%" PRId32
			    " without CAP_PERFMON",
			    what, s->info.paranoid);
	else
		add_problem(j, command, "%s: not permitted", what);
}

static void judge_collection(struct judging *j, const struct ktau_info *info)
{
	if (!(info->groups & ~MODES))
		add_problem(j, "ktau control +all", "no group is enabled");
	if (!(info->groups & KTAU_MODE_PROFILE))
		add_problem(j, "ktau control profile=on",
			    "profiles are not collected");
}

/* Report what was not recorded for lack of memory. */
static void judge_memory(struct judging *j, const struct status *s)
{
	const struct ktau_rec_end *e = &s->end;
	uint64_t limit = s->info.memory_limit_bytes, nr = e->refused_memory_limit;
	char command[64] = "ktau control memory_limit=BYTES";

	if (limit)
		snprintf(command, sizeof(command),
			 "ktau control memory_limit=%" PRIu64, 2 * limit);
	if (nr)
		add_problem(j, command,
			    "%" PRIu64 " allocations refused by memory_limit since boot", nr);
	nr = e->refused_user_limit;
	if (nr)
		add_problem(j, command,
			    "%" PRIu64 " allocations refused since boot because a user's share of "
			    "memory_limit was used up",
			    nr);
	nr = e->refused_no_memory;
	if (nr)
		add_problem(j, "", "%" PRIu64 " allocations failed since boot: the machine had no "
				   "memory",
			    nr);
	nr = e->refused_no_state;
	if (nr)
		add_problem(j, command, "%" PRIu64 " tasks got no profile since boot", nr);
	nr = e->refused_no_chunk;
	if (nr)
		add_problem(j, command, "%" PRIu64 " activations were not recorded since boot",
			    nr);
}

static void judge_losses(struct judging *j, const struct status *s)
{
	uint64_t nr = s->end.refused_no_id;

	if (nr)
		add_problem(j, "reboot",
			    "%" PRIu64 " activations got no event id since boot: all are in use",
			    nr);
	nr = s->end.refused_descriptors;
	if (nr)
		add_problem(j, "", "%" PRIu64 " descriptors were refused since boot: a user had "
				   "too many open",
			    nr);
	nr = s->end.internal_errors;
	if (nr)
		add_problem(j, "dmesg | grep ktau",
			    "%" PRIu64 " internal errors: KTAU has disabled itself until the next "
			    "boot; please report what the kernel log says",
			    nr);
}

size_t status_judge(const struct status *s, struct problem problems[STATUS_PROBLEMS])
{
	struct judging j = { .problems = problems };

	if (s->info_err == -ENOENT) {
		if (s->has_bpf)
			add_problem(&j, s->bpf_err ? "sudo ktau top" : "ktau top",
				    "this kernel has no KTAU, but BPF programs can measure on it");
		else if (s->bpf_missing)
			add_problem(&j, "boot a distribution's kernel, or one with CONFIG_KTAU",
				    "this kernel has no KTAU, and no %s, which BPF programs need",
				    s->bpf_missing);
		else
			add_problem(&j, "boot a kernel with CONFIG_KTAU",
				    "this kernel has no KTAU");
		return j.nr;
	}
	if (s->info_err == -EACCES || s->info_err == -EPERM) {
		judge_access(&j, s, KTAU_ACCESS_PROFILE, "profiles");
		return j.nr;
	}
	if (s->info_err) {
		add_problem(&j, "", "cannot query the kernel: %s", strerror(-s->info_err));
		return j.nr;
	}
	if (s->info.version != KTAU_ABI_VERSION)
		add_problem(&j, "install the tools that match this kernel",
			    "the kernel's interface has version %" PRIu32
			    ", these tools support %d",
			    s->info.version, KTAU_ABI_VERSION);
	judge_losses(&j, s);
	judge_collection(&j, &s->info);
	judge_access(&j, s, KTAU_ACCESS_PROFILE, "profiles");
	if (s->info.access & KTAU_ACCESS_PROFILE)
		judge_access(&j, s, KTAU_ACCESS_EXACT, "exact times and single interrupts");
	judge_access(&j, s, KTAU_ACCESS_TRACE, "traces");
	judge_memory(&j, s);
	return j.nr;
}

static void print_groups(uint32_t groups, const char *none, FILE *out)
{
	const char *gap = "", *name;
	uint32_t bit;

	groups &= ~MODES;
	for (bit = 1; bit; bit <<= 1) {
		if (!(groups & bit))
			continue;
		name = ktau_group_name(bit);
		if (name)
			fprintf(out, "%s%s", gap, name);
		else
			fprintf(out, "%s%#" PRIx32, gap, bit);
		gap = ",";
	}
	fputs(groups ? "" : none, out);
}

static void print_bytes(uint64_t bytes, FILE *out)
{
	if (bytes < 1 << 20)
		fprintf(out, "%.1f KiB", (double)bytes / (1 << 10));
	else
		fprintf(out, "%.1f MiB", (double)bytes / (1 << 20));
}

static void print_use(const char *before, uint64_t bytes, uint64_t limit, FILE *out)
{
	fputs(before, out);
	print_bytes(bytes, out);
	fputs(" of ", out);
	print_bytes(limit, out);
}

/* Whether programs that the user starts may have regions, and how they read their figures. */
static void print_regions(const struct status *s, FILE *out)
{
	if (!(s->info.features & KTAU_FEATURE_REGIONS))
		return;
	if (s->info.access & KTAU_ACCESS_EXACT)
		fputs("regions:  your programs may have them, and read their figures without "
		      "system calls\n",
		      out);
	else
		fputs("regions:  none: your programs read their figures by system calls\n", out);
}

static void print_access(const struct status *s, FILE *out)
{
	const char *comma = " ";
	uint32_t bit;

	if (s->has_level)
		fprintf(out,
			"level:    kernel.ktau_paranoid=%" PRId32
			": a user without CAP_PERFMON gets %s\n",
			s->info.paranoid, ktau_paranoid_text(s->info.paranoid));
	if (s->info_err)
		return;
	fputs("you get: ", out);
	if (s->info.access & KTAU_ACCESS_ALL) {
		fputs(" everything, of all tasks and CPUs\n", out);
		print_regions(s, out);
		return;
	}
	for (bit = 1; bit; bit <<= 1) {
		if (!(s->info.access & bit))
			continue;
		if (ktau_access_name(bit))
			fprintf(out, "%s%s", comma, ktau_access_name(bit));
		else
			fprintf(out, "%s%#" PRIx32, comma, bit);
		comma = ", ";
	}
	fprintf(out, "%s\n", s->info.access ? ", of your own tasks" : " nothing");
	print_regions(s, out);
}

static void print_memory(const struct status *s, FILE *out)
{
	const struct ktau_info *info = &s->info;
	const char *before = "memory:   ";

	if (info->memory_limit_bytes) {
		print_use(before, info->memory_bytes, info->memory_limit_bytes, out);
		before = "; ";
	}
	if (info->user_limit_bytes) {
		fputs(before, out);
		print_use("yours ", info->user_bytes, info->user_limit_bytes, out);
		before = "; ";
	}
	if (s->exited_limit_bytes) {
		fputs(before, out);
		fputs("exited tasks up to ", out);
		print_bytes(s->exited_limit_bytes, out);
		before = "; ";
	}
	if (*before == ';')
		fputc('\n', out);
}

static void print_losses(const struct ktau_rec_end *end, FILE *out)
{
	const char *comma = " ";
	unsigned int i;

	fprintf(out, "losses:  ");
	for (i = 0; i < KTAU_NR_LOSSES; i++) {
		if (!ktau_loss_value(end, i))
			continue;
		fprintf(out, "%s%s %" PRIu64, comma, ktau_loss_name(i), ktau_loss_value(end, i));
		comma = ", ";
	}
	fprintf(out, "%s since boot%s\n", *comma == ',' ? "" : " none",
		end->losses_own ? ", of your own tasks" : "");
}

static void print_collection(const struct status *s, FILE *out)
{
	const struct ktau_info *info = &s->info;

	fputs("enabled:  ", out);
	print_groups(info->groups, "none", out);
	if (info->groups_built & ~info->groups & ~MODES) {
		fputs("; not enabled: ", out);
		print_groups(info->groups_built & ~info->groups, "", out);
	}
	fprintf(out, "\nmodes:    profile %s, trace %s",
		info->groups & KTAU_MODE_PROFILE ? "on" : "off",
		info->groups & KTAU_MODE_TRACE ? "on" : "off");
	fprintf(out, ", rings of up to %" PRIu32 " slots\n", info->ring_slots);
	if (!*s->filter)
		return;
	fputs("filter:   ", out);
	print_escaped(s->filter, out);
	fputs(strcmp(s->filter, "none") ? ": other tasks are not measured\n" : "\n", out);
}

/* What can be measured on a kernel without KTAU, by whom, and at what cost. */
static void print_bpf(const struct status *s, FILE *out)
{
	fprintf(out,
		"programs: ktau top, ktau report --live, ktau record, ktau noise, runktau and "
		"ktaud\n"
		"          measure with BPF programs system calls, switches, waits, page faults,\n"
		"          interrupts, softirqs, signals and TCP\n"
		"rights:   root; from kernel 6.12 on, CAP_BPF and CAP_PERFMON: you %s\n"
		"cost:     while they run, about 500 instructions for a system call, 450 for an "
		"interrupt,\n"
		"          a fifth more with a trace (ktau record, ktaud --info=both)\n",
		s->bpf_err ? "may not" : "may");
}

static void print_bpf_limits(FILE *out)
{
	static const char *const adds[] = {
		"the functions in which tasks wait, regions of programs and hooks",
		"everything since boot, instead of since a command was started",
		"your own tasks without rights",
		"a system call at a ninth of the cost: 56 instructions",
	};
	const char *limit;
	unsigned int i;

	fputs("\nA kernel with KTAU adds:\n", out);
	for (i = 0; i < sizeof(adds) / sizeof(*adds); i++)
		fprintf(out, "    %s\n", adds[i]);
	fputs("\nBPF programs do not see:\n", out);
	for (i = 0; (limit = ktau_origin_limit(KTAU_ORIGIN_BPF, i)); i++)
		fprintf(out, "    %s\n", limit);
}

void status_text(const struct status *s, const struct problem *problems, size_t nr, FILE *out)
{
	size_t i;

	fprintf(out, "kernel:   Linux %s, %s, %s, ", s->name.release, s->name.machine,
		s->name.nodename);
	if (s->info_err == -ENOENT)
		fputs("without KTAU\n", out);
	else if (s->info_err)
		fputs("with KTAU\n", out);
	else
		fprintf(out, "with KTAU, interface version %" PRIu32 "\n", s->info.version);
	print_access(s, out);
	if (s->info_err == -ENOENT && s->has_bpf)
		print_bpf(s, out);
	if (!s->info_err) {
		print_collection(s, out);
		print_memory(s, out);
	}
	if (s->has_end)
		print_losses(&s->end, out);
	fputs(nr ? "\n" : "\nEverything can be measured.\n", out);
	for (i = 0; i < nr; i++) {
		fprintf(out, "%s\n", problems[i].text);
		if (*problems[i].command)
			fprintf(out, "    %s\n", problems[i].command);
	}
	if (s->info_err == -ENOENT && s->has_bpf)
		print_bpf_limits(out);
}

static void json_groups(const char *key, uint32_t groups, FILE *out)
{
	fprintf(out, "\"%s\": \"", key);
	print_groups(groups, "", out);
	fputs("\", ", out);
}

static void json_info(const struct status *s, FILE *out)
{
	const struct ktau_info *info = &s->info;

	fprintf(out, "\"version\": %" PRIu32 ", \"access\": %" PRIu32 ", ", info->version,
		info->access);
	json_groups("groups_built", info->groups_built, out);
	json_groups("groups", info->groups, out);
	fprintf(out, "\"profile\": %s, \"trace\": %s, \"ring_slots\": %" PRIu32 ", ",
		info->groups & KTAU_MODE_PROFILE ? "true" : "false",
		info->groups & KTAU_MODE_TRACE ? "true" : "false", info->ring_slots);
	fprintf(out, "\"memory_bytes\": \"%llu\", \"memory_limit_bytes\": \"%llu\", ",
		info->memory_bytes, info->memory_limit_bytes);
	fprintf(out, "\"user_bytes\": \"%llu\", \"user_limit_bytes\": \"%llu\", ", info->user_bytes,
		info->user_limit_bytes);
}

static void json_end(const struct ktau_rec_end *end, FILE *out)
{
	unsigned int i;

	fprintf(out, "\"losses_own\": %s, \"losses\": {", end->losses_own ? "true" : "false");
	for (i = 0; i < KTAU_NR_LOSSES; i++)
		fprintf(out, "%s\"%s\": \"%" PRIu64 "\"", i ? ", " : "", ktau_loss_name(i),
			ktau_loss_value(end, i));
	fputs("}, ", out);
}

void status_json(const struct status *s, const struct problem *problems, size_t nr, FILE *out)
{
	size_t i;

	fputs("{\"release\": ", out);
	json_string(s->name.release, out);
	fputs(", \"machine\": ", out);
	json_string(s->name.machine, out);
	fputs(", \"host\": ", out);
	json_string(s->name.nodename, out);
	fprintf(out, ", \"ktau\": %s, ", s->info_err == -ENOENT ? "false" : "true");
	if (s->has_bpf)
		fprintf(out, "\"bpf\": true, \"bpf_permitted\": %s, ",
			s->bpf_err ? "false" : "true");
	if (s->has_level)
		fprintf(out, "\"paranoid\": %" PRId32 ", ", s->info.paranoid);
	if (!s->info_err)
		json_info(s, out);
	fprintf(out, "\"exited_limit_bytes\": \"%" PRIu64 "\", \"filter\": ",
		s->exited_limit_bytes);
	json_string(s->filter, out);
	fputs(", ", out);
	if (s->has_end)
		json_end(&s->end, out);
	fputs("\"problems\": [", out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n  {\"text\": " : "\n  {\"text\": ", out);
		json_string(problems[i].text, out);
		fputs(", \"command\": ", out);
		json_string(problems[i].command, out);
		fputc('}', out);
	}
	fputs("]}\n", out);
}

/* Leave nothing in @s that tells whose machine it is, or what runs there. */
static void anonymise(struct status *s)
{
	strcpy(s->name.nodename, "HOST");
	if (*s->filter && strcmp(s->filter, "none"))
		strcpy(s->filter, "set");
}

static int bug_report(struct status *s, const struct problem *problems, size_t nr)
{
	anonymise(s);
	fputs("## Machine\n", stdout);
	machine_print(stdout);
	fputs("\n## Status\n", stdout);
	status_text(s, problems, nr, stdout);
	if (s->info_err != -ENOENT) {
		fputs("\n## Counters\n", stdout);
		counters_print(NULL, 0, FORMAT_TEXT);
	}
	return cli_finish(stdout) ? CLI_FAILED : CLI_DONE;
}

static int status_main(int argc, char **argv)
{
	struct problem problems[STATUS_PROBLEMS];
	struct options o = { 0 };
	struct status s;
	int status;
	size_t nr;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.counters) {
		status = counters_print(o.names, o.nr_names, o.json ? FORMAT_JSON : FORMAT_TEXT);
		return cli_finish(stdout) ? CLI_FAILED : status;
	}
	collect(&s);
	nr = status_judge(&s, problems);
	if (o.bug_report)
		return bug_report(&s, problems, nr);
	if (o.json)
		status_json(&s, problems, nr, stdout);
	else
		status_text(&s, problems, nr, stdout);
	return cli_finish(stdout) || nr ? CLI_FAILED : CLI_DONE;
}

const struct subcommand subcommand_status = {
	"status", status_main, "show what can be measured, and how to enable the rest",
	&parser, SUBCOMMAND_LOOK
};
