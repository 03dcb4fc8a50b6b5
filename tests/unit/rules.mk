# SPDX-License-Identifier: GPL-2.0-only
#
# Unit tests: tests/unit/FOLDER/test_NAME.c (or .sh) tests a part of FOLDER. Each is a
# program that prints TAP and exits with 0 if all tests pass; all run from the top of the tree.

unit = $(patsubst %,$(B)/tests/unit/%,$(1))

# kernel: models of kernel-ext.
UNIT_TESTS += $(call unit,kernel/test_order kernel/test_ring_order)

$(B)/tests/unit/kernel/test_%: tests/unit/kernel/%.py tests/unit/kernel/order.py
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec python3 $<\n' > $@
	chmod 755 $@

# libktau: each is linked with the encoder of streams and the reader of files.
LIBKTAU_TESTS := $(patsubst %.c,$(B)/%,$(filter-out $(if $(filter y,$(HAVE_BPF)),, \
	%/test_bpf_load.c %/test_bpf_kvm.c),$(wildcard tests/unit/libktau/test_*.c)))
UNIT_TESTS += $(LIBKTAU_TESTS) $(addprefix $(B)/tests/unit/libktau/,test_install test_legacy_install test_abi \
	test_abi_decoder test_growth $(if $(SAN),,test_frozen))

# -iquote: a header of the library, such as map.h, does not shadow one of the system.
$(LIBKTAU_TESTS:=.o): KTAU_CPPFLAGS += -iquote libktau

$(LIBKTAU_TESTS) $(B)/tests/unit/libktau/sample: %: %.o $(B)/tests/unit/libktau/encode.o $(B)/tests/unit/libktau/files.o $(LIBKTAU_BPF) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lcmocka

# With HAVE_BPF=n, this part of the source is not in the archive, but needs no libbpf either.
ifneq ($(HAVE_BPF),y)
$(call unit,libktau/test_bpf_exited): $(B)/libktau/bpf/exited.o
$(call unit,libktau/test_bpf_exited libktau/test_bpf_account): $(B)/libktau/bpf/account.o
$(call unit,libktau/test_bpf_account): $(addprefix $(B)/libktau/bpf/,exited.o frames.o trace.o)
$(call unit,libktau/test_bpf_trace): $(B)/libktau/bpf/trace.o
endif

$(call unit,libktau/test_bpf_load): private LIBKTAU_LIBS += $(LIBKTAU_BPF_LIBS)
$(call unit,libktau/test_bpf_load): private override LDFLAGS += -Wl,--wrap=fopen64 \
	-Wl,--wrap=stat64 -Wl,--wrap=access -Wl,--wrap=btf__load_vmlinux_btf \
	-Wl,--wrap=btf__load_module_btf \
	-Wl,--wrap=btf__find_by_name_kind -Wl,--wrap=bpf_prog_load \
	-Wl,--wrap=bpf_raw_tracepoint_open -Wl,--wrap=bpf_object__load_skeleton

$(call unit,libktau/test_snapshot_memory): private override LDFLAGS += \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=reallocarray \
	-Wl,--wrap=ktau__map_put

# libktau-legacy reads streams in memory there, in place of the kernel's.
$(call unit,libktau/test_legacy.o): KTAU_CPPFLAGS += -Ilibktau/legacy/include
$(call unit,libktau/test_legacy): $(LEGACY_OBJS)
$(call unit,libktau/test_legacy): private override LDFLAGS += \
	-Wl,--wrap=ktau_reader_open_live -Wl,--wrap=ktau_reader_restart

# libktau-user gets a file from the kernel's ioctl() there.
USER_TESTS := test_user test_user_fork test_user_read
$(call unit,libktau/user_fake.o $(USER_TESTS:%=libktau/%.o)): KTAU_CPPFLAGS += -Ilibktau/user
$(call unit,$(USER_TESTS:%=libktau/%)): $(USER_OBJS) $(call unit,libktau/user_fake.o)
$(call unit,$(USER_TESTS:%=libktau/%)): private override LDFLAGS += -Wl,--wrap=ioctl \
	-Wl,--wrap=open64 -Wl,--wrap=mmap64 -Wl,--wrap=getauxval \
	-Wl,--wrap=write -pthread

