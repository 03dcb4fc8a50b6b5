/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_CALLS_H
#define CNK_CALLS_H

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* The last system call covered by the table of calls. Later ones fail with ENOSYS. */
#define CNK_LAST_CALL 450

extern const char *cnk_prefix;
/* The numbers of the calls to stop. */
size_t cnk_nr_rules(void);
int cnk_rule_call(size_t i);
int64_t cnk_execute(const struct seccomp_notif *request);

#endif
