# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts of the tests share. Sourced with the top folder as directory.

B=$(realpath -m "${B:-build}")
export B

say()
{
	printf '  %s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# 75 -> 1:15
minutes()
{
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}
