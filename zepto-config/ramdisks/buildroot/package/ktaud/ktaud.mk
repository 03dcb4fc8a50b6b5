# SPDX-License-Identifier: GPL-2.0-only
################################################################################
#
# ktaud
#
################################################################################

# Top of the tree that contains this directory
KTAUD_SITE = $(realpath $(BR2_EXTERNAL_KTAU_PATH)/../../..)
KTAUD_VERSION := $(shell $(KTAUD_SITE)/tools/version)
KTAUD_SITE_METHOD = local
KTAUD_LICENSE = GPL-2.0, GPL-2.0+ (ktaud-ship), LGPL-2.1+ (libktau)
KTAUD_LICENSE_FILES = LICENSES/GPL-2.0-only.txt LICENSES/GPL-2.0-or-later.txt \
	LICENSES/LGPL-2.1-or-later.txt
KTAUD_DEPENDENCIES = zlib host-pkgconf
# Do not copy objects built for the host
KTAUD_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = --exclude /build

KTAUD_OPTIONS = B=build/buildroot PREFIX=/usr HAVE_LIBELF=n HAVE_ZSTD=n \
	HAVE_NCURSES=n HAVE_SQLITE=n HAVE_OTF2=n HAVE_INIH=n HAVE_OPENCSD=n \
	HAVE_LIBIPT=n HAVE_BPF=n HAVE_NATS=n HAVE_BABELTRACE=n HAVE_TRACECMD=n HAVE_EXPAT=n

KTAUD_PROGRAMS = sbin:ktaud/ktaud sbin:ktaud/ship/ktaud-ship bin:tools/ktau/ktau

define KTAUD_BUILD_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) $(TARGET_CONFIGURE_OPTS) -C $(@D) $(KTAUD_OPTIONS) \
		$(foreach p,$(KTAUD_PROGRAMS),build/buildroot/$(lastword $(subst :, ,$(p))))
endef

define KTAUD_INSTALL_TARGET_CMDS
	$(foreach p,$(KTAUD_PROGRAMS),$(INSTALL) -D -m 0755 \
		$(@D)/build/buildroot/$(lastword $(subst :, ,$(p))) \
		$(TARGET_DIR)/usr/$(firstword $(subst :, ,$(p)))/$(notdir $(p))
	)
	$(INSTALL) -D -m 0644 $(@D)/ktaud/ktaud.conf $(TARGET_DIR)/etc/ktaud.conf
endef

define KTAUD_INSTALL_INIT_SYSV
	sed -e 's|@SBINDIR@|/usr/sbin|' -e 's|@SYSCONFDIR@|/etc|' $(@D)/ktaud/ktaud.rc.in \
		> $(TARGET_DIR)/etc/init.d/S50ktaud
	chmod 0755 $(TARGET_DIR)/etc/init.d/S50ktaud
endef

define KTAUD_INSTALL_INIT_SYSTEMD
	mkdir -p $(TARGET_DIR)/usr/lib/systemd/system
	sed -e 's|@SBINDIR@|/usr/sbin|' -e 's|@SYSCONFDIR@|/etc|' $(@D)/ktaud/ktaud.service.in \
		> $(TARGET_DIR)/usr/lib/systemd/system/ktaud.service
endef

$(eval $(generic-package))
