#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# One source of subcommands: the program's list, the pages, and the pages' lists agree.
#
#	tests/unit/tools/test_commands.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=commands

files=$(printf '%s\n' tools/ktau/ktau-*.c | sed 's/.*ktau-\(.*\)\.c/\1/' | sort)
pages=$(printf '%s\n' tools/ktau/ktau-*.1 | sed 's/.*ktau-\(.*\)\.1/\1/' | sort)
help=$("$build/tools/ktau/ktau" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort)
listed=$(sed -n '/^\.SH COMMANDS/,/^\.SH ACCESS/s/^\.BR* ktau-\([a-z]*\) (1)\.$/\1/p' \
	tools/ktau/ktau.1 | sort)
named=$(sed -n '/^\.SH COMMANDS/,/^\.SH ACCESS/s/^\.B \([a-z]*\)$/\1/p' tools/ktau/ktau.1 | sort)

same "a page for each file" "$pages" "$files"
same "the program's help" "$help" "$files"
same "the list in ktau(1)" "$named" "$files"
same "its references" "$listed" "$files"
for name in $files; do
	# One way of asking for help, and a page that says the name as the program does.
	check "$name: help" sh -c "'$build/tools/ktau/ktau' help $name | grep -q '^Usage: ktau $name'"
	check "$name: its page" grep -q "^ktau-$name \\\\- " "tools/ktau/ktau-$name.1"
done
done_testing
