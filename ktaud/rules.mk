# SPDX-License-Identifier: GPL-2.0-only

ktaud_OBJS := $(patsubst %,$(B)/ktaud/%.o,main arguments options config value run origin daemon \
	control losses collect chosen earlier positions baseline metrics output rotate log)

# ktaud-ship supports TLS if GnuTLS is available; HAVE_GNUTLS=n disables it.
$(call option,GNUTLS,pkg-config --exists gnutls,libgnutls28-dev,TLS in ktaud-ship)
ship_OBJS := $(patsubst %,$(B)/ktaud/%.o,ship arguments ship_delay ship_link ship_spool \
	log value)
ifneq ($(HAVE_GNUTLS),n)
ship_OBJS += $(B)/ktaud/ship_tls.o
$(ship_OBJS): private KTAU_CPPFLAGS += -DKTAU_HAVE_GNUTLS
endif

PROGRAMS += $(B)/ktaud/ktaud $(B)/ktaud/ktaud-ship
MAN_PAGES += ktaud/ktaud.8 ktaud/ktaud.conf.5 ktaud/ktaud-ship.8 ktaud/ktaud-collect.8 \
	ktaud/slurm/ktaud-slurm.8
INSTALL_HOOKS += install-ktaud

$(B)/ktaud/ktaud: $(ktaud_OBJS) $(LIBKTAU_BPF) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS)

$(B)/ktaud/ktaud-ship: $(ship_OBJS) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) \
		$(if $(filter n,$(HAVE_GNUTLS)),,-lgnutls)

# An existing configuration is never overwritten.
.PHONY: install-ktaud
install-ktaud: ktaud_PATHS := -e 's|@SBINDIR@|$(SBINDIR)|' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|' \
	-e 's|@BINDIR@|$(BINDIR)|'
install-ktaud: all
	install -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(SYSCONFDIR)/init.d $(DESTDIR)$(UNITDIR)
	install -m 755 $(B)/ktaud/ktaud $(DESTDIR)$(SBINDIR)/ktaud
	test -e $(DESTDIR)$(SYSCONFDIR)/ktaud.conf || \
		install -m 644 ktaud/ktaud.conf $(DESTDIR)$(SYSCONFDIR)/ktaud.conf
	install -m 755 $(B)/ktaud/ktaud-ship $(DESTDIR)$(SBINDIR)/ktaud-ship
	install -m 755 ktaud/collector.py $(DESTDIR)$(SBINDIR)/ktaud-collect
	sed $(ktaud_PATHS) ktaud/ktaud.service.in >$(DESTDIR)$(UNITDIR)/ktaud.service
	sed $(ktaud_PATHS) ktaud/ktaud-ship.service.in >$(DESTDIR)$(UNITDIR)/ktaud-ship.service
	sed $(ktaud_PATHS) ktaud/ktaud.rc.in >$(DESTDIR)$(SYSCONFDIR)/init.d/ktaud
	chmod 755 $(DESTDIR)$(SYSCONFDIR)/init.d/ktaud
	install -d $(DESTDIR)$(LIBEXECDIR)/ktau
	for part in prolog epilog; do \
		sed $(ktaud_PATHS) ktaud/slurm/$$part.in >$(DESTDIR)$(LIBEXECDIR)/ktau/slurm-$$part && \
		chmod 755 $(DESTDIR)$(LIBEXECDIR)/ktau/slurm-$$part || exit 1; \
	done
