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
tools_REPORT := $(call tools_objects,report report_options report_tables account waits wakers aggregate tally \
	period registry table)
tools_KTAU := $(patsubst %.c,$(B)/%.o,$(wildcard tools/ktau/*.c))
tools_RUNKTAU := $(patsubst %.c,$(B)/%.o,$(wildcard tools/runktau/*.c)) $(tools_REPORT)
tools_FUNCMAP := $(patsubst %.c,$(B)/%.o,$(wildcard tools/funcmap/*.c))

$(patsubst %.c,$(B)/%.o,$(wildcard tools/*/*.c)): KTAU_CPPFLAGS += -Itools/ktau

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
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

$(B)/tools/funcmap/funcMap: $(tools_FUNCMAP) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

$(B)/tools/runktau/runktau: $(tools_RUNKTAU) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

.PHONY: install-tools
install-tools: all
	install -d $(DESTDIR)$(BINDIR)
	install -m 755 $(tools_PROGRAMS) $(DESTDIR)$(BINDIR)
