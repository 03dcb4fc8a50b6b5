# SPDX-License-Identifier: GPL-2.0-only

ktaud_OBJS := $(patsubst %,$(B)/ktaud/%.o,main options config value run daemon \
	control losses collect baseline output rotate log)

PROGRAMS += $(B)/ktaud/ktaud
MAN_PAGES += ktaud/ktaud.8 ktaud/ktaud.conf.5
INSTALL_HOOKS += install-ktaud

$(B)/ktaud/ktaud: $(ktaud_OBJS) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS)

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
