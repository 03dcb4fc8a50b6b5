/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KTAU_TOOLS_HTML_DELAYS_H
#define KTAU_TOOLS_HTML_DELAYS_H

#include "analyse/delays.h"
#include "html_page.h"

/* Write the rows; the smallest ones are one if there are too many. */
void html_delays(struct html_page *page, const struct delays *delays);

#endif
