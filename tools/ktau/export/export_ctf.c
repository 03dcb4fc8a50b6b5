// SPDX-License-Identifier: GPL-2.0-only
/*
 * CTF 1.8 for Trace Compass and babeltrace2, with the names and fields of LTTng's kernel
 * events and one stream per CPU. Frames without a corresponding LTTng event are written as
 * ktau_enter and ktau_exit. While it is unknown what a CPU runs, it runs a task "unknown" with
 * the tid -1.
 *
 * Times within a stream must not decrease. A loss can end frames at a time before the last
 * event that another task wrote on the same CPU; such times are replaced by that event's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export.h"
#include "export_cpus.h"
#include "lib/text.h"

enum { PACKET_BYTES = 1 << 16, EVENT_BYTES = 1024, MAX_CPUS = 4096 };
enum { CTF_MAGIC = 0xc1fc1fc1 };

/* Event ids in the metadata. Each system call has two ids, starting at CTF_SYSCALL. */
enum {
	CTF_SWITCH = 1, CTF_WAKING, CTF_WAKEUP, CTF_FORK, CTF_EXEC, CTF_TASK_EXIT,
	CTF_IRQ_ENTRY, CTF_IRQ_EXIT, CTF_SOFTIRQ_ENTRY, CTF_SOFTIRQ_EXIT, CTF_TIMER_ENTRY,
	CTF_TIMER_EXIT, CTF_HRTIMER_ENTRY, CTF_HRTIMER_EXIT, CTF_STATE, CTF_ENTER, CTF_EXIT,
	CTF_COUNT, CTF_LOST, CTF_MARK, CTF_TASK_FREE, CTF_WOKEN, CTF_NET_SEND,
	CTF_NET_RECV, CTF_COMM, CTF_CGROUP, CTF_KVM_ENTRY, CTF_KVM_EXIT, CTF_KVM_CLOCK,
	CTF_SYSCALL = 0x1000,
};

/* The fields of LTTng's instrumentation of sockets, then those that it does not have. */
#define SEGMENT \
	"uint64_t _sk; uint32_t _seq; uint32_t _ack_seq; uint16_t _check; uint16_t _window; " \
	"uint16_t _flags; string _local; uint16_t _local_port; string _remote; " \
	"uint16_t _remote_port; uint32_t _bytes; uint32_t _segments; uint32_t _net_flags; " \
	"uint32_t _net_ns;"

