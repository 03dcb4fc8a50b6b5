// SPDX-License-Identifier: GPL-2.0-only
/* The choice of the BPF programs, with stand-ins for the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include <ktau.h>

#include <ktau_bpf.h>

#include "bpf/bpf.h"

#define ID_TCP		7
#define ID_OTHER	1

/* Test programs that were loaded for functions of TCP. */
static unsigned int nr_tcp;
/* Error of attaching a test program, or 0. */
static int attach_err;
/* Number of programs of TCP, and of virtual CPUs, that were selected for loading. */
static unsigned int nr_functions, nr_kvm;
/* Whether the module kvm is loaded, and what the process may do. */
static bool has_kvm;
static const char *capabilities = "CapEff:\tffffffffffffffff\n";

FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
int __wrap_stat64(const char *path, struct stat *st);
int __wrap_access(const char *path, int mode);
struct btf *__wrap_btf__load_vmlinux_btf(void);
struct btf *__wrap_btf__load_module_btf(const char *name, struct btf *vmlinux);
int __wrap_btf__find_by_name_kind(const struct btf *btf, const char *name, uint32_t kind);
int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *licence,
			 const struct bpf_insn *insns, ...);
int __wrap_bpf_raw_tracepoint_open(const char *name, int fd);
int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton);

/* The status of the process */
FILE *__wrap_fopen64(const char *path, const char *mode)
{
	if (strcmp(path, "/proc/self/status"))
		return __real_fopen64(path, mode);
	return fmemopen((char *)capabilities, strlen(capabilities), "r");
}

/* A kernel without namespaces. */
int __wrap_stat64(const char *path, struct stat *st)
{
	(void)path, (void)st;
	errno = ENOENT;
	return -1;
}

int __wrap_access(const char *path, int mode)
{
	(void)path, (void)mode;
	return 0;
}

struct btf *__wrap_btf__load_vmlinux_btf(void)
{
	return btf__new_empty();
}

/* The types of the module are those of the kernel, and two more. */
static struct btf *module;

struct btf *__wrap_btf__load_module_btf(const char *name, struct btf *vmlinux)
{
	(void)vmlinux;
	assert_string_equal(name, "kvm");
	module = has_kvm ? btf__new_empty() : NULL;
	return module;
}

int __wrap_btf__find_by_name_kind(const struct btf *btf, const char *name, uint32_t kind)
{
	(void)kind;
	if (!strncmp(name, "btf_trace_kvm_", 14) && (!module || btf != module))
		return -ENOENT;
	return strncmp(name, "tcp_", 4) ? ID_OTHER : ID_TCP;
}

/* The number of instructions and the options follow. */
int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *licence,
			 const struct bpf_insn *insns, ...)
{
	const struct bpf_prog_load_opts *options;
	va_list args;

	(void)type, (void)name, (void)licence, (void)insns;
	va_start(args, insns);
	assert_int_equal(va_arg(args, size_t), 2);
	options = va_arg(args, const struct bpf_prog_load_opts *);
	va_end(args);
	nr_tcp += options->attach_btf_id == ID_TCP;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_bpf_raw_tracepoint_open(const char *name, int fd)
{
	(void)name, (void)fd;
	return attach_err ? attach_err : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The programs have been chosen. */
int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton)
{
	int i;

	nr_functions = nr_kvm = 0;
	for (i = 0; i < skeleton->prog_cnt; i++) {
		if (!bpf_program__autoload(*skeleton->progs[i].prog))
			continue;
		nr_functions += !strncmp(skeleton->progs[i].name, "tcp_", 4);
		nr_kvm += !strncmp(skeleton->progs[i].name, "kvm_", 4);
	}
	return -EXFULL;
}

static int create(uint32_t groups)
{
	const struct ktau_bpf_options options = { .groups = groups };
	struct ktau__error error = { 0 };
	struct ktau__bpf *bpf;

	nr_tcp = nr_kvm = 0;
	module = NULL;
	return ktau__bpf_create(&bpf, &options, &error);
}

static unsigned int tried_for(uint32_t groups)
{
	assert_int_equal(create(groups), -EXFULL);
	return nr_tcp;
}

/* Nothing is attached to functions of groups that nobody wants to measure. */
static void test_groups(void **state)
{
	(void)state;
	assert_int_equal(tried_for(KTAU_GROUP_SYSCALL), 0);
	assert_int_not_equal(tried_for(KTAU_GROUP_TCP), 0);
	assert_int_not_equal(tried_for(UINT32_MAX), 0);
}

/*
 * On a kernel that permits no programs on functions, their group is left out. The programs of busy
 * functions stay selected, so that attaching them reports the error.
 */
static void test_functions(void **state)
{
	(void)state;
	tried_for(UINT32_MAX);
	assert_int_equal(nr_functions, 4);
	attach_err = -EOPNOTSUPP;
	tried_for(UINT32_MAX);
	assert_int_equal(nr_functions, 0);
	attach_err = -EBUSY;
	tried_for(UINT32_MAX);
	assert_int_equal(nr_functions, 4);
	attach_err = 0;
}

/*
 * The programs of virtual CPUs are loaded if the module kvm is there, and the process may load them
 * for modules. It is no error if not, unless they were asked for by name.
 */
static void test_kvm(void **state)
{
	(void)state;
	assert_int_equal(create(UINT32_MAX), -EXFULL);
	assert_int_equal(nr_kvm, 0);
	assert_int_equal(create(KTAU_GROUP_KVM), -EOPNOTSUPP);
	has_kvm = true;
	assert_int_equal(create(UINT32_MAX), -EXFULL);
	assert_int_equal(nr_kvm, 2);
	assert_int_equal(create(KTAU_GROUP_KVM), -EXFULL);
	assert_int_equal(nr_kvm, 2);
	assert_int_equal(create(KTAU_GROUP_SYSCALL), -EXFULL);
	assert_int_equal(nr_kvm, 0);
	/* CAP_BPF and CAP_PERFMON only */
	capabilities = "CapEff:\t000000c000000000\n";
	assert_int_equal(create(UINT32_MAX), -EXFULL);
	assert_int_equal(nr_kvm, 0);
	assert_int_equal(create(KTAU_GROUP_KVM), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_kvm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
