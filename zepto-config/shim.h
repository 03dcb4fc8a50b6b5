/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compute node's side of ciod, preloaded into a program: shim.c stands in for the C
 * library's calls, shim_link.c ships them, shim_table.c knows which descriptors
 * stand for the I/O node's.
 */
#ifndef SHIM_H
#define SHIM_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ciod_proto.h"

/* The C library's own, behind the one that stands in for it. */
#define NEXT(name) ({ \
	static __typeof__(name) *next; \
	if (!next) \
		next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
	next; \
})

/* What the library shows to the program. */
#define EXPORT __attribute__((visibility("default")))

/*
 * The same by the name that programs with 64-bit offsets use. Types and all are the
 * same here, but not by the headers.
 */
#define SAME(name, as) __asm__(".globl " #name "\n\t.set " #name ", " #as)

/*
 * Ship a call and wait for its reply. Returns its result, or -1 with errno. What
 * comes as data goes to @data, at most @room bytes of it; the rest of the arguments are those
 * of the call's signature, with the types that ciod_encode asks for.
 */
struct shim_data {
	void *to;
	size_t room;
	size_t bytes;	/* how many came */
};
int64_t shim_ship(enum ciod_call call, struct shim_data *data, ...);

/* After a fork: the child has a connection of its own, made when it needs it. */
void shim_forget_link(void);

/* Say goodbye and write down what was shipped. The first call counts. */
void shim_finish(void);

/* The umask of this node, which the I/O node does not know. */
mode_t shim_umask(void);

/*
 * Is that path the I/O node's? Then @fd and @wire are what to ship: *@fd comes as the
 * program gave it.
 */
bool shim_path(int at, const char *path, uint32_t *fd, const char **wire);

/* The I/O node's descriptor behind one of this process; false if there is none. */
bool shim_remote(int fd, uint32_t *remote);

/* A descriptor of this process for one of the I/O node's; -1 with errno. */
int shim_add(uint32_t remote, int flags);
/* Another for the same. */
void shim_dup(int fd, int copy);
/* It is gone. True if it was the last for *@remote, which has to be closed then. */
bool shim_drop(int fd, uint32_t *remote);
/* O_APPEND and such, as it was opened. */
int shim_flags(int fd);
void shim_forget_table(void);

#endif
