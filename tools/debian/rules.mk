# SPDX-License-Identifier: GPL-2.0-only

.PHONY: deb deb-user deb-kernel

# The packages, all of them below $(B)/deb; the kernel takes half an hour and more.
deb: deb-user deb-kernel

deb-user:
	@tests/setup user deb
	@tools/debian/make-deb $(B)/deb

# FLAVOUR=amd64: with all drivers.
deb-kernel:
	@tools/debian/make-kernel $(B)/deb
