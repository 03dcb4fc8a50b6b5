/* SPDX-License-Identifier: GPL-2.0-only */
/* Where ktaud gets its streams: a kernel with KTAU, BPF programs, or saved streams. */
#ifndef KTAUD_ORIGIN_H
#define KTAUD_ORIGIN_H

#include <ktau_bpf.h>

#include "config.h"
#include "options.h"

enum origin { ORIGIN_KERNEL, ORIGIN_BPF, ORIGIN_SAVED };

/*
 * Choose the source that @options and @config request, and check that this machine has it.
 * Return: 0, -errno with a message logged.
 */
int origin_choose(const struct options *options, const struct config *config, enum origin *origin);

/*
 * Check that BPF programs can measure what @config requests, and set @options to it. Return: 0,
 * -EINVAL with a message logged.
 */
int origin_check_bpf(const struct config *config, struct ktau_bpf_options *options);

#endif /* KTAUD_ORIGIN_H */
