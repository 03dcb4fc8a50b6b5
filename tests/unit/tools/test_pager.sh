#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Text on a terminal: pager, colour, width; without a terminal none of them.
#
#	tests/unit/tools/test_pager.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=pager

command -v script >/dev/null || {
	skip "a terminal" "script(1) is not installed"
	done_testing
	exit 0
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$build/tests/unit/tools/sample" "$tmp" || exit 1
report="$build/tools/ktau/ktau report $tmp/good.ktau"
bold=$(printf '\033[1m')

# on_terminal COMMAND: run it on a terminal of 80 columns; keep its output and exit status
on_terminal()
{
	env -u COLUMNS -u LESS TERM=xterm script -qec "stty cols 80; $1" /dev/null </dev/null |
		tr -d '\r' >"$tmp/out"
	env -u COLUMNS TERM=xterm script -qec "$1" /dev/null </dev/null >/dev/null
	echo $? >"$tmp/status"
}

on_terminal "KTAU_PAGER='sed s/^/page:/' $report"
check "text is shown by the pager" grep -q '^page:ionode ' "$tmp/out"
check "the pager gets the whole text" grep -q '^page:  1    2.00  55.0%' "$tmp/out"
check "headings are bold" grep -qF "page:${bold}NAME " "$tmp/out"
check "lines are at most as wide as the terminal" \
	[ "$(sed 's/^page://; s/\x1b\[[01]m//g' "$tmp/out" | wc -L)" -le 80 ]
same "exit status: done" "$(cat "$tmp/status")" 0
on_terminal "KTAU_PAGER='sed s/^/page:/' $build/tools/ktau/ktau report $tmp/none"
same "exit status: failed" "$(cat "$tmp/status")" 1
on_terminal "KTAU_PAGER='head -n 1' $build/tools/ktau/ktau dump $tmp/good.ktau"
check "a pager that exits early is not an error" [ "$(grep -c ktau "$tmp/out")" -le 1 ]
on_terminal "NO_COLOR=1 PAGER='sed s/^/page:/' $report"
check "NO_COLOR disables bold" grep -q '^page:NAME ' "$tmp/out"
on_terminal "PAGER=cat $report"
check "with PAGER=cat text is printed directly" grep -qF "${bold}NAME " "$tmp/out"
mkdir "$tmp/bin"
ln -s "$(command -v cat)" "$tmp/bin/cat"
on_terminal "env -u KTAU_PAGER -u PAGER PATH=$tmp/bin $report"
check "without less(1) text is printed directly" grep -qF "${bold}NAME " "$tmp/out"
on_terminal "PAGER='sed s/^/page:/' $report --format=csv"
check "CSV is not paged" grep -q '^name,pid' "$tmp/out"
PAGER='sed s/^/page:/' $report >"$tmp/out"
check "without a terminal there is no pager" grep -q '^NAME ' "$tmp/out"
done_testing
