// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads CTF traces with libbabeltrace2, one iterator per stream, and passes on their events in the
 * order of their times. babeltrace2's own muxer refuses the traces of old versions of LTTng, in
 * which the packets of a stream overlap. Here a time before the last one is replaced by that.
 */
#include <string.h>

#include "lib/cli.h"
#include "import.h"

#ifdef KTAU_HAVE_BABELTRACE

#include <babeltrace2/babeltrace.h>
#include <stdlib.h>

#include "ctf_fields.h"
#include "ctf_find.h"

enum { MAX_PORTS = 4096 };

/**
 * struct port - a stream of the trace
 * @iterator: its messages; NULL at the end
 * @messages: the current ones, from babeltrace2
 * @at: number of the next message
 * @nr: length of @messages
 * @ns: time of the next message
 * @cpu: CPU of the current packet
 * @trace: number of its trace
 * @program: it has events of programs
 * @pid: the process that all of it is about; -1: not known
 */
struct port {
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t at, nr, ns;
	uint32_t cpu, trace;
	bool program;
	int64_t pid;
};

/* A kind of event: of the kernel, or of a program if it has @fields. */
struct event_class {
	struct import_class class;
	struct ctf_fields *fields;
	const struct import_point *point;
};

/**
 * struct reader - reading of traces
 * @im: what takes the events
 * @traces: where the traces are
 * @sources: reads each of them
 * @trace: number of the trace that is being read
 * @ports: the streams
 * @nr_ports: length of @ports
 * @classes: struct event_class by the address of babeltrace2's
 * @clock: id of the clock
 * @described: @im->host is set; 2: by the trace of a kernel
 * @reason: of an error that is not babeltrace2's
 */
struct reader {
	struct import *im;
	const struct ctf_traces *traces;
	const bt_component_source **sources;
	size_t trace;
	struct port *ports;
	uint64_t nr_ports;
	struct hash classes;
	bt_uuid clock;
	int described;
	const char *reason;
};

/* Fields */

static const bt_field *find(const void *fields, const char *name)
{
	const bt_field *in = fields;

	if (!in || bt_field_get_class_type(in) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return bt_field_structure_borrow_member_field_by_name_const(in, name);
}

static int64_t number(const void *fields, const char *name, int64_t none)
{
	const bt_field *field = find(fields, name);
	bt_field_class_type type;

	if (!field)
		return none;
	type = bt_field_get_class_type(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return (int64_t)bt_field_integer_unsigned_get_value(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(field);
	return none;
}

static const char *text(const void *fields, const char *name)
{
	const bt_field *field = find(fields, name);

	if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
		return "";
	return bt_field_string_get_value(field);
}

/* Times */

static uint64_t clock_ns(const bt_clock_snapshot *clock)
{
	const bt_clock_class *class = bt_clock_snapshot_borrow_clock_class_const(clock);

	return import_ns(bt_clock_snapshot_get_value(clock), bt_clock_class_get_frequency(class));
}

/* Events are discarded before those of the packet that counts them. */
static uint64_t discarded_ns(const struct port *port, const bt_message *message)
{
	const bt_stream_class *stream = bt_stream_borrow_class_const(
		bt_message_discarded_events_borrow_stream_const(message));

	if (!bt_stream_class_discarded_events_have_default_clock_snapshots(stream))
		return port->ns;
	return clock_ns(bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
		message));
}

/* The end of the time in which they were discarded. */
static uint64_t discarded_end_ns(const struct port *port, const bt_message *message)
{
	const bt_stream_class *stream = bt_stream_borrow_class_const(
		bt_message_discarded_events_borrow_stream_const(message));

	if (!bt_stream_class_discarded_events_have_default_clock_snapshots(stream))
		return port->ns;
	return clock_ns(
		bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message));
}

/* The time of a message that has one, or else of the one before. */
static uint64_t message_ns(const struct port *port, const bt_message *message)
{
	const bt_message_type type = bt_message_get_type(message);
	const bt_stream_class *stream;

	if (type == BT_MESSAGE_TYPE_EVENT) {
		stream = bt_stream_borrow_class_const(bt_event_borrow_stream_const(
			bt_message_event_borrow_event_const(message)));
		if (bt_stream_class_borrow_default_clock_class_const(stream))
			return clock_ns(
				bt_message_event_borrow_default_clock_snapshot_const(message));
	}
	if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS)
		return discarded_ns(port, message);
	return port->ns;
}

