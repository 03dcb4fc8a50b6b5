#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each program answers the same options for help and the version, and its manual page has every
# option that its help lists.
#
#	tests/unit/tools/test_help.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=help

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(tools/version)

# Name as in messages, path with the words that select a subcommand, page
programs()
{
	cat <<- END
		ktau|$build/tools/ktau/ktau|tools/ktau/ktau.1
		runktau|$build/tools/runktau/runktau|tools/runktau/runktau.1
		funcMap|$build/tools/funcmap/funcMap|tools/funcmap/funcMap.1
		ktaud|$build/ktaud/ktaud|ktaud/ktaud.8
		ktaud-ship|$build/ktaud/ship/ktaud-ship|ktaud/ship/ktaud-ship.8
		ktau-nats-conf|/usr/bin/python3 -B ktaud/ship/nats_conf.py|ktaud/ship/ktau-nats-conf.8
		ciod|$build/tests/bgl/ciod/ciod|tests/bgl/ciod/ciod.8
	END
	[ ! -e "$build/ktaud/ship/ktau-land" ] ||
		echo "ktau-land|$build/ktaud/ship/ktau-land|ktaud/ship/ktau-land.8"
	# cnk only supports the system calls of x86-64
	[ ! -e "$build/tests/bgl/cnk/cnk" ] ||
		echo "cnk|$build/tests/bgl/cnk/cnk|tests/bgl/cnk/cnk.8"
	for page in tools/ktau/commands/ktau-*.1; do
		name=$(basename "$page" .1 | sed 's/^ktau-//')
		echo "ktau $name|$build/tools/ktau/ktau $name|$page"
	done
}

# answers OPTION: the command ends with 0, prints to standard output only, and begins with what
# the option asks for. Its output is left in $tmp/out.
answers()
{
	# shellcheck disable=SC2086 # the words of a subcommand
	$command "$1" > "$tmp/out" 2> "$tmp/err" < /dev/null
	status=$?
	case $1 in
	-V | --version) want="^$name $version$" ;;
	*) want="^Usage: $name " ;;
	esac
	if [ $status -ne 0 ] || [ -s "$tmp/err" ] || ! head -n 1 "$tmp/out" | grep -q "$want"; then
		echo "status $status, expected $want"
		cat "$tmp/out" "$tmp/err"
		return 1
	fi
}

# listed: the options in the help of a command, from its lines "  -o, --output=FILE  text"
listed()
{
	sed -n 's/^ \{2,6\}\(-.*\)/\1/p' "$tmp/help" | sed 's/   *.*//' | tr ',' '\n' |
		sed -n 's/^ *//; s/[] =[].*//; /^-/p'
}

# named PAGE: the options in a page, outside of its examples, one per line
named()
{
	sed '/^\.\(EX\|nf\)/,/^\.\(EE\|fi\)/d' "$1" |
		sed 's/\\-/-/g; s/\\f[BIRP]/ /g; s/["(),=[|]/ /g; s/]/ /g' | tr ' ' '\n' | grep '^-'
}

while IFS='|' read -r name command page; do
	for option in '-?' -h --help --usage -V --version; do
		check "$name $option" answers "$option"
		case $option in
		-\? | -h) cp "$tmp/out" "$tmp/short" ;;
		--help) cp "$tmp/out" "$tmp/help" ;;
		esac
		[ "$option" != --help ] ||
			check "$name: -h and --help print the same" cmp "$tmp/short" "$tmp/help"
		[ "$option" != --version ] ||
			same "$name: the version is one line" "$(wc -l < "$tmp/out")" 1
	done
	# shellcheck disable=SC2086 # the words of a subcommand
	$command --help 2> "$tmp/err" > /dev/full
	status=$?
	case $name in
	# Every other status may be the one of the command that they run
	runktau | 'ktau mark' | 'ktau record') want=125 ;;
	*) want=1 ;;
	esac
	same "$name: help that cannot be written is an error" $status $want
	check "$name: with a message" grep -q "^$name: cannot write the output: No space" "$tmp/err"
	# ktau itself lists its commands in place of options
	if [ "$name" = ktau ]; then
		printf '%s\n' '-?' -h --help --usage -V --version
	else
		listed
	fi | sort -u > "$tmp/listed"
	named "$page" | sort -u > "$tmp/named"
	check "$name: help lists options" [ "$(wc -l < "$tmp/listed")" -ge 6 ]
	same "$name: $page has every option of --help" \
		"$(comm -23 "$tmp/listed" "$tmp/named" | tr '\n' ' ')" ""
done << END
$(programs)
END
done_testing
