// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The programs that write a trace: the same source as the others, compiled once more. So the
 * skeletons are of one type, and cannot be in one file.
 */
#include "bpf.h"
#include "traced.skel.h"

struct ktau_bpf *ktau__bpf_open_traced(void)
{
	return ktau_bpf__open();
}
