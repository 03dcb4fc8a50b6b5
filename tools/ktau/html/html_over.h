/* SPDX-License-Identifier: GPL-2.0-only */
/* An HTML report over time. */
#ifndef KTAU_TOOLS_HTML_OVER_H
#define KTAU_TOOLS_HTML_OVER_H

#include "html_page.h"

/*
 * Write what each process did in each interval. Return: 0, or -errno of the reader; in both cases
 * the readable part has been written.
 */
int html_over(struct html_page *page);

#endif
