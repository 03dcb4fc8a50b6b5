# SPDX-License-Identifier: GPL-2.0-only
#
# libktau: shared and static. Programs in this tree link $(LIBKTAU) $(LIBKTAU_LIBS).
# HAVE_LIBELF=n disables reading symbols from a vmlinux. HAVE_ZSTD=n disables compression with zstd;
# readers then skip blocks that use it. Both are also disabled if the package is missing.

$(call option,LIBELF,pkg-config --exists libelf,libelf-dev,names from a vmlinux)
$(call option,ZSTD,pkg-config --exists libzstd,libzstd-dev,compression with zstd)

LIBKTAU_SONAME := libktau.so.1
LIBKTAU	:= $(B)/libktau/libktau.a
LIBKTAU_SO := $(B)/libktau/libktau.so.$(KTAU_VERSION)
# Libraries that pkg-config lists for static linking.
LIBKTAU_REQUIRES = zlib$(if $(filter n,$(HAVE_LIBELF)),,$(comma) libelf)$(if $(filter n,$(HAVE_ZSTD)),,$(comma) libzstd)
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
MAN_PAGES += $(wildcard libktau/*.[357])

# The source for kernels without KTAU is an archive of its own, so that only the programs that use it
# need libbpf; they are linked with $(LIBKTAU_BPF) $(LIBKTAU) $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS).
# It requires clang, bpftool and libbpf, and x86-64. HAVE_BPF=n disables it; it then only returns an
# error.
BPF_CLANG ?= clang
ifneq ($(HAVE_BPF),n)
BPFTOOL	?= $(shell command -v bpftool || ls /usr/sbin/bpftool 2>/dev/null)
bpf_X86 := $(filter x86_64-%,$(shell $(CC) -dumpmachine))
bpf_MISSING := $(strip $(if $(BPFTOOL),,bpftool) $(if $(shell command -v $(BPF_CLANG)),,clang) \
	$(if $(shell pkg-config --exists 'libbpf >= 1.0' 2>/dev/null && echo y),,libbpf-dev))
ifeq ($(HAVE_BPF)$(bpf_X86),)
HAVE_BPF := n
endif
# What the options of the build say has been built.
ifneq ($(and $(filter-out file,$(origin HAVE_BPF)),$(HAVE_BPF),$(if $(bpf_X86),,x86-64)$(bpf_MISSING)),)
$(error HAVE_BPF=y: missing: $(if $(bpf_X86),,x86-64) $(bpf_MISSING))
endif
endif
$(call option,BPF,test -z "$(bpf_MISSING)",$(bpf_MISSING),measuring on kernels without KTAU)
ifeq ($(HAVE_BPF),y)
LIBKTAU_BPF := $(B)/libktau/bpf/libktau-bpf.a
libktau_BPF := $(patsubst %,$(B)/libktau/bpf/%.o,open load traced compose compose_trace frames stream trace account cgroup clocks exited names syscalls)
LIBKTAU_BPF_LIBS := -Wl,--push-state,--as-needed -lbpf -Wl,--pop-state
$(libktau_BPF): KTAU_CPPFLAGS += -I$(B)/libktau/bpf
else
LIBKTAU_BPF := $(B)/libktau/bpf/libktau-nobpf.a
libktau_BPF := $(patsubst %,$(B)/libktau/bpf/%.o,none syscalls)
LIBKTAU_BPF_LIBS :=
endif

# The debug information only serves the compiler; the BTF stays.
bpf_OBJECTS := $(B)/libktau/bpf/ktau.bpf.o $(B)/libktau/bpf/traced.bpf.o
$(B)/libktau/bpf/ktau.bpf.o: private bpf_TRACED := 0
$(B)/libktau/bpf/traced.bpf.o: private bpf_TRACED := 1
$(bpf_OBJECTS): libktau/bpf/ktau.bpf.c $(addprefix libktau/bpf/,before.h kvm.h kvm_clock.h read.h slots.h table.h state.h tracing.h vmlinux.h)
	@mkdir -p $(@D)
	$(BPF_CLANG) -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-declarations $(WERROR) \
		-target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -DTRACED=$(bpf_TRACED) -c -o $@ $<

$(B)/libktau/bpf/%.skel.h: $(B)/libktau/bpf/%.bpf.o
	$(BPFTOOL) gen object $(@D)/$*.linked.o $<
	$(BPFTOOL) gen skeleton $(@D)/$*.linked.o name ktau_bpf > $@

$(B)/libktau/bpf/load.o: $(B)/libktau/bpf/ktau.skel.h
$(B)/libktau/bpf/traced.o: $(B)/libktau/bpf/traced.skel.h

$(LIBKTAU_BPF): $(libktau_BPF)
	rm -f $@
	$(AR) rcs $@ $^

$(LIBKTAU): $(LIBKTAU_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(LIBKTAU_SO): $(LIBKTAU_OBJS) libktau/libktau.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LIBKTAU_SONAME) \
		-Wl,--version-script=libktau/libktau.map -Wl,-z,defs -Wl,-Bsymbolic-functions \
		-o $@ $(LIBKTAU_OBJS) $(LIBKTAU_LIBS)
	ln -sf $(@F) $(@D)/$(LIBKTAU_SONAME)
	ln -sf $(@F) $(@D)/libktau.so

.PHONY: install-libktau
INSTALL_HOOKS += install-libktau
install-libktau: $(LIBKTAU) $(LIBKTAU_SO)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/linux
	install -m 644 $(LIBKTAU) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBKTAU_SO) $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(LIBKTAU_SO)) $(DESTDIR)$(LIBDIR)/$(LIBKTAU_SONAME)
	ln -sf $(notdir $(LIBKTAU_SO)) $(DESTDIR)$(LIBDIR)/libktau.so
	install -m 644 libktau/include/*.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 kernel-ext/include/uapi/linux/ktau.h \
		kernel-ext/include/uapi/linux/ktau_area.h \
		kernel-ext/include/uapi/linux/ktau_groups.h \
		kernel-ext/include/uapi/linux/ktau_references.h $(DESTDIR)$(INCLUDEDIR)/linux
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(KTAU_VERSION)|' \
		-e 's|@REQUIRES@|$(LIBKTAU_REQUIRES)|' \
		libktau/libktau.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libktau.pc

include libktau/legacy/rules.mk
include libktau/user/rules.mk
