/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots that are neither frames nor of the scheduler: what a task did at a point in time, with
 * names and values as readers of exports see them.
 */
#ifndef KTAU_TOOLS_POINT_H
#define KTAU_TOOLS_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/report/registry.h"
#include "timeline.h"

enum { POINT_ARGS = 10, POINT_TEXT = 64 };

/* A number, or a text if that is not NULL. */
struct point_arg {
	const char *name;
	const char *text;
	int64_t number;
};

/**
 * struct point - a point
 * @name: what it is, such as "net_send"
 * @value: the number that says most about it: bytes, vcpu, reason, exit code; 1 if there is none
 * @args: all that is known about it
 * @nr: length of @args
 * @texts: room for texts
 * @used: part of @texts in use
 */
struct point {
	const char *name;
	int64_t value;
	struct point_arg args[POINT_ARGS];
	size_t nr;
	char texts[2][POINT_TEXT];
	size_t used;
};

/* The name of points of a type, NULL for other types. */
const char *point_name(uint32_t type);

/*
 * Describe an event of @t. The texts are those of @p, of @t or of @r, so @p must not be copied.
 * Return: true, or false if it is not a point.
 */
bool point_describe(struct point *p, const struct timeline *t, struct registry *r,
		    const struct timeline_event *e);

/* "[ADDRESS]:PORT", with an IPv4 address as such and without brackets. */
void point_address(char text[POINT_TEXT], const uint8_t bytes[16], unsigned int port);

#endif
