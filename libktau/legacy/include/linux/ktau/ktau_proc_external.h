/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-legacy: included by TAU for commands of /proc/ktau, of which it uses none. */
#ifndef KTAU_LEGACY_PROC_EXTERNAL_H
#define KTAU_LEGACY_PROC_EXTERNAL_H

#include <linux/ktau/ktau_proc_data.h>

#endif /* KTAU_LEGACY_PROC_EXTERNAL_H */
