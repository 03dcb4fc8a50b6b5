// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands on the machine of machine.c: output compared with golden files,
 * exit status, and messages about invalid input.
 *
 * In a command, $T is a folder with good.ktau, zlib.ktau, wrong.ktau,
 * nowhere.ktau, part1.ktau and part2.ktau; of saved streams, saved (the records of
 * good.ktau), stream, rounded, unknown, bpf, partly, contrary, measured, less,
 * woken, rebooted, elsewhere and node1 to node4;
 * $D is the folder of recorded data and $M that of maps. KTAU_GOLDEN=write
 * rewrites the golden files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "vm_files.h"

#define GOLDEN "tests/unit/tools/data/golden/"
#define MARKS "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15"

static char folder[] = "/tmp/ktau-cli-XXXXXX";

struct text {
	char *data;
	size_t bytes;
};

static struct text slurp(const char *path)
{
	FILE *f = fopen(path, "re");
	struct text t = { NULL, 0 };
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	t.data = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(t.data);
	t.bytes = fread(t.data, 1, (size_t)st.st_size, f);
	fclose(f);
	return t;
}

static void spill(const char *path, const char *data, size_t bytes)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

/* Run a shell command; its output, including standard error, goes to $T/out. */
static int run(const char *command)
{
	char line[1024];
	int status;

	snprintf(line, sizeof(line), "{ %s\n} >$T/out 2>&1", command);
	status = system(line);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct text output(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/out", folder);
	return slurp(path);
}

struct golden {
	const char *name;
	const char *command;
	int status;
};

static const struct golden goldens[] = {
	{ "report", "ktau report $T/good.ktau", 0 },
	/* A saved stream is sufficient for a report. */
	{ "report", "ktau report $T/saved", 0 },
	{ "report", "ktau report - <$T/good.ktau", 0 },
	/* The report of several files equals that of one file. */
	{ "report", "ktau report $T/part1.ktau $T/part2.ktau", 0 },
	/* A boot after the period is ignored. */
	{ "report", "ktau report --to=+2 $T/good.ktau $T/rebooted", 0 },
	{ "report", "ktau report --from=+0 --to=+2.5 $T/good.ktau $T/rebooted", 0 },
	/* The times that are printed. */
	{ "report", "ktau report --from=\"$(ktau report --details $T/good.ktau | "
		    "sed -n 's/.*from \\(.*\\) (stream 1).*/\\1/p')\" $T/good.ktau",
	  0 },
	{ "report", "ktau report --from=$(ktau dump $T/good.ktau | "
		    "sed -n 's/^stream 1 profile \\([^ ]*\\) .*/\\1/p') $T/good.ktau",
	  0 },
	{ "report-last", "ktau report --period=3 $T/good.ktau", 0 },
	{ "report-last", "ktau report --period=3 $T/good.ktau $T/rebooted", 0 },
	{ "report-rebooted", "ktau report $T/good.ktau $T/rebooted", 0 },
	{ "report-rebooted", "ktau report --period=4 $T/good.ktau $T/rebooted", 0 },
	{ "report-bpf", "ktau report $T/bpf", 0 },
	{ "report-bpf-csv", "ktau report --format=csv --tables=total $T/bpf", 0 },
	{ "report-bpf-json", "ktau report --format=json --tables=total $T/bpf", 0 },
	{ "report-partly", "ktau report $T/partly", 0 },
	{ "report-partly-csv", "ktau report --format=csv $T/partly", 0 },
	{ "report-partly-name", "ktau report --name=partly $T/partly", 0 },
	/* An account that contradicts itself is said to do so. */
	{ "report-contrary", "ktau report --by=thread $T/contrary", 0 },
	/* An idle task has no waits. */
	{ "report-contrary-waits", "ktau report --waits $T/contrary", 0 },
	/* A task that was asked for is shown even if nothing is known of it. */
	{ "report-contrary-pid", "ktau report --pid=520 $T/contrary", 0 },
	{ "report-contrary-pid-waits", "ktau report --waits --pid=521 $T/contrary", 0 },
	{ "report-narrow", "COLUMNS=80 ktau report $T/good.ktau", 0 },
	{ "report-over-time", "ktau report --over-time $T/good.ktau", 0 },
	{ "report-over-time", "ktau report --over-time=0.5s $T/part1.ktau $T/part2.ktau", 0 },
	{ "report-over-time-csv", "ktau report --over-time --by=process --format=csv "
				  "$T/good.ktau",
	  0 },
	{ "report-interrupts", "ktau report --cpus $T/good.ktau", 0 },
	{ "report-by-user", "ktau report --by=user $T/good.ktau", 0 },
	{ "report-elsewhere", "ktau report --host=othernode $T/good.ktau $T/elsewhere", 0 },
	{ "report", "ktau report --host=ionode $T/elsewhere $T/good.ktau", 0 },
	{ "report-few", "ktau report --processes=2 --idle --by=process $T/good.ktau", 0 },
	{ "report-waits", "ktau report --waits $T/good.ktau", 0 },
	{ "report-woken", "ktau report --waits $T/woken", 0 },
	{ "report-woken-csv", "ktau report --waits --format=csv $T/woken", 0 },
	{ "report-details", "ktau report --details $T/good.ktau", 0 },
	{ "report-details", "ktau report --details $T/saved | "
			    "sed \"s,of $T/saved:,of $T/good.ktau:,\"",
	  0 },
	{ "report-details", "ktau report --details $T/part1.ktau $T/part2.ktau | "
			    "sed \"1s,of .*ktau:,of $T/good.ktau:,\"",
	  0 },
	{ "report-from", "ktau report --from=+1 --tables=total $T/part*.ktau | "
			 "sed \"1s,of .*ktau:,of $T/good.ktau:,\"",
	  0 },
	{ "report-parts", "ktau report --period=1 --tables=total $T/part*.ktau", 0 },
	{ "report-boot", "ktau report --boot --tables=account,total,losses $T/good.ktau", 0 },
	{ "report-period", "ktau report --period=2 --tables=processes $T/zlib.ktau", 0 },
	{ "report-from", "ktau report --from=+1 --tables=total $T/good.ktau", 0 },
	{ "report-thread", "ktau report --by=thread --tables=processes $T/good.ktau", 0 },
	{ "report-name", "ktau report --by=name --tables=processes $T/good.ktau", 0 },
	{ "report-cgroup", "ktau report --by=cgroup --tables=account,processes,total $T/saved", 0 },
	{ "report-in-cgroup", "ktau report --cgroup=/user.slice $T/good.ktau", 0 },
	{ "report-user", "ktau report --uid=33 --tag=7 --tables=total,losses $T/good.ktau", 0 },
	{ "report-rounded", "ktau report $T/rounded", 0 },
	{ "report-unknown", "ktau report --details $T/unknown", 0 },
	{ "check-unknown", "ktau check $T/unknown $T/rounded $T/saved", 0 },
	{ "dump-unknown", "ktau dump $T/unknown", 0 },
	{ "events", "ktau events $T/good.ktau", 0 },
	{ "events-tau", "ktau events --format=tau $T/good.ktau", 0 },
	{ "events-unknown", "ktau events --format=json $T/unknown", 0 },
	{ "report-top", "ktau report --top=1 --processes=2 --sort=count $T/good.ktau", 0 },
	{ "report-group", "ktau report --group=tcp,irq $T/good.ktau", 0 },
	{ "report-pid", "ktau report --pid=200,101 $T/good.ktau", 0 },
	{ "report-pattern", "ktau report --name='s[lh]*' --tables=processes $T/good.ktau", 0 },
	{ "report-pattern", "ktau report --name='short , sleeper' --tables=processes "
			    "$T/good.ktau",
	  0 },
	{ "report-idle", "ktau report --idle --name='k*' --tables=processes $T/good.ktau", 0 },
	/* A table that has a task with this tid, in any column. */
	{ "report-tid", "ktau report --pid=101 --tables=processes $T/good.ktau", 0 },
	{ "report-tid-name", "ktau report --by=name --pid=101 --tables=processes $T/good.ktau", 0 },
	{ "report-tid-thread", "ktau report --by=thread --pid=101 --tables=processes "
			       "$T/good.ktau",
	  0 },
	{ "report-map", "ktau report -m $M/good.map --tables=total $T/good.ktau", 0 },
	{ "report-subtract", "ktau report --subtract --tables=total $T/good.ktau", 0 },
	{ "report-csv", "ktau report --format=csv $T/good.ktau", 0 },
	{ "report-csv-all", "ktau report --format=csv --tables=all --pid=100 $T/good.ktau", 0 },
	{ "report-json", "ktau report --format=json $T/good.ktau", 0 },
	{ "report-json-details", "ktau report --format=json --details $T/good.ktau", 0 },
	{ "compare", "ktau compare $T/good.ktau $D/recorded.ktau", 0 },
	{ "compare-same", "ktau compare $T/good.ktau $T/good.ktau", 0 },
	{ "compare-json", "ktau compare --all --format=json --name=s* $T/good.ktau "
			  "$D/recorded.ktau",
	  0 },
	/* Two events of one name are one routine. */
	{ "compare-hosts", "ktau compare --by=host --all $T/node1 $T/node2 $T/node3", 0 },
	{ "compare-names", "ktau compare --all $T/node1 $T/node2", 0 },
	/* What was not measured is unknown, not 0. */
	{ "compare-less", "ktau compare --all $T/measured $T/less", 0 },
	{ "compare-less-json", "ktau compare --format=json $T/less $T/measured", 0 },
	{ "compare-hosts-less", "ktau compare --by=host --all $T/node[1234]", 0 },
	{ "path", "ktau path -t master $D/family.ktau", 0 },
	/* A file of another boot changes nothing. */
	{ "path-machines", "ktau path -t master@guest --top=3 $D/family.ktau $T/stream", 0 },
	{ "path-full", "ktau path -t 83 --mode=full --top=3 $D/family.ktau", 0 },
	{ "path-pipe", "cat $D/family.ktau | ktau path -t c2 -", 0 },
	{ "path-csv", "ktau path -t master --from=+9.1 --to=+9.3 --csv $D/family.ktau", 0 },
	{ "path-json", "ktau path -t c1 --json $D/family.ktau", 0 },
	{ "path-segments", "ktau path -t c1 --segments --csv $D/family.ktau", 0 },
	{ "path-tree", "ktau path -t run-parts --tree $D/login.ktau", 0 },
	{ "path-tree-csv", "ktau path -t 71 --mode=full --tree --csv $D/login.ktau", 0 },
	{ "path-blame", "ktau path --blame=[0-9u]* --top=6 $D/login.ktau", 0 },
	{ "path-blame-csv", "ktau path --blame --from=+9.1 --to=+9.3 --csv $D/family.ktau", 0 },
	{ "view-cpus", "ktau view cpus $D/login.ktau", 0 },
	{ "vm", "ktau vm $T/vm/host.ktau $T/vm/guest*", 0 },
	{ "vm-csv", "ktau vm --csv $T/vm/host.ktau $T/vm/guest*", 0 },
	{ "vm-json", "ktau vm --json --task=detector $T/vm/host.ktau $T/vm/guest*", 0 },
	{ "vm-intervals", "ktau vm --task=55 --intervals $T/vm/host.ktau $T/vm/guest*", 0 },
	{ "view-waits-csv", "ktau view waits --csv $D/family.ktau", 0 },
	{ "view-json", "ktau view cpus --from=+9.1 --to=+9.3 --json - <$D/family.ktau", 0 },
	{ "view-intervals", "ktau view cpus --intervals --to=+0.2 $D/family.ktau", 0 },
	{ "view-intervals-csv", "ktau view cpus --intervals --to=+0.13 --csv $D/family.ktau",
	  0 },
	{ "view-mpi", "ktau view mpi --region-names=$T/marks $T/good.ktau", 0 },
	{ "view-mpi-csv", "ktau view mpi --region-names=$T/marks --intervals --csv "
			  "$T/good.ktau", 0 },
	{ "view-points", "ktau view --intervals --csv $D/points.view $T/good.ktau", 0 },
	{ "view-stats", "ktau view $D/polls.view $D/login.ktau", 0 },
	{ "view-stats-json", "ktau view --json $D/polls.view $D/login.ktau", 0 },
	{ "report-view", "ktau report --view=mpi --region-names=$T/marks $T/good.ktau", 0 },
	{ "report-view-csv", "ktau report --view=$D/polls.view --format=csv --from=+2 --to=+3 "
			     "$D/login.ktau", 0 },
	{ "report-view-json", "ktau report --view=cpus --format=json $D/family.ktau", 0 },
	{ "view-xml", "ktau view --region-names=$T/marks $D/fuzz/view/ranks.xml $T/good.ktau", 0 },
	{ "view-nothing", "ktau view mpi $D/login.ktau", 1 },
	{ "view-similar", "echo 'on enter sys_reed set a = 1 ; set b = 2 ; row a\non oncpu none a' "
			  ">$T/view; ktau view $T/view $D/login.ktau", 1 },
	{ "view-list", "ktau view --list", 0 },
	{ "path-dot", "ktau path --blame=c[12] --format=dot $D/family.ktau", 0 },
	{ "check", "ktau check $T/good.ktau $T/zlib.ktau", 0 },
	{ "export-order", "ktau export --json -o $T/twice.json $T/good.ktau $T/good.ktau", 1 },
	{ "check-unmeasured", "ktau check $T/contrary", 1 },
	{ "check-parts", "ktau check $T/part2.ktau $T/part1.ktau", 0 },
	{ "check-wrong", "ktau check $T/good.ktau $T/wrong.ktau", 1 },
	{ "dump", "ktau dump $T/good.ktau", 0 },
	{ "dump-map", "ktau dump -m $M/good.map $T/good.ktau", 0 },
	{ "dump-map", "funcMap -m $M/good.map $T/good.ktau", 0 },
	{ "dump-map", "funcMap -p $M/good.map $T/zlib.ktau", 0 },
	{ "dump-map", "cat $T/good.ktau | funcMap -m $M/good.map", 0 },
	{ "dump-map", "{ head -c 3; sleep 0.1; cat; } <$T/good.ktau | "
		      "funcMap -m $M/good.map -",
	  0 },
	{ "dump-map", "mkfifo $T/fifo; cat $T/zlib.ktau >$T/fifo & "
		      "funcMap -m $M/good.map $T/fifo",
	  0 },
	{ "dump-stream", "funcMap -m $M/good.map $T/stream", 0 },
	{ "dump-stream", "{ head -c 9; sleep 0.1; cat; } <$T/stream | funcMap -m $M/good.map", 0 },
	{ "report-name-bytes", "ktau report --tables=processes $T/stream", 0 },
	{ "report-name-json", "ktau report --tables=processes --format=json $T/stream", 0 },
	/* The same kernel, linked elsewhere: the file has the address at which it ran. */
	{ "dump-map", "funcMap -m $M/elsewhere.map $T/good.ktau", 0 },
	{ "help", "ktau --help", 0 },
	/* From a kernel: sh runs sleep in a loop until it is killed, cat reads. */
	{ "recorded", "ktau report --details $D/recorded.ktau", 0 },
	/* The file recorded.findings says that the recording is known to have some. */
	{ "recorded-check", "ktau check $D/recorded.ktau || [ -e $D/recorded.findings ]", 0 },
	{ "recorded-dump", "ktau dump $D/recorded.ktau | sed -n \"/^stream 3/,/^end/p\"", 0 },
	{ "text", "funcMap -m $M/good.map $D/text", 0 },
	{ "text", "funcMap -t $M/good.map $D/text", 0 },
	{ "text", "cat $D/text | funcMap -m $M/good.map", 0 },
	{ "text", "cat $D/text | funcMap -m $M/good.map -", 0 },
	{ "text", "funcMap --slide=-0x1000000 -m $M/elsewhere.map $D/text", 0 },
	{ "text", "funcMap --stext=0xffffffff81000000 -m $M/elsewhere.map $T/text", 0 },
	{ "text", "funcMap --stext=ffffffff81000000 -m $M/elsewhere.map $T/text", 0 },
	{ "text", "funcMap -m $M/good.map -o $T/o $D/text; cat $T/o", 0 },
};

/* The folder has another name in every run. */
static void normalise(struct text *t)
{
	size_t length = strlen(folder);
	char *at = t->data;

	while ((at = strstr(at, folder))) {
		memmove(at + 2, at + length, t->bytes - (size_t)(at + length - t->data) + 1);
		memcpy(at, "$T", 2);
		t->bytes -= length - 2;
	}
}

static void test_golden(void **state)
{
	const struct golden *g = *state;
	struct text got, want;
	char path[128];

	assert_int_equal(run(g->command), g->status);
	got = output();
	normalise(&got);
	snprintf(path, sizeof(path), GOLDEN "%s", g->name);
	if (getenv("KTAU_GOLDEN"))
		spill(path, got.data, got.bytes);
	want = slurp(path);
	assert_string_equal(got.data, want.data);
	free(got.data);
	free(want.data);
}

struct complaint {
	const char *command;
	int status;
	const char *words; /* must be in the output */
};

static const struct complaint complaints[] = {
	/* Usage. */
	{ "ktau", 2, "Usage: ktau COMMAND" },
	{ "ktau nonsense", 2, "no command 'nonsense'" },
	{ "ktau help nonsense", 2, "no command 'nonsense'" },
	{ "ktau help report", 0, "Usage: ktau report [OPTION...] FILE...\n" },
	{ "ktau -h", 0, "Usage: ktau COMMAND" },
	{ "ktau --usage", 0, "Usage: ktau COMMAND" },
	{ "ktau -V", 0, "ktau 1." },
	{ "ktau check -h", 0, "Usage: ktau check [OPTION...] FILE...\n" },
	{ "ktau check -V", 0, "ktau check 1." },
	{ "ktau dump --usage", 0, "Usage: ktau dump [-?hV] [-m FILE]" },
	{ "runktau -h", 0, "Usage: runktau" },
	{ "funcMap -h", 0, "Usage: funcMap" },
	/* Terminal escapes in names are printed as text. */
	{ "ktau report \"$(printf '\\033[2J')\"", 1, "\\033[2J: No such file" },
	{ "ktau \"$(printf '\\033[2J')\"", 2, "no command '\\033[2J'" },
	{ "ktau report --by=\"$(printf '\\033')\" x", 2, "--by=\\033: not" },
	{ "cp $T/good.ktau $T/$(printf 'a\\033b'); ktau check $T/a*b", 0,
	  "/a\\033b: 4 streams" },
	{ "ktau report --details $T/a*b", 0, "of $T/a\\033b: " },
	/* A group can be disabled without --. */
	{ "ktau control -all -x", 1, "ktau control: " },
	{ "ktau control --nonsense", 2, "unrecognized option" },
	{ "ktau control -h", 0, "Usage: ktau control" },
	{ "ktau path", 2, "a FILE is required" },
	{ "ktau path --format=dot $D/family.ktau", 2, "--format=dot requires --blame" },
	{ "ktau path --format=graph $D/family.ktau", 2, "not text, csv, json or dot" },
	{ "ktau path --blame --task=83 $D/family.ktau", 2, "--blame takes no --task" },
	{ "ktau path --mode=full --blame $D/family.ktau", 2, "--blame takes no --mode=full" },
	{ "ktau path --region=x --from=+1 $D/family.ktau", 2, "--region takes no --from" },
	{ "ktau path --region=x --to=+1 $D/family.ktau", 2, "--region takes no --from and no" },
	{ "ktau path --blame=nobody $D/family.ktau", 1, "has no task 'nobody'" },
	{ "ktau path --region=x $D/family.ktau", 1, "no complete pass through the region 'x'" },
	{ "ktau path --mode=x $D/family.ktau", 2, "--mode=x: not bounded or full" },
	{ "ktau path --from=x $D/family.ktau", 2, "--from=x: not a time" },
	{ "ktau path $D/family.ktau", 1, "select a task with --task=PID" },
	{ "ktau path -t nobody $D/family.ktau", 1, "has no task 'nobody'" },
	{ "ktau path -t c1 --from=+99 $D/family.ktau", 1, "not within the trace" },
	{ "ktau path $T/part1.ktau", 1, "has no trace" },
	{ "ktau vm $T/vm/host.ktau", 2, "needs a recording of the host and one of each guest" },
	{ "ktau vm --intervals=x $T/vm/host.ktau $T/vm/guest1.ktau", 2, "not a number of micro" },
	{ "ktau vm $T/part1.ktau $T/vm/guest1.ktau", 1, "part1.ktau: has no trace" },
	{ "ktau vm $T/vm/guest1.ktau $T/vm/guest2.ktau", 1, "guest1.ktau: no virtual CPU ran" },
	{ "ktau vm $T/vm/host.ktau $T/vm/guest1.ktau $D/family.ktau", 1,
	  "family.ktau: was not recorded while a virtual CPU ran in" },
	/* On a machine without KTAU. */
	{ "[ -e /proc/ktau ] || ktau report --live --source=kernel", 1,
	  "no KTAU: there is no /proc/ktau" },
	{ "[ -e /proc/ktau ] || ktau check --live", 1, "no KTAU: there is no /proc/ktau" },
	{ "[ -e /proc/ktau ] || ktau events", 1, "no KTAU: there is no /proc/ktau" },
	{ "[ -e /proc/ktau ] || ktau status --counters", 1, "no KTAU: there is no /proc/ktau" },
	{ "[ -e /proc/ktau ] || ktau hook list", 1, "no KTAU: there is no /proc/ktau" },
	{ "[ -e /proc/ktau ] || ktau hook add x", 1, "this kernel has no KTAU" },
	{ "ktau hook", 2, "add, del or list is missing" },
	{ "ktau hook show", 2, "show: not add, del or list" },
	{ "ktau hook add", 2, "FUNCTION is missing" },
	{ "ktau hook add ''", 2, "'': not the name of a function" },
	{ "ktau hook add 'x trace=on'", 2, "'x trace=on': not the name of a function" },
	{ "ktau hook list x", 2, "list takes no FUNCTION" },
	{ "ktau hook --format=xml list", 2, "--format=xml: not" },
	{ "ktau hook -h", 0, "Usage: ktau hook" },
	{ "ktau report", 2, "either a FILE or --live is required" },
	{ "ktau report --live $T/good.ktau", 2, "either a FILE or --live is required" },
	{ "ktau report --live a b", 2, "either a FILE or --live is required" },
	{ "ktau report --sort=size x", 2, "--sort=size: not" },
	{ "ktau report --by=x x", 2, "--by=x: not" },
	{ "ktau report --format=xml x", 2, "--format=xml: not" },
	{ "ktau report --tables=total,x x", 2, "no such table" },
	{ "ktau report --group=tcp,x x", 2, "no group 'x'" },
	{ "ktau report --pid=1,x x", 2, "not a list of pids" },
	{ "ktau report --pid=-1 x", 2, "not a list of pids" },
	{ "ktau report --pid=99999999999 x", 2, "not a list of pids" },
	{ "ktau report --period=0 x", 2, "periods are numbered from 1" },
	{ "ktau report --period=x x", 2, "--period=x: not a number" },
	{ "ktau report --from=soon x", 2,
	  "--from=soon: not a time: use \"2026-01-31 13:00:05+0100\"" },
	{ "ktau report --interval=1 x", 2, "--interval requires --live" },
	{ "ktau report --live --interval=0", 2, "not a number of seconds" },
	{ "ktau report --live --over-time", 2, "--over-time requires a FILE" },
	{ "ktau report --over-time=x f", 2, "not a number of seconds" },
	{ "ktau report --over-time $T/stream", 1, "which takes two streams" },
	{ "ktau report --over-time --name=nobody $T/good.ktau", 1, "nothing matches" },
	{ "ktau report --over-time $T/good.ktau $T/elsewhere", 1, "select one with --host=NAME" },
	{ "ktau report --host=nowhere $T/good.ktau", 1, "contains no profiles of host nowhere" },
	{ "ktau report --live --period=1", 2, "--to require a FILE" },
	{ "ktau export --csv --view=cpus x", 2, "--view, --path and --vm go with --perf" },
	{ "ktau export --sqlite --path x", 2, "--view, --path and --vm go with --perf" },
	{ "ktau export --perfetto --path=a --view=cpus x", 2, "only one of them can be given" },
	{ "ktau export --perfetto --path -o $T/x $D/recorded.ktau", 1, "select a task with" },
	{ "ktau export --chrome --view=cpus -o x -", 2, "can be read only once, and this takes" },
	{ "ktau export --chrome --view=mpi -o $T/none.json $D/login.ktau", 1,
	  "no event 'user mpi:work(rank)', " },
	{ "ktau export --hours --json x", 2, "--hours goes with --csv, without --map" },
	{ "ktau export --hours --csv --map=m x", 2, "--hours goes with --csv, without --map" },
	{ "ktau export --after=x --csv x", 2, "--after goes with --hours" },
	{ "ktau export --hours --csv -o $T/hours $T/stream", 1, "fewer than two streams" },
	{ "ktau export --hours --csv -o $T/hours $T/none", 1, "none: No such file" },
	{ "ktau compare $T/good.ktau", 2, "two files are required" },
	{ "ktau compare --by=host", 2, "a directory, or files of several hosts, is required" },
	{ "ktau compare --by=host --name=x a", 2, "it takes no --name" },
	{ "ktau compare --by=host --host=x a", 2, "it takes no --host" },
	{ "ktau compare --by=node a", 2, "not name, cgroup, user or host" },
	{ "ktau compare --by=host $T/good.ktau", 1, "has profiles of 1 hosts, and at least 3" },
	{ "ktau compare --by=host $T/none", 1, "none: No such file" },
	{ "ktau compare --by=host /dev/null", 1, "read /dev/null: neither a file nor a directory" },
	{ "mkfifo $T/pipe && ktau compare --by=host $T/pipe", 1, "pipe: neither a file nor" },
	{ "ln -s none $T/link && ktau compare --by=host $T/link", 1, "read $T/link: No such file" },
	/* A file that cannot be replaced is kept. */
	/* What is read several times cannot come from a pipe. */
	{ "mkfifo $T/once; timeout 10 ktau report --html=$T/p $T/once", 2,
	  "--html: $T/once can be read only once" },
	{ "cat $T/good.ktau | ktau report --html=$T/p /dev/stdin", 2, "can be read only once" },
	{ "ktau report --html=$T/p - <$T/good.ktau", 2, "standard input can be read only once" },
	{ "timeout 10 ktau top $T/once", 2, "$T/once can be read only once" },
	{ "echo kept >$T/page; trap '' XFSZ; ulimit -f 1; ktau report --html=$T/page $T/good.ktau; "
	  "s=$?; grep -q kept $T/page || s=9; exit $s", 1, "cannot write $T/page: File too large" },
	{ "echo kept >$T/svg; trap '' XFSZ; ulimit -f 1; ktau flame -o $T/svg $T/good.ktau; "
	  "s=$?; grep -q kept $T/svg || s=9; exit $s", 1, "cannot write $T/svg: File too large" },
	{ "ktau compare a b c", 2, "only two files can be compared" },
	{ "ktau compare --by=process a b", 2, "not name, cgroup, user or host" },
	{ "ktau compare $T/good.ktau $T/stream", 1, "which takes two streams" },
	{ "ktau compare $T/none $T/good.ktau", 1, "none: No such file" },
	{ "ktau record", 125, "a COMMAND is required" },
	{ "ktau record --ring=x true", 125, "--ring=x: not a number of slots" },
	{ "ktau record --path --groups=all true", 125, "--path takes no --groups" },
	{ "[ -e /proc/ktau ] || ktau record --source=kernel true", 125,
	  "boot a kernel with CONFIG_KTAU)" },
	{ "ktau record --source=ebpf true", 125, "--source=ebpf: not auto, kernel or bpf" },
	{ "ktau report --live --source=ebpf", 2, "--source=ebpf: not auto, kernel or bpf" },
	{ "ktau top --source=ebpf", 2, "--source=ebpf: not auto, kernel or bpf" },
	{ "ktau noise --inject=5", 2, "not PERIOD:LENGTH[:CPU]" },
	{ "ktau noise --inject=5:6", 2, "not PERIOD:LENGTH[:CPU]" },
	{ "ktau noise x", 2, "unexpected argument" },
	{ "[ -e /proc/ktau ] || ktau noise --source=kernel", 1, "boot a kernel with CONFIG_KTAU" },
	{ "[ -e /proc/ktau ] || ktau control +tcp", 1, "ktau status says what works without" },
	{ "[ -e /proc/ktau ] || ktau check --live 2>&1 | wc -l | grep -x 1", 0, "" },
	{ "ktau check", 2, "either a FILE or --live is required" },
	{ "ktau check --max=x f", 2, "not a number" },
	{ "ktau dump", 2, "a FILE is required" },
	{ "ktau events x y", 2, "only one FILE can be given" },
	{ "ktau mark", 125, "a NAME and a COMMAND are required" },
	{ "ktau mark x", 125, "a NAME and a COMMAND are required" },
	{ "ktau mark a/b true", 125, "'a/b': not a name for a region" },
	{ "ktau mark --names=$T/none x true", 125, "none: No such file" },
	{ "ktau mark x $T/none", 127, "cannot run $T/none: No such file" },
	{ "[ -e /proc/ktau ] || ktau mark x true", 0, "x is not measured: the kernel has no KTAU" },
	{ "KTAU_USER_MARK=" MARKS " ktau mark x env", 0, "KTAU_USER_MARK=" MARKS "/x\n" },
	{ "KTAU_USER_MARK=//" MARKS "/ ktau mark x env", 0, "KTAU_USER_MARK=//" MARKS "//x\n" },
	{ "KTAU_USER_MARK=" MARKS "/16 ktau mark x env", 0, "KTAU_USER_MARK=" MARKS "/16\n" },
	{ "KTAU_USER_MARK=" MARKS "/16 ktau mark x true", 0,
	  "ktau mark: region x is not measured: marks can be nested 16 deep\n" },
	{ "ktau regions x y", 2, "only one FILE can be given" },
	{ "ktau regions --pid=0 $T/good.ktau", 2, "--pid=0: not a pid" },
	{ "ktau regions $T/good.ktau", 1, "good.ktau: no task has regions" },
	{ "ktau report --path f", 2, "--path goes with --html, without --view" },
	{ "ktau report --html=x --path=nobody $D/recorded.ktau", 1, "has no task 'nobody'" },
	{ "ktau report --blame f", 2, "--blame goes with --html; otherwise use ktau path --blame" },
	{ "ktau report --html=x --blame=nobody $D/recorded.ktau", 1, "has no task 'nobody'" },
	{ "ktau report --view=cpus --live", 2, "--view has its own rows" },
	{ "ktau report --view=cpus --html=x --live", 2, "--view has its own rows" },
	{ "ktau report --view=cpus --period=1 f", 2, "--view: use --from and --to" },
	{ "ktau report --view=cpus $T/none", 1, "none: No such file" },
	{ "ktau report --view=$T/none f", 1, "cannot read $T/none: No such file" },
	{ "ktau view", 2, "a VIEW is required" },
	{ "ktau view a", 2, "a FILE or --live is required" },
	{ "ktau view --live", 2, "a VIEW is required" },
	{ "ktau view --live cpus f", 2, "--live takes no FILE" },
	{ "ktau view --live cpus --json", 2, "--live takes no --from, --to" },
	{ "ktau view --interval=1 cpus f", 2, "--interval and --window require --live" },
	{ "ktau view --live --window=0 cpus", 2, "--window=0: not a number of seconds" },
	{ "ktau view --live cpu", 1, "did you mean 'cpus'?" },
	{ "ktau view cpus", 2, "a FILE or --live is required" },
	{ "ktau view --check=v --list", 2, "only one of --list and --check" },
	{ "ktau view --list f", 2, "--list takes no FILE" },
	{ "ktau view --check=v f", 2, "--check takes no FILE" },
	{ "ktau view --max-states=0 v f", 2, "--max-states=0: not a number from 1" },
	{ "ktau view --format=xml v f", 2, "--format=xml: not text, csv or json" },
	{ "ktau view cpu f", 1, "no built-in view and no file 'cpu'; did you mean 'cpus'?" },
	{ "ktau view ranks.xml f", 1, "no built-in view and no file 'ranks.xml'" },
	{ "ktau report --view=lock f", 1, "no file 'lock'; did you mean 'locks'?" },
	{ "ktau view $T/none f", 1, "cannot read $T/none: No such file" },
	{ "ktau view cpus $T/none", 1, "none: No such file" },
	{ "ktau view cpus $T/stream", 1, "stream: has no trace" },
	{ "ktau view cpus --from=+99 $D/login.ktau", 1, "times are not within the trace" },
	{ "ktau view cpus --from=+1 --to=+1 $D/login.ktau", 1, "not within the trace" },
	{ "ktau view cpus $D/login.ktau $D/recorded.ktau", 1, "is from a different boot" },
	{ "ktau view cpus --max-states=2 $D/login.ktau", 1, "more than 2 intervals" },
	{ "ktau view cpus --max-states=50 --intervals $D/login.ktau", 1, "more than 50" },
	{ "printf 'row a\non x' >$T/view; ktau view --check=$T/view", 1,
	  "view:2:4: unknown event 'x'" },
	{ "echo '<tmfxml><fsm/></tmfxml>' >$T/view; ktau view --check=$T/view", 1,
	  "view:1: the element <fsm> is not supported" },
	{ "for v in tools/ktau/view/*.view; do ktau view --check=$v || exit 9; done", 0, "" },
	{ "ktau events $T/none", 1, "none: No such file" },
	{ "ktau status x", 2, "x': a NAME goes with --counters" },
	{ "ktau report --uid=x f", 2, "--uid=x: not a number" },
	{ "ktau report --tag=-1 f", 2, "--tag=-1: not a number" },
	{ "funcMap --slide=x", 2, "--slide=x: not a number" },
	{ "funcMap --stext=0", 2, "not an address" },
	{ "funcMap --stext=-1", 2, "not an address" },
	{ "funcMap --stext=1 --slide=1", 2, "cannot be combined" },
	{ "funcMap --nonsense", 2, "unrecognized option" },
	/* Missing files and files of another kind. */
	{ "ktau report $T/none", 1, "none: No such file" },
	{ "ktau check $T/none", 1, "none: No such file" },
	{ "ktau dump $T/none", 1, "none: No such file" },
	{ "ktau dump tests/unit/tools/data/maps", 1, "maps: Is a directory" },
	{ "ktau dump /dev/null", 1, "/dev/null: " },
	{ "ktau report $D/text", 1, "not KTAU data: no STREAM record where one is expected\n" },
	{ "ktau check $D/text", 1, "not KTAU data: no STREAM record where one is expected\n" },
	{ "ktau report $T/part2.ktau $T/part1.ktau", 1,
	  "part1.ktau: begins before the previous file ended" },
	{ "ktau report $T/good.ktau $T/good.ktau", 1,
	  "good.ktau: begins before the previous file ended" },
	{ "ktau report $T/good.ktau $T/elsewhere", 1, "elsewhere: is from a different machine" },
	{ "ktau report --details $T/none $T/part1.ktau $T/part2.ktau", 1, "(stream 3 of 3)" },
	{ "ktau report --details --period=3 $T/part1.ktau $T/none $T/part2.ktau", 1,
	  "(stream 3 of 3)" },
	{ "ktau report --period=4 $T/part1.ktau $T/part2.ktau", 1,
	  "$T/part1.ktau to $T/part2.ktau: no period 4, it has 3 streams" },
	{ "ktau report --period=9 $T/good.ktau", 1, "no period 9, it has 3 streams" },
	{ "ktau report --subtract $T/bpf", 1, "bpf: --subtract is not possible: the cost of BPF " },
	{ "ktau report --to=@5 $T/good.ktau", 1, "no stream before --to" },
	{ "ktau report --from=+100000 $T/good.ktau", 1, "no stream between --from and --to" },
	{ "ktau report --from=+2 $T/good.ktau", 1, "no stream between --from and --to" },
	{ "ktau report --from=2030-01-01 $T/good.ktau", 1, "no stream between" },
	{ "ktau report --from=+5 --to=+2 $T/good.ktau", 1, "no stream between" },
	{ "ktau report --from=+1.5 --to=+1.6 $T/good.ktau", 1, "no stream between" },
	{ "ktau report --from=+0 --to=+0.5 $T/good.ktau", 1, "no stream between" },
	/* What precedes the period is not read, so its streams have no numbers. */
	{ "ktau report --details --from=+0 $T/good.ktau | grep -c stream", 1, "0\n" },
	{ "ktau report --details --to=+0.5 $T/good.ktau", 0, "(start of KTAU in this boot)" },
	/* KTAU started at 1700000001. */
	{ "ktau report --details --from=@1700000001 --to=+0.5 $T/good.ktau", 0,
	  "(start of KTAU in" },
	{ "ktau report --from=@1700000002 --to=+0.5 $T/good.ktau", 1, "no stream between" },
	/* Selections without a match. */
	{ "ktau report --name=nobody $T/good.ktau", 1, "good.ktau: nothing matches\n" },
	{ "ktau report --pid=7 --format=csv $T/good.ktau", 1, "good.ktau: nothing matches\n" },
	{ "ktau report --cgroup=/none $T/good.ktau", 1, "good.ktau: nothing matches\n" },
	{ "ktau report --tag=9 --waits $T/good.ktau", 1, "good.ktau: nothing matches\n" },
	{ "ktau report --group=icmp $T/good.ktau", 1, "good.ktau: nothing matches\n" },
	{ "ktau report --name=nobody $T/good.ktau 2>/dev/null | wc -c", 0, "0\n" },
	{ "funcMap -m $M/good.map $T/none", 1, "none: No such file" },
	{ "funcMap -m $M/good.map -o /none/x </dev/null", 1, "cannot create /none/x: No such" },
	{ "funcMap -m $M/good.map -o $T/text $T/text", 1, "text: it is also the input" },
	{ "funcMap -m $M/good.map -o $T/text <$T/text", 1, "text: it is also the input" },
	{ "ulimit -f 64; funcMap -m $M/good.map $T/text >>$T/text", 1,
	  "standard output: it is also the input" },
	{ "ulimit -f 64; funcMap -m $M/good.map $T/none - <$T/text >>$T/text", 1,
	  "standard output: it is also the input" },
	{ ": | funcMap -m $M/good.map", 0, "" },
	{ "printf ab | funcMap -m $M/good.map", 0, "ab" },
	{ "cat $T/good.ktau | funcMap -m $M/other.map", 1,
	  "other.map: map of another kernel" },
	{ "cat $T/good.ktau | funcMap -m $M/good.map >/dev/full", 1, "No space left" },
	{ "cmp $T/text $D/text && echo unharmed", 0, "unharmed" },
	{ "funcMap -m $M/good.map $T/text >/dev/full", 1, "No space left" },
	{ "ktau dump $T/good.ktau >/dev/full", 1, "No space left" },
	{ "ktau report $T/good.ktau >/dev/full", 1, "No space left" },
	{ "ktau check $T/good.ktau >/dev/full", 1, "No space left" },
	{ "ktau check $T/good.ktau 2>&1 >/dev/full | grep -c cannot", 0, "1\n" },
	{ "ktau --help >/dev/full", 1, "ktau: cannot write the output: No space left" },
	{ "ktau report --help >/dev/full", 1, "ktau report: cannot write the output: No space" },
	{ "ktau report --help 2>&1 >/dev/full | grep -c cannot", 0, "1\n" },
	{ "ktau status --usage >/dev/full", 1, "No space left" },
	{ "funcMap --help >/dev/full", 1, "funcMap: cannot write the output: No space" },
	{ "funcMap --version >/dev/full", 1, "No space left" },
	{ "runktau --help >/dev/full", 125, "runktau: cannot write the output: No space" },
	{ "runktau --nonsense", 125, "unrecognized option" },
	/* Closed standard descriptors: no file gets their number. */
	{ "ln -s o $T/l; funcMap -m $M/good.map -o $T/l $T/none 2>&-; wc -c <$T/o", 0, "0\n" },
	{ "funcMap -m $M/good.map <&-", 1, "standard input: Bad file descriptor" },
	{ "ktau report $T/good.ktau >&-", 1, "cannot write the output: Bad file descriptor" },
	{ "ktau dump - <&-", 1, "standard input: Bad file descriptor" },
	/* Maps. */
	{ "funcMap -m $M/none", 1, "none: No such file" },
	{ "funcMap -m $M/empty.map", 1, "empty.map: empty" },
	{ "funcMap -m $M/truncated.map", 1, "truncated.map: truncated" },
	{ "funcMap -m $M/unsorted.map", 1, "unsorted.map: line 6" },
	{ "funcMap -m $M/garbage.map", 1, "garbage.map: line 2" },
	{ "funcMap -m $M/hidden.map", 1, "hidden.map: all addresses are 0" },
	{ "funcMap -m $T/good.ktau", 1, "good.ktau: " },
	{ "funcMap -m $M/nostext.map --slide=0x1000", 1, "no symbol _stext" },
	{ "funcMap -m $M/other.map $T/good.ktau", 1, "other.map: map of another kernel" },
	{ "ktau report -m $M/other.map $T/good.ktau", 1, "map of another kernel" },
	{ "ktau dump -m $M/other.map $T/good.ktau", 1, "map of another kernel" },
	{ "funcMap -m $M/elsewhere.map $T/text", 1, "none of its 11 kernel addresses" },
	/* A file of ktaud relocates the map for itself only. */
	/* A text that names the place of its kernel. */
	{ "funcMap -m $M/good.map $T/oops", 0, "[<__x64_sys_read+0x10>]" },
	{ "funcMap -m $M/elsewhere.map $T/oops", 0, "[<__x64_sys_read+0x10>]" },
	{ "funcMap -m $M/good.map --slide=0 $T/oops", 0, "[<__x64_sys_write+0x10>]" },
	{ "cat $T/oops | funcMap -m $M/good.map", 1,
	  "standard input: the names are wrong, because the kernel was loaded elsewhere, as its "
	  "line \"Kernel Offset\" says (use --stext=ffffffff81001000," },
	{ "cat $T/oops | funcMap -m $M/good.map --stext=ffffffff81001000", 0,
	  "[<__x64_sys_read+0x10>]" },
	{ "sed s/0x1000/0x2000/ $T/oops | cat $T/oops - >$T/oopses; "
	  "funcMap -m $M/good.map $T/oopses", 1, "loaded at several addresses" },
	{ "funcMap -m $M/elsewhere.map $T/good.ktau $T/text82", 0, "[<__x64_sys_read+0x10>]" },
	{ "funcMap -m $M/good.map --slide=0x1000000 $T/good.ktau $T/text82", 0,
	  "[<__x64_sys_read+0x10>]" },
	{ "ktau dump -m $M/elsewhere.map $T/good.ktau", 0, "ffffffff81003000 sys_fork" },
	{ "ktau dump -m $M/elsewhere.map $T/good.ktau $T/nowhere.ktau | tail -n 20", 0,
	  "ffffffff81003000 sys_57" },
};

static void test_complaint(void **state)
{
	const struct complaint *c = *state;
	struct text got;
	char *words = strdup(c->words);
	int status = run(c->command);

	assert_non_null(words);
	got = output();
	normalise(&got);
	if (!strstr(got.data, words))
		fail_msg("%s: output: %s", c->command, got.data);
	assert_int_equal(status, c->status);
	free(words);
	free(got.data);
}

static size_t count(const char *text, const char *line)
{
	size_t nr = 0;

	for (; (text = strstr(text, line)); text++)
		nr++;
	return nr;
}

static struct text good_file(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/good.ktau", folder);
	return slurp(path);
}

static void write_bad(const char *data, size_t bytes)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/bad.ktau", folder);
	spill(path, data, bytes);
}

