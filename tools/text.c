// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text from outside, and common phrases.
 */
#include <inttypes.h>
#include <stdbool.h>

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

/* To a terminal, U+0080 to U+009F are what an escape and a letter are. */
static bool is_control(const unsigned char *s)
{
	return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

void print_escaped(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;
	bool plain;
	int n, i;

	for (; *s; s += n) {
		n = utf8_bytes(s);
		plain = n && !is_control(s);
		n = n ? n : 1;
		if (*s == '\n' || *s == '\\')
			fputs(*s == '\n' ? "\\n" : "\\\\", out);
		else if (plain)
			fwrite(s, 1, (size_t)n, out);
		else
			for (i = 0; i < n; i++)
				fprintf(out, "\\%03o", s[i]);
	}
}

void print_rounding(uint32_t round_ns, FILE *out)
{
	if (round_ns % 1000)
		fprintf(out, "times rounded to %" PRIu32 " ns", round_ns);
	else
		fprintf(out, "times rounded to %" PRIu32 " us", round_ns / 1000);
	fputs(" (kernel.ktau_paranoid=2)", out);
}
