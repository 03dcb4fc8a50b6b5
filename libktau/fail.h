/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error text of a handle. */
#ifndef KTAU_INTERNAL_FAIL_H
#define KTAU_INTERNAL_FAIL_H

struct ktau__error {
	char text[512];
};

/* Set the text and return @code. */
int ktau__fail(struct ktau__error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* KTAU_INTERNAL_FAIL_H */
