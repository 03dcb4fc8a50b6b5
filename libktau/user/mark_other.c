// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What 32-bit programs load in place of libktau-mark, which they cannot load: nothing. Otherwise
 * the dynamic loader would complain to the standard error of each of them.
 */
extern const char ktau__mark_other;
const char ktau__mark_other;
