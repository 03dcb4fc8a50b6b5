/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measuring on a kernel without KTAU, for programs that are linked with libktau-bpf.a. */
#ifndef KTAU_BPF_H
#define KTAU_BPF_H

#include <ktau_reader.h>

/**
 * ktau_reader_open_bpf() - measure with BPF programs, on a kernel without KTAU
 *
 * Loads the programs of @groups (0: all), which measure until the reader gets another source or
 * is destroyed. The streams contain what happened since; ktau_origin_limit() lists what they
 * cannot contain. @query is as for a kernel with KTAU, but there are no traces and no tags.
 *
 * Return: 0, -EPERM (ktau_reader_error() names the missing capabilities), -EOPNOTSUPP (a build
 * without libbpf, a kernel without BTF, a PID namespace other than the initial one, a group that
 * cannot be measured, an unsupported query), errors of bpf(2).
 */
int ktau_reader_open_bpf(struct ktau_reader *reader, uint32_t groups,
			 const struct ktau_query *query);

/* Return: 0 if this process has the rights to measure with BPF programs, otherwise -errno. */
int ktau_bpf_permitted(void);

/* Whether this build and this kernel can measure with BPF programs, given the rights. */
bool ktau_bpf_available(void);

#endif /* KTAU_BPF_H */