# Runs from the top of the tree, like all tests.
$(B)/tests/unit/libktau/test_install: $(LIBKTAU) $(LIBKTAU_SO) $(B)/tests/unit/libktau/sample
	printf '#!/bin/sh\nEXAMPLE_CFLAGS="%s" exec tests/unit/libktau/test_install.sh %s\n' \
		'$(if $(SAN),-fsanitize=address$(comma)undefined)' $(B) > $@
	chmod 755 $@

$(B)/tests/unit/libktau/test_legacy_install: $(LIBKTAU_LEGACY) $(LIBKTAU_LEGACY_SO)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nCLIENT_CFLAGS="%s" exec tests/unit/libktau/test_legacy_install.sh %s\n' \
		'$(if $(SAN),-fsanitize=address$(comma)undefined)' $(B) > $@
	chmod 755 $@

$(B)/tests/unit/libktau/test_abi: $(LIBKTAU_TESTS)
	printf '#!/bin/sh\nexec tests/unit/libktau/test_abi.sh %s\n' $(B) > $@
	chmod 755 $@

$(B)/tests/unit/libktau/test_frozen: $(LIBKTAU_SO) $(LIBKTAU_USER_SO) $(LIBKTAU_LEGACY_SO)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec tests/unit/libktau/test_frozen.sh %s\n' $(B) > $@
	chmod 755 $@

$(B)/tests/unit/libktau/records: %: %.o $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

$(B)/tests/unit/libktau/test_abi_decoder: $(B)/tests/unit/libktau/records $(B)/tests/unit/libktau/sample
	printf '#!/bin/sh\nexec tests/unit/libktau/test_abi_decoder.sh %s\n' $(B) > $@
	chmod 755 $@

$(B)/tests/unit/libktau/test_growth: $(B)/tests/unit/libktau/sample
	printf '#!/bin/sh\nGROWTH_CFLAGS="%s" exec tests/unit/libktau/test_growth.sh %s\n' \
		'$(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all)' $(B) > $@
	chmod 755 $@

# Fuzzers by clang, with both sanitizers. As unit tests they run the corpus and then
# FUZZ_SECONDS each; their findings are kept in $(B)/tests/unit/libktau/fuzz.
FUZZ_SECONDS ?= 5
FUZZ_CC	?= clang
LIBKTAU_FUZZ := $(patsubst tests/unit/libktau/fuzz/fuzz_%.c,$(B)/tests/unit/libktau/fuzz/fuzz_%, \
		$(wildcard tests/unit/libktau/fuzz/fuzz_*.c))
UNIT_TESTS += $(if $(SAN),,$(addsuffix .run,$(LIBKTAU_FUZZ)))

