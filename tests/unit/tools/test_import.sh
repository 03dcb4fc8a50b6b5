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

# check_import WHAT FILE: KTAU and the page of the interface accept what was written.
check_import()
{
	check_recording "$1" "$2"
	check "$1 keeps the rules of the page" \
		/usr/bin/python3 -B tests/unit/libktau/abi_decoder.py check "$2"
}

# segments OPTION...: the path of the parent: start, duration, state, task, what it waited for
segments()
{
	"$ktau" path --segments --csv "$@" | sed '1d; s/,[^,]*,[^,]*$//'
}

make_trace family
import family
if grep -q 'install libbabeltrace2-dev' "$tmp/said"; then
	without "traces" libbabeltrace2
	done_testing
	exit 0
fi

# Traces of LTTng

check_import "a trace of LTTng" "$tmp/family.ktau"
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
check_import "a trace of LTTng 2.1" "$tmp/old.ktau"
same "overlapping packets, and no sched_waking" "$(segments -t parent "$tmp/old.ktau")" \
	"$(echo "$family" | sed 's/^160,100,/160,101,/; s/^260,20,/261,19,/')"

make_trace unknown
import unknown
same "a system call by its number" "$(segments -t parent "$tmp/unknown.ktau")" "$family"
make_trace narrow
import narrow
same "whose name is not known on a machine of 32 bits" "$(segments -t parent "$tmp/narrow.ktau")" \
	"$(echo "$family" | sed 's/sys_nanosleep/sys_35/')"

make_trace moved
import moved
check_import "a trace with control groups" "$tmp/moved.ktau"
"$ktau" dump "$tmp/moved.ktau" > "$tmp/dump"
same "a task moves itself, and runs after it was moved" "$(grep ' cgroup ' "$tmp/dump")" \
	"  0.000001020 cpu0 task 10 cgroup 78
  0.000001430 cpu0 task 10 cgroup 77"
same "the groups of the tasks, and that of a child" "$(sed -n \
	's/^owner .* \(parent\|child\) .* \(cgroup=[0-9]*\) .*/\1 \2/p' "$tmp/dump" | sort -u)" \
	"child cgroup=78
parent cgroup=0"
same "the paths of the groups" "$(grep '^cgroup' "$tmp/dump" | sort -u)" "cgroup 77 /login/job
cgroup 78 /login"

mkdir "$tmp/packed"
make_trace packets
mv "$tmp/packets" "$tmp/packed/kernel"
import packed
same "metadata in packets, in the directory of a session" \
	"$(segments -t parent "$tmp/packed.ktau")" "$family"

# Events of programs, above the kernel's

make_trace session
import session
check_import "the traces of a kernel and of a program" "$tmp/session.ktau"
check "what the program lost is counted" grep -q ', 3 discarded by the tracer' "$tmp/said"
same "the path is that of the kernel's trace" "$(segments -t parent "$tmp/session.ktau")" "$family"
"$ktau" dump "$tmp/session.ktau" > "$tmp/dump"
same "an event has the fields of its name" "$(sed -n 's/^event [0-9]* //p' "$tmp/dump" |
	grep mpi:)" "user fields program key=0 0 \
mpi:work(rank:s64,big:u64,where:text,share:real,two:text,inner.a:s64,inner.b:text)
user fields program key=0 0 mpi:wait(rank:s64)
user fields program key=0 0 mpi:nothing"
same "their values" "$(sed -n 's/.* task 10 event //p' "$tmp/dump")" \
	'mpi:work rank=0 big=18446744073709551615 where="here" share=0.5 two="[0,-1]" inner.a=7 inner.b="in"
mpi:wait rank=0'
same "a text that is too long is cut, so that all other fields have a word" "$(sed -n \
	's/.*where="\(xx*\)" \(.*\)/\1 \2/p' "$tmp/dump" |
	awk '{ print length($1), $2, $3, $4, $5 }')" '1968 share=1.5 two="" inner.a=7 inner.b=""'
