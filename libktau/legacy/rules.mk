# SPDX-License-Identifier: GPL-2.0-only
#
# libktau-legacy: the library that TAU's client code links against. TAU names it -lktau, so
# it is also installed under this name, in a separate folder. The static library includes libktau,
# because TAU links only one library.

LEGACY_SONAME := libktau-legacy.so.1
LIBKTAU_LEGACY := $(B)/libktau/legacy/libktau-legacy.a
LIBKTAU_LEGACY_SO := $(B)/libktau/legacy/libktau-legacy.so.$(KTAU_VERSION)
LEGACY_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard libktau/legacy/*.c))
LEGACY_INCLUDEDIR = $(DESTDIR)$(INCLUDEDIR)/ktau-legacy
LEGACY_LIBDIR = $(DESTDIR)$(LIBDIR)/ktau-legacy

LIBRARIES += $(LIBKTAU_LEGACY) $(if $(CROSS_COMPILE),,$(LIBKTAU_LEGACY_SO))
MAN_PAGES += libktau/legacy/ktau-legacy.7

$(LEGACY_OBJS): KTAU_CPPFLAGS += -Ilibktau/legacy/include

$(LIBKTAU_LEGACY): $(LEGACY_OBJS) $(LIBKTAU_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(LIBKTAU_LEGACY_SO): $(LEGACY_OBJS) $(LIBKTAU_SO) libktau/legacy/libktau-legacy.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LEGACY_SONAME) \
		-Wl,--version-script=libktau/legacy/libktau-legacy.map -Wl,-z,defs \
		-Wl,-Bsymbolic-functions -o $@ $(LEGACY_OBJS) -L$(B)/libktau -lktau
	ln -sf $(@F) $(@D)/$(LEGACY_SONAME)

.PHONY: install-libktau-legacy
INSTALL_HOOKS += install-libktau-legacy
install-libktau-legacy: install-libktau $(LIBKTAU_LEGACY) $(LIBKTAU_LEGACY_SO)
	install -d $(LEGACY_LIBDIR) $(LEGACY_INCLUDEDIR)/linux/ktau
	install -m 644 $(LIBKTAU_LEGACY) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBKTAU_LEGACY_SO) $(DESTDIR)$(LIBDIR)
	for name in $(LEGACY_SONAME) libktau-legacy.so; do \
		ln -sf $(notdir $(LIBKTAU_LEGACY_SO)) $(DESTDIR)$(LIBDIR)/$$name || exit 1; \
	done
	ln -sf ../libktau-legacy.so $(LEGACY_LIBDIR)/libktau.so
	ln -sf ../libktau-legacy.a $(LEGACY_LIBDIR)/libktau.a
	install -m 644 libktau/legacy/include/*.h $(LEGACY_INCLUDEDIR)
	install -m 644 libktau/legacy/include/linux/ktau/*.h $(LEGACY_INCLUDEDIR)/linux/ktau
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(KTAU_VERSION)|' \
		-e 's|@REQUIRES@|$(LIBKTAU_REQUIRES)|' libktau/legacy/ktau-legacy.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/ktau-legacy.pc
