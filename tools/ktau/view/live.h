/* SPDX-License-Identifier: GPL-2.0-only */
/* A view of the running machine, drawn again and again. */
#ifndef KTAU_TOOLS_VIEW_LIVE_H
#define KTAU_TOOLS_VIEW_LIVE_H

#include <stdint.h>

#include "show.h"

/**
 * struct view_live - what is shown
 * @view: name of the view, as for view_open()
 * @show: names of addresses and regions, and the most states
 * @interval_ns: time between two screens
 * @window_ns: time that a screen shows
 */
struct view_live {
	const char *view;
	struct view_show show;
	uint64_t interval_ns, window_ns;
};

/* Show the view until a signal asks the program to end. Return: an exit status. */
int view_live(const struct view_live *l);

#endif
