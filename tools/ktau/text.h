/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts that all commands print alike, and text from outside: any bytes can be the name
 * of a task or in a file, and output goes to terminals and to programs that read lines.
 */
#ifndef KTAU_TOOLS_TEXT_H
#define KTAU_TOOLS_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Bytes of the well-formed UTF-8 sequence that @s begins with; 0 if it is none. */
int utf8_bytes(const unsigned char *s);

/*
 * For people: line feed and backslash become \n and \\, as in /proc/PID/status;
 * other control characters, and bytes that are no UTF-8, a backslash and three
 * octal digits each.
 */
void print_escaped(const char *text, FILE *out);

/* "times rounded to 1 us (kernel.ktau_paranoid=2)": the level that rounds. */
void print_rounding(uint32_t round_ns, FILE *out);

/* Its bytes with a zero: a character of four bytes, each as a number. */
enum { ESCAPED_BYTES = 17 };

/* The first character of @text as print_escaped() prints it. Returns its bytes. */
int escape_one(const char *text, char out[ESCAPED_BYTES]);

/* How many columns of a terminal a text takes: one for each character. */
int text_columns(const char *text);

#endif
