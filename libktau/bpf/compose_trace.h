/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef KTAU_BPF_COMPOSE_TRACE_H
#define KTAU_BPF_COMPOSE_TRACE_H

#include "stream.h"

/* Write the owners and traces of a stream. 0, -errno. */
int ktau__put_traces(struct ktau__stream *s);

#endif /* KTAU_BPF_COMPOSE_TRACE_H */
