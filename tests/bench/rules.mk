# SPDX-License-Identifier: GPL-2.0-only

bench_PROGRAMS := $(addprefix $(B)/tests/bench/,micro many_tasks tables)

# They write the files to read.
bench_FILES := $(addprefix $(B)/tests/bench/,recording vms) $(call unit,tools/test_many tools/crowd)

.PHONY: bench bench-programs

# Measure the cost of KTAU and of other tracers: print tables and write build/bench.tsv.
# ONLY="PART..." runs these parts only.
bench:
	@tests/setup user kernel guest boot bench
	@tests/bench/run $(ONLY)

bench-programs: test-programs $(bench_PROGRAMS) $(B)/tests/bench/span.so $(bench_FILES)

# Static: they are started often, and run in the guest without libraries.
$(bench_PROGRAMS): $(B)/tests/bench/%: $(B)/tests/bench/%.o
	$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^

$(B)/tests/bench/span.so: $(B)/tests/bench/span.o
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^

# Recordings to read, of any size.
$(B)/tests/bench/recording $(B)/tests/bench/vms: %: %.o $(addsuffix .o,$(addprefix $(B)/,$(unit_MACHINE))) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)
