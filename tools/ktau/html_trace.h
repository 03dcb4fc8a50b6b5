/* SPDX-License-Identifier: GPL-2.0-only */
/* The time line and the call paths of an HTML report. */
#ifndef KTAU_TOOLS_HTML_TRACE_H
#define KTAU_TOOLS_HTML_TRACE_H

#include "html_page.h"

/* 0 or -errno of the reader; what could be read has been written. */
int html_trace(struct html_page *page);

#endif
