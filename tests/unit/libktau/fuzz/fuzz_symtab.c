// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz the readers of symbol maps: ELF if the input has its magic number, else text. */
#include <stdlib.h>

#include <ktau.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		struct ktau_rec_event event;
		char name[8];
	} named = {
		.event = { .rec = { .size = sizeof(named), .type = KTAU_REC_EVENT,
				    .head = sizeof(named.event) },
			   .address = 0xffffffff81000010, .name_bytes = 2 },
		.name = "a",
	};
	struct ktau_events *events;
	struct ktau_symbol symbol;
	struct ktau_symtab *symtab;

	if (ktau_symtab_create(&symtab) || ktau_events_create(&events))
		abort();
	ktau_events_put(events, &named.event);
	if (!ktau_symtab_load_memory(symtab, data, size, "fuzz")) {
		ktau_symtab_lookup(symtab, 0xffffffff81000010, &symbol);
		ktau_symtab_lookup(symtab, UINT64_MAX, &symbol);
		ktau_symtab_lookup(symtab, 0, &symbol);
		ktau_symtab_relocate(symtab, 0xffffffff82000000);
		ktau_symtab_verify(symtab, NULL, events);
		if (ktau_symtab_find(symtab, "_stext", &symbol) &&
		    ktau_symtab_lookup(symtab, symbol.address, &symbol) && symbol.offset)
			abort();
	}
	ktau_events_destroy(events);
	ktau_symtab_destroy(symtab);
	return 0;
}
