# SPDX-License-Identifier: GPL-2.0-only

KERNEL	?= 6.1
export B KERNEL

.PHONY: kernel

# The kernel of the boot tests.
kernel:
	tests/kernel/build x86_64
