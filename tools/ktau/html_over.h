/* SPDX-License-Identifier: GPL-2.0-only */
/* An HTML report over time. */
#ifndef KTAU_TOOLS_HTML_OVER_H
#define KTAU_TOOLS_HTML_OVER_H

#include "html_page.h"

/*
 * Who ran, interval by interval. 0 or -errno of the reader; what could be read has been
 * written.
 */
int html_over(struct html_page *page);

#endif
