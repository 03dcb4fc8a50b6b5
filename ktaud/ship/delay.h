/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long ktaud-ship waits before it scans again. */
#ifndef KTAUD_SHIP_DELAY_H
#define KTAUD_SHIP_DELAY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The delay after a scan: @every_ns if shipping worked (@good). After a failure, twice the last
 * delay @last_ns, but at most 30 s, so that a longer interval does not delay a retry.
 */
uint64_t ship_delay_ns(uint64_t every_ns, uint64_t last_ns, bool good);

/* Between half of @ns and @ns, by any number @random, so that hosts do not retry together. */
uint64_t ship_delay_jitter_ns(uint64_t ns, unsigned long random);

/* @ns in milliseconds, at most INT_MAX, which is 24 days, for poll(). */
int ship_delay_ms(uint64_t ns);

#endif /* KTAUD_SHIP_DELAY_H */
