# SPDX-License-Identifier: GPL-2.0-only

KERNEL	?= 6.1
export B KERNEL FAST

include tests/bgl/rules.mk
include tests/unit/rules.mk

# progs FOLDER,NAME...
progs = $(patsubst %,$(B)/tests/progs/$(1)/%,$(2))

# A header of this folder does not shadow one of the system.
$(patsubst %.c,$(B)/%.o,$(wildcard tests/progs/*/*.c)): KTAU_CPPFLAGS += -iquote tests/progs

# Loads with known figures for the boot tests.
test_LOADS := $(call progs,loads,tcp_stream) $(call progs,exact,exact_counts account transfers \
		waits cpus changed interrupts graph legacy burst threads deaths rounds) \
		$(call progs,regions,regions regions_user regions_renewed copy)
# Invalid input and permissions
test_LOADS += $(call progs,input,ioctl_errors control_errors fuzzcalls stream_rules access \
		setuid segments dump)
# Causes each of the exceptions of PowerPC or arm64
ifdef CROSS_COMPILE
test_LOADS += $(B)/tests/progs/exact/exceptions
endif
# Instrumented by the compiler
ifndef CROSS_COMPILE
test_LOADS += $(call progs,regions,functions functions_throw)
endif
ifeq ($(HAVE_MPI),y)
test_LOADS += $(call progs,regions,ring messages imbalance)
endif
# Counts of instructions
ifeq ($(filter powerpc%,$(CROSS_COMPILE)),)
test_LOADS += $(call progs,exact,cost) $(call progs,loads,compat32)
endif
# Torture, for x86 only
ifndef CROSS_COMPILE
test_LOADS += $(call progs,exact,stock_counts slots_kvm cost_kvm pressure hits hooks) \
		$(call progs,loads,storm storm_check streams streams_check with_pid coverage loads reload tiers active) \
		$(call progs,input,oom fuzz_races fuzz_references)
# Guests in guests
test_LOADS += $(call progs,vm,inner bursts)
# References to pages
test_LOADS += $(call progs,pages,windows spaces moved scramble price requests)
# Attacks by unprivileged users
test_ATTACKS := $(call progs,attacks,attack_ids attack_consume attack_spy attack_crowd \
		attack_evict attack_namespaces attack_setuid attack_poll attack_landlock attack_ipi \
		attack_files attack_gone attack_container attack_memcg attack_preempt) \
		$(B)/tests/progs/attacks/policy
test_LOADS += $(test_ATTACKS) $(B)/tests/progs/attacks/attack_totals
endif
test_LOADS += $(call progs,exact,slots slots_tcp) $(B)/tests/bench/tables

.PHONY: setup setup-tests kernel demo demo-stock check torture test-programs unit-programs list-unit-tests

# Install the Debian packages that the programs are built with; make builds what is possible without
# them. The commands below install those that they need.
setup:
	@tests/setup user && echo 'All packages are installed: make'

setup-tests:
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

check: setup-tests
	$(if $(ARCH),$(if $(check_$(ARCH)),,$(error ARCH=$(ARCH): not one of powerpc, arm64)))
	@tests/check $(check_$(ARCH))

# The long tests.
torture: setup-tests
	@tests/check -d tests/torture

# All programs that the boot tests run in the guest.
test-programs: all $(test_LOADS)

# What runs no program of $(B) says the same with the sanitizers.
without_programs := $(call unit,kernel/test_order kernel/test_ring_order ktaud/test_slurm \
	$(addprefix tools/test_,dist make readme setup) zepto/test_ramdisks)
run_unit_tests = $(if $(SAN),$(filter-out $(without_programs),$(UNIT_TESTS)),$(UNIT_TESTS))

unit-programs: $(run_unit_tests)

list-unit-tests:
	@printf '%s\n' $(run_unit_tests)

test_READERS := $(call progs,exact,exact_counts stock_counts account deaths transfers waits \
		pressure cpus interrupts exceptions graph hits hooks threads rounds) \
		$(call progs,regions,regions regions_renewed) $(call progs,loads,storm_check streams_check \
		coverage) $(call progs,input,oom segments) $(call progs,attacks,attack_totals)
$(call progs,exact,exact_counts stock_counts account transfers waits pressure cpus exceptions \
		graph hooks threads deaths rounds) $(call progs,input,segments) $(call progs,regions,regions \
		regions_renewed): $(B)/tests/progs/self.o
$(B)/tests/progs/exact/stock_counts: $(LIBKTAU_BPF)
$(test_READERS): LDLIBS := $(LIBKTAU_LIBS) -lpthread
$(test_READERS): $(LIBKTAU)
$(B)/tests/progs/exact/stock_counts: LDLIBS := $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS) -lpthread

$(B)/tests/progs/loads/coverage: $(B)/tests/progs/loads/oracle.o

$(call progs,pages,windows spaces moved price): $(B)/tests/progs/pages/tracer.o
$(B)/tests/progs/pages/windows: $(B)/tests/progs/pages/window_model.o
$(call progs,pages,spaces scramble): LDLIBS := -lpthread

# A client of libktau-legacy sees its headers only.
$(B)/tests/progs/exact/legacy.o: KTAU_CPPFLAGS := -D_GNU_SOURCE -Ilibktau/legacy/include -iquote tests/progs
$(B)/tests/progs/exact/legacy: LDLIBS := $(LIBKTAU_LIBS) -lpthread
$(B)/tests/progs/exact/legacy: $(LIBKTAU_LEGACY)

# A program that measures itself is linked with libktau-user only.
$(B)/tests/progs/regions/regions_user.o $(B)/tests/progs/regions/copy.o: KTAU_CPPFLAGS := \
		-D_GNU_SOURCE -Ilibktau/user
$(B)/tests/progs/regions/regions_user: LDLIBS := -lpthread
$(B)/tests/progs/regions/copy: LDLIBS := -lpthread
$(B)/tests/progs/regions/regions_user $(B)/tests/progs/regions/copy: $(LIBKTAU_USER)
$(B)/tests/progs/exact/cost.o: KTAU_CPPFLAGS += -Ilibktau/user
$(B)/tests/progs/exact/cost: LDLIBS := -lpthread
$(B)/tests/progs/exact/cost: $(LIBKTAU_USER)

# Not linked with libktau-finstrument, which the tests preload
$(B)/tests/progs/regions/functions.o: private override CFLAGS += -finstrument-functions
$(B)/tests/progs/regions/functions: LDLIBS := -lpthread
$(B)/tests/progs/regions/functions: $(call progs,regions,functions_first.so functions_second.so)

$(B)/tests/progs/regions/functions_%.so: tests/progs/regions/functions_object.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wall -Wextra -Werror -finstrument-functions -fPIC -shared -DFUNCTION=$* -o $@ $<

# -rdynamic, so that libktau-mpi calls the functions of the program
test_MPI := $(call progs,regions,ring messages imbalance)
$(test_MPI) $(test_MPI:=.o): private override CC := $(MPICC)
$(test_MPI): LDLIBS := -rdynamic
# libktau-mpi uses the same library.
$(B)/tests/progs/regions/imbalance.o: KTAU_CPPFLAGS := -D_GNU_SOURCE -Ilibktau/user
$(B)/tests/progs/regions/imbalance: $(LIBKTAU_USER_SO)
$(B)/tests/progs/regions/imbalance: LDLIBS := -lpthread

CXX	?= c++

$(B)/tests/progs/regions/functions_throw: tests/progs/regions/functions_throw.cc $(LIBKTAU_USER_SO)
	@mkdir -p $(@D)
	$(CXX) $(CFLAGS) -Wall -Wextra -Werror -finstrument-functions -Ilibktau/user -MMD -MP \
		-o $@ $< $(LIBKTAU_USER_SO)

$(call progs,input,ioctl_errors fuzz_races) $(call progs,exact,slots) \
		$(call progs,loads,active): LDLIBS := -lpthread
$(B)/tests/progs/input/fuzz_races: $(B)/tests/progs/input/fuzz_begin.o

# Short-lived programs: without libraries a fork is fast.
$(call progs,loads,storm loads) $(call progs,input,fuzz_races) $(call progs,vm,inner) \
		$(test_ATTACKS): LDFLAGS += -static
$(B)/tests/progs/loads/loads: $(call progs,loads,loads_uring.o loads_vcpu.o)
$(call progs,exact,slots_kvm cost_kvm): $(B)/tests/progs/loads/loads_vcpu.o
$(test_ATTACKS) $(B)/tests/progs/attacks/attack_totals: $(call progs,attacks,attack.o \
		attack_abi.o)

# There is no 32-bit C library to link with. On arm64, clang is the compiler that has 32-bit ARM.
CC32	:= $(if $(CROSS_COMPILE),clang --target=arm-linux-gnueabi --ld-path=$(CROSS_COMPILE)ld,$(CC) -m32)

$(B)/tests/progs/loads/compat32: tests/progs/loads/compat32.c
	@mkdir -p $(@D)
	$(CC32) -O2 -Wall -Wextra -Werror -ffreestanding -fno-stack-protector -fno-pie \
		-nostdlib -static -o $@ $<

$(test_LOADS): $(B)/tests/progs/tap.o

$(B)/tests/progs/%: $(B)/tests/progs/%.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PRECIOUS: $(B)/%.o

include tests/bench/rules.mk
include tests/lint/rules.mk
