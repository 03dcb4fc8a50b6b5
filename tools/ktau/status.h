/* SPDX-License-Identifier: GPL-2.0-only */
/* What can be measured on this machine, by this user; for ktau status. */
#ifndef KTAU_TOOLS_STATUS_H
#define KTAU_TOOLS_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <ktau.h>

/**
 * struct status - what is known of the running kernel's KTAU
 * @name: of the machine and kernel
 * @info_err: -errno of asking for @info; -ENOENT: there is no KTAU; 0: it is there
 * @info: answer of the kernel; without it only @info.paranoid, if @has_level
 * @has_level: kernel.ktau_paranoid is known
 * @filter: which tasks are measured, "" if that is not known
 * @exited_limit_bytes: bound of what is kept of exited tasks, 0 if not known
 * @has_end: @end is there
 * @end: losses that this user may see
 */
struct status {
	struct utsname name;
	int info_err;
	struct ktau_info info;
	bool has_level;
	char filter[256];
	uint64_t exited_limit_bytes;
	bool has_end;
	struct ktau_rec_end end;
};

/**
 * struct problem - something that cannot be measured
 * @text: what
 * @command: what fixes it, "" if nothing is known to
 */
struct problem {
	char text[200];
	char command[128];
};

enum { STATUS_PROBLEMS = 16 };

/* What is wrong, the most important first. Returns the number. */
size_t status_judge(const struct status *s, struct problem problems[STATUS_PROBLEMS]);

void status_text(const struct status *s, const struct problem *problems, size_t nr, FILE *out);
void status_json(const struct status *s, const struct problem *problems, size_t nr, FILE *out);

#endif
