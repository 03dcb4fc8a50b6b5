/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads of the account; loads.c describes them. */
#ifndef KTAU_TESTS_LOADS_H
#define KTAU_TESTS_LOADS_H

#include <stddef.h>

/* Print @what and errno, and end the program. */
_Noreturn void load_die(const char *what);

/*
 * Work in user mode on data that is transferred, as programs do: some four instructions a byte.
 * Without it user mode consists of the few instructions around system calls.
 */
void load_process(const void *data, size_t bytes);

/* A new file of @mib MiB in a tmpfs, open and unlinked, with its pages allocated. */
int load_file(unsigned int mib);

/* io_uring: operations in the thread that polls the queue, and in workers. */
void load_sqpoll(void);
void load_workers(void);

/* A virtual CPU that counts, and exits to the host for I/O. */
struct vcpu {
	int fd;
	struct kvm_run *run;
};

struct vcpu load_vcpu_create(void);
void load_vcpu_run(const struct vcpu *vcpu, unsigned int exits);

/* Create one that exits @exits times. */
void load_vcpu(unsigned int exits);

#endif /* KTAU_TESTS_LOADS_H */
