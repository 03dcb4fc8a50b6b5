// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <syslog.h>

#include "log.h"

static bool to_syslog;
static const char *program = "ktaud";

void log_program(const char *name)
{
	program = name;
}

static void put(int priority, const char *format, va_list args)
{
	char text[1024];

	if (to_syslog) {
		vsyslog(priority, format, args);
		return;
	}
	/* One write a message: lines of several processes do not mix. */
	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "%s: %s\n", program, text);
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
