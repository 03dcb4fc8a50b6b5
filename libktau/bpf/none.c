// SPDX-License-Identifier: LGPL-2.1-or-later
/* The source in a build with HAVE_BPF=n, which cannot measure. */
#include <errno.h>

#include "ktau_bpf.h"
#include "source.h"

static int create(struct ktau__bpf **bpf, const struct ktau_bpf_options *options,
		  struct ktau__error *error)
{
	(void)options;
	*bpf = NULL;
	return ktau__fail(error, -EOPNOTSUPP,
			  "measuring by BPF: this program was built without libbpf");
}

int ktau_reader_open_bpf(struct ktau_reader *reader, const struct ktau_bpf_options *options,
			 const struct ktau_query *query)
{
	static const struct ktau__bpf_source source = { .create = create };

	return ktau__reader_open_bpf(reader, &source, options, query);
}

int ktau_bpf_permitted(void)
{
	return -EOPNOTSUPP;
}

bool ktau_bpf_available(void)
{
	return false;
}

const char *ktau_bpf_missing(void)
{
	return NULL;
}
