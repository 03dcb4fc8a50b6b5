#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The subcommands in the program, in the manual pages and in the lists of ktau(1) agree.
#
#	tests/unit/tools/test_commands.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=commands

files=$(printf '%s\n' tools/ktau/commands/ktau-*.c | sed 's/.*ktau-\(.*\)\.c/\1/' | sort)
pages=$(printf '%s\n' tools/ktau/commands/ktau-*.1 | sed 's/.*ktau-\(.*\)\.1/\1/' | sort)
help=$("$build/tools/ktau/ktau" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort)
listed=$(sed -n '/^\.SH COMMANDS/,/^\.SH ACCESS/s/^\.BR* ktau-\([a-z]*\) (1)\.$/\1/p' \
	tools/ktau/ktau.1 | sort)
named=$(sed -n '/^\.SH COMMANDS/,/^\.SH ACCESS/s/^\.B \([a-z]*\)$/\1/p' tools/ktau/ktau.1 | sort)

same "each subcommand has a page" "$pages" "$files"
same "ktau --help lists all subcommands" "$help" "$files"
same "ktau(1) lists all subcommands" "$named" "$files"
same "SEE ALSO of ktau(1) lists all subcommands" "$listed" "$files"
for name in $files; do
	# ktau help NAME works, and the page has the program's name.
	check "ktau help $name" \
		sh -c "'$build/tools/ktau/ktau' help $name | grep -q '^Usage: ktau $name'"
	check "ktau-$name(1) has the right name" \
		grep -q "^ktau-$name \\\\- " "tools/ktau/commands/ktau-$name.1"
done

# A folder stands for its files, and for those in its folders.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/host" "$tmp/host/deeper" "$tmp/empty"
recorded=tests/unit/tools/data/recorded.ktau
cp "$recorded" "$tmp/host"
cp "$recorded" "$tmp/host/deeper"
cp "$recorded" "$tmp/host/note"
for name in report check dump; do
	"$build/tools/ktau/ktau" "$name" "$recorded" 2>&1 | sed "s|$recorded|FILE|g" > "$tmp/want"
	for folder in "$tmp" "$tmp/host"; do
		# With the folder below it, the folder of the host would have the file twice
		rm -rf "$folder/deeper"
		"$build/tools/ktau/ktau" "$name" "$folder" 2>&1 |
			sed "s|$tmp/host/recorded.ktau|FILE|g" > "$tmp/have"
		check "ktau $name reads a folder" cmp "$tmp/want" "$tmp/have"
	done
done
check "a folder without files is an error" sh -c \
	"'$build/tools/ktau/ktau' report '$tmp/empty' 2>&1 | grep -q 'empty: Is a directory'"
done_testing
