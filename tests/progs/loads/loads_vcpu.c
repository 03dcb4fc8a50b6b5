// SPDX-License-Identifier: GPL-2.0-only
/* A virtual machine with one CPU in real mode, which counts and sometimes exits to the host. */
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "loads.h"

/* mov cx, 0xffff; 1: dec cx; jnz 1b; out 0x10, al; jmp to the start */
static const uint8_t program[] = { 0xb9, 0xff, 0xff, 0x49, 0x75, 0xfd, 0xe6, 0x10, 0xeb, 0xf6 };

static int create(int fd, unsigned long request, const char *what)
{
	int created = ioctl(fd, request, 0);

	if (created < 0)
		load_die(what);
	return created;
}

static void set_registers(int vcpu)
{
	struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs))
		load_die("KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(vcpu, KVM_SET_SREGS, &sregs) || ioctl(vcpu, KVM_SET_REGS, &regs))
		load_die("registers");
}

struct vcpu load_vcpu_create(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm;
	struct kvm_userspace_memory_region region = { .memory_size = 4096 };
	struct vcpu vcpu;
	void *memory;

	if (kvm < 0)
		load_die("/dev/kvm");
	vm = create(kvm, KVM_CREATE_VM, "KVM_CREATE_VM");
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		load_die("mmap");
	memcpy(memory, program, sizeof(program));
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		load_die("KVM_SET_USER_MEMORY_REGION");
	vcpu.fd = create(vm, KVM_CREATE_VCPU, "KVM_CREATE_VCPU");
	vcpu.run = mmap(NULL, (size_t)create(kvm, KVM_GET_VCPU_MMAP_SIZE, "KVM_GET_VCPU_MMAP_SIZE"),
			PROT_READ | PROT_WRITE, MAP_SHARED, vcpu.fd, 0);
	if (vcpu.run == MAP_FAILED)
		load_die("mmap of the CPU");
	set_registers(vcpu.fd);
	return vcpu;
}

void load_vcpu_run(const struct vcpu *vcpu, unsigned int exits)
{
	for (unsigned int i = 0; i < exits; i++)
		if (ioctl(vcpu->fd, KVM_RUN, 0) || vcpu->run->exit_reason != KVM_EXIT_IO)
			load_die("KVM_RUN");
}

void load_vcpu(unsigned int exits)
{
	struct vcpu vcpu = load_vcpu_create();

	load_vcpu_run(&vcpu, exits);
}
