/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that ktaud-ship and ktau-land agree on. A recording is published to the subject ktau.HOST
 * and lands in DIR/HOST/FILE; how much of it has landed is the last message of have.HOST.FILE.
 * The server's configuration maps ktau.HOST to ktau.PARTITION.HOST.
 */
#ifndef KTAUD_SHIP_TARGET_H
#define KTAUD_SHIP_TARGET_H

#include <argp.h>
#include <stdbool.h>

#include "link.h"

#define TARGET_HOST 64
#define TARGET_FILE 128
#define TARGET_PART (256 << 10)
/* Bytes at the start of a recording that identify it in have.HOST.FILE */
#define TARGET_HEAD 40
#define TARGET_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

enum { TARGET_CA = 0x200, TARGET_CERT, TARGET_KEY };

/* The rows of both programs for what is in a struct link_target. */
/* clang-format off */
#define TARGET_SERVERS_OPTION(name, key) \
	{ name, key, "SERVERS", 0, \
	  "nats://HOST:PORT or tls://HOST:PORT; several are separated by commas; or a file with " \
	  "these, by its path from /", 0 }
#define TARGET_TLS_OPTIONS(whose, group) \
	{ "ca", TARGET_CA, "FILE", 0, "trust the certificates in FILE instead of the system's", \
	  group }, \
	{ "cert", TARGET_CERT, "FILE", 0, "certificate of " whose, group }, \
	{ "key", TARGET_KEY, "FILE", 0, "key of the certificate", group }
/* clang-format on */

/* Parse an option of TARGET_TLS_OPTIONS. Return: 0 or ARGP_ERR_UNKNOWN. */
error_t target_option(int key, char *arg, struct link_target *target);

/* Parse an option of TARGET_SERVERS_OPTION; exits with a message. */
void target_parse_servers(struct link_target *target, const char *text, struct argp_state *state);

/* Exit with a message if options are missing; @name is that of the servers. */
void target_check(const struct link_target *target, const char *name, struct argp_state *state);

/*
 * Parse URLs that are separated by commas, "nats://" or "tls://"; one "tls://" encrypts all. They
 * are in @text or, if it begins with '/', in the first line of that file, so that passwords do not
 * appear in the list of processes. Return: 0 or -errno, which is -EINVAL for something else.
 */
int target_servers(struct link_target *target, const char *text);

/* Replace the dots of a host's name, which must be one token of a subject. */
bool target_host(char *name);

/* True if the name is valid as a folder, or as a file in it, and as a part of a subject. */
bool target_is_host(const char *name);
bool target_is_file(const char *name);

#endif /* KTAUD_SHIP_TARGET_H */