$(LIBKTAU_FUZZ): $(B)/tests/unit/libktau/fuzz/%: tests/unit/libktau/fuzz/%.c $(LIBKTAU_OBJS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(KTAU_CPPFLAGS) -Ilibktau/legacy/include -g -O1 \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $< \
		$(wildcard libktau/*.c libktau/legacy/*.c) $(LIBKTAU_LIBS)

$(B)/tests/unit/libktau/fuzz/fuzz_%.run: $(B)/tests/unit/libktau/fuzz/fuzz_% $(B)/tests/unit/libktau/sample
	printf '#!/bin/sh\nexec tests/unit/libktau/fuzz/run %s %s %s\n' $* $(B) $(FUZZ_SECONDS) > $@
	chmod 755 $@

# The same for the parsers of views.
VIEW_FUZZ := $(patsubst tests/unit/tools/fuzz/fuzz_%.c,$(B)/tests/unit/tools/fuzz/fuzz_%, \
		$(wildcard tests/unit/tools/fuzz/fuzz_*.c))
VIEW_FUZZ_SOURCES := $(patsubst %,tools/ktau/view/%.c,language lexer operand rules strings vocabulary xml \
		xml_names xml_values xml_view) $(patsubst %,tools/lib/%.c,cli hash text)
UNIT_TESTS += $(if $(SAN),,$(addsuffix .run,$(VIEW_FUZZ)))

$(VIEW_FUZZ): $(B)/tests/unit/tools/fuzz/%: tests/unit/tools/fuzz/%.c $(VIEW_FUZZ_SOURCES) $(LIBKTAU)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(KTAU_CPPFLAGS) -Itools -Itools/ktau -DVERSION='"0"' $(if $(filter \
		y,$(HAVE_EXPAT)),-DKTAU_HAVE_EXPAT) -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $^ $(LIBKTAU_LIBS) $(VIEW_LIBS)

$(B)/tests/unit/tools/fuzz/fuzz_%.run: $(B)/tests/unit/tools/fuzz/fuzz_%
	printf '#!/bin/sh\nexec tests/unit/libktau/fuzz/run %s %s %s tools\n' $* $(B) $(FUZZ_SECONDS) > $@
	chmod 755 $@

# ktaud: each test is linked with the daemon's objects that are named here.
test_config_OBJS := ktaud/config ktaud/value
test_chosen_OBJS := ktaud/chosen ktaud/log
test_rotate_OBJS := ktaud/rotate
test_positions_OBJS := ktaud/positions ktaud/earlier ktaud/rotate
test_output_OBJS := ktaud/output ktaud/rotate ktaud/log
test_baseline_OBJS := ktaud/baseline
test_metrics_OBJS := ktaud/metrics ktaud/log
test_daemon_OBJS := ktaud/daemon ktaud/log
test_ship_delay_OBJS := ktaud/ship/delay
test_append_OBJS := $(addprefix ktaud/,ship/append ship/target value)
ktaud_TESTS := $(patsubst %.c,$(B)/%,$(filter-out %/test_stream.c,$(wildcard tests/unit/ktaud/test_*.c)))
UNIT_TESTS += $(ktaud_TESTS) $(call unit,ktaud/test_ktaud ktaud/test_service ktaud/test_ship \
	ktaud/test_slurm)

$(patsubst %.c,$(B)/%.o,$(wildcard tests/unit/ktaud/*.c)): KTAU_CPPFLAGS += -Iktaud
$(call unit,ktaud/test_daemon): private override LDFLAGS += -Wl,--wrap=flock
$(call unit,ktaud/test_metrics): private override LDFLAGS += -Wl,--wrap=fsync

# The daemon's input in its shell tests, and their shared functions.
$(call unit,ktaud/test_stream): $(call unit,ktaud/test_stream.o) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

$(call unit,ktaud/test_lib.sh): tests/unit/ktaud/test_lib.sh
	@mkdir -p $(@D)
	install -m 644 $< $@

$(call unit,ktaud/test_rc): ktaud/ktaud.rc.in
	@mkdir -p $(@D)
	install -m 755 $< $@

$(call unit,ktaud/test_service): $(call unit,ktaud/test_rc)

$(call unit,ktaud/test_ktaud ktaud/test_service): $(B)/%: %.sh $(call unit,ktaud/test_lib.sh) \
		$(B)/ktaud/ktaud $(B)/tools/ktau/ktau $(call unit,ktaud/test_stream)
	install -m 755 $< $@

$(call unit,ktaud/test_ship): tests/unit/ktaud/test_ship.py $(ship_PROGRAMS) \
		$(B)/tests/unit/ktaud/ship-plain $(B)/tools/ktau/ktau $(B)/tests/unit/tools/many_hosts
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec /usr/bin/python3 -B %s %s "$$@"\n' $< $(B) > $@
	chmod 755 $@

# ktaud-ship as it is built without libnats
$(B)/tests/unit/ktaud/ship-plain: $(filter-out %/link_nats.o %/nats_options.o,$(ship_OBJS)) \
		$(B)/ktaud/ship/link_plain.o $(ship_SHARED) $(LIBKTAU)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(sort $^) $(LIBKTAU_LIBS)

$(call unit,ktaud/test_slurm): tests/unit/ktaud/test_slurm.sh
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec %s\n' $< > $@
	chmod 755 $@

# tools: each test is linked with the objects that are named here, and the library of the tools.
test_addrs_OBJS := tools/funcmap/addrs
test_descendants_OBJS := tools/runktau/descendants
test_attribution_OBJS := tools/ktau/cycles/attribution
test_compare_OBJS := tools/ktau/analyse/compare
unit_MACHINE := $(addprefix tests/unit/tools/,fixture machine slots)
test_aggregate_OBJS := $(unit_MACHINE)
test_period_OBJS := $(unit_MACHINE)
test_regions_OBJS := $(unit_MACHINE)
test_many_OBJS := tests/unit/tools/fixture
test_hosts_OBJS := tests/unit/tools/fixture
test_timeline_OBJS := $(addprefix tools/ktau/analyse/,timeline timeline_pass track_heap user_trace) \
	tests/unit/tools/rings $(unit_MACHINE)
test_running_OBJS := $(test_timeline_OBJS)
test_machines_OBJS = $(test_path_OBJS)
test_blame_OBJS = $(test_path_OBJS)
test_lives_OBJS = $(test_path_OBJS)
test_any_trace_OBJS = $(test_path_OBJS)
test_clock_fit_OBJS := tools/ktau/analyse/clock_fit
test_path_OBJS := $(addprefix tools/ktau/path/,blame cause crossings graph likes machines packets \
		print print_blame read region skips steal tree walk) \
	$(addprefix tools/ktau/analyse/,clock_fit records steals timeline timeline_pass track_heap user_trace) \
	tests/unit/tools/path_rings $(unit_MACHINE)
test_vm_OBJS := $(addprefix tools/ktau/vm/,cause guest_clock keep machine match rows search vcpu) \
	$(addprefix tools/ktau/analyse/,clock_fit records states steals timeline timeline_pass track_heap user_trace) \
	tests/unit/tools/fixture tests/unit/tools/vm_files
test_vm_hostile_OBJS = $(test_vm_OBJS)
test_vm_search_OBJS = $(test_vm_OBJS)
test_vm_wrong_OBJS = $(test_vm_OBJS)
test_view_OBJS := $(addprefix tools/ktau/view/,builtin draw engine fields labels language lexer operand rules \
		stats strings times tree vocabulary xml xml_names xml_values xml_view) \
	$(addprefix tools/ktau/analyse/,timeline timeline_pass track_heap user_trace) \
	tests/unit/tools/view_steps
test_view_xml_OBJS := $(test_view_OBJS)
$(call unit,tools/test_view tools/test_view_xml): private override LDLIBS += $(VIEW_LIBS)
test_walk_OBJS := $(addprefix tools/ktau/analyse/,sleepers source walk) $(unit_MACHINE)
test_cli_OBJS := $(unit_MACHINE) tools/ktau/vm/guest_clock $(addprefix tests/unit/tools/,marks saved vm_files)
test_top_vms_OBJS := tools/ktau/print/top_vms $(unit_MACHINE)
test_status_OBJS := $(addprefix tools/ktau/,commands/ktau-status print/counters print/machine)
test_mark_OBJS := tools/ktau/commands/ktau-mark
test_skipped_OBJS := $(addprefix tools/ktau/pages/,maps skipped)
tools_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/tools/test_*.c))
UNIT_TESTS += $(tools_TESTS)

$(patsubst %.c,$(B)/%.o,$(wildcard tests/unit/tools/*.c)): KTAU_CPPFLAGS += -Itools -Itools/ktau \
	-Itools/funcmap -Itools/runktau -DTEST_BUILD='"$(B)"'

$(call unit,tools/test_timeline): private override LDFLAGS += -Wl,--wrap=pread64
$(call unit,tools/test_mark): private override LDFLAGS += -Wl,--wrap=setenv -Wl,--wrap=asprintf \
	-Wl,--wrap=fork
$(call unit,tools/test_output_file): private override LDFLAGS += -Wl,--wrap=mkostemp64 -pthread

.SECONDEXPANSION:
$(tools_TESTS) $(ktaud_TESTS): %: %.o $$(addprefix $(B)/,$$(addsuffix .o,$$($$(@F)_OBJS))) $(tools_LIB) $(LIBKTAU_BPF) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS) $(LDLIBS) -lm

# Input of the tests of the exporters.
$(call unit,tools/export_fixture tools/record_fixture tools/host_day): %: %.o $(call unit,tools/fixture.o) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

# Files of many hosts, and of a host for a long time.
$(call unit,tools/many_hosts): %: %.o $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

# Files for the tests of the HTML report.
$(call unit,tools/crowd): %: %.o $(addsuffix .o,$(addprefix $(B)/,$(unit_MACHINE))) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

# These tests run the programs.
$(call unit,tools/test_cli tools/test_many): | $(tools_PROGRAMS)

# Input of the shell tests of the tools.
$(call unit,tools/sample): $(addprefix $(B)/,$(addsuffix .o,$(unit_MACHINE) tools/ktau/vm/guest_clock \
		$(addprefix tests/unit/tools/,saved sample vm_files))) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBKTAU_LIBS)

ifdef SAN
$(B)/tools/ktau/ktau: $(call unit,leaks.o)
endif

UNIT_TESTS += $(call unit,tools/test_cycles tools/test_hours tools/test_outputs tools/test_pages)

$(call unit,tools/test_cycles): tests/unit/tools/test_cycles.py tests/unit/tools/cycles_encode.py $(tools_PROGRAMS)
	printf '#!/bin/sh\nexec /usr/bin/python3 -B %s %s\n' $< $(B) > $@
	chmod 755 $@

$(call unit,tools/test_hours): tests/unit/tools/test_hours.py $(call unit,tools/host_day) $(tools_PROGRAMS)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec /usr/bin/python3 -B %s %s "$$@"\n' $< $(B) > $@
	chmod 755 $@

$(call unit,tools/test_pages): tests/unit/tools/test_pages.py $(addprefix tests/unit/tools/,pages_encode.py \
		pages_oracle.py) $(call unit,tools/pages_example) $(tools_PROGRAMS)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec /usr/bin/python3 -B %s %s\n' $< $(B) > $@
	chmod 755 $@

$(call unit,tools/test_outputs): tests/unit/tools/test_outputs.py $(addprefix tests/unit/tools/,pages_encode.py \
		cycles_encode.py) $(call unit,tools/sample) $(tools_PROGRAMS)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec /usr/bin/python3 -B %s %s\n' $< $(B) > $@
	chmod 755 $@

# The consumer of the page.
$(call unit,tools/pages_consumer.c): docs/dev/consumers.md
	@mkdir -p $(@D)
	sed -n '/^```c$$/,/^```$$/ { //!p }' $< > $@

$(call unit,tools/pages_consumer.o): $(call unit,tools/pages_consumer.c)
	$(CC) $(KTAU_CPPFLAGS) -Itools -Itools/ktau $(CPPFLAGS) $(KTAU_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(call unit,tools/pages_example): %: %.o $(call unit,tools/pages_consumer.o) \
		$(call tools_ktau,$(addprefix pages/,files input maps merger page_table skipped world)) $(tools_LIB) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lm

tools_SHELL_TESTS := $(patsubst %.sh,$(B)/%,$(wildcard tests/unit/tools/test_*.sh))
UNIT_TESTS += $(tools_SHELL_TESTS)

$(tools_SHELL_TESTS): $(call unit,tools/sample tools/crowd) $(tools_PROGRAMS)
	printf '#!/bin/sh\nSANITIZER="%s" exec tests/unit/tools/%s.sh %s\n' \
		'$(if $(SAN),$(shell $(CC) -print-file-name=libasan.so))' $(@F) $(B) > $@
	chmod 755 $@

$(call unit,tools/test_help): $(PROGRAMS)
$(call unit,tools/test_preload): $(USER_PRELOADED) $(USER_MARK)
$(call unit,tools/test_screens): $(call unit,tools/export_fixture)

# zepto: ciod, cnk, images and jobs.
UNIT_TESTS += $(call unit,zepto/test_wire zepto/test_ciod zepto/test_zepto zepto/test_ramdisks)

$(call unit,zepto/test_wire.o): KTAU_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Itests/bgl
$(call unit,zepto/test_wire): $(call unit,zepto/test_wire.o) $(B)/tests/bgl/ciod/wire.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka

# The program that test_ciod runs: fortified, so that it also makes the calls that the headers
# substitute for the standard ones, and linked statically.
$(call unit,zepto/test_files): tests/unit/zepto/test_files.c
	@mkdir -p $(@D)
	$(CC) $(KTAU_CFLAGS) -O2 -D_FORTIFY_SOURCE=2 -o $@ $<

$(call unit,zepto/test_files-static): tests/unit/zepto/test_files.c
	@mkdir -p $(@D)
	$(CC) $(KTAU_CFLAGS) -O2 -static -o $@ $<

$(call unit,zepto/test_ciod): $(call unit,zepto/test_files zepto/test_files-static)
$(call unit,zepto/test_zepto): $(B)/ktaud/ktaud $(ship_PROGRAMS)
$(call unit,zepto/test_ciod zepto/test_zepto zepto/test_ramdisks): $(B)/%: %.py $(CIOD) $(CNK)
	@mkdir -p $(@D)
	printf '#!/bin/sh\nPYTHONPATH=zepto-config:tests/unit/ktaud:tests/unit/zepto exec /usr/bin/python3 -B %s %s "$$@"\n' $< $(B) > $@
	chmod 755 $@
