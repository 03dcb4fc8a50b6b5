/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures that a view declares by stat. */
#ifndef KTAU_TOOLS_VIEW_STATS_H
#define KTAU_TOOLS_VIEW_STATS_H

#include "engine.h"

/*
 * The figure of each row in ns, or as a share, 0 for rows of other statements. The caller frees the
 * list.
 */
double *stats_values(struct engine *g, const struct view_stat *stat);

#endif
