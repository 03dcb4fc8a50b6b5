// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths through the hand-made traces of several machines. The clock of "db" is 1,000 ns ahead of
 * that of "web", and a segment takes 50 ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "path/cause.h"
#include "path/crossings.h"
#include "path/tree.h"
#include "path/walk.h"
#include "path_rings.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* clang-format off */

/* A softirq in an idle task receives a segment at @t and wakes a task. */
#define RECEIVES(t, ports, seq, bytes, serial) \
	IRQ_IN(t, SOFT_RX), RECV(t, ports, seq, bytes), OTHER(t, WAKING, 1, serial, 0, 0), \
		IRQ_OUT((t) + 1, SOFT_RX)

/* A task waits in sys_read from @t until it is woken at @at by a softirq in @waker. */
#define READS(t, waker, at, on) \
	IN((t) - 1, READ), IN(t, VOL), SWITCH(t, 1), RX_WOKEN(on, waker, at), OUT(on, VOL), \
		OUT(on, READ)

/* The second question is asked this much after the first one. */
#define LATER 1000000

/*
 * The client (10) asks at 100 and has the answer at 500; the server (20) computes for 300. Then
 * once more.
 */
static const struct ring web[] = {
	{ 2, 0, { RECEIVES(500, 2030, 0, 10, 10), RECEIVES(LATER + 500, 2030, 10, 10, 10) } },
	{ 10, 0, { IN(1, WAIT4), OUT(2, WAIT4), SEND(100, 2030, 0, 10), READS(110, 2, 500, 510),
		   SEND(LATER + 100, 2030, 10, 10),
		   READS(LATER + 110, 2, LATER + 500, LATER + 510), IN(LATER + 600, WAIT4),
		   OUT(LATER + 601, WAIT4) } },
};

static const struct ring db[] = {
	{ 2, 0, { RECEIVES(1150, 3020, 0, 10, 20), RECEIVES(LATER + 1150, 3020, 10, 10, 20) } },
	{ 20, 0, { READS(1010, 2, 1150, 1150), SEND(1450, 3020, 0, 10),
		   READS(1460, 2, LATER + 1150, LATER + 1150), SEND(LATER + 1450, 3020, 10, 10),
		   IN(LATER + 1500, WAIT4), OUT(LATER + 1501, WAIT4) } },
};

#define MACHINE(name, boot, ahead) { #name, boot, ahead, name, sizeof(name) / sizeof(*(name)) }

/* clang-format on */

static uint32_t find(const struct path_graph *g, const char *label)
{
	uint32_t i;

	for (i = 0; i < g->nr_tasks; i++)
		if (!strcmp(g->tasks[i].label, label))
			return i;
	fail_msg("no task %s", label);
	return PATH_NONE;
}

/* The segments of a path: start, task, state. */
static void expect_path(const struct machines *m, enum path_mode mode, const char *task,
			struct path path, const char *expected)
{
	const struct path_segment *s;
	char text[2048] = "";
	size_t used = 0;

	path_walk(m->graph, mode, find(m->graph, task), &path);
	assert_true(path_is_exact(&path));
	for (s = path.segments; s < path.segments + path.nr; s++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%llu %s %s\n",
					 (unsigned long long)s->from_ns,
					 m->graph->tasks[s->task].label, cause_name(s->state));
	assert_string_equal(text, expected);
	path_deinit(&path);
}

static const char request[] = "50 t10@web RUNNING\n"
			      "110 t20@db NETWORK\n"
			      "150 t20@db RUNNING\n"
			      "450 t10@web NETWORK\n"
			      "500 t10@web RUN QUEUE\n"
			      "510 t10@web RUNNING\n";

static void question_and_answer(void **state)
{
	const struct given_machine given[] = { MACHINE(web, 1, 0), MACHINE(db, 2, 5000) };
	struct machines m = { 0 };

	(void)state;
	read_machines(&m, given, 2);
	assert_int_equal(m.nr, 2);
	assert_int_equal(m.all[1]->fit.quality, CLOCK_ACCURATE);
	assert_int_equal(m.all[1]->nr_segments, 4);
	expect_path(&m, PATH_BOUNDED, "t10@web", (struct path){ .from_ns = 50, .to_ns = 600 },
		    request);
	assert_int_equal(clock_line_map(&m.lines[1], 1150), 150);
	assert_int_equal(clock_line_map(&m.lines[1], LATER + 1450), LATER + 450);
	machines_deinit(&m);
}

