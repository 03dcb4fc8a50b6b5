// SPDX-License-Identifier: GPL-2.0-only
/* Views in XML: what each element makes of events, and which are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "view/xml_view.h"
#include "view_steps.h"

/* What a test does not mention is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A constant attribute, and a path of a name and the event's CPU or field. */
#define CONSTANT(name) "<stateAttribute type='constant' value='" name "'/>"
#define FIELD(name) "<stateAttribute type='eventField' value='" name "'/>"
#define VALUE(type, value) "<stateValue type='" type "' value='" value "'/>"
#define CHANGE(text) "<stateChange>" text "</stateChange>\n"
#define ON_EVENT(name, text) "<eventHandler eventName='" name "'>\n" text "</eventHandler>\n"
#define IF(condition, text) "<if>" condition "</if><then>" text "</then>"
#define WORKING ON_EVENT("mpi:work", CHANGE(CONSTANT("a") VALUE("int", "$A")))

#define SEVEN "<entry>" VALUE("int", "7") VALUE("int", "$B") "</entry>"
#define EIGHT "<entry>" VALUE("int", "8") VALUE("string", "eight") "</entry>"
#define GROUP "<mappingGroup id='m'>" SEVEN EIGHT "</mappingGroup>\n"

/* A view of the attributes a and W / *. */
static char *view_of(const char *provider)
{
	char *text;

	if (asprintf(&text, "<?xml version='1.0' encoding='UTF-8'?>\n<tmfxml>\n"
			    "<timeGraphView id='v'><head><analysis id='p'/>"
			    "<label value='t'/></head>"
			    "<definedValue name='B' value='2' color='#00FF00'/>"
			    "<definedValue name='A' value='1'/>"
			    "<entry path='a'><display type='self'/><name type='self'/></entry>"
			    "<entry path='W/*'><display type='self'/>"
			    "<name type='constant' value='n'/></entry></timeGraphView>\n"
			    "<stateProvider id='p' version='1'><head><label value='q'/></head>"
			    "<definedValue name='B' value='2'/><definedValue name='A' value='1'/>"
			    "<location id='here'>" CONSTANT("W") FIELD("rank") "</location>"
			    GROUP "%s</stateProvider></tmfxml>",
		     provider) < 0)
		abort();
	return text;
}

static void expect(const char *provider, const struct step *steps, const char *expected)
{
	char *text = view_of(provider);

	steps_expect(view_parse_xml, text, steps, steps_intervals, expected);
	free(text);
}

/* A mark of the name, with or without the name of its value; constants, fields, locations. */
static void test_values(void **state)
{
	(void)state;
	expect(WORKING ON_EVENT("mpi:wait",
		CHANGE("<stateAttribute type='location' value='here'/>" VALUE("eventField",
		"rank"))),
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 2, WAIT, 7), MARK(30, 2, WAIT, 1)),
	       "0-10 a -\n0-20 ? -\n0-30 ? -\n10-100 a A\n20-100 ? 7\n30-100 ? A\n");
	expect(ON_EVENT("mpi:*", CHANGE(CONSTANT("a") "<stateValue type='eventName'/>")),
	       STEPS(MARK(10, 1, WORK, 0)), "0-10 a -\n10-100 a mpi:work(rank)\n");
	expect(ON_EVENT("mpi:work", CHANGE(CONSTANT("a") "<stateValue type='eventName'/>")
					    CHANGE(CONSTANT("W")
					    "<stateAttribute type='eventName'/>"
					    VALUE("double", "2.0"))),
	       STEPS(MARK(10, 1, WORK, 0)),
	       "0-10 a -\n0-10 ? -\n10-100 a mpi:work\n10-100 ? B\n");
	/* null, and delete, which also deletes what is below. */
	expect(WORKING ON_EVENT("mpi:wait", CHANGE(CONSTANT("a") "<stateValue type='null'/>")),
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 1, WAIT, 0)),
	       "0-10 a -\n10-20 a A\n20-100 a -\n");
	expect(ON_EVENT("mpi:work", CHANGE(CONSTANT("W") CONSTANT("1") VALUE("long", "1")))
		       ON_EVENT("mpi:wait", CHANGE(CONSTANT("W") "<stateValue type='delete'/>")),
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 1, WAIT, 0)),
	       "0-10 ? -\n10-20 ? A\n20-100 ? -\n");
}

