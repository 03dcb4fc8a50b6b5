// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a CTF trace with libbabeltrace2, one iterator per stream, and passes on its events in the
 * order of their times. babeltrace2's own muxer refuses the traces of old versions of LTTng, in
 * which the packets of a stream overlap. Here a time before the last one is replaced by that.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cli.h"
#include "import.h"

#ifdef KTAU_HAVE_BABELTRACE

#include <babeltrace2/babeltrace.h>
#include <stdlib.h>

enum { MAX_PORTS = 4096 };

/* Times beyond this are not those of a clock; sums of two of them do not wrap. */
#define MAX_NS (UINT64_C(1) << 62)

/**
 * struct port - a stream of the trace
 * @iterator: its messages; NULL at the end
 * @messages: the current ones, from babeltrace2
 * @at: number of the next message
 * @nr: length of @messages
 * @ns: time of the next message
 * @cpu: CPU of the current packet
 */
struct port {
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t at, nr, ns;
	uint32_t cpu;
};

/**
 * struct reader - reading of a trace
 * @im: what takes the events
 * @ports: the streams
 * @nr_ports: length of @ports
 * @classes: struct import_class by the address of the event class
 * @described: @im->host is set
 * @reason: of an error that is not babeltrace2's
 */
struct reader {
	struct import *im;
	struct port *ports;
	uint64_t nr_ports;
	struct hash classes;
	bool described;
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

/* At most MAX_NS. Some compilers have no type of 128 bits. */
static uint64_t cycles_ns(uint64_t cycles, uint64_t hz)
{
	const uint64_t second = 1000000000;
	uint64_t seconds, rest, ns;

	hz = hz ? hz : second;
	seconds = cycles / hz;
	rest = cycles % hz;
	if (seconds >= MAX_NS / second)
		return MAX_NS;
	for (; hz > UINT64_MAX / second; hz >>= 1)
		rest >>= 1;
	ns = seconds * second + rest * second / hz;
	return ns < MAX_NS ? ns : MAX_NS;
}

static uint64_t clock_ns(const bt_clock_snapshot *clock)
{
	const bt_clock_class *class = bt_clock_snapshot_borrow_clock_class_const(clock);

	return cycles_ns(bt_clock_snapshot_get_value(clock), bt_clock_class_get_frequency(class));
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
	ns = cycles_ns(cycles, bt_clock_class_get_frequency(clock));
	/* A machine's time is between 1970 and 2106. */
	if (seconds >= 0 && seconds <= UINT32_MAX && ns < MAX_NS)
		host->offset_ns = seconds * 1000000000 + (int64_t)ns;
}

/* Return: 0, or -1 with a reason. */
static int take_stream(struct reader *r, const bt_stream *stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	char domain[32];
	const char *name;
	uint64_t i;

	copy_environment(trace, "domain", domain, sizeof(domain));
	if (*domain && strcmp(domain, "kernel")) {
		r->reason = "is the trace of a program, not of a kernel";
		return -1;
	}
	if (!clock) {
		r->reason = "has events without a time";
		return -1;
	}
	for (i = 0; i < bt_stream_class_get_event_class_count(class); i++) {
		name = bt_event_class_get_name(
			bt_stream_class_borrow_event_class_by_index_const(class, i));
		r->im->native |= name && !strcmp(name, "ktau_enter");
	}
	if (r->described)
		return 0;
	r->described = true;
	copy_environment(trace, "hostname", r->im->host.nodename, sizeof(r->im->host.nodename));
	copy_environment(trace, "kernel_release", r->im->host.release,
			 sizeof(r->im->host.release));
	describe_clock(&r->im->host, trace, clock);
	return 0;
}

/* Messages */

static void set_time(struct import *im, const struct port *port)
{
	if (port->ns < im->ns)
		im->clamped++;
	else
		im->ns = port->ns;
	im->cpu = port->cpu;
}

static const struct import_class *class_of(struct reader *r, const bt_event *event)
{
	const bt_event_class *class = bt_event_borrow_class_const(event);
	uintptr_t found = hash_get(&r->classes, (uintptr_t) class);
	const char *name = bt_event_class_get_name(class);
	struct import_class *new;

	if (found)
		return (const struct import_class *)found;
	new = cli_alloc(NULL, 1, sizeof(*new));
	import_classify(r->im, name ? name : "", new);
	hash_put(&r->classes, (uintptr_t) class, (uintptr_t) new);
	return new;
}

static void take_event(struct reader *r, const struct port *port, const bt_event *event)
{
	struct import_event e = { .number = number, .text = text, .tid = -1 };

	set_time(r->im, port);
	e.fields = bt_event_borrow_common_context_field_const(event);
	e.tid = number(e.fields, "tid", -1);
	e.fields = bt_event_borrow_payload_field_const(event);
	import_event(r->im, class_of(r, event), &e);
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

	set_time(r->im, port);
	if (bt_message_discarded_events_get_count(message, &nr) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		nr = 1;
	import_discarded(r->im, nr);
}

/* Return: 0, or -1 with a reason. */
static int take(struct reader *r, struct port *port, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return take_stream(r, bt_message_stream_beginning_borrow_stream_const(message));
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
		    status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
			continue;
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
	int err = take(r, port, message);

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

/* The file metadata is text, or packets of text, which babeltrace2 does not check. */

enum { METADATA_MAGIC = 0x75d11d57,
       METADATA_HEAD_BYTES = 37 };

static uint32_t word(const uint8_t *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

/* The bytes of the packet at @head; 0: it is damaged. @left: the bytes of the file from here on. */
static uint64_t metadata_packet(const uint8_t *head, bool swapped, uint64_t left)
{
	uint64_t content = word(head + 24, swapped), packet = word(head + 28, swapped);

	if (left < METADATA_HEAD_BYTES || word(head, swapped) != METADATA_MAGIC ||
	    content < 8 * METADATA_HEAD_BYTES || packet < content || packet % 8 || content % 8 ||
	    packet / 8 > left)
		return 0;
	return packet / 8;
}

static bool metadata_is_whole(FILE *f, uint64_t size)
{
	uint8_t head[METADATA_HEAD_BYTES] = { 0 };
	uint64_t at = 0, bytes;
	bool swapped;

	if (fread(head, 1, sizeof(head), f) < 4)
		return true;
	swapped = word(head, false) == __builtin_bswap32(METADATA_MAGIC);
	if (!swapped && word(head, false) != METADATA_MAGIC)
		return true;
	while (at < size) {
		memset(head, 0, sizeof(head));
		if (fseeko(f, (off_t)at, SEEK_SET) || !fread(head, 1, sizeof(head), f))
			return false;
		bytes = metadata_packet(head, swapped, size - at);
		if (!bytes)
			return false;
		at += bytes;
	}
	return true;
}

/* Return: 0, or -1 with a message. */
static int check_metadata(const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	int err = -1;

	if (!f || fstat(fileno(f), &st))
		complain("cannot read %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		complain("cannot read %s: is not a file", path);
	else if (!metadata_is_whole(f, (uint64_t)st.st_size))
		complain("cannot read %s: has a damaged packet", path);
	else
		err = 0;
	if (f)
		fclose(f);
	return err;
}

/* The graph: from the streams of the trace to the merge above */

static const bt_component_source *add_source(bt_graph *graph, const bt_plugin *plugin,
					     const char *path)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs = bt_value_array_create();

	if (class && params && inputs &&
	    !bt_value_array_append_string_element(inputs, path) &&
	    !bt_value_map_insert_entry(params, "inputs", inputs) &&
	    bt_graph_add_source_component(graph, class, "trace", params, BT_LOGGING_LEVEL_NONE,
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

static int run(struct reader *r, bt_graph *graph, const bt_plugin *plugin, const char *path)
{
	const bt_component_source *source = add_source(graph, plugin, path);
	const bt_component_sink *sink;
	uint64_t i;

	if (!source)
		return -1;
	r->nr_ports = bt_component_source_get_output_port_count(source);
	if (!r->nr_ports || r->nr_ports > MAX_PORTS) {
		r->reason = r->nr_ports ? "has too many streams" : "has no streams";
		r->nr_ports = 0;
		return -1;
	}
	r->ports = cli_alloc(NULL, r->nr_ports, sizeof(*r->ports));
	memset(r->ports, 0, r->nr_ports * sizeof(*r->ports));
	sink = add_sink(graph, r);
	if (!sink)
		return -1;
	for (i = 0; i < r->nr_ports; i++)
		if (bt_graph_connect_ports(
			    graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_sink_borrow_input_port_by_index_const(sink, i), NULL) !=
		    BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return -1;
	return bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK ? 0 : -1;
}

/* Report an error: our own, or the innermost cause of babeltrace2's without its addresses. */
static void report(const struct reader *r, const char *path)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *reason = "babeltrace2 has failed", *end;

	if (error && bt_error_get_cause_count(error))
		reason = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	end = strstr(reason, ": msg-it-addr");
	if (r->reason)
		complain("%s: %s", path, r->reason);
	else if (!strncmp(reason, "Cannot create trace for", 23))
		complain("cannot read %s/metadata: is damaged: babeltrace2 %s shows where", path,
			 path);
	else
		complain("cannot read %s: %.*s", path,
			 (int)(end ? (size_t)(end - reason) : strlen(reason)), reason);
	if (error)
		bt_error_release(error);
}

static void free_reader(struct reader *r)
{
	size_t i;

	for (i = 0; i < r->classes.room; i++)
		free((void *)r->classes.entries[i].value);
	hash_deinit(&r->classes);
	free(r->ports);
}

static int read_trace(struct import *im, const char *path)
{
	struct reader r = { .im = im };
	const bt_plugin *plugin = NULL;
	bt_graph *graph = NULL;
	int err = -1;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
	    BT_PLUGIN_FIND_STATUS_OK)
		graph = bt_graph_create(0);
	if (graph)
		err = run(&r, graph, plugin, path);
	if (err)
		report(&r, path);
	put_messages(&r);
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	free_reader(&r);
	return err ? CLI_FAILED : CLI_DONE;
}

/* LTTng's sessions have the kernel's trace in a directory of its own. */
int import_ctf(struct import *im, const char *path)
{
	static const char *const below[] = { "", "/kernel" };
	char name[4096], *end;
	struct stat st;
	size_t i;

	if (stat(path, &st)) {
		complain("cannot read %s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	for (i = 0; i < sizeof(below) / sizeof(*below); i++) {
		if ((size_t)snprintf(name, sizeof(name), "%s%s/metadata", path, below[i]) >=
		    sizeof(name))
			break;
		if (stat(name, &st))
			continue;
		if (check_metadata(name))
			return CLI_FAILED;
		end = strrchr(name, '/');
		*end = '\0';
		return read_trace(im, name);
	}
	complain("%s: is not a CTF trace: it has no file metadata", path);
	return CLI_FAILED;
}

#else

int import_ctf(struct import *im, const char *path)
{
	(void)im;
	complain("%s: not available: install libbabeltrace2-dev and rebuild ktau", path);
	return CLI_FAILED;
}

#endif
