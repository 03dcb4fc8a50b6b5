# SPDX-License-Identifier: GPL-2.0-only

.PHONY: deb deb-user deb-kernel

# Build all packages in $(B)/deb. The kernel takes half an hour or more.
deb: deb-user deb-kernel

deb-user:
	@tests/setup user deb
	@tools/debian/make-deb $(B)/deb

# FLAVOUR=amd64 includes all drivers.
deb-kernel:
	@tools/debian/make-kernel $(B)/deb