static const struct {
	int id;
	const char *name, *fields;
} classes[] = {
	{ CTF_SWITCH, "sched_switch",
	  "text _prev_comm[16]; int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state; "
	  "text _next_comm[16]; int32_t _next_tid; int32_t _next_prio;" },
	{ CTF_WAKING, "sched_waking",
	  "text _comm[16]; int32_t _tid; int32_t _prio; int32_t _target_cpu;" },
	{ CTF_WAKEUP, "sched_wakeup",
	  "text _comm[16]; int32_t _tid; int32_t _prio; int32_t _target_cpu;" },
	{ CTF_FORK, "sched_process_fork",
	  "text _parent_comm[16]; int32_t _parent_tid; int32_t _parent_pid; "
	  "text _child_comm[16]; int32_t _child_tid; int32_t _child_pid;" },
	{ CTF_EXEC, "sched_process_exec", "string _filename; int32_t _tid; int32_t _old_tid;" },
	{ CTF_TASK_EXIT, "sched_process_exit", "text _comm[16]; int32_t _tid; int32_t _prio;" },
	{ CTF_TASK_FREE, "sched_process_free", "text _comm[16]; int32_t _tid; int32_t _prio;" },
	{ CTF_IRQ_ENTRY, "irq_handler_entry", "int32_t _irq; string _name;" },
	{ CTF_IRQ_EXIT, "irq_handler_exit", "int32_t _irq; int32_t _ret; ended _ended;" },
	{ CTF_SOFTIRQ_ENTRY, "irq_softirq_entry", "uint32_t _vec;" },
	{ CTF_SOFTIRQ_EXIT, "irq_softirq_exit", "uint32_t _vec; ended _ended;" },
	{ CTF_TIMER_ENTRY, "x86_irq_vectors_local_timer_entry", "int32_t _vector;" },
	{ CTF_TIMER_EXIT, "x86_irq_vectors_local_timer_exit", "int32_t _vector; ended _ended;" },
	{ CTF_HRTIMER_ENTRY, "timer_hrtimer_expire_entry",
	  "uint64_t _hrtimer; int64_t _now; uint64_t _function; string _name;" },
	{ CTF_HRTIMER_EXIT, "timer_hrtimer_expire_exit", "uint64_t _hrtimer; ended _ended;" },
	{ CTF_STATE, "lttng_statedump_process_state",
	  "int32_t _tid; int32_t _pid; int32_t _ppid; text _name[16]; int32_t _type; "
	  "int32_t _mode; int32_t _submode; int32_t _status; uint32_t _cpu;" },
	{ CTF_ENTER, "ktau_enter", "uint32_t _id; string _name; string _group;" },
	{ CTF_EXIT, "ktau_exit", "uint32_t _id; string _name; ended _ended;" },
	{ CTF_COUNT, "ktau_count", "uint32_t _id; string _name; uint64_t _value;" },
	{ CTF_MARK, "ktau_mark",
	  "uint32_t _id; string _name; uint64_t _value; int32_t _peer;" },
	{ CTF_WOKEN, "ktau_woken",
	  "int32_t _waker_tid; uint32_t _waker_cpu; uint64_t _waking; uint32_t _target_cpu; "
	  "uint32_t _context;" },
	{ CTF_NET_SEND, "inet_sock_local_out", SEGMENT },
	{ CTF_NET_RECV, "inet_sock_local_in", SEGMENT },
	{ CTF_COMM, "task_rename", "int32_t _tid; text _oldcomm[16]; text _newcomm[16];" },
	{ CTF_CGROUP, "cgroup_attach_task",
	  "uint64_t _dst_id; string _dst_path; int32_t _tid; text _comm[16];" },
	{ CTF_KVM_ENTRY, "kvm_x86_entry", "uint32_t _vcpu_id;" },
	{ CTF_KVM_EXIT, "kvm_x86_exit", "uint32_t _exit_reason; uint32_t _vcpu_id;" },
	{ CTF_KVM_CLOCK, "kvm_x86_write_tsc_offset",
	  "uint32_t _vcpu_id; uint64_t _next_tsc_offset; uint64_t _tsc_ratio; "
	  "uint32_t _tsc_ratio_frac_bits;" },
	{ CTF_LOST, "ktau_lost", "uint64_t _from; uint64_t _to; uint64_t _slots;" },
};

enum { NR_CLASSES = sizeof(classes) / sizeof(*classes) };

static const char *const softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
	"RCU",
};

/* Header of each packet. */
struct packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end, content_bits, packet_bits, events_discarded;
	uint32_t cpu_id;
} __attribute__((packed));

/**
 * struct channel - the stream of a CPU
 * @nr: bytes in @data, including the packet header at its start
 * @begin_ns: time of the first event in the packet
 * @ns: time of the last event in the stream
 * @discarded: slots lost so far
 */
struct channel {
	size_t nr;
	uint64_t begin_ns, ns, discarded;
	uint8_t data[PACKET_BYTES];
};

/* @used: bit mask of the system calls in the metadata */
struct ctf {
	struct channel *channels[MAX_CPUS];
	struct channel *at;
	uint8_t used[65536 / 8];
	uint8_t uuid[16];
	struct cpus cpus;
	int err;
};

static void put(struct ctf *ctf, const void *data, size_t bytes)
{
	memcpy(ctf->at->data + ctf->at->nr, data, bytes);
	ctf->at->nr += bytes;
}

