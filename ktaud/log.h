/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of ktaud: to standard error, or to syslog once it is a daemon. */
#ifndef KTAUD_LOG_H
#define KTAUD_LOG_H

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name that messages begin with: "ktaud" unless set. */
void log_program(const char *name);

/* Send messages to syslog from now on. */
void log_to_syslog(void);

#endif /* KTAUD_LOG_H */
