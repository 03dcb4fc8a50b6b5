#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Adds ktaud to a ramdisk built by dracut: see dracut.modules(7).

ktaud_program()
{
	PATH=${KTAU_SBIN:-}:$PATH:/usr/local/sbin command -v ktaud
}

# Only on request: dracut --add ktaud
check()
{
	ktaud_program > /dev/null || return 1
	return 255
}

depends()
{
	return 0
}

# shellcheck disable=SC2154 # set by dracut
install()
{
	local share=${KTAU_SHARE:-/usr/share/ktau} conf=/etc/ktaud-early.conf

	inst "$(ktaud_program)" /sbin/ktaud
	inst "$share/ktaud-early" /sbin/ktaud-early
	[ -e "$conf" ] || conf=$share/ktaud-early.conf
	inst "$conf" /etc/ktaud-early.conf
	inst_multiple mkdir sleep
	inst_hook pre-udev 05 "$moddir/ktaud-start.sh"
	inst_hook cleanup 95 "$moddir/ktaud-stop.sh"
}