/* The complete streams of a truncated file are printed. */
static void test_truncated(void **state)
{
	struct text file = good_file(), got;
	size_t bytes, streams = 0, now;
	int status;

	(void)state;
	for (bytes = 0; bytes < file.bytes; bytes += bytes < 64 ? 1 : 41) {
		write_bad(file.data, bytes);
		status = run("ktau dump $T/bad.ktau");
		assert_true(status == 0 || status == 1);
		got = output();
		now = count(got.data, "\nend records=");
		assert_true(now >= streams);
		streams = now;
		if (status)
			assert_non_null(strstr(got.data, "bad.ktau: "));
		free(got.data);
	}
	assert_int_equal(streams, 3);
	free(file.data);
}

/* A flipped bit is reported, and loses at most its block. */
static void test_flipped(void **state)
{
	struct text file = good_file(), got;
	uint32_t seed = 2; /* gives no bit in padding, which no checksum covers */
	size_t i, at;

	(void)state;
	for (i = 0; i < 30; i++) {
		seed = seed * 1664525 + 1013904223;
		at = 16 + (seed >> 4) % (file.bytes - 16);
		file.data[at] ^= (char)(1 << (seed & 7));
		write_bad(file.data, file.bytes);
		file.data[at] ^= (char)(1 << (seed & 7));
		assert_int_equal(run("ktau check $T/bad.ktau"), 1);
		run("ktau dump $T/bad.ktau");
		got = output();
		assert_true(count(got.data, "\nend records=") >= 2);
		free(got.data);
		assert_true(run("ktau report $T/bad.ktau") <= 1);
	}
	free(file.data);
}