/* Programs of one name on two machines are two rows. */
static void programs(void **state)
{
	const struct given_machine given[] = { MACHINE(web, 1, 0), MACHINE(db, 2, 5000) };
	struct path path = { .from_ns = 50, .to_ns = 600 };
	struct machines m = { 0 };
	struct path_tree tree = { 0 };
	uint32_t client;

	(void)state;
	read_machines(&m, given, 2);
	client = find(m.graph, "t10@web");
	strcpy(m.graph->tasks[find(m.graph, "t20@db")].owner.comm, "t10");
	path_walk(m.graph, PATH_BOUNDED, client, &path);
	path_tree_make(m.graph, &path, client, &tree);
	assert_int_equal(tree.nr, 2);
	assert_string_equal(tree.programs[0].host, "web");
	assert_string_equal(tree.programs[1].name, "t10");
	assert_string_equal(tree.programs[1].host, "db");
	assert_int_equal(tree.programs[0].path_ns, 210);
	assert_int_equal(tree.programs[1].path_ns, 340);
	path_tree_deinit(&tree);
	path_deinit(&path);
	machines_deinit(&m);
}

/*
 * The server is a guest of the client's machine, whose task had the CPU while the server computed,
 * and while it waited, which does not matter.
 */
static void stolen(void **state)
{
	const struct given_machine given[] = { MACHINE(web, 1, 0), MACHINE(db, 2, 5000) };
	struct steal taken[] = {
		{ 20, 1100, 1200, 1 }, { 20, 1250, 1300, 0 }, { 20, 1300, 1320, 1 },
		{ 20, 1440, 1470, 1 }, { 99, 1200, 1210, 1 },
	};
	struct steals_machine hosts[] = {
		{ .boot.id[0] = 1, .host = SIZE_MAX },
		{ .boot.id[0] = 2, .host = 0, .slots = 7, .all = taken, .nr = 5 },
	};
	struct steals_cause causes[] = { { 0, 0 }, { 0, 10 } };
	const struct steals steals = { hosts, 2, causes, 2 };
	struct machines m = { .steals = &steals };
	const struct path_task *server;
	const struct path_edge *wait;

	(void)state;
	memcpy(hosts[0].boot.id + 1, fixture_boot_id + 1, 15);
	memcpy(hosts[1].boot.id + 1, fixture_boot_id + 1, 15);
	hosts[1].line = (struct clock_line){ 1000, 0, 0 };
	read_machines(&m, given, 2);
	assert_int_equal(m.all[1]->fit.quality, CLOCK_EXACT);
	assert_int_equal(m.all[1]->nr_segments, 7);
	expect_path(&m, PATH_BOUNDED, "t10@web", (struct path){ .from_ns = 50, .to_ns = 600 },
		    "50 t10@web RUNNING\n"
		    "110 t20@db NETWORK\n"
		    "150 t20@db PREEMPTED BY HOST\n"
		    "200 t20@db RUNNING\n"
		    "250 t20@db PREEMPTED BY HOST\n"
		    "300 t20@db PREEMPTED BY HOST\n"
		    "320 t20@db RUNNING\n"
		    "440 t20@db PREEMPTED BY HOST\n"
		    "450 t10@web NETWORK\n"
		    "500 t10@web RUN QUEUE\n"
		    "510 t10@web RUNNING\n");
	server = &m.graph->tasks[find(m.graph, "t20@db")];
	wait = &server->edges[graph_edge_before(server, LATER + 150)];
	assert_int_equal(wait->state, PATH_NETWORK);
	assert_int_equal(wait->waker, find(m.graph, "t10@web"));
	assert_int_equal(m.graph->thieves[0], PATH_NONE);
	assert_int_equal(m.graph->thieves[1], find(m.graph, "t10@web"));
	machines_deinit(&m);
}

/* A machine that may be a guest: that is said whether or not its clock is known by segments. */
static void given_up(void **state)
{
	const struct given_machine given[] = { MACHINE(web, 1, 0), MACHINE(db, 2, 5000) };
	struct steals_machine hosts[] = {
		{ .boot.id[0] = 1, .host = SIZE_MAX, .gave_up = true },
		{ .boot.id[0] = 2, .host = SIZE_MAX },
	};
	struct steals_cause causes[] = { { 0, 0 } };
	const struct steals steals = { hosts, 2, causes, 1 };
	struct machines m = { .steals = &steals };
	FILE *kept = stdout;
	char *text = NULL;
	size_t size;

	(void)state;
	memcpy(hosts[0].boot.id + 1, fixture_boot_id + 1, 15);
	memcpy(hosts[1].boot.id + 1, fixture_boot_id + 1, 15);
	read_machines(&m, given, 2);
	stdout = open_memstream(&text, &size);
	assert_non_null(stdout);
	machines_print_clocks(&m);
	fclose(stdout);
	stdout = kept;
	assert_string_equal(text, "db: clock by 4 TCP segments to and from web, to 0.050 us\n"
				  "web: clock as a guest: not searched to the end\n");
	free(text);
	machines_deinit(&m);
}