/* The value of one attribute names another one; <name> is an attribute below an entry. */
static void test_queries(void **state)
{
	(void)state;
	expect(ON_EVENT("mpi:work", CHANGE(CONSTANT("Rank") FIELD("tid") VALUE("eventField",
		"rank"))
					    CHANGE(CONSTANT("W") FIELD("rank") CONSTANT("n")
					    VALUE("string", "x")))
		       ON_EVENT("syscall_entry_read",
				CHANGE(CONSTANT("W") "<stateAttribute type='query'>"
					CONSTANT("Rank")
					       FIELD("context._vtid")
					       "</stateAttribute><stateValue type='query'>"
					       CONSTANT("Rank") FIELD("tid") "</stateValue>")),
	       STEPS(ENTER(5, 1, READ), MARK(10, 1, WORK, 2), ENTER(20, 1, READ)),
	       "0-20 x -\n20-100 x B\n");
}

/* Numbers grow, a state changes from its begin on, and a stack is kept in attributes 1, 2, ... */
static void test_changes(void **state)
{
	(void)state;
	expect(ON_EVENT("syscall_entry_*",
			CHANGE(CONSTANT("a")
				"<stateValue type='int' value='4' increment='true'/>")),
	       STEPS(ENTER(10, 1, READ), ENTER(20, 1, READ)), "0-10 a -\n10-20 a 4\n20-100 a 8\n");
	expect(WORKING ON_EVENT("mpi:wait", CHANGE(CONSTANT("a")
		"<stateValue type='int' value='2' update='true'/>")),
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 1, WAIT, 0), MARK(30, 1, WORK, 0)),
	       "0-10 a -\n10-30 a B\n30-100 a A\n");
	expect(ON_EVENT("mpi:work",
			CHANGE(CONSTANT("W")
				"<stateValue type='eventField' value='rank' stack='push'/>"))
		       ON_EVENT("mpi:wait", CHANGE(CONSTANT("W")
		       "<stateValue type='null' stack='pop'/>")
						    CHANGE(CONSTANT("a")
						    "<stateValue type='query' stack='peek'>"
						    CONSTANT("W") "</stateValue>"))
			       ON_EVENT("syscall_exit_read",
					CHANGE(CONSTANT("W")
						"<stateValue type='null' stack='popAll'/>")),
	       STEPS(MARK(10, 1, WORK, 5), MARK(20, 1, WORK, 6), MARK(30, 1, WAIT, 0),
		     MARK(40, 1, WAIT, 0), MARK(50, 1, WAIT, 0), MARK(60, 1, WORK, 4),
		     EXIT(70, 1, READ)),
	       "0-10 ? -\n0-20 ? -\n20-30 ? 6\n0-30 a -\n10-40 ? 5\n30-40 a 5\n40-60 ? -\n"
	       "60-70 ? 4\n70-100 ? -\n30-100 ? -\n40-100 a -\n");
}

/* Numbers with a fraction; those without one are whole. */
static void test_fractions(void **state)
{
	(void)state;
	expect(ON_EVENT("syscall_entry_read",
			CHANGE(CONSTANT("a")
				"<stateValue type='double' value='0.75' increment='true'/>")
			CHANGE(IF("<condition operator='gt'>" CONSTANT("a") VALUE("int", "1")
				"</condition>", CONSTANT("W") CONSTANT("x")
				"<stateValue type='query' forcedType='int'>" CONSTANT("a")
				"</stateValue>"))
			CHANGE(IF("<condition operator='le'>" CONSTANT("a") VALUE("double", "2.25")
				"</condition>", CONSTANT("W") CONSTANT("y")
				"<stateValue type='query' forcedType='string'>" CONSTANT("a")
				"</stateValue>"))),
	       STEPS(ENTER(10, 1, READ), ENTER(20, 1, READ), ENTER(30, 1, READ),
		     ENTER(40, 1, READ)),
	       "0-10 a -\n0-10 ? -\n10-20 a 0.75\n0-20 ? -\n10-20 ? 0.75\n20-30 a 1.5\n"
	       "20-30 ? A\n20-30 ? 1.5\n30-40 a 2.25\n30-40 ? B\n40-100 a 3\n30-100 ? 2.25\n"
	       "40-100 ? 3\n");
}

