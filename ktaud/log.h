/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of ktaud: to standard error, or to syslog once ktaud is a daemon. */
#ifndef KTAUD_LOG_H
#define KTAUD_LOG_H

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set the name at the start of messages; the default is "ktaud". */
void log_program(const char *name);

/* Send all further messages to syslog. */
void log_to_syslog(void);

#endif /* KTAUD_LOG_H */
