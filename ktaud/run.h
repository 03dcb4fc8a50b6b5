/* SPDX-License-Identifier: GPL-2.0-only */
/* The main loop of ktaud: start, periods, signals, end. */
#ifndef KTAUD_RUN_H
#define KTAUD_RUN_H

#include "options.h"

/* Run with @config and take ownership of its contents. Return: the exit status. */
int run(const struct options *options, struct config *config);

#endif /* KTAUD_RUN_H */
