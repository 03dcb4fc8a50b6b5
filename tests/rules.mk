# SPDX-License-Identifier: GPL-2.0-only

KERNEL	?= 6.1
export B KERNEL FAST

include tests/bgl/rules.mk
include tests/unit/rules.mk

# Loads with known figures for the boot tests.
test_LOADS := $(addprefix $(B)/tests/progs/,tcp_stream exact_counts account transfers waits cpus changed interrupts graph legacy regions \
		regions_user regions_renewed copy burst threads deaths rounds)
# Invalid input and permissions
test_LOADS += $(addprefix $(B)/tests/progs/,ioctl_errors control_errors fuzzcalls stream_rules access setuid \
		segments dump)
# Causes each of the exceptions of PowerPC or arm64
ifdef CROSS_COMPILE
test_LOADS += $(B)/tests/progs/exceptions
endif
# Instrumented by the compiler
ifndef CROSS_COMPILE
test_LOADS += $(addprefix $(B)/tests/progs/,functions functions_throw)
endif
ifeq ($(HAVE_MPI),y)
test_LOADS += $(addprefix $(B)/tests/progs/,ring messages)
endif
# Counts of instructions
ifeq ($(filter powerpc%,$(CROSS_COMPILE)),)
test_LOADS += $(addprefix $(B)/tests/progs/,cost compat32)
endif
# Torture, for x86 only
ifndef CROSS_COMPILE
test_LOADS += $(addprefix $(B)/tests/progs/,stock_counts storm storm_check streams streams_check with_pid \
		oom fuzz_races coverage loads slots_kvm pressure reload hits hooks)
# Attacks by unprivileged users
test_ATTACKS := $(addprefix $(B)/tests/progs/attack_,ids consume spy crowd evict namespaces \
		setuid poll landlock ipi files gone container memcg preempt) $(B)/tests/progs/policy
test_LOADS += $(test_ATTACKS) $(B)/tests/progs/attack_totals
endif
test_LOADS += $(addprefix $(B)/tests/progs/,slots slots_tcp) $(B)/tests/bench/tables

.PHONY: setup kernel demo demo-stock check torture test-programs unit-programs list-unit-tests

# Install the Debian packages for all commands. Each command also installs those that it needs.
setup:
	@tests/setup all

# The kernel of the boot tests.
kernel:
	@tests/kernel/build x86_64

demo:
	@tests/demo

# The same on Debian's own kernel, measured with BPF programs.
demo-stock:
	@KERNEL=$(if $(filter file,$(origin KERNEL)),6.12,$(KERNEL)) tests/demo-stock

# The cases of an architecture, with ARCH=powerpc or arm64.
check_powerpc := powerpc
check_arm64 := -d tests/torture 86-arm64

check: setup
	$(if $(ARCH),$(if $(check_$(ARCH)),,$(error ARCH=$(ARCH): not one of powerpc, arm64)))
	@tests/check $(check_$(ARCH))

# The long tests.
torture: setup
	@tests/check -d tests/torture

# All programs that the boot tests run in the guest.
test-programs: all $(test_LOADS)

unit-programs: $(UNIT_TESTS)

list-unit-tests:
	@printf '%s\n' $(UNIT_TESTS)

test_READERS := $(addprefix $(B)/tests/progs/,exact_counts stock_counts account deaths transfers waits pressure cpus interrupts exceptions graph regions storm_check \
		streams_check oom segments attack_totals coverage hits hooks \
		regions_renewed threads rounds)
$(addprefix $(B)/tests/progs/,exact_counts stock_counts account transfers waits pressure cpus exceptions graph segments regions hooks regions_renewed threads deaths rounds): $(B)/tests/progs/self.o
$(B)/tests/progs/stock_counts: $(LIBKTAU_BPF)
$(test_READERS): LDLIBS := $(LIBKTAU_LIBS) -lpthread
$(test_READERS): $(LIBKTAU)
$(B)/tests/progs/stock_counts: LDLIBS := $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS) -lpthread

