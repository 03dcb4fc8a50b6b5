/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KTAU_TOOLS_HTML_STATES_H
#define KTAU_TOOLS_HTML_STATES_H

#include "analyse/states.h"
#include "html_page.h"

/* Write the rows of a view. */
void html_states(struct html_page *page, const struct states *s);

#endif
