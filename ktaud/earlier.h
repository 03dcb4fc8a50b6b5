/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that an earlier ktaud read in this boot. If it was killed, it had consumed slots that it
 * did not write. Most of them are still in the rings, so the next ktaud reads all rings once
 * without consuming, and leaves out what the files have.
 */
#ifndef KTAUD_EARLIER_H
#define KTAUD_EARLIER_H

#include "positions.h"
#include "rotate.h"

/**
 * earlier_load() - note up to where the files of this boot have the traces
 * @rotate: the files
 * @dir: their directory
 * @positions: set to what the files have: rings that have been written shortly before the last
 *	complete stream of traces or later, and @since_ticks, which is 0 without such a stream
 *
 * Return: 1 if there are such files, 0 if not, -ENOMEM.
 */
int earlier_load(const struct rotate *rotate, const char *dir, struct positions *positions);

#endif /* KTAUD_EARLIER_H */
