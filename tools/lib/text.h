/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common phrases, and text from outside. Names of tasks and strings in files may contain any bytes,
 * while output goes to terminals and to programs that read lines.
 */
#ifndef KTAU_TOOLS_TEXT_H
#define KTAU_TOOLS_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

/*
 * Use the widths and classes of characters of UTF-8, which all output is in, whatever the locale.
 * Called once at the start.
 */
void text_use_utf8(void);

/* Length of the well-formed UTF-8 sequence at the start of @s; 0 if there is none. */
int utf8_bytes(const unsigned char *s);

/*
 * Print text for display. A line feed and a backslash become \n and \\, as in /proc/PID/status;
 * other control characters, those that change the direction of writing, and bytes that are not
 * valid UTF-8 become a backslash and three octal digits each.
 */
void print_escaped(const char *text, FILE *out);

/* Enough for the largest sum in decimal. */
enum { NUMBER_TEXT_BYTES = 40 };

/* A number in decimal. Return: @buffer, or a part of it. */
const char *text_number(ktau_sum_t number, char buffer[NUMBER_TEXT_BYTES]);

/* Print "times rounded to 1 us (kernel.ktau_paranoid=2)", with the level that causes rounding. */
void print_rounding(uint32_t round_ns, FILE *out);

/* Four bytes, each as a backslash and three digits, and a zero. */
enum { ESCAPED_BYTES = 17 };

/* Escape the first character of @text like print_escaped(). Return: its length in @text. */
int escape_one(const char *text, char out[ESCAPED_BYTES]);

/*
 * What must precede @text in a cell of a CSV file, because spreadsheets run a text that begins with
 * = + - or @ as a formula: an apostrophe, or nothing. A number is not a formula.
 */
const char *csv_guard(const char *text);

/*
 * Width of an escaped text on a terminal: a character takes one column, two (Chinese, Japanese,
 * Korean, emoji) or none (combining).
 */
int text_columns(const char *text);

/* Width of the first character of @text, one of bytes that are none. *bytes is its length. */
int text_first_columns(const char *text, size_t *bytes);

/* The number of bytes of @text that fit into @columns. */
size_t text_bytes(const char *text, int columns);

/* Print a time of CLOCK_REALTIME in UTC, such as 2023-11-14T22:13:23.000050731Z. */
void print_time(FILE *out, uint64_t realtime_ns);

#endif
