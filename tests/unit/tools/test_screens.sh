#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands in README.md and docs/user run. The screens in the manual pages equal the output of the commands. After a change of the
# output, run: tests/unit/tools/screens.py build --write tools/*/*.1 tools/ktau/commands/*.1 ktaud/*.8 ktaud/ship/*.8 tests/bgl/*/*.8
#
#	tests/unit/tools/test_screens.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=screens

for page in tools/*/*.1 tools/ktau/commands/*.1 ktaud/*.8 ktaud/ship/*.8 tests/bgl/*/*.8; do
	check "$page has a screen" grep -Eq '^\.\\" (screen|like|guest): ' "$page"
	grep -Eq '^\.\\" (screen|like): ' "$page" || continue
	if grep -q '^\.\\" screen: ktau top' "$page" && ! command -v tmux >/dev/null; then
		skip "$page" "tmux is not installed"
	else
		check "$page" tests/unit/tools/screens.py "$build" "$page"
	fi
done
for page in README.md docs/user/*.md; do
	check "the commands of $page" tests/unit/tools/screens.py "$build" "$page"
done
done_testing
