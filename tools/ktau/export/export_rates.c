// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cli.h"
#include "export_rates.h"

/* User time is counted in ticks of milliseconds, so short exports are repeated. */
#define LEAST_SECONDS	0.2
enum { MOST_RUNS = 1000 };

static int drop_event(struct export_run *x, const struct timeline_event *e)
{
	(void)x, (void)e;
	return 0;
}

/* Merges the traces and writes nothing. */
static const struct exporter merge = {
	.name = "merge",
	.suffix = "",
	.hosts = true,
	.event = drop_event,
};

static double user_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static int export_once(const struct rates *r, const struct exporter *format, const char *path,
		       struct export_totals *totals)
{
	struct export_run x = { .format = format, .options = r->options };
	int status;

	x.output = output_create(path, format->directory);
	if (!x.output)
		return CLI_FAILED;
	x.out = output_file(x.output);
	if (format->run)
		status = format->run(&x, r->files, r->nr_files, r->symtab, totals);
	else
		status = export_files(&x, r->files, r->nr_files, r->symtab, totals);
	if (totals->hosts && x.out && output_check(x.output, x.out))
		totals->hosts = 0;
	output_discard(x.output);
	return totals->hosts ? status : CLI_FAILED;
}

static int print_rate(const struct rates *r, const struct exporter *format)
{
	const char *folder = getenv("TMPDIR");
	struct export_totals totals = { 0 };
	double start = user_seconds(), seconds;
	uint64_t slots = 0;
	char *path;
	int status, runs = 0;

	if (asprintf(&path, "%s/ktau-rates-%d%s", folder && *folder ? folder : "/tmp",
		     (int)getpid(), format->suffix) < 0) {
		complain("out of memory");
		return CLI_FAILED;
	}
	do {
		totals = (struct export_totals){ 0 };
		status = export_once(r, format, path, &totals);
		slots += totals.counts.slots;
		seconds = user_seconds() - start;
	} while (!status && seconds < LEAST_SECONDS && ++runs < MOST_RUNS);
	free(path);
	if (!status)
		printf("%-9s  %10" PRIu64 "  %7.3f  %10.0f\n", format->name, slots, seconds,
		       (double)slots / (seconds > 1e-6 ? seconds : 1e-6));
	fflush(stdout);
	return status;
}

int rates_print(const struct rates *r, const struct exporter *const *formats, size_t nr)
{
	int status;
	size_t i;

	printf("%-9s  %10s  %7s  %10s\n", "WRITER", "SLOTS", "USER s", "SLOTS/s");
	status = print_rate(r, &merge);
	for (i = 0; !status && i < nr; i++) {
		if (formats[i]->package)
			printf("%-9s  not built: requires %s\n", formats[i]->name,
			       formats[i]->package);
		else
			status = print_rate(r, formats[i]);
	}
	return cli_finish(stdout) || status ? CLI_FAILED : CLI_DONE;
}
