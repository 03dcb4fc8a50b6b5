/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads of virtual CPUs, for ktau top. */
#ifndef KTAU_TOOLS_TOP_VMS_H
#define KTAU_TOOLS_TOP_VMS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/report/period.h"
#include "lib/report/report_options.h"

/**
 * struct top_vms - the threads that have ever been in a guest, and how each spent the period
 * @table: a row for each
 * @threads: their accounts
 * @names: names of the VMs, to which the table points
 */
struct top_vms {
	struct table table;
	struct aggregate threads;
	char **names;
};

/* @live: the period is one of the running kernel, so /proc may have the names of the VMs. */
void top_vms_init(struct top_vms *vms, const struct view *v, const struct period *period,
		  bool live);
void top_vms_deinit(struct top_vms *vms);

/*
 * The name of a VM from the command line of QEMU as in /proc/PID/cmdline, @bytes long: the guest's
 * name in its option -name. Return: the name, to be freed; NULL if there is none.
 */
char *top_vms_qemu_name(const char *cmdline, size_t bytes);

#endif
