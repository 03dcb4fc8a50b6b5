/* SPDX-License-Identifier: GPL-2.0-only */
/* Times in which a host had taken the CPU from a running task of a guest. */
#ifndef KTAU_TOOLS_PATH_STEAL_H
#define KTAU_TOOLS_PATH_STEAL_H

#include "analyse/steals.h"
#include "graph.h"

/*
 * Divide the running time of the tasks of @g, the graph of one machine, whose edges are complete.
 * The cause of an edge in the state PATH_STOLEN is the index of a cause.
 */
void steal_edges(struct path_graph *g, const struct steals_machine *steals);

#endif
