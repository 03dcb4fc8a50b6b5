# SPDX-License-Identifier: GPL-2.0-only

UNIT_TESTS += $(patsubst %,$(B)/ktaud/%,test_config test_rotate test_baseline)

$(B)/ktaud/test_config: $(patsubst %,$(B)/ktaud/%.o,test_config config value)
$(B)/ktaud/test_rotate: $(patsubst %,$(B)/ktaud/%.o,test_rotate rotate)
$(B)/ktaud/test_baseline: $(patsubst %,$(B)/ktaud/%.o,test_baseline baseline)
$(B)/ktaud/test_config $(B)/ktaud/test_rotate $(B)/ktaud/test_baseline: $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBKTAU) $(LIBKTAU_LIBS) -lcmocka