static void put_u8(struct ctf *ctf, uint8_t value)
{
	put(ctf, &value, sizeof(value));
}

static void put_u32(struct ctf *ctf, uint32_t value)
{
	put(ctf, &value, sizeof(value));
}

static void put_u64(struct ctf *ctf, uint64_t value)
{
	put(ctf, &value, sizeof(value));
}

/* Put a zero-terminated string. Event names are printable and at most 528 bytes long. */
static void put_string(struct ctf *ctf, const char *text)
{
	size_t bytes = strlen(text);

	put(ctf, text, bytes < EVENT_BYTES / 2 ? bytes : EVENT_BYTES / 2);
	put_u8(ctf, 0);
}

/* Put a task name; bytes that are not text are replaced by question marks. */
static void put_comm(struct ctf *ctf, const char *comm)
{
	char text[16] = "";
	int i, n;

	for (i = 0; i < 15 && comm[i]; i += n ? n : 1) {
		n = utf8_bytes((const unsigned char *)comm + i);
		if (!n || i + n > 15 || (unsigned char)comm[i] < 0x20 || comm[i] == 0x7f)
			text[i] = '?', n = 1;
		else
			memcpy(text + i, comm + i, (size_t)n);
	}
	put(ctf, text, sizeof(text));
}

static void flush(struct export_run *x, uint32_t cpu)
{
	struct ctf *ctf = x->data;
	struct channel *c = ctf->channels[cpu];
	struct packet_head head = {
		.magic = CTF_MAGIC, .timestamp_begin = c->begin_ns, .timestamp_end = c->ns,
		.content_bits = 8 * c->nr, .packet_bits = 8 * c->nr,
		.events_discarded = c->discarded, .cpu_id = cpu,
	};
	char name[32];

	if (c->nr <= sizeof(head))
		return;
	memcpy(head.uuid, ctf->uuid, sizeof(head.uuid));
	memcpy(c->data, &head, sizeof(head));
	snprintf(name, sizeof(name), "channel_%" PRIu32, cpu);
	if (output_append(x->output, name, c->data, c->nr))
		ctf->err = -EIO;
	c->nr = sizeof(head);
}

/* Start an event of the task @tid on @cpu; its fields are put next. */
static void start_at(struct export_run *x, uint32_t cpu, uint64_t ns, int32_t tid, int id)
{
	struct ctf *ctf = x->data;
	uint16_t id16 = (uint16_t)id;
	struct channel *c;

	cpu %= MAX_CPUS;
	c = ctf->channels[cpu];

	if (!c) {
		c = ctf->channels[cpu] = cli_alloc(NULL, 1, sizeof(*c));
		c->nr = sizeof(struct packet_head);
		c->ns = c->discarded = 0;
	}
	if (c->nr > PACKET_BYTES - EVENT_BYTES)
		flush(x, cpu);
	if (ns > c->ns)
		c->ns = ns;
	if (c->nr == sizeof(struct packet_head))
		c->begin_ns = c->ns;
	ctf->at = c;
	put(ctf, &id16, sizeof(id16));
	put_u64(ctf, c->ns);
	put_u32(ctf, (uint32_t)tid);
}

/* Start an event of the task, at the time and on the CPU of @e. */
static void start(struct export_run *x, const struct timeline_event *e, int id)
{
	start_at(x, e->slot ? e->slot->cpu : e->track->cpu, e->ns, e->track->owner.tid, id);
}

static int put_switch(struct export_run *x, const struct cpu_switch *s);

static int begin(struct export_run *x)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return -ENOMEM;
	ctf->cpus.put = put_switch;
	memcpy(ctf->uuid, x->stream.boot_id, sizeof(ctf->uuid));
	x->data = ctf;
	return 0;
}

/* Make put_state() describe the track again before its next event. */
static int track(struct export_run *x, struct track *track)
{
	(void)x;
	track->writer = 0;
	return 0;
}

