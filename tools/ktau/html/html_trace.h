/* SPDX-License-Identifier: GPL-2.0-only */
/* The timeline and the call paths of an HTML report. */
#ifndef KTAU_TOOLS_HTML_TRACE_H
#define KTAU_TOOLS_HTML_TRACE_H

#include "html_page.h"

/* Return: 0, or -errno of the reader; in both cases the readable part has been written. */
int html_trace(struct html_page *page);

#endif
