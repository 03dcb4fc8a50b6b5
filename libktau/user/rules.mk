# SPDX-License-Identifier: GPL-2.0-only
#
# libktau-user: regions of programs. It depends on nothing but the C library, because the
# programs that it measures are linked with it. libktau-finstrument makes each function a region, and
# libktau-mark a process for ktau mark.

USER_SONAME := libktau-user.so.1
LIBKTAU_USER := $(B)/libktau/user/libktau-user.a
LIBKTAU_USER_SO := $(B)/libktau/user/libktau-user.so.$(LIBKTAU_VERSION)
USER_OBJS := $(patsubst %.c,$(B)/%.o,$(filter-out %/finstrument.c %/mark.c,$(wildcard libktau/user/*.c)))
# Libraries that are linked or preloaded in addition
user_PRELOADED := finstrument mark
USER_PRELOADED := $(patsubst %,$(B)/libktau/user/libktau-%.so.$(LIBKTAU_VERSION),$(user_PRELOADED))

LIBRARIES += $(LIBKTAU_USER) $(if $(CROSS_COMPILE),,$(LIBKTAU_USER_SO) $(USER_PRELOADED))
MAN_PAGES += libktau/user/libktau-user.3

$(LIBKTAU_USER): $(USER_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(LIBKTAU_USER_SO): $(USER_OBJS) libktau/user/libktau-user.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(USER_SONAME) \
		-Wl,--version-script=libktau/user/libktau-user.map -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,-Bsymbolic-functions -o $@ $(USER_OBJS) -lpthread
	ln -sf $(@F) $(@D)/$(USER_SONAME)

$(USER_PRELOADED): $(B)/libktau/user/libktau-%.so.$(LIBKTAU_VERSION): $(B)/libktau/user/%.o \
		libktau/user/libktau-%.map $(LIBKTAU_USER_SO)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libktau-$*.so.1 \
		-Wl,--version-script=libktau/user/libktau-$*.map -Wl,-z,defs -Wl,-z,nodelete \
		-o $@ $< $(LIBKTAU_USER_SO)
	ln -sf $(@F) $(@D)/libktau-$*.so.1

.PHONY: install-libktau-user
INSTALL_HOOKS += install-libktau-user
install-libktau-user: $(LIBKTAU_USER) $(LIBKTAU_USER_SO) $(USER_PRELOADED)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(LIBKTAU_USER) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBKTAU_USER_SO) $(USER_PRELOADED) $(DESTDIR)$(LIBDIR)
	for name in libktau-user $(addprefix libktau-,$(user_PRELOADED)); do \
		for link in $$name.so.1 $$name.so; do \
			ln -sf $$name.so.$(LIBKTAU_VERSION) $(DESTDIR)$(LIBDIR)/$$link || exit 1; \
		done; \
	done
	install -m 644 libktau/user/ktau_user.h $(DESTDIR)$(INCLUDEDIR)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(LIBKTAU_VERSION)|' \
		libktau/user/libktau-user.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libktau-user.pc
