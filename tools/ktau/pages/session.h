/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions of the kernel that trace references to pages. */
#ifndef KTAU_TOOLS_PAGE_SESSION_H
#define KTAU_TOOLS_PAGE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/ktau_references.h>

#define SESSION_FILE "/proc/ktau/references"

/* Return: a descriptor of SESSION_FILE, or -1 with a message. */
int session_open(void);

/* Return: 0 or more, or -errno. */
int session_request(int fd, struct ktau_references *r, uint32_t op);

/* Start with the fields of @r, and say why if that fails. Return: 0 or -1. */
int session_start(int fd, struct ktau_references *r);

/* The id of the control group with this folder, or 0 with a message. */
uint64_t session_cgroup(const char *path);

#endif
