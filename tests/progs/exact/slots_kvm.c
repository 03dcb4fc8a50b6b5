// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots_kvm: run a virtual machine with a known number of exits, and decode its trace without the
 * library. Linked with the load "vcpu". Run as root, with the group kvm and trace=on.
 */
#include "loads/loads.h"
#include "slots.h"

/* Exit reasons for a write to an I/O port, of SVM and of VMX. */
enum { SVM_IOIO = 0x7b, VMX_IO = 30 };

#define EXITS 1000

_Noreturn void load_die(const char *what)
{
	die(what);
}

int main(void)
{
	unsigned int enters = 0, exits = 0, io = 0, wrong = 0;
	const struct ktau_slot *slot = NULL;
	const struct ktau_slot_kvm *kvm;
	uint64_t since;

	/* Let the ring grow first, so that no slot is overwritten. */
	for (int i = 0; i < 100000; i++)
		getppid();
	since = now();
	load_vcpu(EXITS);
	load(getpid(), since);
	while ((slot = next_slot(slot, 0))) {
		if (slot->type != KTAU_TRACE_KVM_ENTER && slot->type != KTAU_TRACE_KVM_EXIT)
			continue;
		kvm = (const void *)(slot + 1);
		wrong += slot->words != 3 || kvm->vcpu;
		if (slot->type == KTAU_TRACE_KVM_ENTER) {
			wrong += enters++ != exits;
			continue;
		}
		wrong += ++exits != enters;
		io += kvm->reason == SVM_IOIO || kvm->reason == VMX_IO;
	}
	tap_ok(io == EXITS, "%u of %d exits of a virtual CPU for I/O", io, EXITS);
	tap_ok(enters == exits && !wrong,
	       "%u entries and %u exits of virtual CPU 0 alternate; %u wrong", enters, exits,
	       wrong);
	return tap_done();
}
