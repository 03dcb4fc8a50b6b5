// SPDX-License-Identifier: GPL-2.0-only
/* Writes rings to a file, and reads it as ktau path does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "path_rings.h"
#include "path/read.h"
#include "lib/report/registry.h"
#include "lib/symbolize.h"

static const struct {
	uint16_t id;
	uint32_t group;
	const char *name;
} names[] = {
	{ VOL, KTAU_GROUP_SCHED, "schedule_vol_interruptible" },
	{ VOL_IO, KTAU_GROUP_SCHED, "schedule_vol_io" },
	{ PREEMPT, KTAU_GROUP_SCHED, "schedule" },
	{ QUEUED, KTAU_GROUP_SCHED, "schedule_wait" },
	{ WAIT4, KTAU_GROUP_SYSCALL, "sys_wait4" },
	{ NANOSLEEP, KTAU_GROUP_SYSCALL, "__x64_sys_clock_nanosleep" },
	{ READ, KTAU_GROUP_SYSCALL, "sys_read" },
	{ RECEIVE, KTAU_GROUP_TCP, "tcp_recvmsg" },
	{ HRTIMER, KTAU_GROUP_BH, "hrtimer:hrtimer_wakeup" },
	{ IRQ_TTY, KTAU_GROUP_IRQ, "irq:4:ttyS0" },
	{ IRQ_DISK, KTAU_GROUP_IRQ, "irq:25:virtio1-req.0" },
	{ IRQ_OTHER, KTAU_GROUP_IRQ, "irq:12:virtio0" },
	{ SOFT_RX, KTAU_GROUP_BH, "softirq:NET_RX" },
	{ SOFT_RCU, KTAU_GROUP_BH, "softirq:RCU" },
	{ RESCHEDULE, KTAU_GROUP_IRQ, "sysvec_reschedule_ipi" },
	{ REQUEST, SYMBOLIZE_USER, "request" },
	{ OTHER_REGION, SYMBOLIZE_USER, "other" },
	{ SOFT_OTHER, KTAU_GROUP_BH, "softirq:TASKLET" },
};

static const struct ring *given;
static size_t nr_given;
static uint64_t given_command;
static const struct given_machine *given_machine;

void give_rings(const struct ring *rings, size_t nr)
{
	given = rings;
	nr_given = nr;
}

void give_command(uint64_t serial)
{
	given_command = serial;
}

/* Add the slot of @g at @at. Return: its length in words. */
static uint8_t put_slot(const struct given *g, uint64_t *at)
{
	struct ktau_slot slot = { .ticks = g->ticks, .id = g->id, .type = g->type, .ctx = g->ctx,
				  .words = 5 };
	struct ktau_slot_net net = {
		.local_port = (uint16_t)(g->words[0] / 100),
		.remote_port = (uint16_t)(g->words[0] % 100),
		.seq = (uint32_t)g->words[1], .bytes = (uint32_t)g->words[2],
		.ack = (uint32_t)(g->words[2] >> 32),
	};

	if (g->type == KTAU_TRACE_ENTER || g->type == KTAU_TRACE_EXIT)
		slot.words = 2;
	memcpy(at + 2, g->words, sizeof(g->words));
	if (g->type == KTAU_TRACE_NET_SEND || g->type == KTAU_TRACE_NET_RECV) {
		slot.words = 2 + sizeof(net) / 8;
		memcpy(at + 2, &net, sizeof(net));
	}
	memcpy(at, &slot, sizeof(slot));
	return slot.words;
}

static int put_ring(struct sink *s, const struct ring *ring)
{
	struct {
		struct ktau_rec_trace head;
		uint64_t words[256];
	} r = { .head.rec = { 0, KTAU_REC_TRACE, sizeof(r.head) } };
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_TASK, ring->serial,
						    (int32_t)ring->serial, (int32_t)ring->serial,
						    "task");
	const struct given *g;
	uint64_t *at = r.words;
	int err;

	snprintf(owner.comm, sizeof(owner.comm), "t%d",
		 (int)(ring->named ? ring->named : ring->serial));
	owner.start_ns = 1;
	owner.parent_serial = ring->parent;
	r.head.serial = ring->serial;
	r.head.first = ring->first;
	r.head.lost = ring->lost;
	r.head.lost_from_ticks = ring->lost_from;
	r.head.lost_to_ticks = ring->lost_to;
	r.head.ring_slots = 64;
	r.head.groups = KTAU_GROUP_SCHED;
	if (ring->exit_ns) {
		owner.kind = KTAU_OWNER_EXITED;
		owner.exit_ns = ring->exit_ns;
	}
	for (g = ring->slots; g->type; g++) {
		at += put_slot(g, at);
		r.head.nr_slots++;
	}
	r.head.slots_bytes = (uint32_t)((char *)at - (char *)r.words);
	r.head.rec.size = (uint32_t)sizeof(r.head) + r.head.slots_bytes;
	r.head.next = r.head.written = r.head.first + r.head.nr_slots;
	err = sink_put(s, &owner);
	return err ? err : sink_put(s, &r);
}