/* The machine */

static void copy_environment(const bt_trace *trace, const char *name, char *to, size_t size)
{
	const bt_value *value =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	memset(to, 0, size);
	if (value && bt_value_is_string(value))
		memcpy(to, bt_value_string_get(value),
		       strnlen(bt_value_string_get(value), size - 1));
}

/* A clock's id is that of the boot; without it, the trace's is as unique. */
static void describe_clock(struct import_host *host, const bt_trace *trace,
			   const bt_clock_class *clock)
{
	bt_uuid uuid = clock ? bt_clock_class_get_uuid(clock) : NULL;
	uint64_t cycles, ns;
	int64_t seconds;

	if (!uuid)
		uuid = bt_trace_get_uuid(trace);
	if (uuid)
		memcpy(host->boot_id, uuid, sizeof(host->boot_id));
	if (!clock)
		return;
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	ns = import_ns(cycles, bt_clock_class_get_frequency(clock));
	/* A machine's time is between 1970 and 2106. */
	if (seconds >= 0 && seconds <= UINT32_MAX && ns < IMPORT_MOST_NS)
		host->offset_ns = seconds * 1000000000 + (int64_t)ns;
}

/* The times of different clocks cannot be compared. Return: false with a reason. */
static bool is_same_clock(struct reader *r, const bt_clock_class *clock)
{
	bt_uuid uuid = bt_clock_class_get_uuid(clock);

	if (!uuid)
		return true;
	if (r->clock && memcmp(r->clock, uuid, 16)) {
		r->reason = "has another clock than the first trace: it is of another boot or "
			    "machine";
		return false;
	}
	r->clock = uuid;
	return true;
}

static void describe(struct reader *r, const bt_trace *trace, const bt_clock_class *clock,
		     int described)
{
	struct import_host *host = &r->im->host;

	if (r->described >= described)
		return;
	r->described = described;
	copy_environment(trace, "hostname", host->nodename, sizeof(host->nodename));
	copy_environment(trace, "kernel_release", host->release, sizeof(host->release));
	describe_clock(host, trace, clock);
}

static int64_t environment_number(const bt_trace *trace, const char *name)
{
	const bt_value *value =
		bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_signed_integer(value) ?
		       bt_value_integer_signed_get(value) :
		       -1;
}

/* The trace does not name the machine's architecture. */
static bool is_of_x86(const char *event)
{
	return !strncmp(event, "x86_", 4) || !strcmp(event, "syscall_entry_arch_prctl");
}

/* Return: 0, or -1 with a reason. */
static int take_stream(struct reader *r, struct port *port, const bt_stream *stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	char domain[32];
	const char *name;
	uint64_t i;

	copy_environment(trace, "domain", domain, sizeof(domain));
	port->program = *domain && strcmp(domain, "kernel");
	port->pid = port->program ? environment_number(trace, "vpid") : -1;
	if (!clock) {
		r->reason = "has events without a time";
		return -1;
	}
	if (!is_same_clock(r, clock))
		return -1;
	describe(r, trace, clock, port->program ? 1 : 2);
	r->im->kernel |= !port->program;
	for (i = 0; i < bt_stream_class_get_event_class_count(class); i++) {
		name = bt_event_class_get_name(
			bt_stream_class_borrow_event_class_by_index_const(class, i));
		r->im->native |= name && !strcmp(name, "ktau_enter");
		r->im->x86_64 |= name && is_of_x86(name) &&
				 environment_number(trace, "architecture_bit_width") != 32;
	}
	return 0;
}

