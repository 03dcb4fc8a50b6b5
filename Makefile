# SPDX-License-Identifier: GPL-2.0-only
#
# One Makefile, no recursion: every folder adds its files in a rules.mk. All
# that is made goes below $(B), under the path of its source.

B	?= build$(if $(SAN),/san)$(if $(CROSS_COMPILE),/$(CROSS_COMPILE:-=))
PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
SBINDIR	?= $(PREFIX)/sbin
LIBDIR	?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
UNITDIR	?= $(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc
CC	?= cc

# CROSS_COMPILE=powerpc-linux-gnu-: the programs for a Blue Gene/L I/O node. They are
# static, with zlib from Debian's source package, for Debian has no packages for it; and
# without libelf: a vmlinux is looked at where the files are brought to.
ifdef CROSS_COMPILE
override CC := $(CROSS_COMPILE)gcc
override AR := $(CROSS_COMPILE)ar
SYSROOT	:= $(B)/sysroot
CROSS_LIBS := $(SYSROOT)/lib/libz.a
override CPPFLAGS += -isystem $(SYSROOT)/include
override LDFLAGS += -static -L$(SYSROOT)/lib
HAVE_LIBELF := n
endif

KTAU_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Ilibktau/include -Ikernel-ext/include/uapi -I$(B)/include
KTAU_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes \
	       -Wmissing-prototypes -Wdeclaration-after-statement -Werror \
	       -fno-common -fstack-protector-strong
CFLAGS	?= -O2 -g

# SAN=1: everything with AddressSanitizer and UBSan, beside the normal build.
ifdef SAN
override CFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
		   -fno-omit-frame-pointer
endif

# What the folders add to.
PROGRAMS :=
LIBRARIES :=
MAN_PAGES :=
UNIT_TESTS :=
INSTALL_HOOKS :=
CLEAN_HOOKS :=

.DELETE_ON_ERROR:
.SUFFIXES:

all:

include libktau/rules.mk
include ktaud/rules.mk
include tools/rules.mk
include zepto-config/rules.mk
include tests/rules.mk

.PHONY: all unit install clean

all: $(LIBRARIES) $(PROGRAMS)

# Each unit test is a program that says what it ran and exits 0 if all is well.
unit: $(UNIT_TESTS)
	@set -e; for t in $(abspath $(UNIT_TESTS)); do echo "  TEST    $$t"; $$t; done

# A hook installs what is its folder's; manual pages go by their section.
install: all $(INSTALL_HOOKS)
	@for page in $(MAN_PAGES); do \
		install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$${page##*.} $$page || exit 1; \
	done

clean: $(CLEAN_HOOKS)
	rm -rf $(B)

$(B)/%.o: %.c | $(CROSS_LIBS)
	@mkdir -p $(@D)
	$(CC) $(KTAU_CPPFLAGS) $(CPPFLAGS) $(KTAU_CFLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<

$(CROSS_LIBS): tests/cross/zlib
	tests/cross/zlib $(CROSS_COMPILE) $(SYSROOT)

-include $(shell find $(B)/libktau $(B)/ktaud $(B)/tools $(B)/zepto-config $(B)/tests -name '*.d' 2>/dev/null)
