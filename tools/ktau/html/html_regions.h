/* SPDX-License-Identifier: GPL-2.0-only */
/* The regions of programs in an HTML report. */
#ifndef KTAU_TOOLS_HTML_REGIONS_H
#define KTAU_TOOLS_HTML_REGIONS_H

#include "html_page.h"

/* Write the section "regions". */
void html_regions(struct html_page *page);

#endif