/* Full: the client's computation before the question, too. */
static void full(void **state)
{
	const struct given_machine given[] = { MACHINE(web, 1, 0), MACHINE(db, 2, 5000) };
	struct machines m = { 0 };

	(void)state;
	read_machines(&m, given, 2);
	expect_path(&m, PATH_FULL, "t10@web", (struct path){ .from_ns = 50, .to_ns = 600 },
		    "50 t10@web RUNNING\n"
		    "100 t20@db NETWORK\n"
		    "150 t20@db RUNNING\n"
		    "450 t10@web NETWORK\n"
		    "500 t10@web RUN QUEUE\n"
		    "510 t10@web RUNNING\n");
	machines_deinit(&m);
}

/* At first, the clock of the first file is that of the result. */
static void other_order(void **state)
{
	const struct given_machine given[] = { MACHINE(db, 2, 5000), MACHINE(web, 1, 0) };
	struct machines m = { 0 };

	(void)state;
	read_machines(&m, given, 2);
	expect_path(&m, PATH_BOUNDED, "t10@web", (struct path){ .from_ns = 1050, .to_ns = 1600 },
		    "1050 t10@web RUNNING\n"
		    "1110 t20@db NETWORK\n"
		    "1150 t20@db RUNNING\n"
		    "1450 t10@web NETWORK\n"
		    "1500 t10@web RUN QUEUE\n"
		    "1510 t10@web RUNNING\n");
	machines_refer(&m, 0);
	expect_path(&m, PATH_BOUNDED, "t10@web", (struct path){ .from_ns = 50, .to_ns = 600 },
		    request);
	assert_int_equal(clock_line_map(&m.lines[1], 1150), 150);
	machines_deinit(&m);
}

/*
 * The first question was lost, and the one that arrived is the second one; a third one was sent too
 * late to be it. The clocks are known by the other segments, as a greeting before.
 */
static void sent_again(void **state)
{
	/* clang-format off */
	const struct ring asks[] = {
		web[0],
		{ 10, 0, { IN(1, WAIT4), OUT(2, WAIT4), SEND(20, 2030, 100, 5),
			   SEND(60, 2030, 0, 10), SEND(100, 2030, 0, 10),
			   READS(110, 2, 500, 510), SEND(600, 2030, 0, 10),
			   SEND(LATER + 100, 2030, 10, 10),
			   READS(LATER + 110, 2, LATER + 500, LATER + 510) } },
	};
	const struct ring answers[] = {
		{ 2, 0, { IRQ_IN(1070, SOFT_RX), RECV(1070, 3020, 100, 5), IRQ_OUT(1071, SOFT_RX),
			  RECEIVES(1150, 3020, 0, 10, 20),
			  RECEIVES(LATER + 1150, 3020, 10, 10, 20) } },
		db[1],
	};
	/* clang-format on */
	const struct given_machine given[] = { { "web", 1, 0, asks, 2 },
					       { "db", 2, 5000, answers, 2 } };
	struct machines m = { 0 };
	const struct path_edge *wait;

	(void)state;
	read_machines(&m, given, 2);
	assert_int_equal(m.all[1]->nr_segments, 4);
	wait = &m.graph->tasks[find(m.graph, "t20@db")].edges[1];
	assert_int_equal(wait->state, PATH_NETWORK);
	assert_int_equal(wait->waker, find(m.graph, "t10@web"));
	assert_int_equal(m.graph->sent_ns[wait->packet], 100);
	machines_deinit(&m);
}