$(B)/tests/progs/coverage: $(B)/tests/progs/oracle.o

# A client of libktau-legacy sees its headers only.
$(B)/tests/progs/legacy.o: KTAU_CPPFLAGS := -D_GNU_SOURCE -Ilibktau/legacy/include
$(B)/tests/progs/legacy: LDLIBS := $(LIBKTAU_LIBS) -lpthread
$(B)/tests/progs/legacy: $(LIBKTAU_LEGACY)

# A program that measures itself is linked with libktau-user only.
$(B)/tests/progs/regions_user.o $(B)/tests/progs/copy.o: KTAU_CPPFLAGS := -D_GNU_SOURCE -Ilibktau/user
$(B)/tests/progs/regions_user: LDLIBS := -lpthread
$(B)/tests/progs/copy: LDLIBS := -lpthread
$(B)/tests/progs/regions_user $(B)/tests/progs/copy: $(LIBKTAU_USER)
$(B)/tests/progs/cost.o: KTAU_CPPFLAGS += -Ilibktau/user
$(B)/tests/progs/cost: LDLIBS := -lpthread
$(B)/tests/progs/cost: $(LIBKTAU_USER)

# Not linked with libktau-finstrument, which the tests preload
$(B)/tests/progs/functions.o: private override CFLAGS += -finstrument-functions
$(B)/tests/progs/functions: LDLIBS := -lpthread
$(B)/tests/progs/functions: $(addprefix $(B)/tests/progs/functions_,first.so second.so)

$(B)/tests/progs/functions_%.so: tests/progs/functions_object.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wall -Wextra -Werror -finstrument-functions -fPIC -shared -DFUNCTION=$* -o $@ $<

# -rdynamic, so that libktau-mpi calls the functions of the program
test_MPI := $(B)/tests/progs/ring $(B)/tests/progs/messages
$(test_MPI) $(test_MPI:=.o): private override CC := $(MPICC)
$(test_MPI): LDLIBS := -rdynamic

CXX	?= c++

$(B)/tests/progs/functions_throw: tests/progs/functions_throw.cc $(LIBKTAU_USER_SO)
	@mkdir -p $(@D)
	$(CXX) $(CFLAGS) -Wall -Wextra -Werror -finstrument-functions -Ilibktau/user -MMD -MP \
		-o $@ $< $(LIBKTAU_USER_SO)

$(addprefix $(B)/tests/progs/,ioctl_errors slots fuzz_races): LDLIBS := -lpthread
$(B)/tests/progs/fuzz_races: $(B)/tests/progs/fuzz_begin.o

# Short-lived programs: without libraries a fork is fast.
$(addprefix $(B)/tests/progs/,storm loads fuzz_races) $(test_ATTACKS): LDFLAGS += -static
$(B)/tests/progs/loads: $(addprefix $(B)/tests/progs/loads_,uring.o vcpu.o)
$(B)/tests/progs/slots_kvm: $(B)/tests/progs/loads_vcpu.o
$(test_ATTACKS) $(B)/tests/progs/attack_totals: $(addprefix $(B)/tests/progs/,attack.o \
		attack_abi.o)

# There is no 32-bit C library to link with. On arm64, clang is the compiler that has 32-bit ARM.
CC32	:= $(if $(CROSS_COMPILE),clang --target=arm-linux-gnueabi --ld-path=$(CROSS_COMPILE)ld,$(CC) -m32)

$(B)/tests/progs/compat32: tests/progs/compat32.c
	@mkdir -p $(@D)
	$(CC32) -O2 -Wall -Wextra -Werror -ffreestanding -fno-stack-protector -fno-pie \
		-nostdlib -static -o $@ $<

$(test_LOADS): $(B)/tests/progs/tap.o

$(B)/tests/progs/%: $(B)/tests/progs/%.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PRECIOUS: $(B)/%.o

include tests/bench/rules.mk
include tests/lint/rules.mk
