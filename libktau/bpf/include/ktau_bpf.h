/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measuring on a kernel without KTAU, for programs that are linked with libktau-bpf.a. */
#ifndef KTAU_BPF_H
#define KTAU_BPF_H

#include <ktau_reader.h>

/**
 * struct ktau_bpf_options - what the programs measure
 * @groups: KTAU_GROUP_*, 0 for all
 * @ring_slots: size of the ring of each CPU for a trace, rounded up to a power of two from 1024 to
 *	1048576; a slot has 64 bytes. 0: no trace
 * @with: a reader whose programs this one uses too, whatever the other fields say; NULL, or one
 *	that uses no programs, to load programs
 */
struct ktau_bpf_options {
	uint32_t groups;
	uint32_t ring_slots;
	const struct ktau_reader *with;
};

/**
 * ktau_reader_open_bpf() - measure with BPF programs, on a kernel without KTAU
 *
 * Loads the programs, which measure until no reader uses them any more. @options may be NULL: all
 * groups, and no trace. The streams contain what happened since; ktau_origin_limit() lists what
 * they cannot contain. @query is as for a kernel with KTAU, but there are no tags, and a trace can
 * only be consumed: all slots until then that the query does not select are lost to it.
 *
 * Return: 0, -EPERM (ktau_reader_error() names the missing capabilities), -EOPNOTSUPP (a build
 * without libbpf, a kernel without BTF, a PID namespace other than the initial one, a group that
 * cannot be measured, an unsupported query), errors of bpf(2).
 */
int ktau_reader_open_bpf(struct ktau_reader *reader, const struct ktau_bpf_options *options,
			 const struct ktau_query *query);

/* Return: 0 if this process has the rights to measure with BPF programs, otherwise -errno. */
int ktau_bpf_permitted(void);

/* Whether this build and this kernel can measure with BPF programs, given the rights. */
bool ktau_bpf_available(void);

/*
 * What else the programs need and this kernel was built without, for example
 * "CONFIG_KALLSYMS_ALL"; NULL: nothing, as far as it is known before they are loaded.
 */
const char *ktau_bpf_missing(void);

/*
 * The function of a native system call of x86-64 without its prefix, "newstat" for 4; NULL: not
 * known. Every build has these names.
 */
const char *ktau_bpf_syscall(uint32_t nr);

#endif /* KTAU_BPF_H */