static void put_state(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_owner *o = &e->track->owner;
	struct ctf *ctf = x->data;

	start(x, e, CTF_STATE);
	put_u32(ctf, (uint32_t)o->tid);
	put_u32(ctf, (uint32_t)o->tgid);
	put_u32(ctf, (uint32_t)o->ppid);
	put_comm(ctf, o->comm);
	put_u32(ctf, o->flags & KTAU_OWNER_KTHREAD ? 1 : 0);
	put_u32(ctf, 0);
	put_u32(ctf, 0);
	put_u32(ctf, 0);
	put_u32(ctf, o->cpu);
}

/* The LTTng event that corresponds to a frame. */
enum frame_class { FRAME_SYSCALL, FRAME_IRQ, FRAME_SOFTIRQ, FRAME_TIMER, FRAME_HRTIMER,
		   FRAME_KTAU };

static bool is_local_timer(const char *name)
{
	return strstr(name, "apic_timer_interrupt") || !strcmp(name, "local_timer") ||
	       !strcmp(name, "timer_interrupt");
}

static uint32_t softirq_vector(const char *name)
{
	uint32_t i;

	for (i = 0; i < sizeof(softirqs) / sizeof(*softirqs); i++)
		if (!strcmp(name, softirqs[i]))
			return i;
	return i;
}

static enum frame_class class_of(const struct ktau_rec_event *event)
{
	const char *name;

	if (!event)
		return FRAME_KTAU;
	name = ktau_event_name(event);
	switch (event->source) {
	case KTAU_SOURCE_SYSCALL:
		return FRAME_SYSCALL;
	case KTAU_SOURCE_IRQ:
		return FRAME_IRQ;
	case KTAU_SOURCE_HRTIMER:
		return FRAME_HRTIMER;
	}
	if (!strncmp(name, "softirq:", 8))
		return FRAME_SOFTIRQ;
	return event->group == KTAU_GROUP_IRQ && is_local_timer(name) ? FRAME_TIMER : FRAME_KTAU;
}

/* "irq:4:ttyS0" becomes "ttyS0". */
static const char *irq_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

enum { LOCAL_TIMER_VECTOR = 236 };

static void put_enter(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_event *event =
		ktau_events_find(registry_events(x->period->registry), e->id);
	const char *name = symbolize_event(x->names, e->id);
	struct ctf *ctf = x->data;

	switch (class_of(event)) {
	case FRAME_SYSCALL:
		ctf->used[e->id / 8] |= (uint8_t)(1 << e->id % 8);
		start(x, e, CTF_SYSCALL + 2 * (int)e->id);
		return;
	case FRAME_IRQ:
		start(x, e, CTF_IRQ_ENTRY);
		put_u32(ctf, (uint32_t)event->key);
		put_string(ctf, irq_name(name));
		return;
	case FRAME_SOFTIRQ:
		start(x, e, CTF_SOFTIRQ_ENTRY);
		put_u32(ctf, softirq_vector(irq_name(name)));
		return;
	case FRAME_TIMER:
		start(x, e, CTF_TIMER_ENTRY);
		put_u32(ctf, LOCAL_TIMER_VECTOR);
		return;
	case FRAME_HRTIMER:
		start(x, e, CTF_HRTIMER_ENTRY);
		put_u64(ctf, event->id);
		put_u64(ctf, e->ns);
		put_u64(ctf, event->key);
		put_string(ctf, irq_name(name));
		return;
	case FRAME_KTAU:
		start(x, e, CTF_ENTER);
		put_u32(ctf, e->id);
		put_string(ctf, name);
		put_string(ctf, symbolize_group(x->names, e->id));
		return;
	}
}