cat > "$tmp/ranks.view" <<- 'EOF'
	view "Ranks"
	state WORK ; state WAIT ; state LATE
	on user mpi:w*(rank,share) if share >= 0 set Rank/{rank} = WORK
	on user mpi:wait(rank)     set Rank/{rank} = WAIT
	on user mpi:work(where,rank,inner.b) if where == "here" and inner.b == "in" set Where/{where} = {rank}
	row Rank/*
	row Where/*
	stat busy = time(Rank/* == WAIT and oncpu) / time(Rank/* == WAIT)
EOF
same "a view: a pattern, conditions on fields, and unknown after a loss" \
	"$("$ktau" view --intervals --csv "$tmp/ranks.view" "$tmp/session.ktau")" \
	"from_ns,to_ns,row,state
0,35,Rank/0,-
0,35,Where/here,-
0,85,Rank/1,-
35,85,Rank/0,WORK
35,335,Where/here,0
85,335,Rank/0,WAIT
85,185,Rank/1,WORK
185,335,Rank/1,WAIT
335,490,Rank/0,?
335,490,Where/here,?
335,385,Rank/1,?
385,490,Rank/1,WAIT"
# Rank 1 waits from 1195 to 1345 and from 1395 on, and has the CPU until 1210 and from 1330 to 1420.
same "and what the kernel did meanwhile: 55 of 255 ns" \
	"$("$ktau" view --csv "$tmp/ranks.view" "$tmp/session.ktau" | grep '^Rank/1,WAIT')" \
	"Rank/1,WAIT,255,0.520408,2,,0.215686"
cat > "$tmp/ranks.xml" <<- 'EOF'
	<tmfxml><stateProvider id="p">
	<eventHandler eventName="mpi:work"><stateChange>
	<if><condition><field name="where"/><stateValue type="string" value="here"/></condition></if>
	<then><stateAttribute type="constant" value="W"/>
	<stateAttribute type="eventField" value="rank"/><stateValue type="eventField" value="share"/>
	</then></stateChange></eventHandler></stateProvider>
	<timeGraphView id="v"><entry path="W/*"><display type="self"/></entry></timeGraphView></tmfxml>
EOF
if "$ktau" view --check="$tmp/ranks.xml" 2>&1 | grep -q libexpat; then
	without "a view of Trace Compass" libexpat
else
	same "a view of Trace Compass reads several fields" \
		"$("$ktau" view --intervals --csv "$tmp/ranks.xml" "$tmp/session.ktau" | sed 1d)" \
		"0,35,W/0,-
35,335,W/0,0.5
335,490,W/0,?"
fi
check "tables have the events as marks with their fields" sh -c "$ktau export --csv -o $tmp/csv \
	$tmp/session.ktau && grep -q \
	',MARK,mpi:work,0,.*rank=0 big=18446744073709551615 where=here share=0.5 two=.0,-1. inner.a=7' \
	$tmp/csv/points.csv"
check "other formats, too" sh -c "$ktau export --chrome -o $tmp/chrome $tmp/session.ktau &&
	grep -q '\"args\":{\"rank\":0,\"big\":18446744073709551615,\"where\":\"here\",\"share\":\"0.5\"' \
	$tmp/chrome && $ktau export --perfetto -o $tmp/perfetto $tmp/session.ktau &&
	grep -q 'inner.b' $tmp/perfetto"

# A recording by LTTng-UST of tests/progs/ust/ranks.c, without a trace of the kernel
tar -C "$tmp" -xzf "$data/ranks.tar.gz"
import ranks
check_import "a trace of LTTng-UST" "$tmp/ranks.ktau"
check "that the kernel's part is missing is said" grep -q 'no trace of a kernel' "$tmp/said"
same "the built-in view shows its ranks" "$("$ktau" view mpi --csv "$tmp/ranks.ktau" |
	sed -n 's/^\(rank [01],W[A-Z]*\),[0-9]*,[0-9.]*,\([0-9]*\),#.*/\1 \2/p')" "rank 0,WORK 4
rank 0,WAIT 3
rank 1,WAIT 4
rank 1,WORK 4"
same "and its fields" "$("$ktau" dump "$tmp/ranks.ktau" | grep -c \
	'event mpi:work rank=\([01]\) cycle=[0-3] host="node "7"" share=\1.25 steps="\[\1,-1\]"')" 8

make_trace twice
import twice
same "a loss is in the traces of those that have noted something since the one before" \
	"$("$ktau" dump "$tmp/twice.ktau" | sed -n 's/.* \(task [0-9]* events-lost\)/\1/p')" \
	"task 10 events-lost at most 3 until 1395
