# SPDX-License-Identifier: GPL-2.0-only
#
# A single Makefile without recursion: every directory adds its files in a rules.mk. All output goes
# below $(B), under the path of its source.

B	?= build$(if $(SAN),/san)$(if $(CROSS_COMPILE),/$(CROSS_COMPILE:-=))
PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
SBINDIR	?= $(PREFIX)/sbin
LIBDIR	?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec
INCLUDEDIR ?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
UNITDIR	?= $(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc
CC	?= cc
KTAU_VERSION := $(shell tools/version)

# CROSS_COMPILE=powerpc-linux-gnu-: the programs for a Blue Gene/L I/O node; aarch64-linux-gnu-: those
# for arm64. They are static. Debian has no packages for the former, so zlib is built from its source
# package. libelf is not needed, because a vmlinux is only read on the machine where the files are
# analysed.
ifdef CROSS_COMPILE
override CC := $(CROSS_COMPILE)gcc
override AR := $(CROSS_COMPILE)ar
SYSROOT	:= $(B)/sysroot
CROSS_LIBS := $(SYSROOT)/lib/libz.a
override CPPFLAGS += -isystem $(SYSROOT)/include
override LDFLAGS += -static -L$(SYSROOT)/lib
HAVE_LIBELF := n
endif

# "make install" installs what was built: the options of the build come from it, not from this system.
ifeq ($(or $(filter-out install uninstall,$(MAKECMDGOALS)),$(if $(MAKECMDGOALS),,all)),)
-include $(B)/options.mk
endif

# Parts that require a library. $(call option,NAME,COMMAND,PACKAGES,WHAT) sets HAVE_NAME to y if COMMAND
# succeeds, otherwise to n, unless it is given; make then ends with the message that WHAT requires
# PACKAGES.
OPTIONS :=
LEFT_OUT :=
MISSING :=
have = $(if $(CROSS_COMPILE),n,$(if $(shell { $(1); } >/dev/null 2>&1 && echo y),y,n))
left_out = $(if $(CROSS_COMPILE)$(filter y,$(HAVE_$(1))),,$(eval LEFT_OUT += '  $(3): $(strip $(2))')$(eval MISSING += $(2)))
option = $(eval OPTIONS += $(1))$(if $(filter undefined,$(origin HAVE_$(1))),$(eval HAVE_$(1) := $(call \
	have,$(2)))$(call left_out,$(1),$(3),$(4)))

# Without zlib nothing can be built.
REQUIRED := $(if $(CROSS_COMPILE)$(filter y,$(call have,$(CC) $(CPPFLAGS) $(CFLAGS) -include zlib.h -E -x c /dev/null)),,required)

# A newer compiler or library, with warnings of its own, must not stop anybody's build.
WERROR := $(if $(CI),-Werror)
KTAU_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Ilibktau/include -Ilibktau/bpf/include -Ikernel-ext/include/uapi -I$(B)/include
KTAU_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes \
	       -Wmissing-prototypes -Wdeclaration-after-statement $(WERROR) \
	       -fno-common -fstack-protector-strong
CFLAGS	?= -O2 -g

# SAN=1: build with AddressSanitizer and UBSan, in a separate folder.
ifdef SAN
override CFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
		   -fno-omit-frame-pointer
endif

# Lists that the directories add to.
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
include tools/debian/rules.mk
include zepto-config/rules.mk
include tests/rules.mk

.PHONY: all unit install uninstall dist clean

all: $(LIBRARIES) $(PROGRAMS) $(B)/bin
	$(if $(and $(MISSING),$(filter all,$(or $(MAKECMDGOALS),all))),@printf '%s\n' 'Built without:' \
		$(LEFT_OUT) 'To include them: apt-get install $(strip $(MISSING)); make')

# Links to the programs that are installed, for PATH
$(B)/bin: $(PROGRAMS)
	@rm -rf $@
	@mkdir -p $@
	@ln -s $(patsubst $(B)/%,../%,$(filter-out $(B)/tests/%,$(PROGRAMS))) $@

.PHONY: required
required:
	@echo 'A C compiler and zlib are required: make setup, or apt-get install gcc libc6-dev pkg-config zlib1g-dev' >&2
	@false

# Each unit test is a program that prints TAP.
unit: $(UNIT_TESTS)
	@B=$(B) prove --exec tests/tap $(UNIT_TESTS)

# A hook installs the files of its folder. The pages get the version into their footers. A page of
# section 3 documents several functions; each of them gets a link to the page, so that man finds it
# by name.
install: all $(INSTALL_HOOKS)
	@for page in $(MAN_PAGES); do \
		dir=$(DESTDIR)$(MANDIR)/man$${page##*.}; \
		install -D -m 644 -t $$dir $$page && \
		sed -i -e '/^\.TH /s/"KTAU"/"KTAU $(KTAU_VERSION)"/' \
			-e 's/^\.Os$$/.Os KTAU $(KTAU_VERSION)/' $$dir/$${page##*/} || exit 1; \
		case $$page in *.3) ;; *) continue ;; esac; \
		for name in $$(sed -n 's/^\.Fo \(ktau_[a-z0-9_]*\)$$/\1/p' $$page); do \
			[ $$name.3 = $${page##*/} ] || \
				ln -sf $${page##*/} $$dir/$$name.3 || exit 1; \
		done; \
	done
	@$(if $(DESTDIR),,ldconfig || echo "ldconfig failed: run it as root")

# Remove the files that install with the same settings would write, except a configuration that
# has been edited.
uninstall:
	@rm -rf $(B)/uninstall
	@$(MAKE) --no-print-directory -s install DESTDIR=$(abspath $(B))/uninstall
	@cd $(B)/uninstall && find . ! -type d -printf '%P\n' | while read -r file; do \
		case $$file in \
		*.conf) cmp -s "$$file" "$(DESTDIR)/$$file" || continue ;; \
		esac; \
		rm -f "$(DESTDIR)/$$file" || exit 1; \
	done
	@rm -rf $(B)/uninstall
	@$(if $(DESTDIR),,ldconfig || echo "ldconfig failed: run it as root")

# The release: all files of the last commit.
dist:
	@tools/dist $(B)/dist

clean: $(CLEAN_HOOKS)
	rm -rf $(B)

# All objects are built again with other options.
.PHONY: FORCE
$(B)/options.mk: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(foreach name,$(OPTIONS),'HAVE_$(name) ?= $(HAVE_$(name))') > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(B)/%.o: %.c $(B)/options.mk | $(CROSS_LIBS) $(REQUIRED)
	@mkdir -p $(@D)
	$(CC) $(KTAU_CPPFLAGS) $(CPPFLAGS) $(KTAU_CFLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<

$(CROSS_LIBS): tests/cross/zlib
	tests/cross/zlib $(CROSS_COMPILE) $(SYSROOT)

-include $(shell find $(B)/libktau $(B)/ktaud $(B)/tools $(B)/tests -type f -name '*.d' 2>/dev/null)
