# SPDX-License-Identifier: GPL-2.0-only
#
# ciod and its shim know nothing of KTAU: they are compiled without its headers.

CIOD	:= $(B)/zepto-config/ciod
CIOD_SHIM := $(B)/zepto-config/libciodshim.so
ciod_OBJS := $(patsubst %,$(B)/zepto-config/%.o,ciod ciod_job ciod_serve ciod_calls ciod_wire)
shim_OBJS := $(patsubst %,$(B)/zepto-config/%.o,shim shim_path shim_xattr shim_dir shim_link shim_table \
	ciod_wire)

PROGRAMS += $(CIOD)
LIBRARIES += $(if $(CROSS_COMPILE),,$(CIOD_SHIM))
UNIT_TESTS += $(patsubst %,$(B)/zepto-config/%,test_wire test_ciod test_zepto)

$(B)/zepto-config/%.o: KTAU_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64

# The shim defines open as well as open64.
$(filter $(B)/zepto-config/shim%,$(shim_OBJS)): KTAU_CPPFLAGS := -D_GNU_SOURCE -fvisibility=hidden

$(CIOD): $(ciod_OBJS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(CIOD_SHIM): $(shim_OBJS)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -o $@ $^ -ldl -lpthread

$(B)/zepto-config/test_wire: $(B)/zepto-config/test_wire.o $(B)/zepto-config/ciod_wire.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

$(B)/zepto-config/test_ciod: $(CIOD) $(CIOD_SHIM)
	printf '#!/bin/sh\nexec python3 -B zepto-config/test_ciod.py %s\n' $(B) > $@
	chmod 755 $@

$(B)/zepto-config/test_zepto: $(B)/ktaud/ktaud
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec python3 -B zepto-config/test_zepto.py %s\n' $(B) > $@
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
