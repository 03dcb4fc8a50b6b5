// SPDX-License-Identifier: GPL-2.0-only
/* Slots of a trace as text. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "dump_reference.h"
#include "dump_slot.h"
#include "program_event.h"
#include "text.h"

void dump_word(struct dump *d, const char *word, uint32_t number)
{
	if (word)
		fputs(word, d->out);
	else
		fprintf(d->out, "%" PRIu32, number);
}

void dump_bits(struct dump *d, uint32_t bits, const char *(*name)(uint32_t bit))
{
	const char *comma = "", *known;
	uint32_t bit;

	for (bit = 1; bit; bit <<= 1) {
		if (!(bits & bit))
			continue;
		known = name(bit);
		if (known)
			fprintf(d->out, "%s%s", comma, known);
		else
			fprintf(d->out, "%s%#" PRIx32, comma, bit);
		comma = ",";
	}
	if (!bits)
		fputs("none", d->out);
}

void dump_event_name(struct dump *d, uint32_t id)
{
	print_escaped(symbolize_event(d->names, id), d->out);
}

/* Print a task by its serial; 0 means no task, or a hidden one. */
static void print_serial(struct dump *d, const char *name, uint64_t serial)
{
	const struct ktau_rec_owner *o = ktau_reader_owner(d->reader, serial);

	fprintf(d->out, " %s=%" PRIu64, name, serial);
	if (!o)
		return;
	fprintf(d->out, "(%" PRId32 " ", o->tid);
	print_escaped(o->comm, d->out);
	fputc(')', d->out);
}

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

	fputs(s->type == KTAU_TRACE_NET_SEND ? "net-send" : "net-recv", d->out);
	ktau_slot_net(s, &net);
	fprintf(d->out, " seq=%u bytes=%u segments=%u tcp_flags=%#x net_flags=%#x net_ns=%u",
		net.seq, net.bytes, net.nr_segments, net.tcp_flags, net.net_flags, net.net_ns);
	if (net.ack)
		fprintf(d->out, " ack=%u", net.ack);
	print_address(d, "local", net.local, net.local_port);
	print_address(d, "remote", net.remote, net.remote_port);
}

static void print_switch(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_switch to;

	ktau_slot_switch(s, &to);
	fputs("switch", d->out);
	print_serial(d, "to", to.next_serial);
	fprintf(d->out, " state=%#x(%c) prio=%d next_prio=%d", to.state,
		ktau_state_letter(to.state), to.prio, to.next_prio);
}

static void print_wakeup(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_waking waking;
	struct ktau_slot_woken woken;

	if (s->type == KTAU_TRACE_WAKING) {
		ktau_slot_waking(s, &waking);
		fputs("waking", d->out);
		print_serial(d, "task", waking.serial);
		fprintf(d->out, " cpu=%u prio=%d", waking.target_cpu, waking.prio);
		return;
	}
	ktau_slot_woken(s, &woken);
	fputs("woken", d->out);
	print_serial(d, "by", woken.waker_serial);
	fprintf(d->out, " at=%llu cpu=%u ctx=", woken.waking_ticks, woken.target_cpu);
	dump_word(d, ktau_ctx_name(woken.waker_ctx), woken.waker_ctx);
}

static void print_life(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_fork child;
	uint64_t serial;
	char comm[17];
	int32_t code;

	switch (s->type) {
	case KTAU_TRACE_FORK:
		ktau_slot_fork(s, &child);
		fputs("fork", d->out);
		print_serial(d, "child", child.serial);
		print_serial(d, "leader", child.leader_serial);
		return;
	case KTAU_TRACE_TASK_EXIT:
		ktau_slot_exit_code(s, &code);
		fprintf(d->out, "exit code=%" PRId32, code);
		return;
	}
	ktau_slot_comm(s, comm);
	fputs(s->type == KTAU_TRACE_EXEC ? "exec " : "comm ", d->out);
	print_escaped(comm, d->out);
	if (ktau_slot_exec(s, &serial) && serial)
		print_serial(d, "profile", serial);
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

static void print_kvm(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_kvm kvm;

	ktau_slot_kvm(s, &kvm);
	fprintf(d->out, "%s vcpu=%u", s->type == KTAU_TRACE_KVM_ENTER ? "kvm-enter" : "kvm-exit",
		kvm.vcpu);
	if (s->type == KTAU_TRACE_KVM_EXIT)
		fprintf(d->out, " reason=%u", kvm.reason);
}

static void print_groups(struct dump *d, const struct ktau_slot *s)
{
	uint32_t groups;

	ktau_slot_groups(s, &groups);
	fputs("groups ", d->out);
	dump_bits(d, groups, ktau_group_name);
}

static void print_kvm_clock(struct dump *d, const struct ktau_slot *s)
{
	struct ktau_slot_kvm_clock clock;

	ktau_slot_kvm_clock(s, &clock);
	fprintf(d->out, "kvm-clock vcpu=%u offset=%lld ratio=%#llx frac_bits=%u", clock.vcpu,
		(long long)clock.tsc_offset, clock.tsc_ratio, clock.frac_bits);
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

void dump_slot(struct dump *d, const struct ktau_slot *s)
{
	uint64_t id;

	switch (s->type) {
	case KTAU_TRACE_ENTER:
	case KTAU_TRACE_EXIT:
	case KTAU_TRACE_COUNT:
		print_frame(d, s);
		return;
	case KTAU_TRACE_SWITCH:
		print_switch(d, s);
		return;
	case KTAU_TRACE_WAKING:
	case KTAU_TRACE_WOKEN:
		print_wakeup(d, s);
		return;
	case KTAU_TRACE_FORK:
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
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		print_net(d, s);
		return;
	case KTAU_TRACE_KVM_ENTER:
	case KTAU_TRACE_KVM_EXIT:
		print_kvm(d, s);
		return;
	case KTAU_TRACE_KVM_CLOCK:
		print_kvm_clock(d, s);
		return;
	case KTAU_TRACE_FIELDS:
		print_fields(d, s);
		return;
	case KTAU_TRACE_FIELDS_LOST:
		print_fields_lost(d, s);
		return;
	}
	if (!dump_reference(s, d->out))
		print_other(d, s);
}
