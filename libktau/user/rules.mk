# SPDX-License-Identifier: GPL-2.0-only
#
# libktau-user: regions of programs. It depends on nothing but the C library, because the
# programs that it measures are linked with it. libktau-finstrument makes each function a region,
# libktau-mpi each call of MPI, and libktau-mark the processes of ktau mark. libktau-mpi is built if
# there is a compiler for MPI programs; HAVE_MPI=n disables it.

USER_SONAME := libktau-user.so.1
LIBKTAU_USER := $(B)/libktau/user/libktau-user.a
LIBKTAU_USER_SO := $(B)/libktau/user/libktau-user.so.$(KTAU_VERSION)
user_MPI := $(wildcard libktau/user/mpi*.c)
user_MPI_OBJS := $(user_MPI:%.c=$(B)/%.o)
USER_OBJS := $(patsubst %.c,$(B)/%.o,$(filter-out %/finstrument.c %/mark.c %/mark_other.c $(user_MPI),$(wildcard libktau/user/*.c)))
# Libraries that are linked or preloaded in addition
MPICC	?= mpicc
user_MPI_HEADER := $(MPICC) -E -P -include mpi.h -x c /dev/null
$(call option,MPI,$(user_MPI_HEADER),libopenmpi-dev,regions of MPI programs)
user_PRELOADED := finstrument mark $(if $(filter y,$(HAVE_MPI)),mpi)
USER_PRELOADED := $(patsubst %,$(B)/libktau/user/libktau-%.so.$(KTAU_VERSION),$(user_PRELOADED))

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

$(USER_PRELOADED): $(B)/libktau/user/libktau-%.so.$(KTAU_VERSION): $(B)/libktau/user/%.o \
		libktau/user/libktau-%.map $(LIBKTAU_USER_SO)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libktau-$*.so.1 \
		-Wl,--version-script=libktau/user/libktau-$*.map -Wl,-z,defs -Wl,-z,nodelete \
		-o $@ $(filter %.o,$^) $(LIBKTAU_USER_SO)
	ln -sf $(@F) $(@D)/libktau-$*.so.1

# The dynamic loader of each kind of program replaces $LIB in LD_PRELOAD by the name of its own
# folder. Where these are known, that of 32-bit programs has a library that does nothing. It is
# linked with no other, so that it is built without a C library for such programs.
user_MARK_64 := lib/x86_64-linux-gnu
user_MARK_32 := lib/i386-linux-gnu lib32
HAVE_MARK_32 ?= $(if $(CROSS_COMPILE)$(SAN),n,$(if $(filter x86_64-linux-gnu x86_64-pc-linux-gnu,$(shell $(CC) -dumpmachine)),$(if \
	$(shell $(CC) -m32 -nostdlib -shared -x c -o /dev/null libktau/user/mark_other.c 2>/dev/null && echo y),y,n),n))
USER_MARK := $(if $(filter y,$(HAVE_MARK_32)),$(patsubst %,$(B)/libktau/user/ktau-mark/%/libktau-mark.so.1,\
	$(user_MARK_64) $(user_MARK_32)))
LIBRARIES += $(USER_MARK)

$(patsubst %,$(B)/libktau/user/ktau-mark/%/libktau-mark.so.1,$(user_MARK_32)): libktau/user/mark_other.c
	@mkdir -p $(@D)
	$(CC) -m32 -Os -nostdlib -shared -Wl,-soname,libktau-mark.so.1 -o $@ $<

$(patsubst %,$(B)/libktau/user/ktau-mark/%/libktau-mark.so.1,$(user_MARK_64)): $(USER_PRELOADED)
	@mkdir -p $(@D)
	ln -sf ../../../libktau-mark.so.1 $@

# The prototypes are those of this MPI.
$(B)/include/ktau-mpi-calls.h: libktau/user/mpi-calls
	@mkdir -p $(@D)
	$(user_MPI_HEADER) | awk -f $< > $@

$(user_MPI_OBJS): private override CC := $(MPICC)
$(B)/libktau/user/mpi.o: $(B)/include/ktau-mpi-calls.h
$(B)/libktau/user/libktau-mpi.so.$(KTAU_VERSION): $(user_MPI_OBJS)
$(B)/libktau/user/libktau-mpi.so.$(KTAU_VERSION): private override CC := $(MPICC)

.PHONY: install-libktau-user
INSTALL_HOOKS += install-libktau-user
install-libktau-user: $(LIBKTAU_USER) $(LIBKTAU_USER_SO) $(USER_PRELOADED) $(USER_MARK)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(LIBKTAU_USER) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBKTAU_USER_SO) $(USER_PRELOADED) $(DESTDIR)$(LIBDIR)
	for name in libktau-user $(addprefix libktau-,$(user_PRELOADED)); do \
		ln -sf $$name.so.$(KTAU_VERSION) $(DESTDIR)$(LIBDIR)/$$name.so.1 || exit 1; \
	done
	for name in libktau-user libktau-finstrument libktau-mark; do \
		ln -sf $$name.so.$(KTAU_VERSION) $(DESTDIR)$(LIBDIR)/$$name.so || exit 1; \
	done
	$(if $(USER_MARK),cp -a $(B)/libktau/user/ktau-mark $(DESTDIR)$(LIBDIR))
	install -m 644 libktau/user/ktau_user.h $(DESTDIR)$(INCLUDEDIR)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(KTAU_VERSION)|' \
		libktau/user/libktau-user.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libktau-user.pc
