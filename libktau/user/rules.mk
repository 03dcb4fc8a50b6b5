# SPDX-License-Identifier: GPL-2.0-only
#
# libktau-user: regions of programs. It depends on nothing but the C library, because the
# programs that it measures are linked with it. libktau-finstrument makes each function a region.

USER_SONAME := libktau-user.so.1
LIBKTAU_USER := $(B)/libktau/user/libktau-user.a
LIBKTAU_USER_SO := $(B)/libktau/user/libktau-user.so.$(LIBKTAU_VERSION)
USER_OBJS := $(patsubst %.c,$(B)/%.o,$(filter-out %/finstrument.c,$(wildcard libktau/user/*.c)))
FINSTRUMENT_SONAME := libktau-finstrument.so.1
LIBKTAU_FINSTRUMENT_SO := $(B)/libktau/user/libktau-finstrument.so.$(LIBKTAU_VERSION)

LIBRARIES += $(LIBKTAU_USER) $(if $(CROSS_COMPILE),,$(LIBKTAU_USER_SO) $(LIBKTAU_FINSTRUMENT_SO))
MAN_PAGES += libktau/user/libktau-user.3

$(LIBKTAU_USER): $(USER_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(LIBKTAU_USER_SO): $(USER_OBJS) libktau/user/libktau-user.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(USER_SONAME) \
		-Wl,--version-script=libktau/user/libktau-user.map -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,-Bsymbolic-functions -o $@ $(USER_OBJS) -lpthread
	ln -sf $(@F) $(@D)/$(USER_SONAME)

$(LIBKTAU_FINSTRUMENT_SO): $(B)/libktau/user/finstrument.o $(LIBKTAU_USER_SO) libktau/user/libktau-finstrument.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(FINSTRUMENT_SONAME) \
		-Wl,--version-script=libktau/user/libktau-finstrument.map -Wl,-z,defs -Wl,-z,nodelete \
		-o $@ $< $(LIBKTAU_USER_SO)
	ln -sf $(@F) $(@D)/$(FINSTRUMENT_SONAME)

.PHONY: install-libktau-user
INSTALL_HOOKS += install-libktau-user
install-libktau-user: $(LIBKTAU_USER) $(LIBKTAU_USER_SO) $(LIBKTAU_FINSTRUMENT_SO)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(LIBKTAU_USER) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBKTAU_USER_SO) $(LIBKTAU_FINSTRUMENT_SO) $(DESTDIR)$(LIBDIR)
	for name in libktau-user libktau-finstrument; do \
		for link in $$name.so.1 $$name.so; do \
			ln -sf $$name.so.$(LIBKTAU_VERSION) $(DESTDIR)$(LIBDIR)/$$link || exit 1; \
		done; \
	done
	install -m 644 libktau/user/ktau_user.h $(DESTDIR)$(INCLUDEDIR)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(LIBKTAU_VERSION)|' \
		libktau/user/libktau-user.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libktau-user.pc
