// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "point.h"

const char *point_name(uint32_t type)
{
	switch (type) {
	case KTAU_TRACE_FORK:
		return "fork";
	case KTAU_TRACE_EXEC:
		return "exec";
	case KTAU_TRACE_TASK_EXIT:
		return "exit";
	case KTAU_TRACE_COMM:
		return "comm";
	case KTAU_TRACE_CGROUP:
		return "cgroup";
	case KTAU_TRACE_NET_SEND:
		return "net_send";
	case KTAU_TRACE_NET_RECV:
		return "net_recv";
	case KTAU_TRACE_KVM_ENTER:
		return "kvm_enter";
	case KTAU_TRACE_KVM_EXIT:
		return "kvm_exit";
	}
	return NULL;
}

static void add_number(struct point *p, const char *name, int64_t number)
{
	p->args[p->nr++] = (struct point_arg){ .name = name, .number = number };
}

static void add_text(struct point *p, const char *name, const char *text)
{
	p->args[p->nr++] = (struct point_arg){ .name = name, .text = text };
}

void point_address(char text[POINT_TEXT], const uint8_t bytes[16], unsigned int port)
{
	char printed[INET6_ADDRSTRLEN] = "?";
	struct in6_addr address;

	memcpy(&address, bytes, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address)) {
		inet_ntop(AF_INET, &address.s6_addr[12], printed, sizeof(printed));
		snprintf(text, POINT_TEXT, "%s:%u", printed, port);
	} else {
		inet_ntop(AF_INET6, &address, printed, sizeof(printed));
		snprintf(text, POINT_TEXT, "[%s]:%u", printed, port);
	}
}

static void add_address(struct point *p, const char *name, const uint8_t address[16],
			unsigned int port)
{
	char *text = p->texts[p->used++];

	point_address(text, address, port);
	add_text(p, name, text);
}

static void describe_net(struct point *p, const struct ktau_slot_net *net)
{
	add_address(p, "local", net->local, net->local_port);
	add_address(p, "remote", net->remote, net->remote_port);
	add_number(p, "seq", net->seq);
	add_number(p, "ack", net->ack);
	add_number(p, "bytes", net->bytes);
	add_number(p, "segments", net->nr_segments);
	add_number(p, "tcp_flags", net->tcp_flags);
	add_number(p, "net_flags", net->net_flags);
	add_number(p, "net_ns", net->net_ns);
	p->value = net->bytes;
}

static void describe_kvm(struct point *p, const struct ktau_slot_kvm *kvm, bool left)
{
	add_number(p, "vcpu", kvm->vcpu);
	if (left)
		add_number(p, "reason", kvm->reason);
	p->value = left ? kvm->reason : kvm->vcpu;
}

static void describe_fork(struct point *p, const struct timeline *t,
			  const struct ktau_slot_fork *fork)
{
	const struct ktau_rec_owner *child = timeline_owner(t, fork->serial);

	add_number(p, "serial", (int64_t)fork->serial);
	if (!child)
		return;
	add_number(p, "tid", child->tid);
	add_text(p, "task", child->comm);
}

bool point_describe(struct point *p, const struct timeline *t, struct registry *r,
		    const struct timeline_event *e)
{
	struct ktau_slot_fork fork;
	struct ktau_slot_net net;
	struct ktau_slot_kvm kvm;
	uint64_t cgroup;
	int32_t code;

	*p = (struct point){ .name = point_name(e->type), .value = 1 };
	if (!p->name || !e->slot)
		return false;
	if (ktau_slot_fork(e->slot, &fork)) {
		describe_fork(p, t, &fork);
	} else if (ktau_slot_comm(e->slot, p->texts[0])) {
		add_text(p, "name", p->texts[0]);
	} else if (ktau_slot_exit_code(e->slot, &code)) {
		add_number(p, "code", code);
		p->value = code;
	} else if (ktau_slot_cgroup(e->slot, &cgroup)) {
		add_text(p, "path", registry_cgroup_text(r, cgroup));
	} else if (ktau_slot_net(e->slot, &net)) {
		describe_net(p, &net);
	} else if (ktau_slot_kvm(e->slot, &kvm)) {
		describe_kvm(p, &kvm, e->type == KTAU_TRACE_KVM_EXIT);
	}
	return true;
}