static void put_exit(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_event *event =
		ktau_events_find(registry_events(x->period->registry), e->id);
	const char *name = symbolize_event(x->names, e->id);
	struct ctf *ctf = x->data;
	int64_t result = 0;

	switch (class_of(event)) {
	case FRAME_SYSCALL:
		if (e->slot)
			ktau_slot_result(e->slot, &result);
		start(x, e, CTF_SYSCALL + 2 * (int)e->id + 1);
		put_u64(ctf, (uint64_t)result);
		break;
	case FRAME_IRQ:
		start(x, e, CTF_IRQ_EXIT);
		put_u32(ctf, (uint32_t)event->key);
		put_u32(ctf, 1);
		break;
	case FRAME_SOFTIRQ:
		start(x, e, CTF_SOFTIRQ_EXIT);
		put_u32(ctf, softirq_vector(irq_name(name)));
		break;
	case FRAME_TIMER:
		start(x, e, CTF_TIMER_EXIT);
		put_u32(ctf, LOCAL_TIMER_VECTOR);
		break;
	case FRAME_HRTIMER:
		start(x, e, CTF_HRTIMER_EXIT);
		put_u64(ctf, event->id);
		break;
	case FRAME_KTAU:
		start(x, e, CTF_EXIT);
		put_u32(ctf, e->id);
		put_string(ctf, name);
		break;
	}
	put_u8(ctf, (uint8_t)e->ended);
}

static void put_count(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;
	uint64_t value = 0;

	ktau_slot_count(e->slot, &value);
	start(x, e, CTF_COUNT);
	put_u32(ctf, e->id);
	put_string(ctf, symbolize_event(x->names, e->id));
	put_u64(ctf, value);
}

static void put_lost(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;

	start(x, e, CTF_LOST);
	put_u64(ctf, e->ns);
	put_u64(ctf, e->to_ns);
	put_u64(ctf, e->lost);
	ctf->at->discarded += e->lost;
}

/* What a mark does not have is 0, and -1 for the peer. */
static void put_mark(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;

	start(x, e, CTF_MARK);
	put_u32(ctf, e->id);
	put_string(ctf, symbolize_event(x->names, e->id));
	put_u64(ctf, e->mark->value);
	put_u32(ctf, (uint32_t)(e->mark->type == USER_MESSAGE ? e->mark->peer : -1));
}

/* The task with serial @serial; if it is unknown, an idle task, which has tid 0. */
static const struct ktau_rec_owner *other(struct export_run *x, uint64_t serial)
{
	static const struct ktau_rec_owner unknown = { .comm = "?" };
	const struct ktau_rec_owner *o = timeline_owner(x->timeline, serial);

	return o ? o : &unknown;
}

static int put_switch(struct export_run *x, const struct cpu_switch *s)
{
	static const struct ktau_rec_owner unknown = { .comm = "unknown", .tid = -1 };
	const struct ktau_rec_owner *prev = s->prev ? &s->prev->owner : &unknown;
	const struct ktau_rec_owner *next = s->next ? &s->next->owner : &unknown;
	struct ctf *ctf = x->data;

	start_at(x, s->cpu, s->ns, prev->tid, CTF_SWITCH);
	put_comm(ctf, prev->comm);
	put_u32(ctf, (uint32_t)prev->tid);
	put_u32(ctf, (uint32_t)s->prio);
	put_u64(ctf, export_state(s->state));
	put_comm(ctf, next->comm);
	put_u32(ctf, (uint32_t)next->tid);
	put_u32(ctf, (uint32_t)s->next_prio);
	return 0;
}

static void put_waking(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;
	struct ktau_slot_waking waking;
	const struct ktau_rec_owner *o;
	int id;

	ktau_slot_waking(e->slot, &waking);
	o = other(x, waking.serial);
	for (id = CTF_WAKING; id <= CTF_WAKEUP; id++) {
		start(x, e, id);
		put_comm(ctf, o->comm);
		put_u32(ctf, (uint32_t)o->tid);
		put_u32(ctf, (uint32_t)waking.prio);
		put_u32(ctf, waking.target_cpu);
	}
}

