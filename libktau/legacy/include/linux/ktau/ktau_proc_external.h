/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-legacy: TAU includes this header, but uses none of the commands it declared. */
#ifndef KTAU_LEGACY_PROC_EXTERNAL_H
#define KTAU_LEGACY_PROC_EXTERNAL_H

#include <linux/ktau/ktau_proc_data.h>

#endif /* KTAU_LEGACY_PROC_EXTERNAL_H */
