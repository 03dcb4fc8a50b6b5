/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common phrases, and text from outside. Names of tasks and strings in files may contain any bytes,
 * while output goes to terminals and to programs that read lines.
 */
#ifndef KTAU_TOOLS_TEXT_H
#define KTAU_TOOLS_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Length of the well-formed UTF-8 sequence at the start of @s; 0 if there is none. */
int utf8_bytes(const unsigned char *s);

/*
 * Print text for display. A line feed and a backslash become \n and \\, as in /proc/PID/status;
 * other control characters, and bytes that are not valid UTF-8, become a backslash and three
 * octal digits each.
 */
void print_escaped(const char *text, FILE *out);

/* Print "times rounded to 1 us (kernel.ktau_paranoid=2)", with the level that causes rounding. */
void print_rounding(uint32_t round_ns, FILE *out);

/* Four bytes, each as a backslash and three digits, and a zero. */
enum { ESCAPED_BYTES = 17 };

/* Escape the first character of @text like print_escaped(). Return: its length in @text. */
int escape_one(const char *text, char out[ESCAPED_BYTES]);

/* Width of a text on a terminal: one column per character. */
int text_columns(const char *text);

#endif