static int put_all(struct sink *s)
{
	struct ktau_rec_stream head = fixture_stream(KTAU_REC_TRACE, 1000);
	struct ktau_rec_end end = fixture_end(1, 1);
	struct ktau_rec_event event = { 0 };
	size_t i;
	int err;

	if (given_machine) {
		head.boot_id[0] = given_machine->boot;
		head.realtime_ns += given_machine->ahead_ns;
		head.tai_ns += given_machine->ahead_ns;
		snprintf(head.nodename, sizeof(head.nodename), "%s", given_machine->host);
	}
	err = sink_put(s, &head);
	for (i = 0; !err && i < sizeof(names) / sizeof(*names); i++) {
		event.id = names[i].id;
		event.group = names[i].group;
		err = fixture_put_event(s, &event, names[i].name);
	}
	for (i = 0; !err && i < nr_given; i++)
		err = put_ring(s, &given[i]);
	return err ? err : sink_put(s, &end);
}

/* Write the rings to a file and give its records to @take. */
static void read_file(void (*take)(void *, const struct ktau_reader *, const union ktau_record *),
		      void *arg)
{
	char path[] = "/tmp/ktau-path-XXXXXX";
	struct ktau_reader *reader;
	union ktau_record record;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(fixture_saved(path, put_all), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, path), 0);
	unlink(path);
	while (ktau_reader_next(reader, &record) > 0)
		take(arg, reader, &record);
	ktau_reader_destroy(reader);
}

static void take_record(void *arg, const struct ktau_reader *reader,
			const union ktau_record *record)
{
	const struct reading *r = arg;

	graph_record(r->g, record);
	assert_int_equal(registry_put(r->registry, record), 0);
	assert_int_equal(timeline_put(r->t, reader, record), 0);
}

static void read_graph(struct reading *r)
{
	read_file(take_record, r);
	assert_int_equal(timeline_finish(r->t), 0);
	graph_finish(r->g);
}

static void take_of_machine(void *arg, const struct ktau_reader *reader,
			    const union ktau_record *record)
{
	struct machines *m = arg;

	if (record->rec->type == KTAU_REC_STREAM)
		machines_stream(m, record->stream, NULL, NULL);
	assert_int_equal(machines_record(m, reader, record), 0);
}

void read_machines(struct machines *m, const struct given_machine *machines, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		given_machine = &machines[i];
		give_rings(machines[i].rings, machines[i].nr);
		read_file(take_of_machine, m);
	}
	given_machine = NULL;
	assert_int_equal(machines_finish(m), 0);
}

void read_given(struct reading *r, struct timeline_sink *sink, const char *region)
{
	r->registry = registry_create();
	r->g = graph_create(r->registry);
	*sink = (struct timeline_sink){ NULL, graph_event, r->g };
	r->g->timeline = r->t = timeline_create(NULL, sink);
	r->g->region = region;
	r->g->command_serial = given_command;
	read_graph(r);
}

void free_given(struct reading *r)
{
	timeline_destroy(r->t);
	graph_destroy(r->g);
	registry_destroy(r->registry);
}

void print_path_segments(const struct path_graph *g, const struct path *path, uint32_t task,
			 char *text, size_t size)
{
	const struct path_segment *s;
	size_t used = 0;

	(void)task;
	*text = '\0';
	for (s = path->segments; s < path->segments + path->nr; s++) {
		used += (size_t)snprintf(text + used, size - used, "%llu %llu %s",
					 (unsigned long long)s->from_ns,
					 (unsigned long long)g->tasks[s->task].serial,
					 cause_name(s->state));
		if (s->wait != KTAU_ID_NONE || s->cause != KTAU_ID_NONE)
			used += (size_t)snprintf(text + used, size - used, " %d<-%d",
						 s->wait == KTAU_ID_NONE ? 0 : s->wait,
						 s->cause == KTAU_ID_NONE ? 0 : s->cause);
		if (s->state == PATH_UNKNOWN)
			used += (size_t)snprintf(text + used, size - used, " %u", s->unknown);
		used += (size_t)snprintf(text + used, size - used, "\n");
	}
}

uint32_t choose_task(struct path_graph *g, const char *name)
{
	static char file[] = "test", *files[] = { file };
	const struct shared_options in = { .files = files, .nr_files = 1 };
	struct machines machines = { .graph = g };
	const struct path_reading reading = { .in = &in, .machines = &machines };

	return path_choose_task(&reading, name, "task");
}