/* A condition inside of another one: only what holds at the event, not what it changes. */
static void test_nested(void **state)
{
	(void)state;
	expect(ON_EVENT("mpi:work",
			CHANGE(IF("<condition>" VALUE("eventField", "rank") VALUE("int", "1")
				"</condition>",
				IF("<condition>" CONSTANT("a") "<stateValue type='null'/>"
				"</condition>", CONSTANT("a") VALUE("int", "1"))
				"<else>" CONSTANT("a") VALUE("int", "2") "</else>")
				"<else>" IF("<condition>" CONSTANT("a") VALUE("int", "2")
				"</condition>", CONSTANT("a") VALUE("int", "8")) "</else>")),
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 1, WORK, 1), MARK(30, 1, WORK, 0),
		     MARK(40, 1, WORK, 1), MARK(50, 1, WORK, 0)),
	       "0-20 a -\n20-40 a A\n40-50 a B\n50-100 a 8\n");
}

/* A message has the number of bytes and the other process; its name has no parentheses. */
static void test_messages(void **state)
{
	(void)state;
	expect(ON_EVENT("MPI send", CHANGE(CONSTANT("a") VALUE("eventField", "bytes"))
				CHANGE(CONSTANT("W") FIELD("peer") VALUE("eventField", "peer"))),
	       STEPS(MESSAGE(10, 1, SEND, 64, 7), MARK(20, 1, SEND, 65)),
	       "0-10 a -\n0-10 ? -\n10-20 a 64\n20-100 a 65\n10-100 ? 7\n");
}

/* A group maps values; others are none. A number may become a text and back. */
static void test_mapping(void **state)
{
	(void)state;
	expect(ON_EVENT("mpi:work", CHANGE(CONSTANT("a")
		"<stateValue type='eventField' value='rank' "
							 "mappingGroup='m'/>")),
	       STEPS(MARK(10, 1, WORK, 7), MARK(20, 1, WORK, 8), MARK(30, 1, WORK, 9)),
	       "0-10 a -\n10-20 a B\n20-30 a eight\n30-100 a -\n");
	expect(ON_EVENT("mpi:work", CHANGE(CONSTANT("a")
		"<stateValue type='eventField' value='rank' "
							 "forcedType='string'/>"))
		       ON_EVENT("mpi:wait", CHANGE(CONSTANT("a")
		       "<stateValue type='query' forcedType='int'>" CONSTANT("a")
		       "</stateValue>")),
	       STEPS(MARK(10, 1, WORK, 1), MARK(20, 1, WAIT, 9)),
	       "0-10 a -\n10-20 a 1\n20-100 a A\n");
}

