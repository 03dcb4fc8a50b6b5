/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads of the account: what each does is in loads.c. */
#ifndef KTAU_TESTS_LOADS_H
#define KTAU_TESTS_LOADS_H

/* Ends the program: what failed, and errno. */
_Noreturn void load_die(const char *what);

/* A new file of @mib MiB in a tmpfs, open and unlinked; its pages are there. */
int load_file(unsigned int mib);

/* io_uring: operations in the thread that polls the queue, and in workers. */
void load_sqpoll(void);
void load_workers(void);

/* How often the virtual CPU leaves its guest for I/O. */
#define LOAD_VCPU_EXITS 1000

/* A virtual CPU that counts and leaves its guest now and then. */
void load_vcpu(void);

#endif /* KTAU_TESTS_LOADS_H */
