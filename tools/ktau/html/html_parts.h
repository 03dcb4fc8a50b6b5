/* SPDX-License-Identifier: GPL-2.0-only */
/* The fixed parts of an HTML report. */
#ifndef KTAU_TOOLS_HTML_PARTS_H
#define KTAU_TOOLS_HTML_PARTS_H

extern const char html_head[], html_style[], html_body[], html_program[];

#endif
