# SPDX-License-Identifier: GPL-2.0-only

tools_PROGRAMS := $(B)/tools/ktau $(B)/tools/funcMap $(B)/tools/runktau
PROGRAMS += $(tools_PROGRAMS)
INSTALL_HOOKS += install-tools
MAN_PAGES += $(patsubst %,tools/%.1,funcMap runktau ktau ktau-report ktau-check ktau-dump \
	ktau-events ktau-export ktau-stats ktau-status ktau-control)

tools_SHARED := $(patsubst %,$(B)/tools/%.o,cmd names dump dump_slot text hash)
tools_KTAU := $(patsubst %,$(B)/tools/%.o,ktau ktau-report ktau-check ktau-dump ktau-events \
	ktau-stats ktau-status ktau-control ktau-export timeline protobuf report report_tables \
	account waits wakers rows scratch period registry table \
	$(patsubst tools/%.c,%,$(wildcard tools/export_*.c)))
tools_RUNKTAU := $(patsubst %,$(B)/tools/%.o,runktau command descendants report report_tables \
	account waits wakers rows scratch period registry table)
tools_FUNCMAP := $(patsubst %,$(B)/tools/%.o,funcmap addrs)

$(B)/tools/ktau: $(tools_KTAU) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

$(B)/tools/funcMap: $(tools_FUNCMAP) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

$(B)/tools/runktau: $(tools_RUNKTAU) $(tools_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

.PHONY: install-tools
install-tools: all
	install -d $(DESTDIR)$(BINDIR)
	install -m 755 $(tools_PROGRAMS) $(DESTDIR)$(BINDIR)

# Each test is a program of tools/tests with the objects that it names here.
test_addrs_OBJS := addrs
test_descendants_OBJS := descendants
test_table_OBJS := table cmd text
test_text_OBJS := text
test_rows_OBJS := rows wakers names text scratch hash period registry cmd tests/fixture \
	tests/machine tests/slots
test_period_OBJS := $(test_rows_OBJS)
test_many_OBJS := tests/fixture
test_timeline_OBJS := timeline hash cmd names text tests/fixture tests/machine tests/slots
test_cli_OBJS := tests/fixture tests/machine tests/slots tests/saved
test_status_OBJS := ktau-status cmd table text
tools_TESTS := $(patsubst %,$(B)/tools/tests/%,test_addrs test_descendants test_table test_text \
	test_rows test_period test_many test_status test_timeline test_cli)
UNIT_TESTS += $(tools_TESTS)

$(B)/tools/tests/%.o: KTAU_CPPFLAGS += -Itools -Itools/tests -DTEST_BUILD='"$(B)"'

.SECONDEXPANSION:
$(tools_TESTS): %: %.o $$(addprefix $(B)/tools/,$$(addsuffix .o,$$($$(@F)_OBJS))) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBKTAU_LIBS) -lm

# They run the programs.
$(B)/tools/tests/test_cli $(B)/tools/tests/test_many: | $(tools_PROGRAMS)
