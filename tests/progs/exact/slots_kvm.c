// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots_kvm: run a virtual machine with a known number of exits, and decode its trace without the
 * library. Linked with the load "vcpu". Run as root, with the group kvm and trace=on.
 */
#include <linux/kvm.h>

#include "loads/loads.h"
#include "slots.h"

/* Exit reasons for a write to an I/O port, of SVM and of VMX. */
enum { SVM_IOIO = 0x7b, VMX_IO = 30 };

#define EXITS 1000

_Noreturn void load_die(const char *what)
{
	die(what);
}

static bool is_kvm(const struct ktau_slot *slot)
{
	return slot->type == KTAU_TRACE_KVM_ENTER || slot->type == KTAU_TRACE_KVM_EXIT;
}

/* What the loaded trace has. */
static void check_exits(void)
{
	unsigned int enters = 0, exits = 0, io = 0, wrong = 0;
	const struct ktau_slot *slot = NULL;
	const struct ktau_slot_kvm *kvm;

	while ((slot = next_slot(slot, 0))) {
		if (!is_kvm(slot))
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
}

static struct kvm_device_attr offset_attr(uint64_t *offset)
{
	return (struct kvm_device_attr){
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)offset,
	};
}

static uint64_t get_offset(const struct vcpu *vcpu)
{
	uint64_t offset;
	struct kvm_device_attr attr = offset_attr(&offset);

	if (ioctl(vcpu->fd, KVM_GET_DEVICE_ATTR, &attr))
		die("KVM_GET_DEVICE_ATTR");
	return offset;
}

static void set_offset(const struct vcpu *vcpu, uint64_t offset)
{
	struct kvm_device_attr attr = offset_attr(&offset);

	if (ioctl(vcpu->fd, KVM_SET_DEVICE_ATTR, &attr))
		die("KVM_SET_DEVICE_ATTR");
}

/* The loaded trace has one clock, with @offset and the ratio 1, before the first entry. */
static void expect_clock(uint64_t offset, const char *when)
{
	const struct ktau_slot *slot = NULL, *found = NULL;
	const struct ktau_slot_kvm_clock *clock;
	unsigned int nr = 0, late = 0;

	while ((slot = next_slot(slot, 0))) {
		late += is_kvm(slot) && !nr;
		if (slot->type != KTAU_TRACE_KVM_CLOCK)
			continue;
		found = slot;
		nr++;
	}
	if (!tap_ok(nr == 1 && !late, "%s: %u clocks, %u entries and exits before the first", when,
		    nr, late))
		return;
	clock = (const void *)(found + 1);
	tap_ok(found->words == 5 && clock->tsc_offset == offset && !clock->vcpu &&
		       clock->tsc_ratio == 1ULL << clock->frac_bits,
	       "%s: offset %lld, of KVM %lld; ratio %#llx >> %u", when,
	       (long long)clock->tsc_offset, (long long)offset, clock->tsc_ratio,
	       clock->frac_bits);
}

/* The clock is traced when the virtual CPU first runs, and after a change or a read. */
static void check_clock(void)
{
	const struct vcpu vcpu = load_vcpu_create();
	const uint64_t offset = get_offset(&vcpu);
	uint64_t since = now();

	load_vcpu_run(&vcpu, 10);
	load(getpid(), since);
	expect_clock(offset, "first run");
	since = now();
	load_vcpu_run(&vcpu, 10);
	load(getpid(), since);
	tap_ok(!count(KTAU_TRACE_KVM_CLOCK) && count(KTAU_TRACE_KVM_ENTER) >= 10,
	       "no clock while it is the same");
	since = now();
	set_offset(&vcpu, offset + 12345);
	load_vcpu_run(&vcpu, 10);
	load(getpid(), since);
	expect_clock(offset + 12345, "after a change");
	load_with(getpid(), 0, KTAU_SELECT_CONSUME);
	load_vcpu_run(&vcpu, 10);
	load_with(getpid(), 0, KTAU_SELECT_CONSUME);
	expect_clock(offset + 12345, "after a read");
}

int main(void)
{
	uint64_t since;

	/* Let the ring grow first, so that no slot is overwritten. */
	for (int i = 0; i < 100000; i++)
		getppid();
	since = now();
	load_vcpu(EXITS);
	load(getpid(), since);
	check_exits();
	check_clock();
	return tap_done();
}
