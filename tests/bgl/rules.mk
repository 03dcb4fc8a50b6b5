# SPDX-License-Identifier: GPL-2.0-only
#
# Stand-ins for the programs of a Blue Gene/L. They do not use KTAU and are compiled without its
# headers. cnk only supports the system calls of x86-64.

CIOD	:= $(B)/tests/bgl/ciod/ciod
CNK	:= $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),$(B)/tests/bgl/cnk/cnk)
ciod_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/bgl/ciod/*.c))
cnk_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/bgl/cnk/*.c)) \
	$(addprefix $(B)/tests/bgl/ciod/,arguments.o wire.o)

PROGRAMS += $(CIOD) $(CNK)

$(ciod_OBJS) $(cnk_OBJS): KTAU_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Itests/bgl
$(B)/tests/bgl/ciod/arguments.o: KTAU_CPPFLAGS += -DVERSION='"$(KTAU_VERSION)"'

$(CIOD): $(ciod_OBJS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(B)/tests/bgl/cnk/cnk: $(cnk_OBJS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^
