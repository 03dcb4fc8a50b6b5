// SPDX-License-Identifier: GPL-2.0-only
/* Slots of a trace as text. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "dump_fields.h"
#include "dump_slot.h"
#include "program_event.h"
#include "text.h"

static void print_address(struct dump *d, const char *name, const __u8 *bytes, unsigned int port)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	memcpy(&address, bytes, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address))
		inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, &address, text, sizeof(text));
	fprintf(d->out, " %s %s port %u", name, text, port);
}

static void print_net(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_net net;

	ktau_slot_net(s, &net);
	if (net.ack)
		fprintf(d->out, " ack=%u", net.ack);
	print_address(d, "local", net.local, net.local_port);
	print_address(d, "remote", net.remote, net.remote_port);
}

static void print_life(struct dump *d, const struct ktau_slot *s)
{
	uint64_t serial;
	char comm[17];
	int32_t code;

	if (s->type == KTAU_TRACE_TASK_EXIT) {
		ktau_slot_exit_code(s, &code);
		fprintf(d->out, "exit code=%" PRId32, code);
		return;
	}
	ktau_slot_comm(s, comm);
	fputs(s->type == KTAU_TRACE_EXEC ? "exec " : "comm ", d->out);
	print_escaped(comm, d->out);
	if (ktau_slot_exec(s, &serial) && serial) {
		fputs(" profile=", d->out);
		dump_task(d, serial);
	}
}

static void print_result(struct dump *d, const struct ktau_slot *s)
{
	int64_t result;

	if (ktau_slot_result(s, &result))
		fprintf(d->out, " result=%" PRId64, result);
}

static void print_frame(struct dump *d, const struct ktau_slot *s)
{
	uint64_t value;

	switch (s->type) {
	case KTAU_TRACE_ENTER:
		fputs("in ", d->out);
		dump_event_name(d, s->id);
		if (ktau_slot_address(s, &value))
			fprintf(d->out, " address=%#" PRIx64, value);
		return;
	case KTAU_TRACE_EXIT:
		fputs("out ", d->out);
		dump_event_name(d, s->id);
		print_result(d, s);
		return;
	}
	ktau_slot_count(s, &value);
	fputs("count ", d->out);
	dump_event_name(d, s->id);
	fprintf(d->out, " %" PRIu64, value);
}

static void print_other(struct dump *d, const struct ktau_slot *s)
{
	const __u64 *payload = ktau_slot_payload(s);
	unsigned int nr = ktau_slot_payload_words(s), i;
	const char *name = ktau_slot_type_name(s->type);

	if (name)
		fputs(name, d->out);
	else
		fprintf(d->out, "type=%u", s->type);
	if (s->id != KTAU_ID_NONE)
		fprintf(d->out, " id=%u", s->id);
	if (nr)
		fputs(" payload=", d->out);
	for (i = 0; i < nr; i++)
		fprintf(d->out, "%s%#llx", i ? "," : "", payload[i]);
}

static void print_reason(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_kvm kvm;

	ktau_slot_kvm(s, &kvm);
	fprintf(d->out, " reason=%u", kvm.reason);
}

static void print_groups(struct dump *d, const struct ktau_slot *s)
{
	uint32_t groups;

	ktau_slot_groups(s, &groups);
	fputs("groups ", d->out);
	dump_bits(d, groups, ktau_group_name);
}

static void print_field(struct dump *d, const struct program_field *field)
{
	const char *quote = field->type == PROGRAM_TEXT_TYPE ? "\"" : "";

	fprintf(d->out, " %.*s=%s", (int)field->name_bytes, field->name, quote);
	print_escaped(program_text(field), d->out);
	fputs(quote, d->out);
}

static void print_fields(struct dump *d, const struct ktau_slot *s)
{
	const char *name = symbolize_fields(d->names, s->id);
	struct program_field field;
	struct program_walk walk;

	fputs("event ", d->out);
	dump_event_name(d, s->id);
	if (!name)
		return;
	program_begin(&walk, name, s);
	while (program_next(&walk, &field))
		print_field(d, &field);
}

static void print_fields_lost(struct dump *d, const struct ktau_slot *s)
{
	const __u64 *payload = ktau_slot_payload(s);

	fputs("events-lost", d->out);
	if (ktau_slot_payload_words(s) >= 2)
		fprintf(d->out, " at most %llu until %llu", payload[0], payload[1]);
}

/* What the list of fields does not say. */
static void print_more(struct dump *d, const struct ktau_slot *s)
{
	switch (s->type) {
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		print_net(d, s);
		return;
	case KTAU_TRACE_KVM_EXIT:
		print_reason(d, s);
		return;
	}
}

void dump_slot(struct dump *d, const struct ktau_slot *s)
{
	uint64_t id;

	switch (s->type) {
	case KTAU_TRACE_ENTER:
	case KTAU_TRACE_EXIT:
	case KTAU_TRACE_COUNT:
		print_frame(d, s);
		return;
	case KTAU_TRACE_EXEC:
	case KTAU_TRACE_TASK_EXIT:
	case KTAU_TRACE_COMM:
		print_life(d, s);
		return;
	case KTAU_TRACE_CGROUP:
		ktau_slot_cgroup(s, &id);
		fprintf(d->out, "cgroup %" PRIu64, id);
		return;
	case KTAU_TRACE_GROUPS:
		print_groups(d, s);
		return;
	case KTAU_TRACE_FIELDS:
		print_fields(d, s);
		return;
	case KTAU_TRACE_FIELDS_LOST:
		print_fields_lost(d, s);
		return;
	}
	if (dump_payload(d, s))
		print_more(d, s);
	else
		print_other(d, s);
}
