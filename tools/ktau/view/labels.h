/* SPDX-License-Identifier: GPL-2.0-only */
/* The texts of rows and states. */
#ifndef KTAU_TOOLS_VIEW_LABELS_H
#define KTAU_TOOLS_VIEW_LABELS_H

#include "engine.h"

/* A row, its label, and its place in the order of labels. */
struct view_label {
	const char *text;
	uint32_t row, place;
};

/* The labels of all rows, by row, which the caller frees. */
struct view_label *view_labels(struct engine *g);

/* The named state that a value is; NULL if it is none. */
const struct view_state *view_value_state(const struct engine *g, struct view_value value);

/* The text of a value, valid as long as the view. */
const char *view_value_text(struct engine *g, struct view_value value);

#endif
