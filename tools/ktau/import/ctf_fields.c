// SPDX-License-Identifier: GPL-2.0-only
/*
 * A structure in a structure becomes fields with names such as a.b, and an array or sequence a text
 * such as [1,2]. Fields of other types, which may be missing, are left out. The classes of fields
 * are visited in the same order as the fields of each event.
 */
#ifdef KTAU_HAVE_BABELTRACE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "ctf_fields.h"

enum { MOST_FIELDS = 128,
       DEEPEST = 4,
       NAME_BYTES = 528 };

struct ctf_fields {
	char name[NAME_BYTES];
	size_t bytes;
	enum program_type types[MOST_FIELDS];
	size_t nr, left_out;
};

/* Names */

static bool is(bt_field_class_type type, bt_field_class_type wanted)
{
	return bt_field_class_type_is(type, wanted);
}

static bool find_type(bt_field_class_type type, enum program_type *found)
{
	if (is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) || is(type, BT_FIELD_CLASS_TYPE_BOOL) ||
	    is(type, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		*found = PROGRAM_U64;
	else if (is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*found = PROGRAM_S64;
	else if (is(type, BT_FIELD_CLASS_TYPE_REAL))
		*found = PROGRAM_REAL;
	else if (is(type, BT_FIELD_CLASS_TYPE_STRING) || is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		*found = PROGRAM_TEXT_TYPE;
	else
		return false;
	return true;
}

/* The name is printable ASCII, and its signs are those that separate fields. */
static bool is_plain(char c)
{
	return c > ' ' && c <= '~' && c != '(';
}

static void add_name(struct ctf_fields *f, const char *name)
{
	for (; *name; name++)
		f->name[f->bytes++] = is_plain(*name) && !strchr("):,", *name) ? *name : '_';
}

static void add_field(struct ctf_fields *f, const char *prefix, const char *name,
		      enum program_type type)
{
	const char *type_name = program_type_name(type);

	if (f->nr == MOST_FIELDS || f->left_out || !*name ||
	    f->bytes + strlen(prefix) + strlen(name) + strlen(type_name) + 4 > NAME_BYTES) {
		f->left_out++;
		return;
	}
	f->name[f->bytes++] = f->nr ? ',' : '(';
	add_name(f, prefix);
	add_name(f, name);
	f->bytes += (size_t)sprintf(f->name + f->bytes, ":%s", type_name);
	f->types[f->nr++] = type;
}

/* The recursion is DEEPEST deep. */
static void add_class(struct ctf_fields *f, const bt_field_class *class, const char *prefix,
		      int depth)
{
	const bt_field_class_structure_member *member;
	const bt_field_class *inner;
	enum program_type type;
	char deeper[256];
	const char *name;
	uint64_t i;

	for (i = 0; i < bt_field_class_structure_get_member_count(class); i++) {
		member = bt_field_class_structure_borrow_member_by_index_const(class, i);
		name = bt_field_class_structure_member_get_name(member);
		inner = bt_field_class_structure_member_borrow_field_class_const(member);
		if (find_type(bt_field_class_get_type(inner), &type)) {
			add_field(f, prefix, name, type);
		} else if (depth < DEEPEST &&
			   bt_field_class_get_type(inner) == BT_FIELD_CLASS_TYPE_STRUCTURE) {
			snprintf(deeper, sizeof(deeper), "%s%s.", prefix, name);
			add_class(f, inner, deeper, depth + 1);
		}
	}
}

struct ctf_fields *ctf_fields_create(const bt_event_class *class)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	const char *name = bt_event_class_get_name(class);
	struct ctf_fields *f = cli_alloc(NULL, 1, sizeof(*f));
	size_t i;

	memset(f, 0, sizeof(*f));
	name = name && *name ? name : "event";
	for (i = 0; name[i] && f->bytes < NAME_BYTES / 2; i++)
		f->name[f->bytes++] = is_plain(name[i]) ? name[i] : '_';
	if (payload && bt_field_class_get_type(payload) == BT_FIELD_CLASS_TYPE_STRUCTURE)
		add_class(f, payload, "", 0);
	if (f->nr)
		f->name[f->bytes++] = ')';
	return f;
}

void ctf_fields_destroy(struct ctf_fields *f)
{
	free(f);
}

const char *ctf_fields_name(const struct ctf_fields *f)
{
	return f->name;
}

size_t ctf_fields_left_out(const struct ctf_fields *f)
{
	return f->left_out;
}

/* Values */

/* Where the next value goes. @left: fields that have not been put, each of at least a word. */
struct put {
	const struct ctf_fields *fields;
	uint64_t *payload;
	size_t words, at, left;
};

static uint64_t bits_of(const bt_field *field, enum program_type type)
{
	bt_field_class_type class = bt_field_get_class_type(field);
	uint64_t bits;
	double real;

	if (type == PROGRAM_REAL) {
		real = is(class, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) ?
			       (double)bt_field_real_single_precision_get_value(field) :
			       bt_field_real_double_precision_get_value(field);
		memcpy(&bits, &real, sizeof(bits));
		return bits;
	}
	if (type == PROGRAM_S64)
		return (uint64_t)bt_field_integer_signed_get_value(field);
	if (is(class, BT_FIELD_CLASS_TYPE_BOOL))
		return bt_field_bool_get_value(field);
	if (is(class, BT_FIELD_CLASS_TYPE_BIT_ARRAY))
		return bt_field_bit_array_get_value_as_integer(field);
	return bt_field_integer_unsigned_get_value(field);
}

/* The text of an array: as many elements as there is room for. */
static void print_array(const bt_field *array, char text[PROGRAM_TEXT + 1])
{
	const bt_field *element;
	enum program_type type;
	size_t bytes = 0;
	uint64_t i, bits;

	text[bytes++] = '[';
	for (i = 0; i < bt_field_array_get_length(array) && bytes < PROGRAM_TEXT - 32; i++) {
		element = bt_field_array_borrow_element_field_by_index_const(array, i);
		if (!find_type(bt_field_get_class_type(element), &type) ||
		    type > PROGRAM_S64)
			break;
		bits = bits_of(element, type);
		bytes += (size_t)sprintf(text + bytes, type == PROGRAM_S64 ? "%s%lld" : "%s%llu",
					 i ? "," : "", (unsigned long long)bits);
	}
	strcpy(text + bytes, "]");
}

/* The first byte is the lowest one of its word, on any machine. */
static void put_text(struct put *p, const char *text)
{
	const size_t room = 8 * (p->words - p->left - 1), bytes = strnlen(text, room);
	size_t i;

	p->payload[p->at++] = bytes;
	for (i = 0; i < bytes; i++) {
		if (!(i % 8))
			p->payload[p->at + i / 8] = 0;
		p->payload[p->at + i / 8] |= (uint64_t)(uint8_t)text[i] << 8 * (i % 8);
	}
	p->at += (bytes + 7) / 8;
	p->words -= 1 + (bytes + 7) / 8;
}

static void put_value(struct put *p, const bt_field *field)
{
	const enum program_type type = p->fields->types[p->fields->nr - p->left];
	char text[PROGRAM_TEXT + 1];

	p->left--;
	if (type != PROGRAM_TEXT_TYPE) {
		p->payload[p->at++] = bits_of(field, type);
		p->words--;
	} else if (is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_STRING)) {
		put_text(p, bt_field_string_get_value(field));
	} else {
		print_array(field, text);
		put_text(p, text);
	}
}

static void put_fields(struct put *p, const bt_field *fields, int depth)
{
	const bt_field_class *class = bt_field_borrow_class_const(fields);
	const uint64_t nr = bt_field_class_structure_get_member_count(class);
	const bt_field *field;
	enum program_type type;
	uint64_t i;

	for (i = 0; i < nr && p->left; i++) {
		field = bt_field_structure_borrow_member_field_by_index_const(fields, i);
		if (find_type(bt_field_get_class_type(field), &type))
			put_value(p, field);
		else if (depth < DEEPEST &&
			 bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRUCTURE)
			put_fields(p, field, depth + 1);
	}
}

size_t ctf_fields_put(const struct ctf_fields *f, const bt_event *event,
		      uint64_t payload[PROGRAM_WORDS])
{
	struct put p = { f, payload, PROGRAM_WORDS, 0, f->nr };

	if (f->nr)
		put_fields(&p, bt_event_borrow_payload_field_const(event), 0);
	return p.at;
}

#endif
