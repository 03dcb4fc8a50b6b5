# SPDX-License-Identifier: GPL-2.0-only
#
# lib/ is what the programs share. ktau/commands/ contains a file ktau-NAME.c and a page ktau-NAME.1
# for each subcommand. The README.md of a folder says which other folders it may include.

tools_PROGRAMS := $(B)/tools/ktau/ktau $(B)/tools/funcmap/funcMap $(B)/tools/runktau/runktau
PROGRAMS += $(tools_PROGRAMS)
INSTALL_HOOKS += install-tools
MAN_PAGES += $(wildcard tools/*/*.1 tools/ktau/commands/*.1)

tools_in = $(patsubst %.c,$(B)/%.o,$(foreach folder,$(1),$(wildcard tools/$(folder)/*.c)))
tools_ktau = $(patsubst %,$(B)/tools/ktau/%.o,$(1))
tools_LIB := $(B)/tools/lib/libtools.a
tools_LIB_OBJS := $(call tools_in,lib lib/report)
tools_FUNCMAP := $(call tools_in,funcmap)
tools_RUNKTAU := $(call tools_in,runktau)
tools_KTAU := $(call tools_in,ktau ktau/*)
# HAVE_NCURSES=n builds ktau top without its screen.
$(call option,NCURSES,pkg-config --exists ncursesw,libncurses-dev,the screen of ktau top)
ifeq ($(HAVE_NCURSES),n)
tools_KTAU := $(filter-out %/top_screen.o,$(tools_KTAU))
else
$(call tools_ktau,commands/ktau-top print/top_screen): KTAU_CPPFLAGS += -DKTAU_HAVE_NCURSES
tools_CURSES := $(shell pkg-config --libs ncursesw)
endif
$(call tools_ktau,commands/ktau-mark): KTAU_CPPFLAGS += -DKTAU_LIBDIR='"$(LIBDIR)"'

$(tools_LIB_OBJS) $(tools_FUNCMAP) $(tools_RUNKTAU) $(tools_KTAU): KTAU_CPPFLAGS += -Itools -Itools/ktau

# Formats of ktau export that require a library. HAVE_SQLITE=n or HAVE_OTF2=n disables one, as does a
# missing package; ktau export then reports it as not available.
$(call option,SQLITE,pkg-config --exists sqlite3,libsqlite3-dev,ktau export --sqlite)
$(B)/tools/ktau/export/export_sqlite.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_SQLITE)),-DKTAU_HAVE_SQLITE)
$(call option,OTF2,pkg-config --exists otf2,libotf2-trace-dev,ktau export --otf2)
$(B)/tools/ktau/export/export_otf2.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_OTF2)),-DKTAU_HAVE_OTF2)
# ktau import reads CTF with libbabeltrace2.
$(call option,BABELTRACE,pkg-config --exists babeltrace2,libbabeltrace2-dev,ktau import)
$(call tools_ktau,import/ctf import/ctf_fields): KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_BABELTRACE)),-DKTAU_HAVE_BABELTRACE)
# It reads trace.dat with libtracecmd, whose pkg-config file needs those of the libraries below it.
$(call option,TRACECMD,pkg-config --exists libtracecmd,libtracecmd-dev libtracefs-dev libtraceevent-dev,trace.dat in ktau import)
$(call tools_ktau,import/ftrace): KTAU_CPPFLAGS += $(if $(filter \
	y,$(HAVE_TRACECMD)),-DKTAU_HAVE_TRACECMD $(shell pkg-config --cflags libtracecmd))
# ktau view reads the XML of other programs with expat.
$(call option,EXPAT,pkg-config --exists expat,libexpat1-dev,XML in ktau view)
$(call tools_ktau,view/xml): KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_EXPAT)),-DKTAU_HAVE_EXPAT)
VIEW_LIBS := $(if $(filter y,$(HAVE_EXPAT)),-lexpat)
IMPORT_LIBS := $(if $(filter y,$(HAVE_BABELTRACE)),-lbabeltrace2) \
	$(if $(filter y,$(HAVE_TRACECMD)),-ltracecmd -ltraceevent)
EXPORT_LIBS := $(if $(filter y,$(HAVE_SQLITE)),-lsqlite3) $(if $(filter y,$(HAVE_OTF2)),-lotf2)
# Decoders of ktau cycles: OpenCSD for CoreSight, libipt for Intel PT, inih for snapshots.
$(call option,INIH,pkg-config --exists inih,libinih-dev,snapshots in ktau cycles)
$(call option,OPENCSD,pkg-config --exists libopencsd,libopencsd-dev,CoreSight in ktau cycles)
$(call option,LIBIPT,$(CC) -include intel-pt.h -E -x c /dev/null,libipt-dev,Intel PT in ktau cycles)
$(B)/tools/ktau/cycles/snapshot.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_INIH)),-DKTAU_HAVE_INIH)
$(B)/tools/ktau/cycles/coresight.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_OPENCSD)),-DKTAU_HAVE_OPENCSD)
$(B)/tools/ktau/cycles/pt.o: KTAU_CPPFLAGS += $(if $(filter y,$(HAVE_LIBIPT)),-DKTAU_HAVE_LIBIPT)
$(B)/tools/ktau/cycles/code.o: KTAU_CPPFLAGS += $(if $(filter n,$(HAVE_LIBELF)),-DKTAU_NO_LIBELF)
CYCLES_LIBS := $(if $(filter y,$(HAVE_INIH)),-linih) $(if $(filter y,$(HAVE_OPENCSD)),-lopencsd_c_api) \
	       $(if $(filter y,$(HAVE_LIBIPT)),-lipt)
# For ktau status --bug-report: all options, which are above
$(B)/tools/ktau/print/machine.o: KTAU_CPPFLAGS += -DKTAU_BUILT_WITH='"built with $(strip $(foreach \
	name,$(OPTIONS),$(if $(filter y,$(HAVE_$(name))),$(name))))"'
# The page of ktau report --html is included in the program.
$(call tools_ktau,html/html_parts): $(wildcard tools/ktau/html/page/*)
$(call tools_ktau,view/builtin): $(wildcard tools/ktau/view/*.view)

# The table of subcommands is generated from the list of their files.
tools_SUBCOMMANDS := $(patsubst tools/ktau/commands/ktau-%.c,%,$(wildcard tools/ktau/commands/ktau-*.c))
tools_LIST := $(B)/include/ktau-subcommands.h

$(tools_LIST): tools/rules.mk tools/ktau/commands
	@mkdir -p $(@D)
	@printf 'SUBCOMMAND(%s)\n' $(tools_SUBCOMMANDS) > $@.new
	@cmp -s $@.new $@ && touch $@ && rm $@.new || mv $@.new $@

$(B)/tools/ktau/ktau.o: | $(tools_LIST)

# Likewise the consumers of ktau pages merge, in files merge_NAME.c
tools_CONSUMERS := $(patsubst tools/ktau/pages/merge_%.c,%,$(wildcard tools/ktau/pages/merge_*.c))
tools_CONSUMER_LIST := $(B)/include/ktau-consumers.h

$(tools_CONSUMER_LIST): tools/rules.mk tools/ktau/pages
	@mkdir -p $(@D)
	@printf 'CONSUMER(%s)\n' $(tools_CONSUMERS) > $@.new
	@cmp -s $@.new $@ && touch $@ && rm $@.new || mv $@.new $@

$(B)/tools/ktau/pages/consumer.o: | $(tools_CONSUMER_LIST)

$(tools_LIB): $(tools_LIB_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/tools/ktau/ktau: $(tools_KTAU) $(tools_LIB) $(LIBKTAU_BPF) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS) $(EXPORT_LIBS) $(IMPORT_LIBS) $(VIEW_LIBS) $(CYCLES_LIBS) $(tools_CURSES) -lpthread -lm

$(B)/tools/funcmap/funcMap: $(tools_FUNCMAP) $(tools_LIB) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lpthread -lm

$(B)/tools/runktau/runktau: $(tools_RUNKTAU) $(tools_LIB) $(LIBKTAU_BPF) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS) -lpthread -lm

# Shell completion is generated by the program itself, which cannot run when cross-compiled.
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
