/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The streams of the servers. KTAU has the parts of all hosts until they have landed, at most
 * STREAM_PARTS of each host. KTAU_HAVE has the size of each file in the archive.
 */
#ifndef KTAUD_SHIP_LAND_STREAM_H
#define KTAUD_SHIP_LAND_STREAM_H

#include <signal.h>
#include <stdint.h>

#include "append.h"

#define STREAM_PARTS 1024

/**
 * struct stream_options - which parts, and limits of the streams
 * @partition: part of the hosts
 * @replicas: number of servers with the same data
 * @max_bytes: size of KTAU on each; 0 for a share of what the configuration allows
 */
struct stream_options {
	int partition;
	int replicas;
	uint64_t max_bytes;
};

/**
 * struct stream_have - what the archive has of a file
 * @set: the following is valid
 * @gap: a part was dropped because one before it is missing
 * @bytes: size
 * @head: first bytes in hexadecimal
 */
struct stream_have {
	bool set;
	bool gap;
	uint64_t bytes;
	char head[2 * TARGET_HEAD + 1];
};

/**
 * struct stream_handler - who handles parts
 * @arg: passed to the functions
 * @take: called for each part; returns false to end, and to get it and those after it again
 * @sync: called before parts are acknowledged; returns false to end and to get them again
 * @ending: set by a signal to end
 */
struct stream_handler {
	void *arg;
	bool (*take)(void *arg, const struct append_part *part, struct stream_have *have);
	bool (*sync)(void *arg);
	const volatile sig_atomic_t *ending;
};

/*
 * Connect, create the streams and handle parts until *@ending or an error. Logs when it has
 * connected. Return: false with @reason set after an error.
 */
bool stream_run(const struct link_target *target, const struct stream_options *options,
		const struct stream_handler *handler, char *reason);

#endif /* KTAUD_SHIP_LAND_STREAM_H */
