#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What README.md and the pages say is so: links, commands, messages, costs.
#
#	tests/unit/tools/test_readme.sh BUILD
# shellcheck disable=SC2016 # the quoted scripts have parameters of their own, and pages backquotes
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=readme

pages="README.md CONTRIBUTING.md $(echo docs/*.md docs/*/*.md)"

# anchors PAGE: what links to the headings of the page have after "#"
anchors()
{
	awk '/^```/ { screen = !screen } !screen && sub(/^##* /, "")' "$1" |
		tr '[:upper:] ' '[:lower:]-' | tr -cd '[:alnum:]_\n-'
}

# missing_links PAGE: targets of links that do not exist
missing_links()
{
	grep -o '\](\([^)]*\))' "$1" | sed 's/^](//; s/)$//; /^https:/d' |
		while IFS='#' read -r target anchor; do
			target=${target:+$(dirname "$1")/$target}
			target=${target:-$1}
			[ -e "$target" ] || echo "$target"
			[ -z "$anchor" ] || anchors "$target" | grep -qxF -e "$anchor" || echo "$target#$anchor"
		done
}

# commands PAGE: the first words of the commands in its screens: "ktau report", "make demo"
commands()
{
	awk '/^```/ { screen = !screen } screen && /^[$#] / { print substr($0, 3) }' "$1" |
		sed 's/&&/\n/g; s/ # .*//; s/#.*//' | sed 's/^ *//; s/^sudo //; s,^build/tools/ktau/,,'
}

# unknown_commands PAGE: subcommands and targets that do not exist
unknown_commands()
{
	commands "$1" | while read -r program word rest; do
		case $program in
		ktau) [ -n "$(find tools/ktau -name "ktau-$word.1")" ] || echo "ktau $word" ;;
		make)
			for target in $word $rest; do
				case $target in
				*=* | '') ;;
				*) grep -qE "^(\.PHONY:.* )?$target( |:|$)" Makefile ./*/rules.mk ./*/*/rules.mk ||
					echo "make $target" ;;
				esac
			done
			;;
		esac
	done
}

for page in $pages; do
	same "$page: links" "$(missing_links "$page")" ""
	same "$page: commands" "$(unknown_commands "$page")" ""
done
# Before the first release, all is unreleased.
same "docs/CHANGELOG.md: the last release is that of tools/version" \
	"$(sed -n 's/^## \[\([0-9][^]]*\)\].*/\1/p' docs/CHANGELOG.md | head -n 1)" \
	"$(grep -q '^## \[[0-9]' docs/CHANGELOG.md && tools/version)"
check "README.md has at most 800 words" [ "$(wc -w < README.md)" -le 800 ]

# The costs are those of docs/dev/measurements.md, which names the same tools, and of docs/user/cost.md.
for figures in 'KTAU, profile|56' 'KTAU, profile and trace|126' 'LTTng|1,222' '`raw_syscalls` events|1,248' \
	'bpftrace|3,671' '`perf trace -s`|10,512'; do
	check "README.md: $figures" sh -c 'grep -qF "| $1 |" README.md && grep -qE "^\| $1[^|]*\| [0-9,.]* \| $2 \|" docs/dev/measurements.md &&
		grep -qE "^\| $1[^|]*\| $2 \|" docs/user/cost.md &&
		grep -qE "^\| $1 \|[^|]*\| $2 \|" README.md' sh "${figures%|*}" "${figures#*|}"
done
# The shares in its table of loads are those measured with Debian's flags.
debian=$(sed -n '/^With Debian.s flags:/,/^Repetitions/p' docs/dev/measurements.md)
same "docs/user/cost.md: loads" "$(sed -n '/^| load |/,/^$/ s/^| \([a-zT]\)/\1/p' docs/user/cost.md |
	while IFS='|' read -r load _ profile account traced; do
		for share in $profile $account ${traced%|}; do
			case $share in
			[0-9]*) echo "$debian" | grep -qF "| $share |" || echo "$load: $share" ;;
			esac
		done
	done)" ""
for figures in 'KTAU, the nine original groups, profile|KTAU, profile|6.1' \
	'KTAU, the nine original groups, profile and trace|KTAU, profile and trace|20.9' \
	'LTTng|LTTng|47.5' '`raw_syscalls` events|`raw_syscalls` events|55.0' 'bpftrace|bpftrace|126' \
	'`perf trace -s`|`perf trace -s`|287'; do
	theirs=${figures%%|*} figures=${figures#*|}
	check "README.md: round trip, $figures %" sh -c 'grep -qE "^\| $1 \| [0-9.]* % \| $3 % \|" docs/dev/measurements.md &&
		grep -qE "^\| $2 \|.* $3 % \|$" README.md' sh "$theirs" "${figures%|*}" "${figures#*|}"
done
pair=$(sed -n 's/^syscall_pair\t\([0-9]*\)\t.*/\1/p' tests/bench/exact-stock-6.12.tsv)
for page in README.md docs/user/kernels.md; do
	check "$page: a system call by BPF: $pair instructions" grep -q "$pair" "$page"
done

# The columns of the first screen are those of the report.
same "README.md: the heading of the first screen" \
	"$(grep -m 1 '^NAME ' README.md | sed 's/  */ /g')" \
	"$("$build/tools/ktau/ktau" report tests/unit/tools/data/recorded.ktau | grep '^NAME ' | sed 's/  */ /g')"
check "README.md: no figure of it is missing" sh -c '! grep -w n/a README.md'

# The messages in the page about symptoms are printed by a program.
while read -r message; do
	check "a program prints: $message" grep -rqF -e "$message" libktau tools ktaud
done <<- END
	in the initial user namespace
	cannot run without a terminal
	cannot draw on this terminal
	have not run since KTAU was enabled
	Inconsistent: the parts exceed the life
END
done_testing
