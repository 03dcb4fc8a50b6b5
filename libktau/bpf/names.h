/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the events of the BPF source. */
#ifndef KTAU_BPF_NAMES_H
#define KTAU_BPF_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define KTAU__NAME_BYTES	96

struct ktau__event_facts {
	char name[KTAU__NAME_BYTES];
	uint32_t group;
	uint8_t source;
	uint64_t key;
};

/* Describe an event id of state.h. */
void ktau__bpf_event(uint32_t id, struct ktau__event_facts *facts);

#endif /* KTAU_BPF_NAMES_H */