task 11 events-lost at most 3 until 1395
task 11 events-lost at most 5 until 1450"

# The directories can be named one by one, and are of one boot
rm "$tmp/session.ktau"
"$ktau" import "$tmp/session/ust" "$tmp/session/kernel" -o "$tmp/session.ktau" 2> "$tmp/said"
same "several directories" "$(segments -t parent "$tmp/session.ktau")" "$family"
ln -s kernel "$tmp/session/link"
for other in session session/kernel session/link session/../session/kernel; do
	"$ktau" import "$tmp/session" "$tmp/$other" -o "$tmp/doubled.ktau" 2> "$tmp/said"
	same "a trace that is given twice, also as $other" "$?,$(cat "$tmp/said")" \
		"1,ktau import: $tmp/session and $tmp/$other have the same trace, $(
			[ "$other" = session ] && echo "$tmp/session/kernel" || echo "$tmp/$other")"
done
"$ktau" import "$tmp/family" "$tmp/family" -o "$tmp/doubled.ktau" 2> "$tmp/said"
same "a directory that is given twice" "$?,$(cat "$tmp/said")" \
	"1,ktau import: $tmp/family and $tmp/family have the same trace, $tmp/family"
check "nothing is written" test ! -e "$tmp/doubled.ktau"
rm "$tmp/session/link"
make_trace program
import program
check "threads that are not known" grep -q ', 29 of threads that are not known' "$tmp/said"
check "and how to know them" grep -q 'the context vtid says of which thread' "$tmp/said"

# Losses

make_trace lost
import lost
check_import "a trace with discarded events" "$tmp/lost.ktau"
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
	check_import "the export of $name" "$tmp/$name.ktau"
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

# What a task did beside frames. The softirq has no frame there, so its context is unknown, and the
# newline of a name is not text in CTF.
mkdir "$tmp/sample"
"$build/tests/unit/tools/sample" "$tmp/sample"
"$ktau" export --ctf -o "$tmp/points" "$tmp/sample/good.ktau" 2> /dev/null
import points
points()
{
	"$ktau" dump "$1" | sed -n 's/^  [0-9.]* cpu\([01] [a-z]* 100 \(net\|comm \|cgroup \)\)/\1/p'
}
same "segments of TCP, names and control groups after export and import" "$(points "$tmp/points.ktau")" \
	"$(points "$tmp/sample/good.ktau" | sed 's/ser.nver/ser?ver/; s/softirq/task/')"

# Virtual CPUs: their slots, and a guest whose clock is not that of the host
vcpus()
{
	"$ktau" dump "$1" | sed -n 's/^  \([0-9.]* cpu[01] task [0-9]* kvm-.*\)/\1/p'
}
make_trace family
import family
same "virtual CPUs of LTTng" "$(vcpus "$tmp/family.ktau")" \
	"0.000001450 cpu0 task 10 kvm-enter vcpu=3
0.000001480 cpu0 task 10 kvm-exit vcpu=3 reason=123"
for side in host guest1; do
	"$ktau" export --ctf -o "$tmp/$side" "$tmp/sample/$side.ktau" 2> /dev/null
	import $side
done
# These are too short to exclude the other thread.
for host in host sample/host; do
	same "a guest under $host after export and import" \
		"$("$ktau" vm "$tmp/$host.ktau" "$tmp/guest1.ktau" 2>&1)" \
		"ktau vm: $tmp/guest1.ktau: CPU 0: its clock is not known, and with others it may fit more than one thread of a virtual CPU"
done

# Damage

# damaged NAME REASON: the import fails with this reason and leaves no recording
damaged()
{
	import "$1"
	same "$1: status" $? 1
	check "$1: $2" grep -q "$2" "$tmp/said"
	check "$1: no recording" [ ! -e "$tmp/$1.ktau" ]
}