/* Messages */

static const struct event_class *class_of(struct reader *r, const struct port *port,
					  const bt_event *event)
{
	const bt_event_class *class = bt_event_borrow_class_const(event);
	uintptr_t found = hash_get(&r->classes, (uintptr_t) class);
	const char *name = bt_event_class_get_name(class);
	struct event_class *new;

	if (found)
		return (const struct event_class *)found;
	new = cli_alloc(NULL, 1, sizeof(*new));
	*new = (struct event_class){ .fields = NULL };
	if (port->program) {
		new->fields = ctf_fields_create(class);
		new->point = import_program(r->im, ctf_fields_name(new->fields));
		r->im->left_out += ctf_fields_left_out(new->fields);
	} else {
		import_classify(r->im, name ? name : "", &new->class);
	}
	hash_put(&r->classes, (uintptr_t) class, (uintptr_t) new);
	return new;
}

static void take_fields(struct reader *r, const struct port *port, const struct event_class *class,
			const bt_event *event)
{
	const void *context = bt_event_borrow_common_context_field_const(event);
	uint64_t payload[PROGRAM_WORDS];
	const struct import_noted noted = {
		.point = class->point,
		.tid = number(context, "vtid", -1),
		.pid = number(context, "vpid", port->pid),
		.comm = text(context, "procname"),
		.trace = port->trace,
		.payload = payload,
		.words = ctf_fields_put(class->fields, event, payload),
	};

	import_noted(r->im, &noted);
}

static void take_event(struct reader *r, const struct port *port, const bt_event *event)
{
	struct import_event e = { .number = number, .text = text, .tid = -1 };
	const struct event_class *class = class_of(r, port, event);

	import_time(r->im, port->ns, port->cpu);
	if (class->fields) {
		take_fields(r, port, class, event);
		return;
	}
	e.fields = bt_event_borrow_common_context_field_const(event);
	e.tid = number(e.fields, "tid", -1);
	e.fields = bt_event_borrow_payload_field_const(event);
	import_event(r->im, &class->class, &e);
}

/* The CPU is in the context of the packet. Return: 0, or -1 with a reason. */
static int take_packet(struct reader *r, struct port *port, const bt_packet *packet)
{
	int64_t cpu = number(bt_packet_borrow_context_field_const(packet), "cpu_id", 0);

	if (cpu < 0 || cpu >= IMPORT_CPUS) {
		r->reason = "has a packet of an impossible CPU";
		return -1;
	}
	port->cpu = (uint32_t)cpu;
	return 0;
}

static void take_discarded(struct reader *r, const struct port *port, const bt_message *message)
{
	uint64_t nr = 1;

	import_time(r->im, port->ns, port->cpu);
	if (bt_message_discarded_events_get_count(message, &nr) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		nr = 1;
	if (port->program)
		import_noted_lost(r->im, port->trace, nr, discarded_end_ns(port, message));
	else
		import_discarded(r->im, nr);
}

/* Return: 0, or -1 with a reason. */
static int take(struct reader *r, struct port *port, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return take_stream(r, port,
				   bt_message_stream_beginning_borrow_stream_const(message));
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return take_packet(r, port,
				   bt_message_packet_beginning_borrow_packet_const(message));
	case BT_MESSAGE_TYPE_EVENT:
		take_event(r, port, bt_message_event_borrow_event_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		take_discarded(r, port, message);
		break;
	default:
		break;
	}
	if (!r->im->err)
		return 0;
	r->reason = "cannot write the recording";
	return -1;
}

/* Set what is next of a port. Return: 0; -1 after an error of babeltrace2. */
static int fetch(struct port *port)
{
	bt_message_iterator_next_status status;

	while (port->iterator && port->at == port->nr) {
		port->at = port->nr = 0;
		status = bt_message_iterator_next(port->iterator, &port->messages, &port->nr);
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK ||
		    status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN) {
			/* A damaged index leaves one, with which the next call would abort. */
			bt_current_thread_clear_error();
			continue;
		}
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(port->iterator);
		if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
			return -1;
	}
	if (port->iterator)
		port->ns = message_ns(port, port->messages[port->at]);
	return 0;
}