static void test_conditions(void **state)
{
	static const struct {
		const char *condition;
		bool met;
	} cases[] = {
		{ "<condition><field name='prev_state'/>" VALUE("int", "2") "</condition>", true },
		{ "<condition operator='ne'><field name='prev_state'/>" VALUE("int", "2")
			"</condition>", false },
		{ "<condition operator='gt'><field name='prev_state'/>" VALUE("int", "1")
			"</condition>", true },
		{ "<condition operator='ge'><field name='prev_state'/>" VALUE("int", "3")
			"</condition>", false },
		{ "<condition operator='lt'><field name='prev_state'/>" VALUE("int", "2")
			"</condition>", false },
		{ "<condition operator='le'><field name='prev_state'/>" VALUE("int", "2")
			"</condition>", true },
		{ "<condition>" CONSTANT("a") VALUE("int", "$A") "</condition>", true },
		{ "<condition>" CONSTANT("b") "<stateValue type='null'/></condition>", true },
		{ "<condition>" VALUE("string", "task") VALUE("eventField", "prev_comm")
			"</condition>", true },
		{ "<not><condition>" CONSTANT("a") VALUE("int", "1") "</condition></not>", false },
		{ "<and><condition>" CONSTANT("a") VALUE("int", "1") "</condition><condition>"
			CONSTANT("a") VALUE("int", "2") "</condition></and>", false },
		{ "<or><condition>" CONSTANT("a") VALUE("int", "1") "</condition><condition>"
			CONSTANT("a") VALUE("int", "2") "</condition></or>", true },
	};
	char provider[1500];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(provider, sizeof(provider),
			 WORKING ON_EVENT("sched_switch",
					  CHANGE(IF("%s", CONSTANT("a") VALUE("int", "5"))
					  "<else>" CONSTANT("a") VALUE("int", "6") "</else>")),
			 cases[i].condition);
		expect(provider, STEPS(MARK(10, 4, WORK, 0), SWITCH(20, 4, 2)),
		       cases[i].met ? "0-10 a -\n10-20 a A\n20-100 a 5\n" :
				      "0-10 a -\n10-20 a A\n20-100 a 6\n");
	}
	/* What is in <then> does not make <else> true. */
	expect(WORKING ON_EVENT("mpi:wait",
				CHANGE(IF("<condition>" CONSTANT("a") VALUE("int", "1")
					"</condition>", CONSTANT("a") VALUE("int", "2"))
					"<else>" CONSTANT("a") VALUE("int", "1") "</else>")),
	       STEPS(MARK(10, 1, WORK, 0), MARK(20, 1, WAIT, 0), MARK(30, 1, WAIT, 0)),
	       "0-10 a -\n10-20 a A\n20-30 a B\n30-100 a A\n");
}

/* Read a view. Return: the message, which the caller frees. */
static char *message_of(const char *text, size_t bytes, bool *good)
{
	FILE *const err = stderr;
	struct view_rules view = { 0 };
	char *message;
	size_t size;

	stderr = open_memstream(&message, &size);
	*good = view_parse_xml(&view, "v", text, bytes);
	fclose(stderr);
	stderr = err;
	view_deinit(&view);
	return message;
}

static const struct {
	const char *text, *message;
} errors[] = {
	{ "", "v:1: no element found" },
	{ "<a>\n</b>", "v:2: mismatched tag" },
	{ "<a/>", "v:1: the root is not <tmfxml>" },
	{ "<!DOCTYPE a [<!ENTITY b 'c'>]>\n<a>&b;</a>", "v:1: a DOCTYPE is not allowed" },
	{ "<tmfxml>\n<pattern/></tmfxml>", "v:2: the element <pattern> is not supported" },
	{ "<tmfxml>\n<callstack/></tmfxml>", "v:2: the element <callstack> is not supported" },
	{ "<tmfxml/>", "v:1: the view has no <entry>" },
	{ "<tmfxml><timeGraphView><entry/></timeGraphView></tmfxml>", "has no attribute 'path'" },
	{ "<tmfxml><xyView><entry path='a'><display type='self'/></entry></xyView></tmfxml>",
	  "the view has no <eventHandler>" },
};

