// SPDX-License-Identifier: GPL-2.0-only
/* The seccomp filter that stops a program's calls on files. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cnk/calls.h"
#include "cnk/filter.h"

#define MAX_STEPS 512

struct filter {
	struct sock_filter step[MAX_STEPS];
	unsigned short steps;
};

static void add(struct filter *f, struct sock_filter step)
{
	if (f->steps == MAX_STEPS)
		abort();
	f->step[f->steps++] = step;
}

static void add_load(struct filter *f, size_t offset)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void add_return(struct filter *f, uint32_t action)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Skip the next @skip steps unless the comparison with @value is true. */
static void add_unless_skip(struct filter *f, int comparison, uint32_t value, unsigned char skip)
{
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0, skip));
}

/*
 * Another architecture has different numbers, so its calls cannot be identified: kill it. Calls
 * newer than the table, and io_uring, which does I/O without system calls, get the same answer as
 * from a kernel that does not support them.
 */
static void fill(struct filter *f)
{
	size_t i;

	add_load(f, offsetof(struct seccomp_data, arch));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
	add_return(f, SECCOMP_RET_KILL_PROCESS);
	add_load(f, offsetof(struct seccomp_data, nr));
	add_unless_skip(f, BPF_JGT, CNK_LAST_CALL, 1);
	add_return(f, SECCOMP_RET_ERRNO | ENOSYS);
	add_unless_skip(f, BPF_JEQ, SYS_io_uring_setup, 1);
	add_return(f, SECCOMP_RET_ERRNO | ENOSYS);
	for (i = 0; i < cnk_nr_rules(); i++) {
		if (cnk_rule_call(i) == SYS_mmap)
			continue;
		add_unless_skip(f, BPF_JEQ, cnk_rule_call(i), 1);
		add_return(f, SECCOMP_RET_USER_NOTIF);
	}
	/* Most mappings are of memory, without a descriptor. */
	add_unless_skip(f, BPF_JEQ, SYS_mmap, 3);
	add_load(f, offsetof(struct seccomp_data, args[3]));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0));
	add_return(f, SECCOMP_RET_USER_NOTIF);
	add_return(f, SECCOMP_RET_ALLOW);
}

/*
 * Only fatal signals interrupt a call that cnk has started to handle: otherwise the program would
 * restart the call, and it would be executed twice.
 */
int cnk_install_filter(void)
{
	static struct filter f;
	struct sock_fprog program = { .filter = f.step };
	long listener;

	fill(&f);
	program.len = f.steps;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			   SECCOMP_FILTER_FLAG_NEW_LISTENER |
				   SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			   &program);
	return listener < 0 ? -errno : listener;
}
