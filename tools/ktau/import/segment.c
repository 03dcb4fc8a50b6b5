// SPDX-License-Identifier: GPL-2.0-only
/* Segments of TCP in traces of LTTng and in the exports of KTAU. */
#include <arpa/inet.h>
#include <string.h>

#include "import.h"

static int64_t number(const struct import_event *e, const char *name, int64_t none)
{
	return e->number(e->fields, name, none);
}

/* The flags of a TCP header are bit fields in the trace, the first one in the highest bit. */
static uint8_t tcp_flags(int64_t fields)
{
	uint8_t flags = 0, i;

	for (i = 0; i < 8; i++)
		flags |= (uint8_t)((fields >> (15 - i) & 1) << i);
	return flags;
}

static void read_address(const struct import_event *e, const char *name, uint8_t address[16])
{
	if (inet_pton(AF_INET6, e->text(e->fields, name), address) != 1)
		memset(address, 0, 16);
}

/*
 * LTTng's old instrumentation has no addresses and no payload, but all that tells segments apart.
 * An export of KTAU has the rest, too.
 */
struct ktau_slot_net import_segment(const struct import_event *e)
{
	struct ktau_slot_net net = {
		.seq = (uint32_t)number(e, "seq", 0),
		.ack = (uint32_t)number(e, "ack_seq", 0),
		.nr_segments = (uint16_t)number(e, "segments", 1),
		.tcp_flags = tcp_flags(number(e, "flags", 0)),
		.local_port = (uint16_t)number(e, "local_port", 0),
		.remote_port = (uint16_t)number(e, "remote_port", 0),
		.bytes = (uint32_t)number(e, "bytes", 0),
		.net_flags = (uint8_t)number(e, "net_flags", 0),
		.net_ns = (uint32_t)number(e, "net_ns", 0),
	};

	read_address(e, "local", net.local);
	read_address(e, "remote", net.remote);
	return net;
}
