#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What selects files, hosts, tasks, times and maps is found, or the message says why not.
#
#	tests/unit/tools/test_selection.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=selection
ktau=$build/tools/ktau/ktau

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$build/tests/unit/tools/sample" "$tmp"
for name in recorded family login; do
	cp "tests/unit/tools/data/$name.ktau" "$tmp"
done
head -c 20000 "$tmp/recorded.ktau" > "$tmp/truncated.ktau"
cd "$tmp" || exit 1
case $ktau in
/*) ;;
*) ktau=$OLDPWD/$ktau ;;
esac
cp "$OLDPWD/tests/unit/tools/data/maps/good.map" .

# refused WORDS... -- MESSAGE: ktau with these words ends with status 1 and prints only that
refused()
{
	words=
	command=$1
	while [ "$1" != -- ]; do
		words="$words $1"
		shift
	done
	# shellcheck disable=SC2086
	printed=$("$ktau" $words 2>&1)
	same "ktau$words" "$?: $printed" "1: ktau $command: $2"
}

# Profiles of a boot, then traces of a later one
for words in report 'report --details' 'report --waits' 'report --cpus' 'report --html=h.html' \
	'report --format=json' 'report --subtract'; do
	# shellcheck disable=SC2086
	check "ktau $words: traces of another boot belong to no profiles" \
		"$ktau" $words recorded.ktau family.ktau
done
# shellcheck disable=SC2012
same "no temporary file is left" "$(ls -d h.html.* 2> /dev/null | wc -l)" 0

# A loss is in one period.
losses()
{
	"$ktau" report --format=csv --tables=losses "$@" recorded.ktau |
		sed -n 's/,lost_overwritten$//p'
}
same "the losses of the periods add up to that of the recording" \
	"$(for i in 1 2 3 4 5 6; do losses --period=$i; done | awk '{ sum += $1 } END { print sum }')" \
	"$(losses --boot)"

# One pass that says nothing comes before another one, which may not come.
for words in 'report --html=h.html --path' 'report --html=h.html --blame' 'export --chrome --path'; do
	name=${words%% *}
	# shellcheck disable=SC2086
	same "ktau $words: a file that does not exist" "$("$ktau" $words nosuch 2>&1)" \
		"ktau $name: nosuch: No such file or directory"
done
"$ktau" export --chrome --path=64 -o out.json truncated.ktau 2> err
same "a damaged file and a path: status, and the message" \
	"$?: $(grep -c 'truncated at byte 20000' err)" "1: 1"
check "what is not damaged is exported" test -s out.json

# The map of another kernel
for words in 'path --task=64' 'flame --folded -o-' 'view waits' 'report' 'report --html=h.html --path=64'; do
	# shellcheck disable=SC2086
	"$ktau" $words -m good.map recorded.ktau > out 2> err
	same "ktau $words: a map of another kernel" "$?: $(wc -c < out) $(grep -c 'map of another kernel' err)" \
		"1: 0 1"
	# shellcheck disable=SC2086
	[ "$words" = report ] || [ "${words#path}" = "$words" ] ||
		check "ktau $words: that of its kernel" "$ktau" path --task=100 -m good.map good.ktau
done

# Order, hosts, tasks and times
for words in 'view cpus' 'path --task=64' 'export --json -oout' report; do
	# shellcheck disable=SC2086
	same "ktau $words: the same file twice" "$("$ktau" $words recorded.ktau recorded.ktau 2>&1 >/dev/null)" \
		"ktau ${words%% *}: recorded.ktau: begins before the previous file ended; files must be in time order"
done
refused view --host=x cpus family.ktau -- 'family.ktau: contains nothing of host x'
refused path --host=x family.ktau -- 'family.ktau: contains nothing of host x'
refused compare --host=x good.ktau good.ktau -- \
	'good.ktau: contains no period of host x, which takes two streams of profiles'
refused vm --task=nosuch host.ktau guest1.ktau -- "no machine has a task 'nosuch'"
refused path --task=82 --to=+1 family.ktau -- 'family.ktau: the task is not in this part of the trace: it is there from +6.813946 to +8.890926 s'
refused export --perfetto --path -oout family.ktau -- \
	'family.ktau: the trace is not that of a single command: select a task with --path=PID'
same "COMM@HOST, of one machine" "$("$ktau" path --task=master@guest family.ktau)" \
	"$("$ktau" path --task=master family.ktau)"
refused path --task=master@other family.ktau -- "family.ktau: the trace has no task 'master@other'"
same "an hour that occurs twice" \
	"$(TZ=CET-1CEST,M3.5.0,M10.5.0/3 "$ktau" report --from='2026-10-25 02:30:00' recorded.ktau 2>&1 | head -n 1)" \
	"ktau report: --from=2026-10-25 02:30:00: not a time: use \"2026-01-31 13:00:05+0100\", @seconds since 1970, or +seconds since the first stream"
for words in 'report --period=1 --boot' 'report --from=+1 --period=1' 'path --tree --segments' \
	'path --region=a --blame'; do
	# shellcheck disable=SC2086
	same "ktau $words: status" "$("$ktau" $words recorded.ktau 2>&1 | grep -c 'exclude each other')" 1
done
for option in --details --waits --top=3 --group=irq --sort=incl --tables=losses --html=page; do
	same "ktau report --over-time $option: status" \
		"$("$ktau" report --over-time $option recorded.ktau 2>&1 | grep -c 'prints one table')" 1
done
for words in 'report --source=bpf' 'top --source=kernel'; do
	# shellcheck disable=SC2086
	same "ktau $words, a file" "$("$ktau" $words recorded.ktau 2>&1 | head -n 1)" \
		"ktau ${words%% *}: --source measures the running kernel, not recorded.ktau"
done
same "a page in another format" "$("$ktau" report --html=page --format=csv recorded.ktau 2>&1 |
	head -n 1)" "ktau report: --html writes a page: --format does not apply"
mkdir folder
cp recorded.ktau folder
for words in 'view cpus' 'export --json -o-' 'path --task=64'; do
	# shellcheck disable=SC2086
	same "ktau $words: a folder" "$("$ktau" $words folder 2>/dev/null | sed 's,folder/,,')" \
		"$("$ktau" $words recorded.ktau 2>/dev/null)"
done
done_testing