make_trace other
damaged other 'has another clock than the first trace: it is of another boot or machine'
make_trace empty
damaged empty 'empty: has no streams'
make_trace packets
head -c 3000 "$tmp/packets/metadata" > "$tmp/cut"
cp "$tmp/cut" "$tmp/packets/metadata"
damaged packets 'packets/metadata: has a damaged packet'
make_trace family
sed -i 's/^stream {/stream [/' "$tmp/family/metadata"
# In the words of this version of libbabeltrace2
damaged family 'family/metadata: damaged\|family: At line 14 in metadata stream: syntax error'
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
damaged family 'No event class\|no event record class'
make_trace old
size=$(wc -c < "$tmp/old/channel_1")
printf '\376\177' | dd of="$tmp/old/channel_1" bs=1 seek=$((size - 50)) conv=notrunc 2> /dev/null
import old
same "a damaged event: status" $? 1
check_import "what was read before a damaged event" "$tmp/old.ktau"

make_trace session
make_trace old
inputs="$tmp/session $tmp/old"

# Traces of ftrace

# make_ftrace KIND: $tmp/KIND.dat
make_ftrace()
{
	/usr/bin/python3 -B tests/unit/tools/ftrace_encode.py "$tmp/$1.dat" "$1"
}

# import_ftrace KIND [OPTION]: $tmp/KIND.dat becomes $tmp/KIND.ktau; the messages are in $tmp/said
import_ftrace()
{
	rm -f "$tmp/$1.ktau"
	"$ktau" import ${2:+"$2"} "$tmp/$1.dat" -o "$tmp/$1.ktau" 2> "$tmp/said"
}

make_ftrace family
import_ftrace family
if grep -q 'install libtracecmd-dev' "$tmp/said"; then
	without "traces of ftrace" libtracecmd
else
	check_import "a trace of ftrace" "$tmp/family.ktau"
	# A process id of ftrace is a thread id; functions of timers have names.
	named=$(echo "$family" | sed 's/hrtimer:0x1234/hrtimer:wake_me/')
	same "the path is that of LTTng's trace" "$(segments -t parent "$tmp/family.ktau")" "$named"
	same "the account, too" "$("$ktau" dump "$tmp/family.ktau" |
		sed -n '/^profile .* 11 child /s/.*\(user=.*\) groups=.*/\1/p')" \
		"user=190 kernel=30 irq=0 runq=35 asleep=100 guest=0"
	same "virtual CPUs of ftrace" "$(vcpus "$tmp/family.ktau")" \
		"0.000001450 cpu0 task 10 kvm-enter vcpu=3
0.000001480 cpu0 task 10 kvm-exit vcpu=3 reason=123"
	make_ftrace raw
	import_ftrace raw
	same "system calls by number" "$(segments -t parent "$tmp/raw.ktau")" "$named"
	sed 's/SMP x86_64/SMP armv7l/' "$tmp/raw.dat" > "$tmp/arm.dat"
	import_ftrace arm
	same "on another machine they have no names" "$(segments -t parent "$tmp/arm.ktau")" \
		"$(echo "$named" | sed 's/sys_nanosleep/sys_35/')"
	make_ftrace cycles
	import_ftrace cycles
	check "a clock of cycles" grep -q 'x86-tsc counts cycles: --hz=NUMBER' "$tmp/said"
	import_ftrace cycles --hz=2000000000
	same "with its frequency" "$(segments -t parent "$tmp/cycles.ktau")" "$named"
	make_ftrace counter
	import_ftrace counter
	check "a clock that is none" grep -q 'a counter of events, not of time' "$tmp/said"
	make_ftrace lost
	import_ftrace lost
	check_import "a trace with missed events" "$tmp/lost.ktau"
	check "they are counted" grep -q ', 9 discarded by the tracer' "$tmp/said"
	same "the path through them is unknown" "$(segments -t child "$tmp/lost.ktau" |
		grep UNKNOWN)" "30,310,UNKNOWN,child/11,slots lost"
	head -c 3000 "$tmp/family.dat" > "$tmp/cut.dat"
	import_ftrace cut
	check "a file that is cut" grep -q 'cut.dat: damaged' "$tmp/said"
	check "leaves no recording" [ ! -e "$tmp/cut.ktau" ]
	inputs="$inputs $tmp/family.dat $tmp/lost.dat"
fi
# shellcheck disable=SC2086
check "damaged traces do not crash it" /usr/bin/python3 -B tests/unit/tools/import_damaged.py \
	"$ktau" "$tmp" 1 "${IMPORT_DAMAGED:-120}" $inputs
done_testing
