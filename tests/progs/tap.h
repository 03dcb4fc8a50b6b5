/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Test Anything Protocol, for programs that run in the guest: a line "ok - " or
 * "not ok - " for each test, and the plan at the end.
 */
#ifndef KTAU_TESTS_TAP_H
#define KTAU_TESTS_TAP_H

#include <stdbool.h>

/* Report one test; a newline is added. Children count too. Returns @good. */
bool tap_ok(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Report a test that cannot run here. */
void tap_skip(const char *what, const char *reason);

/* Whether durations are exact: in other guests the host may delay between two instructions. */
bool tap_exact_time(void);

/* True if a test has failed. */
bool tap_failed(void);

/*
 * Print the plan. main() ends with it; a program that ends early prints none. Returns
 * the exit status.
 */
int tap_done(void);

#endif