static int write_plain(const char *path)
{
	return fixture_write(path, 0);
}

static int write_zlib(const char *path)
{
	return fixture_write(path, KTAU_WRITER_ZLIB);
}

static int write_at(const char *name, int (*write)(const char *path))
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return write(path);
}

/* The output must not depend on the machine that runs the test. */
static int prepare(void **state)
{
	char text[1024], path[64];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(text, sizeof(text), "%1$s/tools/ktau:%1$s/tools/funcmap:%1$s/tools/runktau:%2$s",
		 TEST_BUILD, getenv("PATH"));
	setenv("PATH", text, 1);
	setenv("T", folder, 1);
	setenv("M", "tests/unit/tools/data/maps", 1);
	setenv("D", "tests/unit/tools/data", 1);
	setenv("TZ", "UTC", 1);
	setenv("LC_ALL", "C", 1);
	if (write_at("good.ktau", write_plain) || write_at("zlib.ktau", write_zlib) ||
	    write_at("wrong.ktau", fixture_write_wrong) ||
	    write_at("nowhere.ktau", fixture_write_nowhere) ||
	    write_at("saved", fixture_write_saved) ||
	    write_at("stream", fixture_write_stream) ||
	    write_at("rounded", fixture_write_rounded) ||
	    write_at("unknown", fixture_write_unknown) ||
	    write_at("bpf", fixture_write_bpf) ||
	    write_at("partly", fixture_write_partly) ||
	    write_at("contrary", fixture_write_contrary) ||
	    write_at("measured", fixture_write_measured) ||
	    write_at("less", fixture_write_less_measured) ||
	    write_at("woken", fixture_write_woken) ||
	    write_at("rebooted", fixture_write_rebooted) ||
	    write_at("elsewhere", fixture_write_elsewhere) ||
	    write_at("node1", fixture_write_node1) ||
	    write_at("node2", fixture_write_node2) ||
	    write_at("node3", fixture_write_node3) ||
	    write_at("node4", fixture_write_node4) ||
	    write_at("marks", fixture_write_marks))
		return -1;
	snprintf(path, sizeof(path), "%s/vm", folder);
	if (mkdir(path, 0700))
		return -1;
	vm_example(path);
	snprintf(path, sizeof(path), "%s/part1.ktau", folder);
	snprintf(text, sizeof(text), "%s/part2.ktau", folder);
	if (fixture_write_parts(path, text))
		return -1;
	if (run("{ echo '[<ffffffff81002010>]'; "
		"echo 'Kernel Offset: 0x1000 from 0xffffffff81000000 (more)'; } >$T/oops"))
		return -1;
	return run("cp $D/text $T/text; sed s/ffffffff81/ffffffff82/g $D/text >$T/text82");
}

static int clean(void **state)
{
	(void)state;
	return system("rm -r \"$T\"");
}

int main(void)
{
	enum {
		NR_GOLDENS = sizeof(goldens) / sizeof(*goldens),
		NR_COMPLAINTS = sizeof(complaints) / sizeof(*complaints),
	};
	static struct CMUnitTest tests[NR_GOLDENS + NR_COMPLAINTS + 2];
	size_t nr = 0, i;

	for (i = 0; i < NR_GOLDENS; i++)
		tests[nr++] = (struct CMUnitTest){ goldens[i].command, test_golden, NULL, NULL,
						    (void *)&goldens[i] };
	for (i = 0; i < NR_COMPLAINTS; i++)
		tests[nr++] = (struct CMUnitTest){ complaints[i].command, test_complaint, NULL,
						    NULL, (void *)&complaints[i] };
	tests[nr++] = (struct CMUnitTest)cmocka_unit_test(test_truncated);
	tests[nr++] = (struct CMUnitTest)cmocka_unit_test(test_flipped);
	return cmocka_run_group_tests(tests, prepare, clean);
}
