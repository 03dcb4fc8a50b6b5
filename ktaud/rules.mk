# SPDX-License-Identifier: GPL-2.0-only

ktaud_OBJS := $(patsubst %,$(B)/ktaud/%.o,main options config value run daemon \
	control losses collect baseline output rotate log)

PROGRAMS += $(B)/ktaud/ktaud
MAN_PAGES += ktaud/ktaud.8 ktaud/ktaud.conf.5
UNIT_TESTS += $(patsubst %,$(B)/ktaud/%,test_config test_rotate test_output test_baseline test_daemon \
	test_ktaud test_service)
INSTALL_HOOKS += install-ktaud

$(B)/ktaud/ktaud: $(ktaud_OBJS) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

$(B)/ktaud/test_config: $(patsubst %,$(B)/ktaud/%.o,test_config config value)
$(B)/ktaud/test_rotate: $(patsubst %,$(B)/ktaud/%.o,test_rotate rotate)
$(B)/ktaud/test_output: $(patsubst %,$(B)/ktaud/%.o,test_output output rotate log)
$(B)/ktaud/test_baseline: $(patsubst %,$(B)/ktaud/%.o,test_baseline baseline)
$(B)/ktaud/test_daemon: $(patsubst %,$(B)/ktaud/%.o,test_daemon daemon log)
$(B)/ktaud/test_daemon: private override LDFLAGS += -Wl,--wrap=flock
$(patsubst %,$(B)/ktaud/test_%,config rotate output baseline daemon): $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBKTAU) $(LIBKTAU_LIBS) -lcmocka

$(B)/ktaud/test_stream: $(B)/ktaud/test_stream.o $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

$(B)/ktaud/test_lib.sh: ktaud/test_lib.sh
	install -m 644 $< $@

$(B)/ktaud/test_rc: ktaud/ktaud.rc.in
	install -m 755 $< $@

$(B)/ktaud/test_service: $(B)/ktaud/test_rc

$(B)/ktaud/test_%: ktaud/test_%.sh $(B)/ktaud/test_lib.sh $(B)/ktaud/ktaud $(B)/ktaud/test_stream
	install -m 755 $< $@

# A configuration that exists is somebody's work and stays.
.PHONY: install-ktaud
install-ktaud: ktaud_PATHS := -e 's|@SBINDIR@|$(SBINDIR)|' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|'
install-ktaud: all
	install -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(SYSCONFDIR)/init.d $(DESTDIR)$(UNITDIR)
	install -m 755 $(B)/ktaud/ktaud $(DESTDIR)$(SBINDIR)/ktaud
	test -e $(DESTDIR)$(SYSCONFDIR)/ktaud.conf || \
		install -m 644 ktaud/ktaud.conf $(DESTDIR)$(SYSCONFDIR)/ktaud.conf
	sed $(ktaud_PATHS) ktaud/ktaud.service.in >$(DESTDIR)$(UNITDIR)/ktaud.service
	sed $(ktaud_PATHS) ktaud/ktaud.rc.in >$(DESTDIR)$(SYSCONFDIR)/init.d/ktaud
	chmod 755 $(DESTDIR)$(SYSCONFDIR)/init.d/ktaud