/* An exiting task wakes its parent after its last event, so only the parent knows. */
static void put_woken(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;
	const struct ktau_rec_owner *waker;
	struct ktau_slot_woken woken;

	ktau_slot_woken(e->slot, &woken);
	waker = timeline_owner(x->timeline, woken.waker_serial);
	start(x, e, CTF_WOKEN);
	put_u32(ctf, (uint32_t)(waker ? waker->tid : -1));
	put_u32(ctf, waker ? waker->cpu : 0);
	put_u64(ctf, ktau_clock_boottime_ns(timeline_clock(x->timeline), woken.waking_ticks));
	put_u32(ctf, woken.target_cpu);
	put_u32(ctf, woken.waker_ctx);
}

static void put_kvm(struct export_run *x, const struct timeline_event *e)
{
	bool exits = e->type == KTAU_TRACE_KVM_EXIT;
	struct ctf *ctf = x->data;
	struct ktau_slot_kvm kvm;

	ktau_slot_kvm(e->slot, &kvm);
	start(x, e, exits ? CTF_KVM_EXIT : CTF_KVM_ENTRY);
	if (exits)
		put_u32(ctf, kvm.reason);
	put_u32(ctf, kvm.vcpu);
}

static void put_kvm_clock(struct export_run *x, const struct timeline_event *e)
{
	struct ktau_slot_kvm_clock clock;
	struct ctf *ctf = x->data;

	ktau_slot_kvm_clock(e->slot, &clock);
	start(x, e, CTF_KVM_CLOCK);
	put_u32(ctf, clock.vcpu);
	put_u64(ctf, clock.tsc_offset);
	put_u64(ctf, clock.tsc_ratio);
	put_u32(ctf, clock.frac_bits);
}

static void put_fork(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_owner *parent = &e->track->owner, *child;
	struct ctf *ctf = x->data;
	struct ktau_slot_fork fork;

	ktau_slot_fork(e->slot, &fork);
	child = other(x, fork.serial);
	start(x, e, CTF_FORK);
	put_comm(ctf, parent->comm);
	put_u32(ctf, (uint32_t)parent->tid);
	put_u32(ctf, (uint32_t)parent->tgid);
	put_comm(ctf, child->comm);
	put_u32(ctf, (uint32_t)child->tid);
	put_u32(ctf, (uint32_t)child->tgid);
}

static void put_u16(struct ctf *ctf, uint16_t value)
{
	put(ctf, &value, sizeof(value));
}

static void put_address(struct ctf *ctf, const uint8_t address[16], uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, address, text, sizeof(text));
	put_string(ctf, text);
	put_u16(ctf, port);
}

/* The flags of a TCP header are bit fields in LTTng's event, the first one in the highest bit. */
static uint16_t flag_fields(uint8_t flags)
{
	uint16_t fields = 0;
	int i;

	for (i = 0; i < 8; i++)
		fields |= (uint16_t)((flags >> i & 1) << (15 - i));
	return fields;
}

static void put_net(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;
	struct ktau_slot_net net;

	ktau_slot_net(e->slot, &net);
	start(x, e, e->type == KTAU_TRACE_NET_SEND ? CTF_NET_SEND : CTF_NET_RECV);
	put_u64(ctf, 0);
	put_u32(ctf, net.seq);
	put_u32(ctf, net.ack);
	put_u16(ctf, 0);
	put_u16(ctf, 0);
	put_u16(ctf, flag_fields(net.tcp_flags));
	put_address(ctf, net.local, net.local_port);
	put_address(ctf, net.remote, net.remote_port);
	put_u32(ctf, net.bytes);
	put_u32(ctf, net.nr_segments);
	put_u32(ctf, net.net_flags);
	put_u32(ctf, net.net_ns);
}

static void put_comm_slot(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;
	char comm[17];

	ktau_slot_comm(e->slot, comm);
	start(x, e, CTF_COMM);
	put_u32(ctf, (uint32_t)e->track->owner.tid);
	put_comm(ctf, e->track->owner.comm);
	put_comm(ctf, comm);
}

