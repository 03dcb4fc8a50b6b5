/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's types and fields that ktau.bpf.c uses, by name. Their offsets here do not matter:
 * libbpf finds those of the running kernel in its BTF.
 */
#ifndef KTAU_BPF_VMLINUX_H
#define KTAU_BPF_VMLINUX_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef __u8 u8;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

enum { false, true };

/* The numbers are part of the kernel's interface. */
enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	u32 status;
	u32 cpu;
};

struct sched_entity {
	u64 nr_migrations;
};

typedef struct {
	u32 val;
} kuid_t;

typedef struct {
	u32 val;
} kgid_t;

struct cred {
	kuid_t uid;
	kgid_t gid;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct pid_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct pid_namespace *pid_ns_for_children;
	struct net *net_ns;
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct signal_struct {
	int group_exit_code;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int prio;
	struct sched_entity se;
	unsigned int policy;
	int exit_code;
	unsigned int in_execve : 1;
	unsigned int in_iowait : 1;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	u64 utime;
	u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	u64 start_boottime;
	const struct cred *real_cred;
	char comm[16];
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
};

struct pt_regs {
	unsigned long di;
	unsigned long orig_ax;
};

struct rq {
	struct task_struct *curr;
};

struct trace_event_raw_sys_enter {
	long id;
};

struct trace_event_raw_sys_exit {
	long ret;
};

struct vm_area_struct;

struct irqaction;
struct kernel_siginfo;
struct k_sigaction;
struct linux_binprm;
struct sock;
struct msghdr;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* Of modules */

struct kvm_vcpu_arch {
	u64 l1_tsc_offset;
	u64 l1_tsc_scaling_ratio;
};

struct kvm_vcpu {
	int vcpu_id;
	struct kvm_vcpu_arch arch;
};

struct vmcb_control_area {
	u64 exit_code; /* before Linux 7 of 32 bits, with an upper half after it */
};

struct vmcb {
	struct vmcb_control_area control;
};

struct vcpu_svm {
	struct kvm_vcpu vcpu;
	struct vmcb *vmcb;
};

union vmx_exit_reason {
	u32 full;
};

/* In a structure of its own from Linux 6.16 on */
struct vcpu_vt {
	union vmx_exit_reason exit_reason;
};

struct vcpu_vmx {
	struct kvm_vcpu vcpu;
	union vmx_exit_reason exit_reason;
	struct vcpu_vt vt;
};

/* The timekeeper of bpf_ktime_get_ns() */

struct clocksource {
	const char *name;
};

struct tk_read_base {
	struct clocksource *clock;
	u64 cycle_last;
	u32 mult;
	u32 shift;
	u64 xtime_nsec;
	s64 base;
};

struct seqcount {
	unsigned int sequence;
};

typedef struct seqcount seqcount_t;

typedef struct {
	seqcount_t seqcount;
} seqcount_latch_t;

struct tk_fast {
	seqcount_latch_t seq;
	struct tk_read_base base[2];
};

#pragma clang attribute pop

#endif /* KTAU_BPF_VMLINUX_H */
