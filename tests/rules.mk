# SPDX-License-Identifier: GPL-2.0-only

KERNEL	?= 6.1
export B KERNEL FAST

# Loads with known figures for the boot tests.
test_LOADS := $(addprefix $(B)/tests/load/,tcp_stream known account transfers waits cpus changed interrupts graph)
# What is no good, and who may what
test_LOADS += $(addprefix $(B)/tests/load/,ioctl_errors control_errors fuzzcalls permit guise \
		segments dump)
# Its exceptions are those of PowerPC
ifdef CROSS_COMPILE
test_LOADS += $(B)/tests/load/exceptions
endif
# Torture, and instructions counted; what they do is an x86 machine's
ifndef CROSS_COMPILE
test_LOADS += $(addprefix $(B)/tests/load/,cost storm storm_check streams streams_check \
		starved compat32 fuzz_races coverage loads)
# Attacks by unprivileged users
test_ATTACKS := $(addprefix $(B)/tests/load/attack_,ids consume spy crowd evict namespaces \
		setuid poll landlock ipi files container memcg) $(B)/tests/load/policy
test_LOADS += $(test_ATTACKS) $(B)/tests/load/attack_totals
endif
test_LOADS += $(addprefix $(B)/tests/load/,slots slots_tcp)

.PHONY: setup kernel demo check torture test-programs unit-programs list-unit-tests

# All Debian packages that any command needs. Each command installs its own part.
setup:
	@tests/setup all

# The kernel of the boot tests.
kernel:
	@tests/kernel/build x86_64

demo:
	@tests/demo

check: setup
	@tests/check

# What takes long: the same things harder.
torture: setup
	@tests/check -d tests/torture

# All that the boot tests run in the guest.
test-programs: all $(test_LOADS)

unit-programs: $(UNIT_TESTS)

list-unit-tests:
	@printf '%s\n' $(UNIT_TESTS)

test_READERS := $(addprefix $(B)/tests/load/,known account transfers waits cpus interrupts exceptions graph storm_check \
		streams_check starved segments attack_totals coverage)
$(addprefix $(B)/tests/load/,known account transfers waits cpus exceptions graph segments): $(B)/tests/load/own.o
$(test_READERS): LDLIBS := $(LIBKTAU_LIBS) -lpthread
$(test_READERS): $(LIBKTAU)

$(B)/tests/load/coverage: $(B)/tests/load/oracle.o

$(addprefix $(B)/tests/load/,ioctl_errors slots fuzz_races): LDLIBS := -lpthread
$(B)/tests/load/fuzz_races: $(B)/tests/load/fuzz_begin.o

# Short-lived: without libraries, a fork is quick.
$(addprefix $(B)/tests/load/,storm loads fuzz_races) $(test_ATTACKS): LDFLAGS += -static
$(B)/tests/load/loads: $(addprefix $(B)/tests/load/loads_,uring.o vcpu.o)
$(test_ATTACKS) $(B)/tests/load/attack_totals: $(addprefix $(B)/tests/load/,attack.o \
		attack_abi.o)

# There is no 32-bit library to link with.
$(B)/tests/load/compat32: tests/load/compat32.c
	@mkdir -p $(@D)
	$(CC) -m32 -O2 -Wall -Wextra -Werror -ffreestanding -fno-stack-protector -fno-pie -no-pie \
		-nostdlib -static -o $@ $<

$(B)/tests/load/%: $(B)/tests/load/%.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PRECIOUS: $(B)/%.o

include tests/bench/rules.mk
include tests/lint/rules.mk
