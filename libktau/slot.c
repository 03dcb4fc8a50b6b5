// SPDX-License-Identifier: LGPL-2.1-or-later
/* The slots of a trace: iteration, byte order, payloads. */
#include <stddef.h>

#include <linux/ktau_references.h>

#include "fields.h"
#include "slot.h"
#include "swap.h"

/* What the fields of a type do not cover, and the payload of unknown types, is 8-byte words. */
static const struct {
	const char *name, *fields;
} types[] = {
#define KTAU_SLOT(type, structure, word) [KTAU_TRACE_##type] = { #type, ktau__fields_##structure },
#define KTAU_WORDS(type, text) [KTAU_TRACE_##type] = { #type, text },
#include <ktau_fields.h>
};

const char *ktau_slot_type_name(uint8_t type)
{
	return type < sizeof(types) / sizeof(*types) ? types[type].name : NULL;
}

/* The size of the fields, which is a multiple of 8 for each payload above. */
static size_t fields_bytes(const char *fields)
{
	size_t bytes = 0;

	for (; *fields; fields++)
		bytes += *fields == 's' ? 8 : *fields - '0';
	return bytes;
}

static void swap_payload(uint8_t type, uint64_t *payload, size_t words)
{
	const char *fields = ktau_slot_type_name(type) ? types[type].fields : "";
	size_t known = fields_bytes(fields) / 8;
	size_t i;

	ktau__swap_fields(payload, words * 8, fields);
	for (i = known; i < words; i++)
		payload[i] = __builtin_bswap64(payload[i]);
}

bool ktau__check_slots(const void *slots, uint32_t nr, uint32_t bytes)
{
	const uint8_t *words = (const uint8_t *)slots + offsetof(struct ktau_slot, words);
	const size_t smallest = sizeof(struct ktau_slot);
	size_t at = 0, size;

	for (; nr && at + smallest <= bytes; nr--) {
		size = words[at] * 8U;
		if (size < smallest)
			return false;
		at += size;
	}
	return !nr && at == bytes;
}

void ktau__swap_slots(void *slots, uint32_t nr)
{
	struct ktau_slot *slot = slots;

	for (; nr; nr--) {
		ktau__swap_fields(slot, sizeof(*slot), ktau__fields_ktau_slot);
		swap_payload(slot->type, (uint64_t *)(slot + 1), slot->words - 2);
		slot = (struct ktau_slot *)((uint64_t *)slot + slot->words);
	}
}

const struct ktau_slot *ktau_trace_next(const struct ktau_rec_trace *t,
					const struct ktau_slot *slot)
{
	const char *end = (const char *)ktau_trace_slots(t) + t->slots_bytes;

	if (slot)
		slot = (const struct ktau_slot *)((const uint64_t *)slot + slot->words);
	else
		slot = ktau_trace_slots(t);
	return (const char *)slot < end ? slot : NULL;
}

/* Copy the first @size bytes of the payload to @out; missing bytes are zero. */
static bool get(const struct ktau_slot *slot, bool is_type, void *out, size_t size)
{
	size_t bytes = ktau_slot_payload_words(slot) * 8;

	memset(out, 0, size);
	if (!is_type || !bytes)
		return false;
	memcpy(out, slot + 1, ktau__min(bytes, size));
	return true;
}

/* Word @index of the payload. */
static bool get_word(const struct ktau_slot *slot, bool is_type, unsigned int index,
		     uint64_t *word)
{
	bool present = is_type && index < ktau_slot_payload_words(slot);

	*word = present ? ktau_slot_payload(slot)[index] : 0;
	return present;
}

bool ktau_slot_address(const struct ktau_slot *slot, uint64_t *address)
{
	return get_word(slot, slot->type == KTAU_TRACE_ENTER, 0, address);
}

bool ktau_slot_result(const struct ktau_slot *slot, int64_t *result)
{
	uint64_t word;
	bool present = get_word(slot, slot->type == KTAU_TRACE_EXIT, 0, &word);

	*result = (int64_t)word;
	return present;
}

bool ktau_slot_count(const struct ktau_slot *slot, uint64_t *value)
{
	return get_word(slot, slot->type == KTAU_TRACE_COUNT, 0, value);
}

bool ktau_slot_cgroup(const struct ktau_slot *slot, uint64_t *id)
{
	return get_word(slot, slot->type == KTAU_TRACE_CGROUP, 0, id);
}

bool ktau_slot_groups(const struct ktau_slot *slot, uint32_t *groups)
{
	uint64_t word;
	bool present = get_word(slot, slot->type == KTAU_TRACE_GROUPS, 0, &word);

	*groups = (uint32_t)word;
	return present;
}

bool ktau_slot_exec(const struct ktau_slot *slot, uint64_t *serial)
{
	return get_word(slot, slot->type == KTAU_TRACE_EXEC, 2, serial);
}

bool ktau_slot_exit_code(const struct ktau_slot *slot, int32_t *code)
{
	uint64_t word;
	bool present = get_word(slot, slot->type == KTAU_TRACE_TASK_EXIT, 0, &word);

	*code = (int32_t)word;
	return present;
}

bool ktau_slot_comm(const struct ktau_slot *slot, char comm[17])
{
	bool is_type = slot->type == KTAU_TRACE_COMM || slot->type == KTAU_TRACE_EXEC;

	comm[16] = 0;
	return get(slot, is_type, comm, 16);
}

bool ktau_slot_switch(const struct ktau_slot *slot, struct ktau_slot_switch *out)
{
	return get(slot, slot->type == KTAU_TRACE_SWITCH, out, sizeof(*out));
}

bool ktau_slot_waking(const struct ktau_slot *slot, struct ktau_slot_waking *out)
{
	return get(slot, slot->type == KTAU_TRACE_WAKING, out, sizeof(*out));
}

bool ktau_slot_woken(const struct ktau_slot *slot, struct ktau_slot_woken *out)
{
	return get(slot, slot->type == KTAU_TRACE_WOKEN, out, sizeof(*out));
}

bool ktau_slot_fork(const struct ktau_slot *slot, struct ktau_slot_fork *out)
{
	return get(slot, slot->type == KTAU_TRACE_FORK, out, sizeof(*out));
}

bool ktau_slot_net(const struct ktau_slot *slot, struct ktau_slot_net *out)
{
	bool is_type = slot->type == KTAU_TRACE_NET_SEND || slot->type == KTAU_TRACE_NET_RECV;

	return get(slot, is_type, out, sizeof(*out));
}

bool ktau_slot_kvm(const struct ktau_slot *slot, struct ktau_slot_kvm *out)
{
	bool is_type = slot->type == KTAU_TRACE_KVM_ENTER || slot->type == KTAU_TRACE_KVM_EXIT;

	return get(slot, is_type, out, sizeof(*out));
}

bool ktau_slot_kvm_clock(const struct ktau_slot *slot, struct ktau_slot_kvm_clock *out)
{
	return get(slot, slot->type == KTAU_TRACE_KVM_CLOCK, out, sizeof(*out));
}
