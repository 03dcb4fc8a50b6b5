# SPDX-License-Identifier: GPL-2.0-only
#
# ciod and cnk know nothing of KTAU: they are compiled without its headers. cnk is only for
# x86-64, whose system calls it knows.

CIOD	:= $(B)/zepto-config/ciod
CNK	:= $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),$(B)/zepto-config/cnk)
ciod_OBJS := $(patsubst %,$(B)/zepto-config/%.o,ciod ciod_job ciod_serve ciod_calls ciod_wire)
cnk_OBJS := $(patsubst %,$(B)/zepto-config/%.o,cnk cnk_calls cnk_children cnk_data cnk_files \
	cnk_filter cnk_link cnk_memory cnk_path ciod_wire)

PROGRAMS += $(CIOD) $(CNK)
UNIT_TESTS += $(patsubst %,$(B)/zepto-config/%,test_wire test_ciod test_zepto)

$(B)/zepto-config/%.o: KTAU_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

$(CIOD): $(ciod_OBJS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(B)/zepto-config/cnk: $(cnk_OBJS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(B)/zepto-config/test_wire: $(B)/zepto-config/test_wire.o $(B)/zepto-config/ciod_wire.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

# The program that test_ciod runs: fortified, so that it calls what the headers make of the
# calls; and linked statically.
$(B)/zepto-config/test_files: zepto-config/test_files.c
	@mkdir -p $(@D)
	$(CC) $(KTAU_CFLAGS) -O2 -D_FORTIFY_SOURCE=2 -o $@ $<

$(B)/zepto-config/test_files-static: zepto-config/test_files.c
	@mkdir -p $(@D)
	$(CC) $(KTAU_CFLAGS) -O2 -static -o $@ $<

$(B)/zepto-config/test_ciod: $(patsubst %,$(B)/zepto-config/%,test_files test_files-static)
$(B)/zepto-config/test_ciod: $(CIOD) $(CNK)
	printf '#!/bin/sh\nexec python3 -B zepto-config/test_ciod.py %s "$$@"\n' $(B) > $@
	chmod 755 $@

$(B)/zepto-config/test_zepto: $(B)/ktaud/ktaud $(CIOD) $(CNK)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec python3 -B zepto-config/test_zepto.py %s "$$@"\n' $(B) > $@
	chmod 755 $@

# The I/O node's kernel and ramdisk, and a job on it: see zepto-config.7.
# KERNEL=6.12 is for another kernel than the profile's.
zepto_KERNEL = $(if $(filter file,$(origin KERNEL)),,kernel=$(KERNEL))
PROFILE	?= zepto-config/profiles/ciod.conf

.PHONY: zepto demo-bgl
zepto:
	@zepto-config/build $(PROFILE) $(zepto_KERNEL)

demo-bgl:
	@tests/demo-bgl $(PROFILE) $(zepto_KERNEL)