/* The fifth line begins with this, and the sixth is the first one of a handler. */
static const struct {
	const char *provider, *message;
} refused[] = {
	{ "<fsm/>", "the element <fsm> is not supported" },
	{ ON_EVENT("x", "<segment/>"), "v:6: the element <segment> is not supported" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") "<stateValue type='script' value='1'/>")),
	  "v:6: a <stateValue> of type 'script' is not supported" },
	{ ON_EVENT("x", CHANGE("<stateAttribute type='pool'/>" VALUE("int", "1"))),
	  "a <stateAttribute> of type 'pool' is not supported" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") VALUE("int", "1") "<futureTime/>")),
	  "the element <futureTime> is not supported" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a"))), "<stateChange> has no <stateValue>" },
	{ ON_EVENT("x", CHANGE(VALUE("int", "1"))), "<stateChange> has no <stateAttribute>" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") VALUE("int", "$C"))), "no <definedValue> 'C'" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") VALUE("long", "1.5"))),
	  "'1.5' is not a whole number" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") VALUE("double", "1.5x"))), "'1.5x' is not a number" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") VALUE("double", "inf"))), "'inf' is not a number" },
	{ ON_EVENT("x", CHANGE("<stateAttribute type='location' value='l'/>" VALUE("int", "1"))),
	  "there is no <location> 'l'" },
	{ "<location id='l'><stateAttribute type='location' value='l'/></location>"
		ON_EVENT("x", CHANGE("<stateAttribute type='location' value='l'/>"
		VALUE("int", "1"))),
	  "more than 32 levels" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a")
		"<stateValue type='int' value='1' mappingGroup='n'/>")),
	  "there is no <mappingGroup> 'n'" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") "<stateValue type='int' value='1' forcedType='x'/>")),
	  "a forcedType 'x' is not supported" },
	{ ON_EVENT("x", CHANGE(CONSTANT("a") "<stateValue type='int' value='1' stack='x'/>")),
	  "stack 'x' is not supported" },
	{ ON_EVENT("sched_switch", CHANGE(CONSTANT("a") VALUE("eventField", "c"))),
	  "KTAU does not record the field 'c' of 'sched_switch'" },
	{ ON_EVENT("*x", ""), "only the end of the name of an event may be *" },
	{ ON_EVENT("x", CHANGE(IF("<condition operator='x'>" CONSTANT("a") VALUE("int", "1")
		"</condition>", CONSTANT("a") VALUE("int", "1")))),
	  "the operator 'x' is not supported" },
	{ ON_EVENT("x", CHANGE(IF("", CONSTANT("a") VALUE("int", "1")))), "<if> has no condition" },
	{ ON_EVENT("x", CHANGE(IF("<condition>" CONSTANT("a") "</condition>", ""))),
	  "<condition> compares two values" },
};

static void test_errors(void **state)
{
	char *message, *text;
	bool good;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		message = message_of(errors[i].text, strlen(errors[i].text), &good);
		if (good || !strstr(message, errors[i].message))
			fail_msg("%s: %s", errors[i].text, message);
		free(message);
	}
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		text = view_of(refused[i].provider);
		message = message_of(text, strlen(text), &good);
		if (good || !strstr(message, refused[i].message))
			fail_msg("%s: %s", text, message);
		free(message);
		free(text);
	}
}

/* Many elements, also in each other, and bytes that are no text. */
static void test_limits(void **state)
{
	static const char *const elements[] = { "<a>", "<a/>" };
	static const char *const messages[] = { "more than 64 elements in each other",
						"more than 100000 elements" };
	char *text = malloc(400100), *message;
	size_t i, k;
	bool good;

	(void)state;
	assert_non_null(text);
	for (k = 0; k < 2; k++) {
		strcpy(text, "<a>");
		for (i = 0; i < (k ? 99999 : 65) + 1; i++)
			strcpy(text + 3 + i * (3 + k), elements[k]);
		message = message_of(text, strlen(text), &good);
		assert_false(good);
		assert_non_null(strstr(message, messages[k]));
		free(message);
	}
	message = message_of("<a b='\xff'/>", 11, &good);
	assert_false(good);
	free(message);
	message = message_of("<a>\0</a>", 8, &good);
	assert_false(good);
	free(message);
	free(text);
}

/* A file with bytes exchanged: a message, or a view. */
static void test_damaged(void **state)
{
	static const char signs[] = "<>/'=$*x1\n\xff\0";
	char *text = view_of(WORKING ON_EVENT("sched_*", CHANGE(FIELD("tid") VALUE("int", "1")))),
	     *copy = strdup(text), *message;
	const size_t bytes = strlen(text);
	unsigned int seed = 1, i, k;
	bool good;

	(void)state;
	for (i = 0; i < 3000; i++) {
		memcpy(copy, text, bytes);
		for (k = 0; k < 1 + i % 4; k++)
			copy[(size_t)rand_r(&seed) % bytes] =
				i % 2 ? signs[(size_t)rand_r(&seed) % sizeof(signs)] :
					text[(size_t)rand_r(&seed) % bytes];
		message = message_of(copy, bytes, &good);
		assert_true(good || strstr(message, "v:"));
		free(message);
	}
	free(copy);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_damaged),
	};

	cli_init("test_view_xml");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
