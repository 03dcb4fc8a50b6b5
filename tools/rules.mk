# SPDX-License-Identifier: GPL-2.0-only
#
# ktau/ has a file ktau-NAME.c and a page ktau-NAME.1 for each subcommand, and what the
# subcommands and the other two programs share.

tools_PROGRAMS := $(B)/tools/ktau/ktau $(B)/tools/funcmap/funcMap $(B)/tools/runktau/runktau
PROGRAMS += $(tools_PROGRAMS)
INSTALL_HOOKS += install-tools
MAN_PAGES += $(wildcard tools/*/*.1)

tools_objects = $(patsubst %,$(B)/tools/ktau/%.o,$(1))
tools_SHARED := $(call tools_objects,cli symbolize dump dump_slot text hash)
tools_REPORT := $(call tools_objects,report report_options report_tables interrupts account waits wakers aggregate tally \
	period registry table)
# HAVE_NCURSES=n leaves out the screen of ktau top.
HAVE_NCURSES ?= $(if $(CROSS_COMPILE),n,$(if $(shell pkg-config --exists ncursesw && echo y),y,n))
tools_SOURCES := $(wildcard tools/ktau/*.c)
ifeq ($(HAVE_NCURSES),n)
tools_SOURCES := $(filter-out %/top_screen.c,$(tools_SOURCES))
else
$(call tools_objects,ktau-top top_screen): KTAU_CPPFLAGS += -DKTAU_HAVE_NCURSES
tools_CURSES := $(shell pkg-config --libs ncursesw)
endif
# ktau record runs a command as runktau does.
tools_COMMAND := $(addprefix $(B)/tools/runktau/,command.o enable.o)
tools_KTAU := $(patsubst %.c,$(B)/%.o,$(tools_SOURCES)) $(tools_COMMAND)
$(call tools_objects,ktau-record ktau-noise): KTAU_CPPFLAGS += -Itools/runktau
tools_RUNKTAU := $(patsubst %.c,$(B)/%.o,$(wildcard tools/runktau/*.c)) $(tools_REPORT)
tools_FUNCMAP := $(patsubst %.c,$(B)/%.o,$(wildcard tools/funcmap/*.c))

$(patsubst %.c,$(B)/%.o,$(wildcard tools/*/*.c)): KTAU_CPPFLAGS += -Itools/ktau

# Formats of ktau export that need a library: HAVE_SQLITE=n or HAVE_OTF2=n leaves one out,
# as does a build without the package; the command says so.
have = $(if $(CROSS_COMPILE),n,$(if $(shell $(1) 2>/dev/null && echo y),y,n))
HAVE_SQLITE ?= $(call have,pkg-config --exists sqlite3)
$(B)/tools/ktau/export_sqlite.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_SQLITE)),-DKTAU_HAVE_SQLITE)
HAVE_OTF2 ?= $(call have,pkg-config --exists otf2)
$(B)/tools/ktau/export_otf2.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_OTF2)),-DKTAU_HAVE_OTF2)
EXPORT_LIBS := $(if $(filter y,$(HAVE_SQLITE)),-lsqlite3) $(if $(filter y,$(HAVE_OTF2)),-lotf2)
# The page of ktau report --html is a part of the program.
$(B)/tools/ktau/html_parts.o: $(wildcard tools/ktau/html/*)

# The table of subcommands is the list of their files.
tools_SUBCOMMANDS := $(patsubst tools/ktau/ktau-%.c,%,$(wildcard tools/ktau/ktau-*.c))
tools_LIST := $(B)/include/ktau-subcommands.h

$(tools_LIST): tools/rules.mk $(wildcard tools/ktau)
	@mkdir -p $(@D)
	@printf 'SUBCOMMAND(%s)\n' $(tools_SUBCOMMANDS) > $@.new
	@cmp -s $@.new $@ && touch $@ && rm $@.new || mv $@.new $@

$(B)/tools/ktau/ktau.o: | $(tools_LIST)

$(B)/tools/ktau/ktau: $(tools_KTAU) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) $(EXPORT_LIBS) $(tools_CURSES) -lpthread -lm

$(B)/tools/funcmap/funcMap: $(tools_FUNCMAP) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

$(B)/tools/runktau/runktau: $(tools_RUNKTAU) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

# Completion for shells, by the program itself: one for another machine cannot be run here.
tools_COMPLETIONS := $(if $(CROSS_COMPILE),,$(B)/tools/completion/ktau $(B)/tools/completion/_ktau)
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions

$(tools_COMPLETIONS): $(B)/tools/ktau/ktau
	@mkdir -p $(@D)
	$< --completion=$(if $(filter _%,$(@F)),zsh,bash) > $@

.PHONY: install-tools
install-tools: all $(tools_COMPLETIONS)
	install -d $(DESTDIR)$(BINDIR)
	install -m 755 $(tools_PROGRAMS) $(DESTDIR)$(BINDIR)
	$(if $(tools_COMPLETIONS),install -D -m 644 -t $(DESTDIR)$(BASHCOMPDIR) $(B)/tools/completion/ktau)
	$(if $(tools_COMPLETIONS),install -D -m 644 -t $(DESTDIR)$(ZSHCOMPDIR) $(B)/tools/completion/_ktau)
