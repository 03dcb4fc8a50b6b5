/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of system calls. */
#ifndef KTAU_BPF_SYSCALLS_H
#define KTAU_BPF_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

/* The function of a native system call of x86-64, "sys_NR" if it is not known. */
void ktau__syscall_name(uint32_t nr, char *name, size_t size);

#endif /* KTAU_BPF_SYSCALLS_H */
