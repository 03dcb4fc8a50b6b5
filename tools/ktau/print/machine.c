// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ktau.h>

#include "lib/text.h"
#include "machine.h"

/* The files that are printed as they are; each has one line. */
static const struct {
	const char *what, *path;
} files[] = {
	{ "clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "lockdown", "/sys/kernel/security/lockdown" },
	{ "kernel.ktau_paranoid", "/proc/sys/kernel/ktau_paranoid" },
	{ "kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
	{ "kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict" },
	{ "kernel.unprivileged_bpf_disabled", "/proc/sys/kernel/unprivileged_bpf_disabled" },
};

/*
 * Read what follows @key in the first line of @path that begins with it, without the blanks and the
 * separator in between. Return: whether there is such a line.
 */
static bool read_value(const char *path, const char *key, char *value, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t length = strlen(key);
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, length))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, size, "%s", line + length + strspn(line + length, " \t:=\""));
		value[strcspn(value, "\"")] = '\0';
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static void print_value(const char *what, const char *path, const char *key, FILE *out)
{
	char value[256];

	fprintf(out, "%s: ", what);
	if (read_value(path, key, value, sizeof(value)))
		print_escaped(value, out);
	else
		fputs("unknown", out);
	fputc('\n', out);
}

void machine_print(FILE *out)
{
	size_t i;

	fprintf(out, "KTAU: %s, interface version %d, %s\n", ktau_version(), KTAU_ABI_VERSION,
		KTAU_BUILT_WITH);
	print_value("distribution", "/etc/os-release", "PRETTY_NAME", out);
	print_value("kernel", "/proc/version", "", out);
	print_value("processor", "/proc/cpuinfo", "model name", out);
	fprintf(out, "processors: %ld of %ld\n", sysconf(_SC_NPROCESSORS_ONLN),
		sysconf(_SC_NPROCESSORS_CONF));
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		print_value(files[i].what, files[i].path, "", out);
	fprintf(out, "BTF: %s\n", access("/sys/kernel/btf/vmlinux", R_OK) ? "no" : "yes");
	print_value("capabilities", "/proc/self/status", "CapEff", out);
}