static void put_cgroup(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;
	uint64_t id;

	ktau_slot_cgroup(e->slot, &id);
	start(x, e, CTF_CGROUP);
	put_u64(ctf, id);
	put_string(ctf, registry_cgroup_text(x->period->registry, id));
	put_u32(ctf, (uint32_t)e->track->owner.tid);
	put_comm(ctf, e->track->owner.comm);
}

static void put_life(struct export_run *x, const struct timeline_event *e)
{
	const struct ktau_rec_owner *o = &e->track->owner;
	struct ctf *ctf = x->data;
	char comm[17] = "";

	if (e->type != KTAU_TRACE_EXEC) {
		start(x, e, e->type == TIMELINE_GONE ? CTF_TASK_FREE : CTF_TASK_EXIT);
		put_comm(ctf, o->comm);
		put_u32(ctf, (uint32_t)o->tid);
		put_u32(ctf, (uint32_t)o->prio);
		return;
	}
	ktau_slot_comm(e->slot, comm);
	start(x, e, CTF_EXEC);
	put_comm(ctf, comm);
	ctf->at->nr -= 16;
	put_string(ctf, (const char *)ctf->at->data + ctf->at->nr);
	put_u32(ctf, (uint32_t)o->tid);
	put_u32(ctf, (uint32_t)o->tid);
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	struct ctf *ctf = x->data;

	cpus_event(&ctf->cpus, x, e);
	if (!e->track->writer)
		put_state(x, e);
	e->track->writer = 1;
	export_put(x, e);
	return ctf->err;
}

/* Print a quoted string for the metadata. */
static void quote(const char *text, FILE *out)
{
	char escaped[ESCAPED_BYTES];

	fputc('"', out);
	while (*text) {
		text += escape_one(text, escaped);
		fputs(strcmp(escaped, "\"") ? escaped : "\\\"", out);
	}
	fputc('"', out);
}

static void write_head(struct export_run *x, FILE *out)
{
	static const uint16_t one = 1;
	const struct ctf *ctf = x->data;
	char uuid[40], *at = uuid;
	size_t i;

	for (i = 0; i < sizeof(ctf->uuid); i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      ctf->uuid[i]);
	fputs("/* CTF 1.8 */\n", out);
	for (i = 8; i <= 64; i *= 2)
		fprintf(out, "typealias integer { size = %zu; align = 8; signed = false; } := "
			"uint%zu_t;\ntypealias integer { size = %zu; align = 8; signed = true; } "
			":= int%zu_t;\n", i, i, i, i);
	fputs("typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := "
	      "text;\ntypealias enum : uint8_t { exit = 0, loss = 1, end = 2 } := ended;\n", out);
	fprintf(out, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n"
		"\tbyte_order = %s;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n"
		"\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n\t};\n};\n",
		uuid, *(const uint8_t *)&one ? "le" : "be");
	fputs("env {\n\thostname = ", out);
	quote(x->stream.nodename, out);
	fputs(";\n\tdomain = \"kernel\";\n\tsysname = \"Linux\";\n\tkernel_release = ", out);
	quote(x->stream.release, out);
	fputs(";\n\tkernel_version = \"\";\n\ttracer_name = \"lttng-modules\";\n"
	      "\ttracer_major = 2;\n\ttracer_minor = 13;\n\ttracer_patchlevel = 0;\n};\n", out);
}

