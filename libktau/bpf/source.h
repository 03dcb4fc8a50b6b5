/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source of streams on a kernel without KTAU, as the reader uses it: BPF programs, which
 * measure from create() to destroy(). The reader calls it by these pointers, so only programs that
 * are linked with libktau-bpf.a need libbpf.
 */
#ifndef KTAU_BPF_SOURCE_H
#define KTAU_BPF_SOURCE_H

#include <ktau_reader.h>

#include "../buffer.h"
#include "../fail.h"

struct ktau__bpf;

/**
 * struct ktau__bpf_source - the functions of the source
 * @create: load and attach the programs of a set of groups; the error names missing rights. Return:
 *	    0, -EPERM, -EOPNOTSUPP (no BTF in this kernel), -ENOMEM, errors of bpf(2)
 * @compose: append a stream to a buffer. Return: 0, -EOPNOTSUPP with the error set, -errno
 * @destroy: unload them
 */
struct ktau__bpf_source {
	int (*create)(struct ktau__bpf **bpf, uint32_t groups, struct ktau__error *error);
	int (*compose)(struct ktau__bpf *bpf, const struct ktau_query *query,
		       struct ktau__buffer *out, struct ktau__error *error);
	void (*destroy)(struct ktau__bpf *bpf);
};

/* In reader.c. @groups: 0 for all. Return: 0, -errno with the reader's error set. */
int ktau__reader_open_bpf(struct ktau_reader *reader, const struct ktau__bpf_source *source,
			  uint32_t groups, const struct ktau_query *query);

#endif /* KTAU_BPF_SOURCE_H */
