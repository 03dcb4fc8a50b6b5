// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost_kvm: as cost, what KTAU adds to an entry of a virtual CPU into its guest with the exit after
 * it. Linked with the load "vcpu". Prints nothing on a kernel without KVM.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "loads/loads.h"

/* Entries; the figure is that of the cheapest, without the first ones. */
enum { WARM_UP = 20, SINGLES = 1000 };

_Noreturn void load_die(const char *what)
{
	perror(what);
	exit(1);
}

static void control(const char *words)
{
	int fd = open("/proc/ktau/control", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, words, strlen(words)) < 0)
		load_die("cost_kvm: /proc/ktau/control");
	close(fd);
}

/* Instructions of an entry and the exit, with the program that runs the guest, and the guest. */
static double cost(const struct vcpu *vcpu, const char *words)
{
	uint64_t best = UINT64_MAX, ticks;

	control(words);
	load_vcpu_run(vcpu, WARM_UP);
	for (int i = 0; i < SINGLES; i++) {
		ticks = __rdtsc();
		load_vcpu_run(vcpu, 1);
		ticks = __rdtsc() - ticks;
		if (ticks < best)
			best = ticks;
	}
	return (double)best;
}

int main(void)
{
	struct vcpu vcpu;
	double bare;

	if (access("/dev/kvm", F_OK))
		return 0;
	vcpu = load_vcpu_create();
	bare = cost(&vcpu, "groups=none trace=off");
	printf("figure\tkvm_pair\t%g\tinstructions\n", cost(&vcpu, "groups=kvm") - bare);
	printf("figure\tkvm_pair_traced\t%g\tinstructions\n", cost(&vcpu, "trace=on") - bare);
	control("groups=none trace=off");
	return 0;
}
