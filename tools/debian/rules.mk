# SPDX-License-Identifier: GPL-2.0-only

.PHONY: deb deb-user deb-kernel

# Build all packages in $(B)/deb. That of the kernel is untested; expect half an hour or more.
deb: deb-user deb-kernel

deb-user:
	@tests/setup user deb
	@tools/debian/make-deb $(B)/deb

# FLAVOUR=amd64 includes all drivers.
deb-kernel:
	@tools/debian/make-kernel $(B)/deb
