# SPDX-License-Identifier: GPL-2.0-only

ktaud_OBJS := $(patsubst %,$(B)/ktaud/%.o,main arguments options config value run origin daemon \
	control losses collect chosen earlier positions baseline metrics output rotate log)

# With libnats, ktaud-ship supports TLS, and ktau-land is built. HAVE_NATS=n disables both.
$(call option,NATS,pkg-config --exists libnats,libnats-dev,TLS in ktaud-ship$(comma) ktau-land)
ship_SHARED := $(patsubst %,$(B)/ktaud/%.o,arguments log value ship/target)
ship_OBJS := $(patsubst %,$(B)/ktaud/%.o,ship/ship ship/delay ship/spool)
land_OBJS := $(patsubst %,$(B)/ktaud/%.o,ship/land ship/land_stream ship/append ship/nats_options)
$(B)/ktaud/ship/%.o: KTAU_CPPFLAGS += -Iktaud

ship_PROGRAMS := $(B)/ktaud/ship/ktaud-ship
ifneq ($(HAVE_NATS),n)
ship_OBJS += $(patsubst %,$(B)/ktaud/ship/%.o,link_nats nats_options)
ship_LIBS := -lnats
ship_PROGRAMS += $(B)/ktaud/ship/ktau-land
MAN_PAGES += ktaud/ship/ktau-land.8 ktaud/ship/ktau-nats-conf.8
else
ship_OBJS += $(B)/ktaud/ship/link_plain.o
endif
PROGRAMS += $(B)/ktaud/ktaud $(ship_PROGRAMS)
MAN_PAGES += ktaud/ktaud.8 ktaud/ktaud.conf.5 ktaud/ship/ktaud-ship.8 ktaud/slurm/ktaud-slurm.8
INSTALL_HOOKS += install-ktaud

$(B)/ktaud/ktaud: $(ktaud_OBJS) $(LIBKTAU_BPF) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_BPF_LIBS) $(LIBKTAU_LIBS)

$(B)/ktaud/ship/ktaud-ship: $(ship_OBJS) $(ship_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) $(ship_LIBS)

$(B)/ktaud/ship/ktau-land: $(land_OBJS) $(ship_SHARED) $(LIBKTAU)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBKTAU_LIBS) -lnats

# An existing configuration is never overwritten.
.PHONY: install-ktaud
install-ktaud: ktaud_PATHS := -e 's|@SBINDIR@|$(SBINDIR)|' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|' \
	-e 's|@BINDIR@|$(BINDIR)|'
install-ktaud: all
	install -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(SYSCONFDIR)/init.d $(DESTDIR)$(UNITDIR)
	install -m 755 $(B)/ktaud/ktaud $(DESTDIR)$(SBINDIR)/ktaud
	test -e $(DESTDIR)$(SYSCONFDIR)/ktaud.conf || \
		install -m 644 ktaud/ktaud.conf $(DESTDIR)$(SYSCONFDIR)/ktaud.conf
	install -m 755 $(B)/ktaud/ship/ktaud-ship $(DESTDIR)$(SBINDIR)/ktaud-ship
	$(if $(filter n,$(HAVE_NATS)),,install -m 755 $(B)/ktaud/ship/ktau-land $(DESTDIR)$(SBINDIR)/ktau-land)
	$(if $(filter n,$(HAVE_NATS)),,install -m 755 ktaud/ship/nats_conf.py $(DESTDIR)$(SBINDIR)/ktau-nats-conf)
	sed $(ktaud_PATHS) ktaud/ktaud.service.in >$(DESTDIR)$(UNITDIR)/ktaud.service
	sed $(ktaud_PATHS) ktaud/ship/ktaud-ship.service.in >$(DESTDIR)$(UNITDIR)/ktaud-ship.service
	$(if $(filter n,$(HAVE_NATS)),,sed $(ktaud_PATHS) ktaud/ship/ktau-land.service.in >$(DESTDIR)$(UNITDIR)/ktau-land.service)
	sed $(ktaud_PATHS) ktaud/ktaud.rc.in >$(DESTDIR)$(SYSCONFDIR)/init.d/ktaud
	chmod 755 $(DESTDIR)$(SYSCONFDIR)/init.d/ktaud
	install -d $(DESTDIR)$(LIBEXECDIR)/ktau
	for part in prolog epilog; do \
		sed $(ktaud_PATHS) ktaud/slurm/$$part.in >$(DESTDIR)$(LIBEXECDIR)/ktau/slurm-$$part && \
		chmod 755 $(DESTDIR)$(LIBEXECDIR)/ktau/slurm-$$part || exit 1; \
	done
