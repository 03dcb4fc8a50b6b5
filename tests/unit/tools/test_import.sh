#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ktau import: traces of LTTng, traces by ktau export, and damaged ones.
#
#	tests/unit/tools/test_import.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=import

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ktau=$build/tools/ktau/ktau
data=tests/unit/tools/data

"$ktau" import "$tmp/none" -o "$tmp/none.ktau" 2> "$tmp/said"
mkdir "$tmp/nothing"
"$ktau" import "$tmp/nothing" -o "$tmp/nothing.ktau" 2>> "$tmp/said"
same "what is not a trace is named" "$(cat "$tmp/said")" "ktau import: cannot read $tmp/none: No such file or directory
ktau import: $tmp/nothing: is not a CTF trace: it has no file metadata"

make_trace()
{
	rm -rf "${tmp:?}/$1"
	/usr/bin/python3 -B tests/unit/tools/ctf_encode.py "$tmp/$1" "$1"
}

# import NAME: $tmp/NAME becomes $tmp/NAME.ktau; the messages are in $tmp/said
import()
{
	rm -f "$tmp/$1.ktau"
	"$ktau" import "$tmp/$1" -o "$tmp/$1.ktau" 2> "$tmp/said"
}

# segments OPTION...: the path of the parent: start, duration, state, task, what it waited for
segments()
{
	"$ktau" path --segments --csv "$@" | sed '1d; s/,[^,]*,[^,]*$//'
}

make_trace family
import family
if grep -q 'install libbabeltrace2-dev' "$tmp/said"; then
	skip "traces" "ktau is built without libbabeltrace2"
	done_testing
	exit 0
fi

# Traces of LTTng

check_recording "a trace of LTTng" "$tmp/family.ktau"
family="0,60,RUNNING,parent/10,
60,100,RUNNING,child/11,
160,100,TIMER,child/11,sys_nanosleep <- hrtimer:0x1234
260,20,RUN QUEUE,child/11,cpu 1
280,80,RUNNING,child/11,
360,20,RUN QUEUE,parent/10,cpu 0
380,70,RUNNING,parent/10,"
same "the path crosses a fork, a timer and an exit" "$(segments -t parent "$tmp/family.ktau")" \
	"$family"
same "the full path begins with the fork" \
	"$(segments -t parent --mode=full "$tmp/family.ktau" | head -n 3)" "0,10,RUNNING,parent/10,
10,20,RUN QUEUE,child/11,cpu 1
30,130,RUNNING,child/11,"
# From the wakeup of the new task on: 15 + 20 ns in the run queue, and in the kernel 10 ns at the end
# of clone and 20 ns in nanosleep, beside its wait
same "the account adds up" "$("$ktau" dump "$tmp/family.ktau" |
	sed -n '/^profile .* 11 child /s/.*\(user=.*\) groups=.*/\1/p')" \
	"user=190 kernel=30 irq=0 runq=35 asleep=100 guest=0"
check "what the trace lacks is said, with its effect" grep -q \
	'has no irq_softirq_entry: softirqs count as the task' "$tmp/said"
check "events without a use are counted" grep -q ', 1 events of no use to KTAU left out' "$tmp/said"
check "all exporters take it" "$ktau" export --perfetto -o "$tmp/out" "$tmp/family.ktau"
import family
same "a second time is the same" "$(segments -t parent "$tmp/family.ktau")" "$family"
check "what exists is not overwritten" sh -c "! $ktau import $tmp/family -o $tmp/family.ktau"

make_trace old
import old
check_recording "a trace of LTTng 2.1" "$tmp/old.ktau"
same "overlapping packets, and no sched_waking" "$(segments -t parent "$tmp/old.ktau")" \
	"$(echo "$family" | sed 's/^160,100,/160,101,/; s/^260,20,/261,19,/')"

mkdir "$tmp/session"
make_trace packets
mv "$tmp/packets" "$tmp/session/kernel"
import session
same "metadata in packets, in the directory of a session" \
	"$(segments -t parent "$tmp/session.ktau")" "$family"

# Losses

make_trace lost
import lost
check_recording "a trace with discarded events" "$tmp/lost.ktau"
check "they are counted" grep -q ', 9 discarded by the tracer' "$tmp/said"
check "the task that ran has lost them" sh -c "$ktau dump $tmp/lost.ktau |
	grep -q '^trace .* 11 child .* lost=9 '"
same "the path through them is unknown" "$(segments -t child "$tmp/lost.ktau" |
	sed -n 's/.*UNKNOWN.*/unknown/p')" "unknown"

# Traces of ktau export

for name in family login; do
	rm -rf "${tmp:?}/$name"
	"$ktau" export --ctf -o "$tmp/$name" "$data/$name.ktau" 2> /dev/null
	import "$name"
	check_recording "the export of $name" "$tmp/$name.ktau"
done
for task in master c1 c2; do
	for mode in bounded full; do
		same "the path of $task, $mode, after export and import" \
			"$(segments -t $task --mode=$mode "$tmp/family.ktau")" \
			"$(segments -t $task --mode=$mode "$data/family.ktau")"
	done
done
same "the tree of a login after export and import" \
	"$("$ktau" path -t run-parts --tree --csv "$tmp/login.ktau")" \
	"$("$ktau" path -t run-parts --tree --csv "$data/login.ktau")"

# Damage

# damaged NAME REASON: the import fails with this reason and leaves no recording
damaged()
{
	import "$1"
	same "$1: status" $? 1
	check "$1: $2" grep -q "$2" "$tmp/said"
	check "$1: no recording" [ ! -e "$tmp/$1.ktau" ]
}

make_trace program
damaged program 'program: is the trace of a program, not of a kernel'
make_trace empty
damaged empty 'empty: has no streams'
make_trace packets
head -c 3000 "$tmp/packets/metadata" > "$tmp/cut"
cp "$tmp/cut" "$tmp/packets/metadata"
damaged packets 'packets/metadata: has a damaged packet'
make_trace family
sed -i 's/^stream {/stream [/' "$tmp/family/metadata"
damaged family 'family/metadata: is damaged'
make_trace family
head -c 300 "$tmp/family/channel_1" > "$tmp/cut"
cp "$tmp/cut" "$tmp/family/channel_1"
damaged family "Failed to index CTF stream file.*channel_1"
make_trace family
printf '\377\377' | dd of="$tmp/family/channel_1" bs=1 seek=64 conv=notrunc 2> /dev/null
damaged family 'has a packet of an impossible CPU'
# An event without a class ends the reading
make_trace family
printf '\376\177' | dd of="$tmp/family/channel_1" bs=1 seek=68 conv=notrunc 2> /dev/null
damaged family 'No event class'
make_trace old
size=$(wc -c < "$tmp/old/channel_1")
printf '\376\177' | dd of="$tmp/old/channel_1" bs=1 seek=$((size - 50)) conv=notrunc 2> /dev/null
import old
same "a damaged event: status" $? 1
check_recording "what was read before a damaged event" "$tmp/old.ktau"
done_testing