/* What only acknowledges has no sequence number of its own. One that was sent twice is nobody's. */
static void acknowledgements(void **state)
{
	/* clang-format off */
	const struct ring asks[] = {
		web[0],
		{ 10, 0, { IN(1, WAIT4), OUT(2, WAIT4), SEND(20, 2030, 0, ACK(70)),
			   SEND(30, 2030, 0, ACK(80)), SEND(40, 2030, 0, ACK(90)),
			   SEND(50, 2030, 0, ACK(90)), SEND(100, 2030, 0, 10),
			   READS(110, 2, 500, 510), SEND(LATER + 100, 2030, 10, 10),
			   READS(LATER + 110, 2, LATER + 500, LATER + 510) } },
	};
	const struct ring answers[] = {
		{ 2, 0, { IRQ_IN(1070, SOFT_RX), RECV(1070, 3020, 0, ACK(70)),
			  RECV(1080, 3020, 0, ACK(80)), RECV(1090, 3020, 0, ACK(90)),
			  IRQ_OUT(1091, SOFT_RX), RECEIVES(1150, 3020, 0, 10, 20),
			  RECEIVES(LATER + 1150, 3020, 10, 10, 20) } },
		db[1],
	};
	/* clang-format on */
	const struct given_machine given[] = { { "web", 1, 0, asks, 2 },
					       { "db", 2, 5000, answers, 2 } };
	struct machines m = { 0 };

	(void)state;
	read_machines(&m, given, 2);
	assert_int_equal(m.all[1]->nr_segments, 6);
	machines_deinit(&m);
}

/* A download: many segments with the same sequence number, of which an early one is received. */
static void many_acknowledgements(void **state)
{
	const struct clock_line lines[2] = { { 0, 0, 0 } };
	struct ktau_slot_net net = { .local_port = 1, .remote_port = 2, .seq = 1000,
				     .tcp_flags = 16 };
	struct packets sent = { 0 }, received = { 0 };
	struct packets *both[] = { &sent, &received };
	const struct crossing *found;
	struct crossings c;

	(void)state;
	for (net.ack = 1; net.ack <= 20000; net.ack++)
		packets_send(&sent, &net, net.ack, PATH_NO_ORIGIN);
	net.bytes = 10;
	net.ack = 10000;
	packets_send(&sent, &net, 20001, PATH_NO_ORIGIN);
	net = (struct ktau_slot_net){ .local_port = 2, .remote_port = 1, .seq = 1000,
				      .tcp_flags = 16, .ack = 5 };
	packets_receive(&received, &net, 30000);
	net.bytes = 10;
	packets_receive(&received, &net, 30000);
	crossings_make(&c, both, 2);
	found = crossings_find(&c, lines, 1, 1);
	assert_non_null(found);
	assert_int_equal(found->packet->ack, 5);
	found = crossings_find(&c, lines, 1, 2);
	assert_non_null(found);
	assert_int_equal(found->packet->bytes, 10);
	crossings_deinit(&c);
	packets_deinit(&sent);
	packets_deinit(&received);
}

/* Streams of more machines than there is room for. */
static void too_many(void **state)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_TRACE, 1000);
	struct machines m = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i <= MACHINES_MOST; i++) {
		memcpy(stream.boot_id, &i, sizeof(i));
		machines_stream(&m, &stream, NULL, NULL);
	}
	assert_int_equal(m.nr, MACHINES_MOST);
	assert_null(m.current);
	assert_int_equal(m.left_out, 1);
	memset(stream.boot_id, 0, sizeof(i));
	machines_stream(&m, &stream, NULL, NULL);
	assert_ptr_equal(m.current, m.all[0]);
	machines_deinit(&m);
}

/* Segments in one direction only: by the time of day. */
static void one_direction(void **state)
{
	const struct ring deaf[] = { web[1] };
	struct given_machine given[] = { { "web", 1, 1000, deaf, 1 }, MACHINE(db, 2, 0) };
	struct machines m = { 0 };

	(void)state;
	read_machines(&m, given, 2);
	assert_int_equal(m.all[1]->fit.quality, CLOCK_INCOMPLETE);
	assert_int_equal(clock_line_map(&m.lines[1], 1150), 150);
	machines_deinit(&m);
}

/* Two boots of one machine have two names. */
static void two_boots(void **state)
{
	const struct given_machine given[] = { MACHINE(web, 1, 0), MACHINE(web, 2, 0) };
	struct machines m = { 0 };

	(void)state;
	read_machines(&m, given, 2);
	assert_int_equal(m.all[1]->fit.quality, CLOCK_ABSENT);
	assert_string_equal(m.graph->hosts[1], "web#2");
	find(m.graph, "t10@web#2");
	machines_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(question_and_answer),
		cmocka_unit_test(programs), cmocka_unit_test(stolen),
		cmocka_unit_test(given_up),
		cmocka_unit_test(full),
		cmocka_unit_test(other_order),
		cmocka_unit_test(sent_again),
		cmocka_unit_test(many_acknowledgements),
		cmocka_unit_test(too_many),
		cmocka_unit_test(acknowledgements),
		cmocka_unit_test(one_direction),
		cmocka_unit_test(two_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
