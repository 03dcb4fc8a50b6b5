# SPDX-License-Identifier: GPL-2.0-only
#
# Build the kernel and ramdisk of the I/O node, and run a job on it: see zepto-config.7.
# KERNEL=6.12 overrides the kernel of the profile.
zepto_KERNEL = $(if $(filter file,$(origin KERNEL)),,kernel=$(KERNEL))
PROFILE	?= zepto-config/profiles/ciod.conf

.PHONY: zepto demo-bgl
zepto:
	@zepto-config/build $(PROFILE) $(zepto_KERNEL)

demo-bgl:
	@tests/demo-bgl $(PROFILE) $(zepto_KERNEL)

# Hooks for initramfs-tools and dracut.
RAMDISKS := zepto-config/ramdisks
KTAU_SHARE := /usr/share/ktau
INITRAMFS := /usr/share/initramfs-tools
DRACUT	:= /usr/lib/dracut/modules.d/90ktaud

.PHONY: install-initramfs
install-initramfs: $(B)/ktaud/ktaud
	install -D -m 755 -t $(DESTDIR)$(SBINDIR) $<
	install -D -m 755 -t $(DESTDIR)$(KTAU_SHARE) $(RAMDISKS)/ktaud-early
	install -D -m 644 -t $(DESTDIR)$(KTAU_SHARE) $(RAMDISKS)/ktaud-early.conf
	install -D -m 755 $(RAMDISKS)/initramfs-tools/hook $(DESTDIR)$(INITRAMFS)/hooks/ktaud
	for place in init-premount init-bottom; do \
		install -D -m 755 $(RAMDISKS)/initramfs-tools/$$place \
			$(DESTDIR)$(INITRAMFS)/scripts/$$place/ktaud || exit 1; \
	done
	install -D -m 755 -t $(DESTDIR)$(DRACUT) $(RAMDISKS)/dracut/*.sh
