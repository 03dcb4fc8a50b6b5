// SPDX-License-Identifier: GPL-2.0-only
/* Text from outside, and common phrases. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "text.h"

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

/* U+0080 to U+009F mean the same to a terminal as ESC followed by a letter. */
static bool is_control(const unsigned char *s)
{
	return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

int escape_one(const char *text, char out[ESCAPED_BYTES])
{
	const unsigned char *s = (const unsigned char *)text;
	int n = utf8_bytes(s), i;

	if (*s == '\n' || *s == '\\') {
		strcpy(out, *s == '\n' ? "\\n" : "\\\\");
	} else if (n && !is_control(s)) {
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

int text_columns(const char *text)
{
	int nr = 0;

	for (; *text; text++)
		nr += (*text & 0xc0) != 0x80;
	return nr;
}

void print_rounding(uint32_t round_ns, FILE *out)
{
	if (round_ns % 1000)
		fprintf(out, "times rounded to %" PRIu32 " ns", round_ns);
	else
		fprintf(out, "times rounded to %" PRIu32 " us", round_ns / 1000);
	fputs(" (kernel.ktau_paranoid=2)", out);
}
