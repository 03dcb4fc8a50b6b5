#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Commands that show hosts and their guests together, on the example of vm_example().
#
#	tests/unit/tools/test_guests.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=guests
ktau=$build/tools/ktau/ktau

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$build/tests/unit/tools/sample" "$tmp"
host=$tmp/host.ktau
guests="$tmp/guest1.ktau $tmp/guest2.ktau"

# path TASK FILE...: its segments: start and length in ns, state, task, in
path()
{
	"$ktau" path --segments --csv -t "$@" | sed 1d | cut -d , -f 1-5
}

# refused WHAT STATUS MESSAGE WORD...: ktau with these words ends with the status and the message
refused()
{
	what=$1
	status=$2
	message=$3
	shift 3
	"$ktau" "$@" > "$tmp/out" 2>&1
	same "$what: status" $? "$status"
	check "$what: message" grep -q -e "$message" "$tmp/out"
}

# shellcheck disable=SC2086 # files
{
	same "the path of a task shows when the host has taken its CPU" \
		"$(path detector $guests "$host")" "\
0,3999700,RUNNING,detector/55@guest1,
3999700,13000000,PREEMPTED BY HOST,detector/55@guest1,burn/61@guest2
16999700,2000000,RUNNING,detector/55@guest1,
18999700,1000000,PREEMPTED BY HOST,detector/55@guest1,burn/61@guest2
19999700,4000000,RUNNING,detector/55@guest1,"
	same "how their clocks are known" "$("$ktau" path -t detector $guests "$host" | grep ': clock')" "\
host: clock by the offset that KVM has set, exact: all 1548 slots in guest mode
guest2: clock by the offset that KVM has set, exact: all 2331 slots in guest mode"
	same "without the host it is one time" "$(path detector $guests | cut -d , -f 3)" RUNNING
	"$ktau" export --chrome --vm -o "$tmp/vm.json" "$host" $guests 2> "$tmp/log"
	same "rows of a time line" \
		"$(grep -o '"\(host\|guest[12]\) cpu 0"' "$tmp/vm.json" | sort -u | tr '\n' ' ')" \
		'"guest1 cpu 0" "guest2 cpu 0" "host cpu 0" '
	check "tasks of guests are in a time line" grep -q '"guest2 burn/61"' "$tmp/vm.json"
	refused "no host" 1 'guest1.ktau: no virtual CPU ran' export --chrome --vm \
		-o "$tmp/none.json" $guests
	refused "another format" 2 '--view, --path and --vm go with' export --csv --vm "$host" $guests
	refused "rows of two kinds" 2 'only one of them can be given' export --perfetto --vm --path \
		"$host" $guests
	refused "time line, only a host" 2 '--vm needs a recording of the host and one of each' \
		export --perfetto --vm "$host"
	cp "$tmp/guest2.ktau" "$tmp/kept"
	refused "page instead of a guest" 1 "cannot write $tmp/guest2.ktau: it is also the input" \
		report --html="$tmp/guest2.ktau" --vm "$host" $guests
	check "the guest's file is as it was" cmp "$tmp/kept" "$tmp/guest2.ktau"
	refused "no page" 2 '--vm goes with --html' report --vm "$host" $guests
	refused "page, only a host" 2 '--vm needs a recording of the host and one of each' \
		report --html="$tmp/page" --vm "$host"
}
done_testing
