// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots_kvm: run a virtual machine that leaves its guest as often as is known, and read
 * the trace of it as the kernel gives it. Linked with the load "vcpu"; to be run as root,
 * with the group kvm and trace=on.
 */
#include "loads.h"
#include "slots.h"

/* Why a guest is left that writes to an I/O port: as SVM and as VMX number it. */
enum { SVM_IOIO = 0x7b, VMX_IO = 30 };

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

	/* The ring begins small: let it grow, for nothing is to be overwritten. */
	for (int i = 0; i < 100000; i++)
		getppid();
	since = now();
	load_vcpu();
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
	tap_ok(io == LOAD_VCPU_EXITS, "%u of %d exits of a virtual CPU for its I/O", io,
	     LOAD_VCPU_EXITS);
	tap_ok(enters == exits && !wrong, "%u entries and %u exits by turns, of CPU 0; %u wrong",
	     enters, exits, wrong);
	return tap_done();
}
