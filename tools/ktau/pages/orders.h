/* SPDX-License-Identifier: GPL-2.0-only */
/* Orders to a program that records, by a socket beside its file. */
#ifndef KTAU_TOOLS_PAGE_ORDERS_H
#define KTAU_TOOLS_PAGE_ORDERS_H

#include <stddef.h>

/* Longest answer. */
enum { ORDER_BYTES = 512 };

/* Listen for orders about @path. Return: a descriptor, or -1 with a message. */
int orders_open(const char *path);
void orders_close(int fd, const char *path);

/*
 * Take an order, a letter. Return: a descriptor to answer to with write() and then to close, or
 * -1 if there is none.
 */
int orders_take(int fd, char *order);

/* Send an order about @path and print the answer. Return: the exit status. */
int orders_send(const char *path, char order);

#endif
