// SPDX-License-Identifier: GPL-2.0-only
/* Text from outside, and common phrases. */
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

#include "text.h"

void text_use_utf8(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int utf8_bytes(const unsigned char *s)
{
	int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (n > 2 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
		      (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f)))
		return 0;
	return n;
}

/* The number of a character of @n bytes. */
static wint_t decode(const unsigned char *s, int n)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	wint_t c = *s & first_bits[n];
	int i;

	for (i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* The characters that change the direction of a line: they can make it read as another one. */
static bool is_bidi(wint_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* U+0080 to U+009F mean the same to a terminal as ESC followed by a letter. */
static bool is_control(wint_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || is_bidi(c) || iswcntrl(c);
}

int escape_one(const char *text, char out[ESCAPED_BYTES])
{
	const unsigned char *s = (const unsigned char *)text;
	int n = utf8_bytes(s), i;

	if (*s == '\n' || *s == '\\') {
		strcpy(out, *s == '\n' ? "\\n" : "\\\\");
	} else if (n && !is_control(decode(s, n))) {
		memcpy(out, s, (size_t)n);
		out[n] = 0;
	} else {
		n = n ? n : 1;
		for (i = 0; i < n; i++)
			sprintf(out + 4 * i, "\\%03o", s[i]);
	}
	return n;
}

void print_escaped(const char *text, FILE *out)
{
	char escaped[ESCAPED_BYTES];

	while (*text) {
		text += escape_one(text, escaped);
		fputs(escaped, out);
	}
}

int text_first_columns(const char *text, size_t *bytes)
{
	const unsigned char *s = (const unsigned char *)text;
	int n = utf8_bytes(s), width = n ? wcwidth((wchar_t)decode(s, n)) : 1;

	*bytes = n ? (size_t)n : 1;
	/* The C library does not know a newer character, or has no tables. */
	return width < 0 ? 1 : width;
}

const char *csv_guard(const char *text)
{
	char *end;

	if (!*text || !text[1] || !strchr("=+-@", *text))
		return "";
	strtod(text, &end);
	return *end ? "'" : "";
}

int text_columns(const char *text)
{
	size_t bytes;
	int nr = 0;

	for (; *text; text += bytes)
		nr += text_first_columns(text, &bytes);
	return nr;
}

size_t text_bytes(const char *text, int columns)
{
	size_t at = 0, bytes;

	while (text[at]) {
		columns -= text_first_columns(text + at, &bytes);
		if (columns < 0)
			break;
		at += bytes;
	}
	return at;
}

const char *text_number(ktau_sum_t number, char buffer[NUMBER_TEXT_BYTES])
{
	char *at = buffer + NUMBER_TEXT_BYTES;

	*--at = 0;
	do {
		*--at = (char)('0' + (int)(number % 10));
		number /= 10;
	} while (number);
	return at;
}

void print_rounding(uint32_t round_ns, FILE *out)
{
	if (round_ns % 1000)
		fprintf(out, "times rounded to %" PRIu32 " ns", round_ns);
	else
		fprintf(out, "times rounded to %" PRIu32 " us", round_ns / 1000);
	fputs(" (kernel.ktau_paranoid=2)", out);
}

void print_time(FILE *out, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char text[40];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		strcpy(text, "?");
	fprintf(out, "%s.%09" PRIu64 "Z", text, realtime_ns % 1000000000);
}