static void write_stream(struct export_run *x, FILE *out)
{
	const struct ktau_clock *clock = timeline_clock(x->timeline);
	int64_t offset = (int64_t)(clock->realtime_ns - clock->boottime_ns);

	fprintf(out, "clock {\n\tname = \"boottime\";\n\tdescription = \"CLOCK_BOOTTIME\";\n"
		"\tfreq = 1000000000;\n\toffset = %" PRId64 ";\n};\n", offset);
	fputs("typealias integer { size = 64; align = 8; signed = false; "
	      "map = clock.boottime.value; } := uint64_clock_t;\n"
	      "stream {\n\tid = 0;\n\tevent.header := struct {\n\t\tuint16_t id;\n"
	      "\t\tuint64_clock_t timestamp;\n\t};\n\tpacket.context := struct {\n"
	      "\t\tuint64_clock_t timestamp_begin;\n\t\tuint64_clock_t timestamp_end;\n"
	      "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
	      "\t\tuint64_t events_discarded;\n\t\tuint32_t cpu_id;\n\t};\n"
	      "\tevent.context := struct {\n\t\tint32_t _tid;\n\t};\n};\n", out);
}

static void write_class(FILE *out, int id, const char *name, const char *fields)
{
	fputs("event {\n\tname = ", out);
	quote(name, out);
	fprintf(out, ";\n\tid = %d;\n\tstream_id = 0;\n\tfields := struct { %s };\n};\n", id,
		fields);
}

static int write_metadata(struct export_run *x)
{
	FILE *out = output_add(x->output, "metadata");
	const struct ctf *ctf = x->data;
	const char *name;
	char text[600];
	uint32_t id;
	int i;

	if (!out)
		return -EIO;
	write_head(x, out);
	write_stream(x, out);
	for (i = 0; i < NR_CLASSES; i++)
		write_class(out, classes[i].id, classes[i].name, classes[i].fields);
	for (id = 0; id < 65536; id++) {
		if (!(ctf->used[id / 8] & 1 << id % 8))
			continue;
		name = symbolize_event(x->names, id);
		name += strncmp(name, "sys_", 4) ? 0 : 4;
		snprintf(text, sizeof(text), "syscall_entry_%s", name);
		write_class(out, CTF_SYSCALL + 2 * (int)id, text, "");
		snprintf(text, sizeof(text), "syscall_exit_%s", name);
		write_class(out, CTF_SYSCALL + 2 * (int)id + 1, text,
			    "int64_t _ret; ended _ended;");
	}
	return output_close(x->output, out) ? -EIO : 0;
}

static int end_host(struct export_run *x)
{
	struct ctf *ctf = x->data;
	uint32_t cpu;

	cpus_finish(&ctf->cpus, x);
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		if (ctf->channels[cpu])
			flush(x, cpu);
	return ctf->err ? ctf->err : write_metadata(x);
}

static int end(struct export_run *x)
{
	struct ctf *ctf = x->data;
	uint32_t cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		free(ctf->channels[cpu]);
	free(ctf);
	return 0;
}

EXPORT_FORMAT(ctf) = {
	.name = "ctf",
	.suffix = ".ctf",
	.opens = "Trace Compass, babeltrace2: a directory",
	.directory = true,
	.begin = begin,
	.track = track,
	.event = event,
	.put = {
		[KTAU_TRACE_ENTER] = put_enter,
		[KTAU_TRACE_EXIT] = put_exit,
		[KTAU_TRACE_COUNT] = put_count,
		[KTAU_TRACE_WAKING] = put_waking,
		[KTAU_TRACE_WOKEN] = put_woken,
		[KTAU_TRACE_FORK] = put_fork,
		[KTAU_TRACE_COMM] = put_comm_slot,
		[KTAU_TRACE_CGROUP] = put_cgroup,
		[KTAU_TRACE_NET_SEND] = put_net,
		[KTAU_TRACE_NET_RECV] = put_net,
		[KTAU_TRACE_KVM_ENTER] = put_kvm,
		[KTAU_TRACE_KVM_EXIT] = put_kvm,
		[KTAU_TRACE_KVM_CLOCK] = put_kvm_clock,
		[KTAU_TRACE_EXEC] = put_life,
		[KTAU_TRACE_TASK_EXIT] = put_life,
	},
	.lost = put_lost,
	.mark = put_mark,
	.gone = put_life,
	.end_host = end_host,
	.end = end,
};
