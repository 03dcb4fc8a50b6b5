/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-legacy: what is read: ktau-legacy(7). */
#ifndef KTAU_LEGACY_PROC_DATA_H
#define KTAU_LEGACY_PROC_DATA_H

#include <linux/ktau/ktau_datatype.h>

/* The functions accept KTAU_TYPE_PROFILE only. */
#define KTAU_TYPE_PROFILE	0
#define KTAU_TYPE_TRACE		1

#endif /* KTAU_LEGACY_PROC_DATA_H */