/* The port whose message is next, NULL at the end; and the time of the one after it. */
static struct port *choose(struct reader *r, uint64_t *until_ns)
{
	struct port *port, *first = NULL;

	*until_ns = UINT64_MAX;
	for (port = r->ports; port < r->ports + r->nr_ports; port++) {
		if (!port->iterator)
			continue;
		if (!first || port->ns < first->ns) {
			*until_ns = first ? first->ns : UINT64_MAX;
			first = port;
		} else if (port->ns < *until_ns) {
			*until_ns = port->ns;
		}
	}
	return first;
}

static int take_next(struct reader *r, struct port *port)
{
	const bt_message *message = port->messages[port->at++];
	int err;

	r->trace = port->trace;
	err = take(r, port, message);
	bt_message_put_ref(message);
	return fetch(port) || err ? -1 : 0;
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	uint64_t until_ns;
	struct port *port = choose(r, &until_ns);

	if (!port)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	do {
		if (take_next(r, port))
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	} while (port->iterator && port->ns < until_ns);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	   const bt_value *params, void *data)
{
	struct reader *r = data;
	char name[32];
	uint64_t i;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), r);
	for (i = 0; i < r->nr_ports; i++) {
		snprintf(name, sizeof(name), "in%llu", (unsigned long long)i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
configured(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	bt_self_component_port_input *in;
	uint64_t i;

	for (i = 0; i < r->nr_ports; i++) {
		in = bt_self_component_sink_borrow_input_port_by_index(self, i);
		if (bt_message_iterator_create_from_sink_component(self, in,
								   &r->ports[i].iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
		if (fetch(&r->ports[i]))
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void put_messages(struct reader *r)
{
	struct port *port;

	for (port = r->ports; port < r->ports + r->nr_ports; port++) {
		while (port->at < port->nr)
			bt_message_put_ref(port->messages[port->at++]);
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(port->iterator);
	}
}

/* The graph: from the streams of the trace to the merge above */

static const bt_component_source *add_source(bt_graph *graph, const bt_plugin *plugin,
					     const char *path, size_t number)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs = bt_value_array_create();
	char name[32];

	snprintf(name, sizeof(name), "trace%zu", number);
	if (class && params && inputs &&
	    !bt_value_array_append_string_element(inputs, path) &&
	    !bt_value_map_insert_entry(params, "inputs", inputs) &&
	    bt_graph_add_source_component(graph, class, name, params, BT_LOGGING_LEVEL_NONE,
					  &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		source = NULL;
	bt_value_put_ref(inputs);
	bt_value_put_ref(params);
	return source;
}

static const bt_component_sink *add_sink(bt_graph *graph, struct reader *r)
{
	bt_component_class_sink *class = bt_component_class_sink_create("import", consume);
	const bt_component_sink *sink = NULL;

	if (!class)
		return NULL;
	bt_component_class_sink_set_initialize_method(class, initialize);
	bt_component_class_sink_set_graph_is_configured_method(class, configured);
	if (bt_graph_add_sink_component_with_initialize_method_data(
		    graph, class, "import", NULL, r, BT_LOGGING_LEVEL_NONE, &sink) !=
	    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		sink = NULL;
	bt_component_class_sink_put_ref(class);
	return sink;
}

/* Add the streams of a trace. Return: 0, or -1. */
static int add_ports(struct reader *r, bt_graph *graph, const bt_plugin *plugin)
{
	const bt_component_source *source =
		add_source(graph, plugin, r->traces->paths[r->trace], r->trace);
	uint64_t nr, i;

	if (!source)
		return -1;
	r->sources[r->trace] = source;
	nr = bt_component_source_get_output_port_count(source);
	if (!nr || r->nr_ports + nr > MAX_PORTS) {
		r->reason = nr ? "has too many streams" : "has no streams";
		return -1;
	}
	r->ports = cli_alloc(r->ports, r->nr_ports + nr, sizeof(*r->ports));
	for (i = 0; i < nr; i++)
		r->ports[r->nr_ports++] = (struct port){ .trace = (uint32_t)r->trace };
	return 0;
}

static int connect_ports(struct reader *r, bt_graph *graph)
{
	const bt_component_sink *sink = add_sink(graph, r);
	const bt_port_output *out;
	uint64_t i, first = 0;

	for (i = 0; sink && i < r->nr_ports; i++) {
		if (i && r->ports[i].trace != r->ports[i - 1].trace)
			first = i;
		out = bt_component_source_borrow_output_port_by_index_const(
			r->sources[r->ports[i].trace], i - first);
		if (bt_graph_connect_ports(
			    graph, out,
			    bt_component_sink_borrow_input_port_by_index_const(sink, i), NULL) !=
		    BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return -1;
	}
	return sink ? 0 : -1;
}

static int run(struct reader *r, bt_graph *graph, const bt_plugin *plugin)
{
	for (r->trace = 0; r->trace < r->traces->nr; r->trace++)
		if (add_ports(r, graph, plugin))
			return -1;
	r->trace = 0;
	if (connect_ports(r, graph))
		return -1;
	return bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK ? 0 : -1;
}

/* Report an error: our own, or the innermost cause of babeltrace2's without its addresses. */
static void report(const struct reader *r)
{
	const char *path = r->traces->paths[r->trace];
	const bt_error *error = bt_current_thread_take_error();
	const char *reason = "babeltrace2 has failed", *end;

	if (error && bt_error_get_cause_count(error))
		reason = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	end = strstr(reason, ": msg-it-addr");
	if (r->reason)
		complain("%s: %s", path, r->reason);
	else if (!strncmp(reason, "Cannot create trace for", 23))
		complain("cannot read %s/metadata: damaged: babeltrace2 %s shows where", path,
			 path);
	else
		complain("cannot read %s: %.*s", path,
			 (int)(end ? (size_t)(end - reason) : strlen(reason)), reason);
	if (error)
		bt_error_release(error);
}

static void free_reader(struct reader *r)
{
	struct event_class *class;
	size_t i;

	for (i = 0; i < r->classes.room; i++) {
		class = (struct event_class *)r->classes.entries[i].value;
		if (class)
			ctf_fields_destroy(class->fields);
		free(class);
	}
	hash_deinit(&r->classes);
	free(r->sources);
	free(r->ports);
}

static int read_traces(struct import *im, const struct ctf_traces *traces)
{
	struct reader r = { .im = im, .traces = traces };
	const bt_plugin *plugin = NULL;
	bt_graph *graph = NULL;
	int err = -1;

	r.sources = cli_alloc(NULL, traces->nr, sizeof(*r.sources));
	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
	    BT_PLUGIN_FIND_STATUS_OK)
		graph = bt_graph_create(0);
	if (graph)
		err = run(&r, graph, plugin);
	if (err)
		report(&r);
	put_messages(&r);
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	free_reader(&r);
	return err ? CLI_FAILED : CLI_DONE;
}

int import_ctf(struct import *im, char *const *paths, size_t nr)
{
	struct ctf_traces traces = { 0 };
	int status = CLI_DONE;
	size_t i;

	for (i = 0; i < nr && !status; i++)
		if (ctf_find(&traces, paths[i]))
			status = CLI_FAILED;
	if (!status)
		status = read_traces(im, &traces);
	ctf_traces_deinit(&traces);
	return status;
}

#else

int import_ctf(struct import *im, char *const *paths, size_t nr)
{
	(void)im;
	(void)nr;
	complain("%s: not available: install libbabeltrace2-dev and rebuild ktau", paths[0]);
	return CLI_FAILED;
}

#endif
