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
struct ktau_bpf_options;

/**
 * struct ktau__bpf_source - the functions of the source
 * @create: load and attach the programs; the error names missing rights. Return: 0, -EPERM,
 *	    -EOPNOTSUPP (no BTF in this kernel), -ENOMEM, errors of bpf(2)
 * @share: one more reader uses them, and will call @destroy
 * @compose: append a stream to a buffer. Return: 0, -EOPNOTSUPP with the error set, -errno
 * @destroy: unload them once no reader uses them any more
 */
struct ktau__bpf_source {
	int (*create)(struct ktau__bpf **bpf, const struct ktau_bpf_options *options,
		      struct ktau__error *error);
	void (*share)(struct ktau__bpf *bpf);
	int (*compose)(struct ktau__bpf *bpf, const struct ktau_query *query,
		       struct ktau__buffer *out, struct ktau__error *error);
	void (*destroy)(struct ktau__bpf *bpf);
};

/* In reader.c. Return: 0, -errno with the reader's error set. */
int ktau__reader_open_bpf(struct ktau_reader *reader, const struct ktau__bpf_source *source,
			  const struct ktau_bpf_options *options, const struct ktau_query *query);

#endif /* KTAU_BPF_SOURCE_H */
