/* SPDX-License-Identifier: GPL-2.0-only */
/* What this user can measure on this machine; for ktau status. */
#ifndef KTAU_TOOLS_STATUS_H
#define KTAU_TOOLS_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <ktau.h>

/**
 * struct status - what is known about KTAU in the running kernel
 * @name: the machine and its kernel
 * @info_err: -errno of querying @info; -ENOENT: the kernel has no KTAU; 0: @info is valid
 * @info: answer of the kernel; otherwise only @info.paranoid is valid, if @has_level
 * @has_level: kernel.ktau_paranoid is known
 * @has_bpf: BPF programs can measure on this kernel, given the rights
 * @bpf_missing: what this kernel was built without, so that they cannot; NULL: nothing is known
 * @bpf_err: 0 if this process may measure with BPF programs, otherwise -errno
 * @filter: which tasks are measured; "" if unknown
 * @exited_limit_bytes: limit for exited tasks; 0 if unknown
 * @has_end: @end is valid
 * @end: losses that this user may see
 */
struct status {
	struct utsname name;
	int info_err;
	struct ktau_info info;
	bool has_level;
	bool has_bpf;
	const char *bpf_missing;
	int bpf_err;
	char filter[256];
	uint64_t exited_limit_bytes;
	bool has_end;
	struct ktau_rec_end end;
};

/**
 * struct problem - something that cannot be measured
 * @text: description
 * @command: command that fixes it; "" if none is known
 */
struct problem {
	char text[200];
	char command[128];
};

enum { STATUS_PROBLEMS = 16 };

/* Find the problems, the most important first. Return: their number. */
size_t status_judge(const struct status *s, struct problem problems[STATUS_PROBLEMS]);

void status_text(const struct status *s, const struct problem *problems, size_t nr, FILE *out);
void status_json(const struct status *s, const struct problem *problems, size_t nr, FILE *out);

#endif
