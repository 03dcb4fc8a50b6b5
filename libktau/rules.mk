# SPDX-License-Identifier: GPL-2.0-only
#
# libktau: shared and static. Programs of this tree link $(LIBKTAU) $(LIBKTAU_LIBS).
# HAVE_LIBELF=n leaves out what needs libelf: symbols from a vmlinux. HAVE_ZSTD=n leaves
# out blocks compressed with zstd, which readers then step over.

LIBKTAU_VERSION := 1.0.0
LIBKTAU_SONAME := libktau.so.1
LIBKTAU	:= $(B)/libktau/libktau.a
LIBKTAU_SO := $(B)/libktau/libktau.so.$(LIBKTAU_VERSION)
# What pkg-config names for a static link.
LIBKTAU_REQUIRES = zlib$(if $(filter n,$(HAVE_LIBELF)),,$(comma) libelf)$(if $(filter n,$(HAVE_ZSTD)),,$(comma) libzstd)
HAVE_ZSTD ?= $(if $(CROSS_COMPILE),n,$(if $(shell pkg-config --exists libzstd && echo y),y,n))
LIBKTAU_LIBS := $(if $(filter n,$(HAVE_LIBELF)),,-lelf) $(if $(filter n,$(HAVE_ZSTD)),,-lzstd) -lz
LIBKTAU_SOURCES := $(wildcard libktau/*.c)
ifeq ($(HAVE_LIBELF),n)
KTAU_CPPFLAGS += -DKTAU_NO_LIBELF
LIBKTAU_SOURCES := $(filter-out %/symtab_elf.c,$(LIBKTAU_SOURCES))
endif
ifneq ($(HAVE_ZSTD),n)
KTAU_CPPFLAGS += -DKTAU_HAVE_ZSTD
endif
LIBKTAU_OBJS := $(LIBKTAU_SOURCES:%.c=$(B)/%.o)

comma := ,

LIBRARIES += $(LIBKTAU) $(if $(CROSS_COMPILE),,$(LIBKTAU_SO))
MAN_PAGES += $(wildcard libktau/*.3)

$(LIBKTAU): $(LIBKTAU_OBJS)
	$(AR) rcs $@ $^

$(LIBKTAU_SO): $(LIBKTAU_OBJS) libktau/libktau.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LIBKTAU_SONAME) \
		-Wl,--version-script=libktau/libktau.map -Wl,-z,defs -Wl,-Bsymbolic-functions \
		-o $@ $(LIBKTAU_OBJS) $(LIBKTAU_LIBS)
	ln -sf $(@F) $(@D)/$(LIBKTAU_SONAME)
	ln -sf $(@F) $(@D)/libktau.so

# Unit tests: one program for each test_*.c.
LIBKTAU_TESTS := $(patsubst libktau/tests/%.c,$(B)/libktau/tests/%, \
		 $(wildcard libktau/tests/test_*.c))
UNIT_TESTS += $(LIBKTAU_TESTS) $(addprefix $(B)/libktau/tests/,test_install test_abi test_abi_decoder test_growth)

$(LIBKTAU_TESTS) $(B)/libktau/tests/sample: %: %.o $(B)/libktau/tests/encode.o $(B)/libktau/tests/files.o $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lcmocka

# Run from the top of the tree, like all of them.
$(B)/libktau/tests/test_install: $(LIBKTAU) $(LIBKTAU_SO) $(B)/libktau/tests/sample
	printf '#!/bin/sh\nEXAMPLE_CFLAGS="%s" exec libktau/tests/test_install.sh %s\n' \
		'$(if $(SAN),-fsanitize=address$(comma)undefined)' $(B) > $@
	chmod 755 $@

$(B)/libktau/tests/test_abi: $(LIBKTAU_TESTS)
	printf '#!/bin/sh\nexec libktau/tests/test_abi.sh %s\n' $(B) > $@
	chmod 755 $@

$(B)/libktau/tests/records: %: %.o $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

$(B)/libktau/tests/test_abi_decoder: $(B)/libktau/tests/records $(B)/libktau/tests/sample
	printf '#!/bin/sh\nexec libktau/tests/test_abi_decoder.sh %s\n' $(B) > $@
	chmod 755 $@

$(B)/libktau/tests/test_growth: $(B)/libktau/tests/sample
	printf '#!/bin/sh\nGROWTH_CFLAGS="%s" exec libktau/tests/test_growth.sh %s\n' \
		'$(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all)' $(B) > $@
	chmod 755 $@

.PHONY: install-libktau
INSTALL_HOOKS += install-libktau
install-libktau: $(LIBKTAU) $(LIBKTAU_SO)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/linux
	install -m 644 $(LIBKTAU) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBKTAU_SO) $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(LIBKTAU_SO)) $(DESTDIR)$(LIBDIR)/$(LIBKTAU_SONAME)
	ln -sf $(notdir $(LIBKTAU_SO)) $(DESTDIR)$(LIBDIR)/libktau.so
	install -m 644 libktau/include/*.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 kernel-ext/include/uapi/linux/ktau.h $(DESTDIR)$(INCLUDEDIR)/linux
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(LIBKTAU_VERSION)|' \
		-e 's|@REQUIRES@|$(LIBKTAU_REQUIRES)|' \
		libktau/libktau.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libktau.pc

# Fuzzers: clang's, with both sanitizers. As unit tests they run the corpus and
# then FUZZ_SECONDS each; what they find is kept in $(B)/libktau/tests/fuzz.
FUZZ_SECONDS ?= 5
FUZZ_CC	?= clang
LIBKTAU_FUZZ := $(patsubst libktau/tests/fuzz/fuzz_%.c,$(B)/libktau/tests/fuzz/fuzz_%, \
		$(wildcard libktau/tests/fuzz/fuzz_*.c))
UNIT_TESTS += $(if $(SAN),,$(addsuffix .run,$(LIBKTAU_FUZZ)))

$(LIBKTAU_FUZZ): $(B)/libktau/tests/fuzz/%: libktau/tests/fuzz/%.c $(LIBKTAU_OBJS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(KTAU_CPPFLAGS) -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $< $(wildcard libktau/*.c) $(LIBKTAU_LIBS)

$(B)/libktau/tests/fuzz/fuzz_%.run: $(B)/libktau/tests/fuzz/fuzz_% $(B)/libktau/tests/sample
	printf '#!/bin/sh\nexec libktau/tests/fuzz/run %s %s %s\n' $* $(B) $(FUZZ_SECONDS) > $@
	chmod 755 $@
