// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <syslog.h>

#include "log.h"

#define TEXT_BYTES	1024

static bool to_syslog;
static const char *program = "ktaud";

void log_program(const char *name)
{
	program = name;
}

/* Bytes that a terminal would interpret; U+0080 to U+009F are the C1 control characters. */
static bool is_control(const unsigned char *c)
{
	return *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

/* Escape a message, because it may contain file names and values from the configuration. */
static void escape(const char *text, char out[4 * TEXT_BYTES])
{
	const unsigned char *c = (const unsigned char *)text;

	for (; *c; c++) {
		if (is_control(c))
			out += sprintf(out, "\\%03o", *c);
		else
			*out++ = *c;
	}
	*out = '\0';
}

static void put(int priority, const char *format, va_list args)
{
	char text[TEXT_BYTES], escaped[4 * TEXT_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	escape(text, escaped);
	/* Write each message with one call, so that lines of several processes do not mix. */
	if (to_syslog)
		syslog(priority, "%s", escaped);
	else
		fprintf(stderr, "%s: %s\n", program, escaped);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(LOG_ERR, format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(LOG_INFO, format, args);
	va_end(args);
}

void log_to_syslog(void)
{
	openlog(program, LOG_PID | LOG_NDELAY, LOG_DAEMON);
	to_syslog = true;
}
